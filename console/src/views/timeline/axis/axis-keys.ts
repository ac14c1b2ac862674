/** Keyboard control of the axis, including keys pressed while another element that does not use them has the focus. */
import { nextEvent } from '../../../lib/events/pages';
import { panned, timeAt, zoomed } from '../../../lib/chart/scale';
import { areSingleKeysOff } from '../../../lib/page/single-keys';
import { toasts } from '../../../lib/page/toast.svelte';
import type { TimelineModel } from '../model.svelte';

interface KeysTarget {
  model: TimelineModel;
  /** The element in which the axis handles all keys. */
  frame: () => HTMLElement | undefined;
  choose: (eventId: string | null, isOpened: boolean) => void;
  /** Scrolls the lanes by a number of pixels; returns false if nothing can scroll. */
  scroll: (pixels: number) => boolean;
}

const LINE = 40;
const PAGE = 240;

/** Elements that handle letter keys themselves. */
const TAKES_KEYS =
  'input, textarea, select, dialog, [contenteditable], [role=application], [role=listbox], [role=menu]';

/** Whether the axis handles a key: letters and brackets almost anywhere, other keys if no element has the focus. */
function isForAxis({ key, target }: KeyboardEvent, frame: HTMLElement | undefined): boolean {
  const at = target as Element;
  if (frame?.contains(at)) return true;
  if (/^[wasd[\]]$/i.test(key)) return at.closest(TAKES_KEYS) === null && !areSingleKeysOff();
  // If the page is scrolled, Home scrolls to its top.
  return at === document.body && (key === 'Enter' || (key === 'Home' && scrollY === 0));
}

/** Screen reader description of the keys. */
export const KEYS =
  'The left and right arrow keys move, up and down scroll lanes, plus and minus zoom, and Home shows ' +
  'everything. Brackets step through events, and Enter opens the card. The list shows the same events as a table.';

/** Selects the next or previous event. Without a selection, starts from the left or right edge of the view. */
function step({ model, choose }: KeysTarget, direction: 1 | -1): void {
  const { visible, view } = model;
  const at = model.selected === null ? -1 : visible.row(model.selected);
  const edge = timeAt(view, direction > 0 ? 0 : view.width);
  const row = at >= 0 ? at + direction : visible.lowerBound(edge) + (direction < 0 ? -1 : 0);
  if (row >= 0 && row < visible.count) {
    model.viewport.reveal(visible.time(row));
    choose(visible.ids[row]!, false);
    return;
  }
  const none = (): void => toasts.say(`No event ${direction > 0 ? 'after' : 'before'} this one.`);
  if (model.isWhole) {
    none();
    return;
  }
  // The next event is outside the loaded range.
  void nextEvent(model.question, at >= 0 ? visible.time(at) : edge, direction, at >= 0 ? model.selected : null).then(
    (next) => {
      if (next === null) {
        none();
        return;
      }
      model.viewport.reveal(next.time);
      choose(next.id, false);
    },
    () => toasts.say(`The ${direction > 0 ? 'next' : 'previous'} event could not be loaded. Try again.`),
  );
}

export function axisKeys(target: KeysTarget): (event: KeyboardEvent) => void {
  const { model, choose, scroll } = target;
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!isForAxis(event, target.frame())) return;
    // Enter activates a button or link on the axis.
    if (event.key === 'Enter' && (event.target as Element).closest('button, a') !== null) return;
    const { view } = model;
    const pan = (direction: 1 | -1) => () =>
      model.setView(panned(view, direction * view.width * (event.shiftKey ? 0.5 : 0.12)));
    const zoom = (factor: number) => () => model.setView(zoomed(view, factor, view.width / 2));
    const keys: Record<string, () => unknown> = {
      ArrowLeft: pan(-1),
      ArrowRight: pan(1),
      ArrowUp: () => scroll(-LINE),
      ArrowDown: () => scroll(LINE),
      PageUp: () => scroll(-PAGE),
      PageDown: () => scroll(PAGE),
      '+': zoom(0.6),
      '=': zoom(0.6),
      '-': zoom(1 / 0.6),
      Home: () => model.fit(),
      // WASD as in Perfetto: one hand navigates while the other uses the mouse.
      a: pan(-1),
      d: pan(1),
      w: zoom(0.6),
      s: zoom(1 / 0.6),
      '[': () => step(target, -1),
      ']': () => step(target, 1),
      Enter: () => model.selected !== null && choose(model.selected, true),
      Escape: () => choose(null, false),
    };
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    // If no lane scrolls, let the page scroll.
    if (act === undefined || act() === false) return;
    event.preventDefault();
  };
}

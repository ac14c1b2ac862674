/** What keys do to the axis, also where something else on the page has the focus that does not need them. */
import { nextEvent } from '../../../lib/events/pages';
import { panned, timeAt, zoomed } from '../../../lib/chart/scale';
import { areSingleKeysOff } from '../../../lib/page/single-keys';
import { toasts } from '../../../lib/page/toast.svelte';
import type { TimelineModel } from '../model.svelte';

interface KeysTarget {
  model: TimelineModel;
  /** Where all keys are for the axis. */
  frame: () => HTMLElement | undefined;
  choose: (eventId: string | null, isOpened: boolean) => void;
  /** Scrolls lanes by so many pixels; returns false where there is nothing to scroll. */
  scroll: (pixels: number) => boolean;
}

const LINE = 40;
const PAGE = 240;

/** What of the page takes letters itself. */
const TAKES_KEYS =
  'input, textarea, select, dialog, [contenteditable], [role=application], [role=listbox], [role=menu]';

/** Whether a key is for the axis: letters and brackets nearly everywhere, others where nothing has the focus. */
function isForAxis({ key, target }: KeyboardEvent, frame: HTMLElement | undefined): boolean {
  const at = target as Element;
  if (frame?.contains(at)) return true;
  if (/^[wasd[\]]$/i.test(key)) return at.closest(TAKES_KEYS) === null && !areSingleKeysOff();
  // Where the page is scrolled, Home goes to its top.
  return at === document.body && (key === 'Enter' || (key === 'Home' && scrollY === 0));
}

/** What the keys do, for those who hear the axis. */
export const KEYS =
  'The left and right arrow keys move, up and down scroll lanes, plus and minus zoom, and Home shows ' +
  'everything. Brackets step through events, and Enter opens the card. The list shows the same events as a table.';

/**
 * Goes to the event after the one that is chosen, or before it. Where none is, the steps begin at the edge of what is
 * in view: its first event comes after nothing, and its last one before nothing.
 */
function step({ model, choose }: KeysTarget, direction: 1 | -1): void {
  const { visible, view } = model;
  const at = model.selected === null ? -1 : visible.row(model.selected);
  const edge = timeAt(view, direction > 0 ? 0 : view.width);
  const row = at >= 0 ? at + direction : visible.lowerBound(edge) + (direction < 0 ? -1 : 0);
  if (row >= 0 && row < visible.count) {
    model.sight.reveal(visible.time(row));
    choose(visible.ids[row]!, false);
    return;
  }
  const none = (): void => toasts.say(`No event ${direction > 0 ? 'after' : 'before'} this one.`);
  if (model.isWhole) {
    none();
    return;
  }
  // The next one is not on the screen.
  void nextEvent(model.question, at >= 0 ? visible.time(at) : edge, direction, at >= 0 ? model.selected : null).then(
    (next) => {
      if (next === null) {
        none();
        return;
      }
      model.sight.reveal(next.time);
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
    // A button on the axis is pressed with it.
    if (event.key === 'Enter' && (event.target as Element).closest('button, a') !== null) return;
    const { view } = model;
    const pan = (direction: 1 | -1) => () =>
      model.look(panned(view, direction * view.width * (event.shiftKey ? 0.5 : 0.12)));
    const zoom = (factor: number) => () => model.look(zoomed(view, factor, view.width / 2));
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
      // As in Perfetto: one hand moves and zooms, the other has the mouse.
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
    // Where nothing scrolls here, the page does.
    if (act === undefined || act() === false) return;
    event.preventDefault();
  };
}

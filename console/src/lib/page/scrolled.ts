/**
 * Scroll restoration. A newly opened view starts at the top; a view reached through browser history is restored. Each
 * history entry has a number that identifies its scroll position.
 */

/** Content may load after the view appears, and the page is too short until then. */
const RESTORE_MAX_MS = 2_000;
/** Events by which the user takes over scrolling. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

const places = new Map<string, number>();
let step = entryId() ?? begin();
let view = viewOf(location.hash);
let stop = (): void => {};

function entryId(): string | null {
  return (history.state as { step?: string } | null)?.step ?? null;
}

function begin(): string {
  const id = `${performance.timeOrigin} ${places.size}`;
  places.set(id, 0);
  history.replaceState({ step: id }, '');
  return id;
}

function viewOf(hash: string): string {
  return hash.replace(/^#\/?/, '').split('?')[0] ?? '';
}

addEventListener(
  'scroll',
  () => {
    // Ignore scroll events caused by the shorter content of another view.
    if (viewOf(location.hash) === view) places.set(step, scrollY);
  },
  { passive: true },
);

addEventListener('hashchange', () => {
  stop();
  const [before, back] = [view, entryId()];
  view = viewOf(location.hash);
  step = back ?? begin();
  // Within a view, the browser restores the position.
  if (view === before) return;
  if (back === null) scrollTo(0, 0);
  else restore(places.get(back) ?? 0);
});

/** Scrolls to a position once the page is long enough, unless the user scrolls first. */
function restore(place: number): void {
  const end = performance.now() + RESTORE_MAX_MS;
  let frame = 0;
  const scroll = (): void => {
    if (Math.abs(scrollY - place) > 1) scrollTo(0, place);
    frame = performance.now() < end ? requestAnimationFrame(scroll) : 0;
  };
  const over = new AbortController();
  stop = () => {
    over.abort();
    cancelAnimationFrame(frame);
  };
  for (const move of MOVES) addEventListener(move, () => stop(), { signal: over.signal, passive: true });
  scroll();
}

export {};

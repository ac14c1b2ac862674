/**
 * How far down a view was scrolled: a view that is opened begins at its top, and one that the browser goes back to is
 * where it was. Each step of the browser's history has a number by which its place is known.
 */

/** What a view shows may come a while after it, and only then is the page as high as it was. */
const RESTORE_MAX_MS = 2_000;
/** Who does any of this scrolls by themselves. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

const places = new Map<string, number>();
let step = known() ?? begin();
let view = viewOf(location.hash);
let stop = (): void => {};

function known(): string | null {
  return (history.state as { step?: string } | null)?.step ?? null;
}

function begin(): string {
  const made = `${performance.timeOrigin} ${places.size}`;
  places.set(made, 0);
  history.replaceState({ step: made }, '');
  return made;
}

function viewOf(hash: string): string {
  return hash.replace(/^#\/?/, '').split('?')[0] ?? '';
}

addEventListener(
  'scroll',
  () => {
    // What another view is cut down to is not where somebody was.
    if (viewOf(location.hash) === view) places.set(step, scrollY);
  },
  { passive: true },
);

addEventListener('hashchange', () => {
  stop();
  const [before, back] = [view, known()];
  view = viewOf(location.hash);
  step = back ?? begin();
  // Within a view the browser does that itself.
  if (view === before) return;
  if (back === null) scrollTo(0, 0);
  else restore(places.get(back) ?? 0);
});

/** Goes to a place as soon as the page reaches so far, unless somebody goes elsewhere. */
function restore(place: number): void {
  const end = performance.now() + RESTORE_MAX_MS;
  let frame = 0;
  const look = (): void => {
    if (Math.abs(scrollY - place) > 1) scrollTo(0, place);
    frame = performance.now() < end ? requestAnimationFrame(look) : 0;
  };
  const over = new AbortController();
  stop = () => {
    over.abort();
    cancelAnimationFrame(frame);
  };
  for (const move of MOVES) addEventListener(move, () => stop(), { signal: over.signal, passive: true });
  look();
}

export {};

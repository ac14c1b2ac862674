/** The keys of every list under a text field: the field keeps the focus, and one option of the list is active. */
interface Listbox {
  count: () => number;
  active: () => number;
  /** Makes another option active. */
  move: (index: number) => void;
  choose: (index: number) => void;
}

/** Returns a handler for the field. What it does with a key, nobody else does. */
export function listboxKeys({ count, active, move, choose }: Listbox): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
    const [most, at] = [count() - 1, active()];
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 };
    const next = to[event.key];
    if (next === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (next !== undefined) move(Math.max(0, Math.min(next, most)));
    else if (at >= 0 && at <= most) choose(at);
  };
}

/** Keeps an option in sight while keys walk over it. */
export function intoSight(isActive: boolean): (element: HTMLElement) => void {
  return (element) => {
    if (isActive) element.scrollIntoView({ block: 'nearest' });
  };
}

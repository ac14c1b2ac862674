/** Keyboard handling of lists below a text field. The field keeps the focus, and one option is active. */
interface Listbox {
  count: () => number;
  active: () => number;
  /** Sets the active option. */
  move: (index: number) => void;
  choose: (index: number) => void;
}

/** Returns a keydown handler for the field. Handled keys do not propagate. */
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

/** Scrolls an option into view when it becomes active. */
export function scrollIntoView(isActive: boolean): (element: HTMLElement) => void {
  return (element) => {
    if (isActive) element.scrollIntoView({ block: 'nearest' });
  };
}

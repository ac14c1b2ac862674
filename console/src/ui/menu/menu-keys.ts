/** Keyboard handling of menus: arrow keys move, letters jump to items by prefix. */
import type { IconName } from '../Icon.svelte';

export interface MenuItem {
  label: string;
  icon?: IconName;
  /** Link target or action. */
  href?: string;
  act?: () => void;
  /** State of a checkable item. Checkable items keep the menu open. */
  isChecked?: boolean;
  /** Whether the action reports progress and errors inside the menu. */
  hasProgress?: boolean;
}

export function menuItems(list: HTMLElement | undefined): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
}

/** Returns a keydown handler for the menu element. */
export function menuKeys(list: () => HTMLElement | undefined): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ' ' && (event.target as HTMLElement).tagName === 'A') {
      event.preventDefault();
      (event.target as HTMLElement).click();
    }
    const all = menuItems(list());
    const at = all.indexOf(document.activeElement as HTMLElement);
    // Search after the current item first, then from the start.
    const begins = (entry: HTMLElement): boolean =>
      entry.innerText.trim().toLowerCase().startsWith(event.key.toLowerCase());
    const behind = all.findIndex((entry, index) => index > at && begins(entry));
    const jump = behind < 0 ? all.findIndex(begins) : behind;
    const to: Record<string, number> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    // Letters must not trigger shortcuts of the view.
    if (event.key.length === 1) event.stopPropagation();
    const next = to[event.key] ?? (event.key.length === 1 && event.key !== ' ' ? jump : -1);
    if (next < 0) return;
    event.preventDefault();
    all[next]?.focus();
  };
}

/** The keys of every menu: arrows walk, a letter jumps to what begins with it. */
import type { IconName } from '../Icon.svelte';

export interface MenuItem {
  label: string;
  icon?: IconName;
  /** Where it leads to; or what it does. */
  href?: string;
  act?: () => void;
  /** Whether it is chosen, where it is one of those that can be: the menu stays open for the next one. */
  isChecked?: boolean;
  /** Whether what it did is told in the menu, where it did not work. */
  hasProgress?: boolean;
}

export function menuItems(list: HTMLElement | undefined): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
}

/** Returns a handler for the element that has the items. */
export function menuKeys(list: () => HTMLElement | undefined): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ' ' && (event.target as HTMLElement).tagName === 'A') {
      event.preventDefault();
      (event.target as HTMLElement).click();
    }
    const all = menuItems(list());
    const at = all.indexOf(document.activeElement as HTMLElement);
    // Behind the present one first, then from the beginning.
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
    // A letter is the menu's here, and no key of the view.
    if (event.key.length === 1) event.stopPropagation();
    const next = to[event.key] ?? (event.key.length === 1 && event.key !== ' ' ? jump : -1);
    if (next < 0) return;
    event.preventDefault();
    all[next]?.focus();
  };
}

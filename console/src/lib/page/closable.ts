/** A panel that opens below a button. */
interface Opened {
  isOpen: () => boolean;
  close: () => void;
  button: () => HTMLElement | undefined;
}

/** Returns handlers that close the panel on Escape, which returns focus to the button, and on focus loss. */
export function closable({ isOpen, close, button }: Opened) {
  return {
    onkeydown: (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !isOpen()) return;
      close();
      button()?.focus();
    },
    onfocusout: (event: FocusEvent & { currentTarget: HTMLElement }): void => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) close();
    },
  };
}

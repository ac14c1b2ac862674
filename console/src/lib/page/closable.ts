/** A panel that opens below a button. */
interface Panel {
  isOpen: () => boolean;
  close: () => void;
  button: () => HTMLElement | undefined;
}

/** Returns handlers that close the panel on Escape, which returns focus to the button, and on focus loss. */
export function closable({ isOpen, close, button }: Panel) {
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

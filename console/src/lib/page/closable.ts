/** What opens under a button, and how it closes again. */
interface Opened {
  isOpen: () => boolean;
  close: () => void;
  button: () => HTMLElement | undefined;
}

/** Returns handlers that close it on Escape, with the focus back on its button, and when the focus leaves it. */
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

/** Keyboard help, opened with "?" or a link. */
import { flushSync, mount, unmount } from 'svelte';
import { isFreeKey } from '../../lib/page/keys';
import KeysHelp from './KeysHelp.svelte';

export function showKeys(): void {
  const help = mount(KeysHelp, { target: document.body, props: { onclose: () => void unmount(help) } });
  // If "?" was pressed twice while this file loaded, the second press must find the dialog open.
  flushSync();
}

/** Shows the help for a key press outside inputs. The page replays keys pressed before this file was loaded. */
export function handleHelpKey(event: KeyboardEvent): void {
  if (!isFreeKey(event)) return;
  event.preventDefault();
  showKeys();
}

/** The help about keys: opened with "?" on any page, and by what leads to it. */
import { flushSync, mount, unmount } from 'svelte';
import { isFreeKey } from '../../lib/page/keys';
import KeysHelp from './KeysHelp.svelte';

export function showKeys(): void {
  const help = mount(KeysHelp, { target: document.body, props: { onclose: () => void unmount(help) } });
  // A second press, which waited for this file as the first did, finds it open.
  flushSync();
}

/** Shows it for a key, unless somebody types. The page asks with keys that were pressed before this file was there. */
export function askKeys(event: KeyboardEvent): void {
  if (!isFreeKey(event)) return;
  event.preventDefault();
  showKeys();
}

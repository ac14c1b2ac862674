/** The help about keys: opened with "?" on any page, and by what leads to it. */
import { mount, unmount } from 'svelte';
import { isFreeKey } from '../../lib/keys';
import KeysHelp from './KeysHelp.svelte';

export function showKeys(): void {
  const help = mount(KeysHelp, { target: document.body, props: { onclose: () => void unmount(help) } });
}

addEventListener('keydown', (event) => {
  if (event.key !== '?' || !isFreeKey(event)) return;
  event.preventDefault();
  showKeys();
});

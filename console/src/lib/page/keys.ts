/** Keys that work anywhere on a page, except where they mean something else. */
import { areSingleKeysOff } from './single-keys';

const OWN_KEYS =
  'input, textarea, select, [contenteditable], ' +
  '[role="grid"], [role="listbox"], [role="slider"], [role="application"], [role="tablist"]';

/** Tells whether a key press is free to be taken: nobody types, no dialog is open, no other key is held. */
export function isFreeKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return false;
  if (document.querySelector('dialog[open]')) return false;
  if (event.key.length === 1 && areSingleKeysOff()) return false;
  const target = event.target as Element | null;
  if (target?.closest(OWN_KEYS)) return false;
  // Space presses the button that has the focus, and follows no link.
  return !((event.key === ' ' || event.key === 'Enter') && target?.closest('button, a, summary'));
}

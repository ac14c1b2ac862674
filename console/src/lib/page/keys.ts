/** Page-wide keyboard shortcuts. */
import { areSingleKeysOff } from './single-keys';

const OWN_KEYS =
  'input, textarea, select, [contenteditable], ' +
  '[role="grid"], [role="listbox"], [role="slider"], [role="application"], [role="tablist"]';

/** Whether a key press can be a shortcut: no input has the focus, no dialog is open and no modifier is held. */
export function isFreeKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return false;
  if (document.querySelector('dialog[open]')) return false;
  if (event.key.length === 1 && areSingleKeysOff()) return false;
  const target = event.target as Element | null;
  if (target?.closest(OWN_KEYS)) return false;
  // Space and Enter belong to a focused button, link or summary.
  return !((event.key === ' ' || event.key === 'Enter') && target?.closest('button, a, summary'));
}

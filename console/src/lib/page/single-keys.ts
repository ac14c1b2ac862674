/**
 * Setting for single-character shortcuts. Users of speech input, and users who often hit keys by accident, can turn
 * them off (WCAG 2.1.4). Stored in this browser.
 */
const KEY = 'timenav-single-keys';

export const areSingleKeysOff = (): boolean => localStorage.getItem(KEY) === 'off';

export function setSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}

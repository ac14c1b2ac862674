/**
 * Whether single characters do things anywhere on a page. Who speaks to their machine, or hits keys unintended, can
 * turn that off (WCAG 2.1.4); the choice is kept in this browser.
 */
const KEY = 'timenav-single-keys';

export const areSingleKeysOff = (): boolean => localStorage.getItem(KEY) === 'off';

export function turnSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}

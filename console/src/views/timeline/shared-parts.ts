/**
 * Dialogs and panels shared by several parts of the timeline. They are loaded when used, or earlier when the browser is
 * idle.
 */
import { later } from '../../lib/loading/later';

// When idle, the last one is loaded first.
export const filterDialog = later(() => import('./filters/FilterDialog.svelte'));
export const inside = later(() => import('./inside/Inside.svelte'));
export const overlapList = later(() => import('./axis/Overlap.svelte'));

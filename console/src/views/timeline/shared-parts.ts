/** What several parts of the timeline open: fetched when it is wanted, or in a quiet moment before. */
import { later } from '../../lib/loading/later';

// In a quiet moment the last one comes first.
export const filterDialog = later(() => import('./filters/FilterDialog.svelte'));
export const inside = later(() => import('./inside/Inside.svelte'));
export const overlapList = later(() => import('./axis/Overlap.svelte'));

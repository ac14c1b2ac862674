/** What the first picture of the timeline does without: fetched when it is wanted, or in a quiet moment before. */
import { later } from '../../lib/later';

// In a quiet moment the last one comes first.
export const dialogs = later(() => import('./Dialogs.svelte'));
export const asOf = later(() => import('./AsOf.svelte'));
export const playback = later(() => import('./Playback.svelte'));
export const glance = later(() => import('./Glance.svelte'));
export const nothing = later(() => import('./Nothing.svelte'));
export const axisChips = later(() => import('./AxisChips.svelte'));
export const scaleButton = later(() => import('../../ui/ScaleButton.svelte'));
export const tip = later(() => import('./AxisTip.svelte'));
export const values = later(() => import('./Values.svelte'));
export const second = later(() => import('./second/Second.svelte'));
export const list = later(() => import('./List.svelte'));
export const lanes = later(() => import('./lane-parts'));
export const timerMarks = later(() => import('./TimerMarks.svelte'));
export const overview = later(() => import('./Overview.svelte'));
export const filterBar = later(() => import('./FilterBar.svelte'));
export const bar = later(() => import('./Bar.svelte'));
export const worldMap = later(() => import('./WorldMap.svelte'));
export const card = later(() => import('./Card.svelte'));
export const keys = later(() => import('./axis-keys'));
export const over = later(() => import('./over-paint'));

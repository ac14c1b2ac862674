/**
 * Parts of the timeline that the first picture does not need. They are loaded when used, or earlier when the browser is
 * idle.
 */
import { later } from '../../lib/loading/later';

// When idle, the last one is loaded first.
export const dialogs = later(() => import('./dialogs/Dialogs.svelte'));
export const asOf = later(() => import('./as-of/AsOf.svelte'));
export const playback = later(() => import('./playback/Playback.svelte'));
export const glance = later(() => import('./side/Glance.svelte'));
export const emptyTimeline = later(() => import('./EmptyTimeline.svelte'));
export const axisChips = later(() => import('./axis/AxisChips.svelte'));
export const scaleButton = later(() => import('../../ui/chart/ScaleButton.svelte'));
export const tip = later(() => import('./axis/AxisTip.svelte'));
export const values = later(() => import('./values/Values.svelte'));
export const second = later(() => import('./second/Second.svelte'));
export const list = later(() => import('./list/List.svelte'));
export const lanes = later(() => import('./lanes/lane-parts'));
export const timerMarks = later(() => import('./timers/TimerMarks.svelte'));
export const overview = later(() => import('./axis/Overview.svelte'));
export const filterBar = later(() => import('./filters/FilterBar.svelte'));
export const bar = later(() => import('./toolbar/Bar.svelte'));
export const worldMap = later(() => import('./map/WorldMap.svelte'));
export const card = later(() => import('./side/Card.svelte'));
export const keys = later(() => import('./axis/axis-keys'));
export const over = later(() => import('./axis/over-paint'));

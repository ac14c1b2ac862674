/** Controls of the axis with lanes, loaded as one file. */
export { default as LaneLabels } from './LaneLabels.svelte';
export { default as LaneRows } from './LaneRows.svelte';

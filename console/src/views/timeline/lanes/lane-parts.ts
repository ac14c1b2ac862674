/** What stands beside the axis where it has lanes: one file for all of it. */
export { default as LaneLabels } from './LaneLabels.svelte';
export { default as LaneRows } from './LaneRows.svelte';

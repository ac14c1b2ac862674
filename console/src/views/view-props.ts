/** Props of all views. */
import type { LiveClock } from '../lib/live/clock.svelte';

export interface ViewProps {
  /** The current timeline. */
  timeline: string;
  /** Its clock; null while the user is not logged in. */
  clock: LiveClock | null;
}

/** What stays while the page is open: drafts without their secrets, and which operation was checked last. */
import type { Draft } from './draft';

export const drafts = new Map<string, Draft>();

export const last = { operation: 'clock' };

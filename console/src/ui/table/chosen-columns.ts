import { route } from '../../lib/address/route.svelte';

/** Returns what the address says of the columns of tables: which are asked for, and `-id` for what is to be gone. */
export const chosenColumns = (): string[] => (route.get('cols') ?? '').split(',').filter(Boolean);

/** Returns the same for a link to the same view, so that its columns stay. */
export function columnParams(): Record<string, string> {
  const cols = route.get('cols');
  return cols === null ? {} : { cols };
}

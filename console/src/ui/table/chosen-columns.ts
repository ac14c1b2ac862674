import { route } from '../../lib/address/route.svelte';

/** Returns the table columns in the URL: IDs of added columns, and `-id` for removed ones. */
export const chosenColumns = (): string[] => (route.get('cols') ?? '').split(',').filter(Boolean);

/** Returns the same as link parameters, so that links to the same view keep the columns. */
export function columnParams(): Record<string, string> {
  const cols = route.get('cols');
  return cols === null ? {} : { cols };
}

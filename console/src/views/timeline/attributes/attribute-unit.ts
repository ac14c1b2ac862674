/** Units of attributes from the address. */
import { plain } from '../../../lib/text/plain';
import { route } from '../../../lib/address/route.svelte';
import { unitsOf } from './units';

/** Returns the unit of an attribute for display; empty if none is set. */
export const attributeUnit = (name: string): string => plain(unitsOf(route.get('units')).get(name) ?? '');

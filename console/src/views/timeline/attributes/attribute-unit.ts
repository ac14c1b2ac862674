/** What the address says of the unit of an attribute. */
import { plain } from '../../../lib/text/plain';
import { route } from '../../../lib/address/route.svelte';
import { unitsOf } from './units';

/** Returns the unit of an attribute, for people to read; empty where nobody said one. */
export const attributeUnit = (name: string): string => plain(unitsOf(route.get('units')).get(name) ?? '');

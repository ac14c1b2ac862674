/** Instants for display in the selected zone. `instant.ts` has the UTC equivalents. */
import { formatDate, formatMoment, timeOfDay, toCivil, type Micros } from './instant';
import { zone } from './zone.svelte';

/** Returns date and time, such as "29 February 2028, 08:30". */
export const momentText = (instant: Micros): string => formatMoment(zone.at(instant));

/** Returns date and time with the zone, such as "29 February 2028, 08:30 UTC". */
export const zonedText = (instant: Micros): string => `${momentText(instant)} ${zone.label(instant)}`;

export const dateText = (instant: Micros): string => formatDate(zone.at(instant));

export const clockText = (instant: Micros): string => timeOfDay(zone.at(instant));

export const displayCivil = (instant: Micros): ReturnType<typeof toCivil> => toCivil(zone.at(instant));

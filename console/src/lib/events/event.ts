/** An event with its history, as the API returns it. */
import { whenText } from '../time/when';
import type { Cause, EventBody } from './store';

export interface Version {
  position: number;
  timeline_id: string;
  superseded_at?: number | null;
  event?: EventBody | null;
}

export interface Intervention {
  intervention_id: string;
  event_id: string;
  action: string;
  time: string;
  effect: { kind: string };
  stood: boolean;
  changed: boolean;
  position: number;
  /** The timeline whose ledger contains the position. */
  timeline_id?: string | null;
}

export interface EventRead {
  event_id: string;
  active: boolean;
  event?: EventBody | null;
  versions: Version[];
  interventions: Intervention[];
}

export interface Dependents {
  effects: Cause[];
  /** Codes of the paradox kinds that involve it. */
  paradoxes: string[];
}

/** Returns the differences of a later version, as sentences. */
export function changes(before: EventBody, after: EventBody): string[] {
  const found: string[] = [];
  if (whenText(before) !== whenText(after) || before.time !== after.time)
    found.push(`From ${whenText(before)} to ${whenText(after)}`);
  const word = (name: 'name' | 'description' | 'location' | 'source' | 'precision' | 'kind', label: string): void => {
    const a = before[name] ?? '';
    const b = after[name] ?? '';
    if (a !== b)
      found.push(
        b === '' ? `${label} removed` : a === '' ? `${label} “${b}” added` : `${label} changed from “${a}” to “${b}”`,
      );
  };
  word('name', 'Name');
  word('description', 'Description');
  word('location', 'Place');
  word('precision', 'Precision');
  word('kind', 'Kind');
  word('source', 'Source');
  const parts = ['geo', 'causes', 'actors', 'attributes', 'asserts'] as const;
  const labels = {
    geo: 'Coordinates',
    causes: 'Causes',
    actors: 'Actors',
    attributes: 'Attributes',
    asserts: 'States',
  };
  for (const part of parts) {
    if (JSON.stringify(before[part] ?? null) !== JSON.stringify(after[part] ?? null))
      found.push(`${labels[part]} changed`);
  }
  return found.length === 0 ? ['No visible field changed'] : found;
}

function lengthText(meters: number): string {
  if (meters < 1_000) return `${Math.round(meters)} m`;
  return `${(meters / 1_000).toLocaleString('en', { maximumFractionDigits: 1 })} km`;
}

/** Returns coordinates for display: "37.98° N, 23.72° E". */
export function geoText(geo: { lat: number; lon: number; radius_m?: number | null }): string {
  const degrees = (value: number, plus: string, minus: string): string =>
    `${Math.abs(value).toFixed(2)}° ${value < 0 ? minus : plus}`;
  const radius = geo.radius_m ? `, within ${lengthText(geo.radius_m)}` : '';
  return `${degrees(geo.lat, 'N', 'S')}, ${degrees(geo.lon, 'E', 'W')}${radius}`;
}

/** Returns an attribute value on one line. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

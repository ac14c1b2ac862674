/** Which events are shown: the filter in the address, and as the service takes it. */
import type { Query } from '../service/base';
import { boxParam, type Box } from '../address/ranges';

export interface Filter {
  /** Words, each of which begins a word of the event. */
  text: string;
  actor: string;
  source: string;
  /** Where: a name as events have it or the service knows it, instead of the box on the map. */
  place: string;
  /** Values of attributes by key. */
  attributes: Readonly<Record<string, string>>;
}

export const ALL: Filter = { text: '', actor: '', source: '', place: '', attributes: {} };

const ATTRIBUTE = 'attribute.';
const NAMES = ['text', 'actor', 'source', 'place'] as const;

/** Something that events are told apart by: `actor`, `source` or `attribute.KEY`. */
export type GroupBy = string;

/** Reads the filter that an address has. */
export function parseFilter(params: Readonly<Record<string, string>>): Filter {
  const attributes: Record<string, string> = {};
  for (const name of Object.keys(params).sort())
    if (name.startsWith(ATTRIBUTE) && name.length > ATTRIBUTE.length)
      attributes[name.slice(ATTRIBUTE.length)] = params[name]!;
  const { text = '', actor = '', source = '', place = '' } = params;
  return { text, actor, source, place, attributes };
}

/** Returns what an address has to be changed by, so that it has another filter. */
export function filterParams(before: Filter, after: Filter): Record<string, string | null> {
  const changes: Record<string, string | null> = {};
  for (const key of Object.keys(before.attributes)) changes[ATTRIBUTE + key] = null;
  for (const [key, value] of Object.entries(after.attributes)) changes[ATTRIBUTE + key] = value;
  for (const name of NAMES) changes[name] = after[name] || null;
  // The service takes one answer to where.
  if (after.place) changes.box = null;
  return changes;
}

export function isFiltered(filter: Filter): boolean {
  return NAMES.some((name) => filter[name] !== '') || Object.keys(filter.attributes).length > 0;
}

/** A key that names one thing, such as `storm_id`, and not a kind of many. */
const IDENTITY = /(^|[_.\- ])(id|ID)$|[a-z]Id$/;

/** Whether what passes is of one actor or of one thing, so that a line on the map may join it. */
export function isTrack(filter: Filter): boolean {
  return filter.actor !== '' || Object.keys(filter.attributes).some((key) => IDENTITY.test(key));
}

/** Whether each group is of one actor or of one thing, so that a line on the map may join its events. */
export function isTracked(by: GroupBy): boolean {
  return by === 'actor' || (by.startsWith(ATTRIBUTE) && IDENTITY.test(groupName(by)));
}

export function isSameFilter(a: Filter, b: Filter): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

interface FilterPart {
  /** What people read on the chip. */
  label: string;
  /** The filter without it. */
  without: Filter;
}

/** Says what an attribute has to be: a value, or a number in a range, as the service takes it. */
export function demandText(value: string): string {
  const range = value
    .replace(/^(-?[\d.]+)\/\.\.$/, '≥ $1')
    .replace(/^\.\.\/(-?[\d.]+)$/, '≤ $1')
    .replace(/^(-?[\d.]+)\/(-?[\d.]+)$/, '$1 to $2');
  return range === value ? `= ${value}` : range;
}

/** Returns what the filter is made of, each part with the filter that is left without it. */
export function filterParts(filter: Filter): FilterPart[] {
  const parts: FilterPart[] = [];
  if (filter.text) parts.push({ label: `“${filter.text}”`, without: { ...filter, text: '' } });
  if (filter.actor) parts.push({ label: `actor: ${filter.actor}`, without: { ...filter, actor: '' } });
  if (filter.source) parts.push({ label: `source: ${filter.source}`, without: { ...filter, source: '' } });
  if (filter.place) parts.push({ label: `place: ${filter.place}`, without: { ...filter, place: '' } });
  for (const [key, value] of Object.entries(filter.attributes)) {
    const { [key]: _, ...attributes } = filter.attributes;
    parts.push({ label: `${key} ${demandText(value)}`, without: { ...filter, attributes } });
  }
  return parts;
}

/** Returns the filter with one more demand, such as `attribute.status` being `HU`. */
export function narrowed(filter: Filter, by: GroupBy, value: string): Filter {
  if (by === 'actor' || by === 'source' || by === 'text' || by === 'place') return { ...filter, [by]: value };
  return { ...filter, attributes: { ...filter.attributes, [by.slice(ATTRIBUTE.length)]: value } };
}

/** Returns the value that a filter demands already, or nothing. */
export function demanded(filter: Filter, by: GroupBy): string {
  if (by === 'actor' || by === 'source') return filter[by];
  return filter.attributes[by.slice(ATTRIBUTE.length)] ?? '';
}

/** Returns what a group is called: the key of an attribute, or the word itself. */
export function groupName(by: GroupBy): string {
  return by.startsWith(ATTRIBUTE) ? by.slice(ATTRIBUTE.length) : by;
}

export function isGroupBy(text: string | null): text is GroupBy {
  return text !== null && /^(actor|source|attribute[.].{1,256})$/u.test(text);
}

/** What is asked: of which timeline, where, and of which events. */
export interface Question {
  timeline: string;
  filter: Filter;
  box: Box | null;
  /** Host time, entry or anchor up to which is asked what was known; all that is known now where it is missing. */
  asOf?: string | null;
}

/** A question as the service takes it. */
export interface QueryParams {
  timeline_id: string;
  location: string;
  text?: string;
  actor?: string;
  source?: string;
  attribute?: Record<string, string>;
  as_of?: string;
}

/** Returns the parameters that all questions share. */
export function queryOf({ timeline, filter, box, asOf }: Question): QueryParams {
  const { text, actor, source, attributes } = filter;
  return {
    timeline_id: timeline,
    location: filter.place || locationOf(box),
    ...(text ? { text } : {}),
    ...(actor ? { actor } : {}),
    ...(source ? { source } : {}),
    ...(Object.keys(attributes).length > 0 ? { attribute: { ...attributes } } : {}),
    ...(asOf ? { as_of: asOf } : {}),
  };
}

/** Returns the same for an address. */
export function addressOf(question: Question): Query {
  const { attribute, ...rest } = queryOf(question);
  return attribute === undefined ? rest : { ...rest, attribute: JSON.stringify(attribute) };
}

/** Returns a filter as an address has it; without values where it lets everything through. */
export function filterQuery(filter: Filter): Query {
  const { text, actor, source, attribute } = addressOf({ timeline: '', filter, box: null });
  return { text, actor, source, attribute };
}

export function locationOf(box: Box | null): string {
  return box === null ? '*' : `bbox:${boxParam(box)}`;
}

/** Event filters, in the URL and in API requests. */
import type { Query } from '../service/base';
import { boxParam, type Box } from '../address/ranges';

export interface Filter {
  /** Words, each a prefix of a word in the event. */
  text: string;
  actor: string;
  source: string;
  /** A place name, from events or the service's gazetteer. Replaces the box on the map. */
  place: string;
  /** Attribute values by key. */
  attributes: Readonly<Record<string, string>>;
}

export const ALL: Filter = { text: '', actor: '', source: '', place: '', attributes: {} };

const ATTRIBUTE = 'attribute.';
const NAMES = ['text', 'actor', 'source', 'place'] as const;

/** A grouping key: `actor`, `source` or `attribute.KEY`. */
export type GroupBy = string;

/** Reads the filter from URL parameters. */
export function parseFilter(params: Readonly<Record<string, string>>): Filter {
  const attributes: Record<string, string> = {};
  for (const name of Object.keys(params).sort())
    if (name.startsWith(ATTRIBUTE) && name.length > ATTRIBUTE.length)
      attributes[name.slice(ATTRIBUTE.length)] = params[name]!;
  const { text = '', actor = '', source = '', place = '' } = params;
  return { text, actor, source, place, attributes };
}

/** Returns the URL parameter changes that replace one filter by another. */
export function filterParams(before: Filter, after: Filter): Record<string, string | null> {
  const changes: Record<string, string | null> = {};
  for (const key of Object.keys(before.attributes)) changes[ATTRIBUTE + key] = null;
  for (const [key, value] of Object.entries(after.attributes)) changes[ATTRIBUTE + key] = value;
  for (const name of NAMES) changes[name] = after[name] || null;
  // The service accepts a single `location`.
  if (after.place) changes.box = null;
  return changes;
}

export function isFiltered(filter: Filter): boolean {
  return NAMES.some((name) => filter[name] !== '') || Object.keys(filter.attributes).length > 0;
}

/** Matches keys that identify one object, such as `storm_id`, rather than a category. */
const IDENTITY = /(^|[_.\- ])(id|ID)$|[a-z]Id$/;

/** Whether all matching events belong to one actor or object, so that a track on the map may connect them. */
export function isTrack(filter: Filter): boolean {
  return filter.actor !== '' || Object.keys(filter.attributes).some((key) => IDENTITY.test(key));
}

/** Whether each group belongs to one actor or object, so that a track on the map may connect its events. */
export function isTracked(by: GroupBy): boolean {
  return by === 'actor' || (by.startsWith(ATTRIBUTE) && IDENTITY.test(groupName(by)));
}

export function isSameFilter(a: Filter, b: Filter): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

interface FilterPart {
  /** Text on the chip. */
  label: string;
  /** The filter without this part. */
  without: Filter;
}

/** Returns the text of an attribute condition: a value or a numeric range. */
export function rangeConditionText(value: string): string {
  const range = value
    .replace(/^(-?[\d.]+)\/\.\.$/, '≥ $1')
    .replace(/^\.\.\/(-?[\d.]+)$/, '≤ $1')
    .replace(/^(-?[\d.]+)\/(-?[\d.]+)$/, '$1 to $2');
  return range === value ? `= ${value}` : range;
}

/** Returns the parts of a filter, each with the filter that remains when the part is removed. */
export function filterParts(filter: Filter): FilterPart[] {
  const parts: FilterPart[] = [];
  if (filter.text) parts.push({ label: `“${filter.text}”`, without: { ...filter, text: '' } });
  if (filter.actor) parts.push({ label: `actor: ${filter.actor}`, without: { ...filter, actor: '' } });
  if (filter.source) parts.push({ label: `source: ${filter.source}`, without: { ...filter, source: '' } });
  if (filter.place) parts.push({ label: `place: ${filter.place}`, without: { ...filter, place: '' } });
  for (const [key, value] of Object.entries(filter.attributes)) {
    const { [key]: _, ...attributes } = filter.attributes;
    parts.push({ label: `${key} ${rangeConditionText(value)}`, without: { ...filter, attributes } });
  }
  return parts;
}

/** Returns the filter with one more condition, such as `attribute.status` = `HU`. */
export function narrowed(filter: Filter, by: GroupBy, value: string): Filter {
  if (by === 'actor' || by === 'source' || by === 'text' || by === 'place') return { ...filter, [by]: value };
  return { ...filter, attributes: { ...filter.attributes, [by.slice(ATTRIBUTE.length)]: value } };
}

/** Returns the value that a filter already requires, or an empty string. */
export function requiredValue(filter: Filter, by: GroupBy): string {
  if (by === 'actor' || by === 'source') return filter[by];
  return filter.attributes[by.slice(ATTRIBUTE.length)] ?? '';
}

/** Returns the display name of a grouping key: the attribute key, or the word itself. */
export function groupName(by: GroupBy): string {
  return by.startsWith(ATTRIBUTE) ? by.slice(ATTRIBUTE.length) : by;
}

export function isGroupBy(text: string | null): text is GroupBy {
  return text !== null && /^(actor|source|attribute[.].{1,256})$/u.test(text);
}

/** An event query: timeline, filter and box. */
export interface Question {
  timeline: string;
  filter: Filter;
  box: Box | null;
  /** Host time, entry or anchor for an `as_of` query. The newest state if missing. */
  asOf?: string | null;
}

/** A query in the form of API parameters. */
interface QueryParams {
  timeline_id: string;
  location: string;
  text?: string;
  actor?: string;
  source?: string;
  attribute?: Record<string, string>;
  as_of?: string;
}

/** Returns the parameters common to all event queries. */
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

/** Returns the same parameters for a query string. */
export function addressOf(question: Question): Query {
  const { attribute, ...rest } = queryOf(question);
  return attribute === undefined ? rest : { ...rest, attribute: JSON.stringify(attribute) };
}

/** Returns the query string parameters of a filter. Empty parts have no value. */
export function filterQuery(filter: Filter): Query {
  const { text, actor, source, attribute } = addressOf({ timeline: '', filter, box: null });
  return { text, actor, source, attribute };
}

function locationOf(box: Box | null): string {
  return box === null ? '*' : `bbox:${boxParam(box)}`;
}

/** Validates the URL parameters of each view. Unknown and invalid parameters are ignored, and the page reports them. */
import { parse } from '../time/instant';
import { knownAt } from './known-at';
import { isPeriod } from '../time/period-range';
import { CUSTOM, PERIODS } from '../time/periods';
import { isZone } from '../time/zone.svelte';
import { parseBox, parseMapParts, parseRange } from './ranges';

/** Returns what a valid value would be, or null if the value is valid. */
type Check = (text: string) => string | null;

const anything: Check = () => null;
const oneOf =
  (...words: string[]): Check =>
  (text) =>
    words.includes(text) ? null : `must be ${words.length > 1 ? `one of ${words.join(', ')}` : words.join('')}`;
const time: Check = (text) => (parse(text) === null ? 'must be a time such as 1969-07-20T20:17:40Z' : null);
const moment: Check = (text) =>
  knownAt(text) === null
    ? 'must be a time such as 2026-11-20T10:00:00Z, a position in the ledger such as 100, or the id of an anchor'
    : null;
const above: Check = (text) => (Number(text) > 0 ? null : 'must be a number above 0');
const position: Check = (text) => (/^\d{1,15}$/.test(text) ? null : 'must be a position in the ledger, from 0');
const range: Check = (text) =>
  parseRange(text) === null ? 'must be two times, such as 1914-01-01T00:00:00Z/1919-01-01T00:00:00Z' : null;
const box: Check = (text) =>
  parseBox(text) === null ? 'must be west,south,east,north in degrees, such as -98,18,-81,31' : null;

const map: Check = (text) =>
  parseMapParts(text) === null ? 'must be latitude,longitude,zoom, such as 29.95,-90.07,4' : null;

const LAST = PERIODS.map(([id]) => id);
const period: Check = (text) =>
  isPeriod(text) ? null : `must be one of ${LAST.join(', ')}, P1M, P1Y, or next- followed by one of these`;

const grouping: Check = (text) =>
  /^(actor|source|attribute[.].+)$/.test(text)
    ? null
    : 'must be actor, source, or an attribute such as attribute.status';

/** The time filter of views that have one. */
const PERIOD = { period: oneOf(...LAST, CUSTOM), from: anything, to: anything };

const TABS = ['permissions', 'log', 'retention', 'settings', 'users', 'restrictions', 'keys', 'sessions'];

/** The parameters of each view, except `timeline`. The parameters of the Explorer are the fields of its operation. */
const VALID_PARAMS: Record<string, Record<string, Check>> = {
  clock: {
    cols: anything,
    do: oneOf('travel', 'anchor', 'hold', 'rate'),
    to: anything,
    anchor: anything,
    zone: oneOf('local'),
    scale: oneOf('log'),
    passed: (text) =>
      /^[^/]+[/][^/]+$/.test(text) && text.split('/').every((item) => parse(item) !== null)
        ? null
        : 'must be the start and end of a clock move, such as 2005-08-01T00:00:00Z/2005-08-04T00:00:00Z',
    advance: (text) => (/^advance_[0-9a-z]{1,64}$/.test(text) ? null : 'must be the id of an advance'),
  },
  timeline: {
    most: above,
    center: time,
    zoom: above,
    period,
    export: oneOf('view', ...LAST),
    event: anything,
    range,
    box,
    map,
    heat: oneOf('events', 'mean', 'highest'),
    tracks: oneOf('0', '1'),
    shades: oneOf('linear', 'sqrt', 'log', 'quantiles'),
    as_of: moment,
    do: oneOf('as-of', 'tree', 'record', 'import', 'export', 'save'),
    view: oneOf('list', 'map'),
    sort: anything,
    cols: anything,
    q: anything,
    text: anything,
    actor: anything,
    source: anything,
    place: (text) =>
      text.trim() !== '' && text.length <= 512 ? null : 'must be the name of a place, such as Paris, France',
    by: grouping,
    inside: oneOf('1'),
    lanes: oneOf('1'),
    open: anything,
    order: anything,
    top: anything,
    pin: anything,
    skip: (text) => (/^[1-9]\d{0,3}$/.test(text) ? null : 'must be the number of groups to skip, from 1'),
    each: oneOf('1'),
    scale: oneOf('log'),
    second: anything,
    follow: oneOf('1'),
    path: oneOf('to', 'after'),
    play: oneOf('all', '1', '10', '60', '3600'),
    value_scale: oneOf('log'),
    units: (text) =>
      /[^,]=[^,]/.test(text) ? null : 'must be attributes and their units, such as max_wind_kt=kt,dep_delay=min',
    value: (text) => (text.length <= 256 ? null : 'must be the name of an attribute'),
  },
  timers: { cols: anything, do: oneOf('set', 'hold'), state: oneOf('done', 'cancelled'), timer: anything },
  timelines: { q: anything, sort: anything },
  compare: {
    with: anything,
    change: oneOf('only_in_base', 'only_in_compare', 'differs'),
    scale: oneOf('log'),
    center: time,
    zoom: above,
    period: oneOf(...LAST),
    event: anything,
  },
  paradoxes: {
    tab: oneOf('lab'),
    event: anything,
    action: anything,
    kinds: anything,
    include: oneOf('observations'),
    speed: above,
    tolerance: anything,
    paradox: anything,
    ...PERIOD,
  },
  integrity: { cols: anything, position, before: position, show: oneOf('all', 'changes'), period: oneOf(...LAST) },
  access: {
    cols: anything,
    tab: oneOf(...TABS),
    user: anything,
    action: anything,
    ...PERIOD,
    reads: oneOf('hidden'),
    q: anything,
    create: anything,
  },
};

const OPEN = '..';
/** One end of a numeric range: open, or a number. */
const END = /^(\.\.|[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)$/;

/**
 * Whether an attribute value looks like a half-open range whose bounded end is not a number. The service searches such
 * a value as text. A value with two bounded ends, such as a fraction or a date, may be intended as text.
 */
function isInvalidRange(text: string): boolean {
  const ends = text.split('/');
  return ends.length === 2 && ends.includes(OPEN) && !ends.every((end) => END.test(end));
}

/** Returns one sentence per parameter of an address that is ignored or reinterpreted. */
export function wrongParams(view: string, params: Record<string, string>): string[] {
  const invalid = invalidParams(view, params);
  const texts = view !== 'timeline' ? [] : Object.entries(params).filter(([name]) => /^attribute[.]./.test(name));
  const asText = texts.flatMap(([name, text]) =>
    isInvalidRange(text)
      ? [`“${name}” is searched as the text “${text}”. Write a range as 140/.., ../160 or 140/160.`]
      : [],
  );
  return [...(invalid.length > 0 ? ['Part of this link was ignored.'] : []), ...invalid, ...asText];
}

function invalidParams(view: string, params: Record<string, string>): string[] {
  const checks = VALID_PARAMS[view];
  if (checks === undefined) return [];
  return Object.entries(params).flatMap(([name, text]) => {
    if (name === 'timeline') return [];
    // All views display times.
    if (name === 'tz')
      return isZone(text) ? [] : ['“tz” must be a time zone such as Europe/Paris, an offset such as +05:30, or place.'];
    // The tour visits all views.
    if (name === 'tour') return /^[1-9]\d?$/.test(text) ? [] : ['“tour” must be the number of a step.'];
    // An attribute filter has the attribute's key in its name.
    if (view === 'timeline' && /^attribute[.]./.test(name)) return [];
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) return [`This view has no “${name}”.`];
    const right = check(text);
    return right === null ? [] : [`“${name}” ${right}.`];
  });
}

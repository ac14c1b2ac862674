/** Commands of the palette for a query. */
import { countText } from '../../lib/events/words';
import { parseMomentInput } from '../../lib/time/calendar';
import { format, parse, type Micros } from '../../lib/time/instant';
import { momentText } from '../../lib/time/display';
import { rateText, rateWords, readRate } from '../../lib/time/rate';
import type { Theme } from '../../lib/page/theme.svelte';
import type { Anchor } from '../../lib/timelines/anchors';

/** A command that acts without navigation. */
export type Action =
  | { pause: boolean }
  | { rate: number }
  | { theme: Theme }
  | { zone: true }
  | { copy: 'link' }
  | { help: 'keys' }
  | { make: Creation };
/** A creation dialog. */
export type Creation = 'timeline' | 'fork' | 'view';

export interface Command {
  /** Key of the list item. */
  id: string;
  group: 'Go to' | 'Time' | 'Saved' | 'Timelines' | 'Events' | 'Anchors' | 'Actions';
  title: string;
  hint: string;
  /** Icon name of `ui/Icon`. */
  icon: string;
  /** Link target or action. */
  to: string | Action;
}

export interface Sources {
  timeline: string;
  now: Micros | null;
  views: readonly { id: string; title: string; icon: string }[];
  timelines: readonly { timeline_id: string; events: number; fork?: unknown }[];
  hasDemo: boolean;
  /** Whether the user may manage the users of the service. */
  isOperator: boolean;
  anchors: readonly Anchor[];
  /** Search results of the service. Their titles need not contain the query. */
  events: readonly { id: string; title: string; when: string; href: string }[];
  /** Whether the service has more results. */
  hasMoreEvents: boolean;
  saved: readonly { name: string; hash: string }[];
  /** Whether the clock is paused; null if unknown. */
  isPaused: boolean | null;
  /** Permissions on the timeline's clock and events. */
  may: { move: boolean; rate: boolean; record: boolean };
  href: (view: string, params?: Record<string, string>) => string;
}

/** Maximum number of timelines and of anchors. */
const EACH_MAX = 8;

/** Zoom for jumps in microseconds per pixel: about a day and a half on an axis of 1,000 pixels. */
const JUMP_ZOOM = '120000000';

/** Returns the matching commands, best match first within each group. */
export function commands(typed: string, sources: Sources): Command[] {
  const { timeline, now, href } = sources;
  const query = typed.trim();
  const views = sources.views.map(({ id, title, icon }): Command => ({
    id: `view ${id}`,
    group: 'Go to',
    title,
    hint: timeline,
    icon,
    to: href(id),
  }));
  const timelines = sources.timelines
    .filter(({ timeline_id }) => timeline_id !== timeline)
    .map(({ timeline_id, events, fork }): Command => ({
      id: `timeline ${timeline_id}`,
      group: 'Timelines',
      title: timeline_id,
      hint: countText(events, 'event'),
      icon: fork ? 'fork' : 'timeline',
      to: href('timeline', { timeline: timeline_id }),
    }));
  const anchors = sources.anchors.map(({ anchor_id, description, timestamp }): Command => ({
    id: `anchor ${anchor_id}`,
    group: 'Anchors',
    title: description || 'Anchor',
    hint: momentText(parse(timestamp) ?? 0n),
    icon: 'anchor',
    to: href('clock', { anchor: anchor_id }),
  }));
  const saved = sources.saved.map(({ name, hash }): Command => ({
    id: `saved ${name}`,
    group: 'Saved',
    title: name,
    hint: '',
    icon: 'check',
    to: hash,
  }));
  const fits = (command: Command): boolean => fit(query, command) > 0;
  const best = (found: Command[]): Command[] =>
    found
      .filter(fits)
      .sort((a, b) => fit(query, b) - fit(query, a))
      .slice(0, EACH_MAX);
  return [
    ...times(query, now, sources),
    ...rates(query, sources),
    ...best(saved),
    ...best(views),
    ...best(actions(sources)),
    ...best(timelines),
    ...(query === '' ? [] : eventsOf(query, sources)),
    ...(query === '' ? anchors.slice(0, 3) : best(anchors)),
  ];
}

/** Commands for a typed time: show it, or move the clock to it. */
function times(query: string, now: Micros | null, { href, may }: Sources): Command[] {
  const found = query === '' ? null : parseMomentInput(query, now ?? 0n);
  if (found === null || (found.isRelative && now === null)) return [];
  const time = format(found.instant);
  const hint = momentText(found.instant);
  const centerCommand: Command = {
    id: 'center',
    group: 'Time',
    title: 'Show on the axis',
    hint,
    icon: 'timeline',
    to: href('timeline', { center: time, zoom: JUMP_ZOOM }),
  };
  const travel: Command = {
    id: 'travel',
    group: 'Time',
    title: 'Travel there…',
    hint,
    icon: 'travel',
    to: href('clock', { do: 'travel', to: time }),
  };
  return may.move ? [centerCommand, travel] : [centerCommand];
}

function eventsOf(query: string, { events, hasMoreEvents, href: to }: Sources): Command[] {
  const found = events.map(({ id, title, when, href }): Command => ({
    id: `event ${id}`,
    group: 'Events',
    title,
    hint: when,
    icon: 'timeline',
    to: href,
  }));
  if (!hasMoreEvents) return found;
  const all: Command = {
    id: 'events',
    group: 'Events',
    title: `All events with “${query}”`,
    hint: 'on the timeline',
    icon: 'search',
    to: to('timeline', { text: query }),
  };
  return [...found, all];
}

/** Commands for a typed rate: `60x`, `rate 0.5`. A bare number is a time or a name. */
function rates(query: string, { may }: Sources): Command[] {
  const typed = /^(?:rate\s+(?<named>\S+)|(?<times>\S+[x×]))$/i.exec(query)?.groups;
  const rate = readRate(typed?.named ?? typed?.times ?? '');
  if (typeof rate === 'string' || !may.rate) return [];
  return [
    {
      id: 'rate',
      group: 'Time',
      title: `Run at ${rateText(rate)}`,
      hint: rateWords(rate),
      icon: 'forward',
      to: { rate },
    },
  ];
}

function actions({ timeline, href, may, isPaused, hasDemo, isOperator }: Sources): Command[] {
  const access = (tab: string): string => href('access', { tab });
  const action = (id: string, title: string, icon: string, to: Command['to']): Command => ({
    id: `action ${id}`,
    group: 'Actions',
    title,
    hint: '',
    icon,
    to,
  });
  return [
    ...(may.record ? [action('record', 'Record an event…', 'plus', href('timeline', { do: 'record' }))] : []),
    ...(may.record ? [action('import', 'Import a file…', 'upload', href('timeline', { do: 'import' }))] : []),
    action('export', 'Export events or a picture…', 'download', href('timeline', { do: 'export' })),
    ...(may.move && isPaused === true ? [action('pause', 'Resume the clock', 'play', { pause: false })] : []),
    ...(may.move && isPaused === false ? [action('pause', 'Pause the clock', 'pause', { pause: true })] : []),
    ...(may.rate ? [action('rate', 'Set the rate of the clock…', 'forward', href('clock', { do: 'rate' }))] : []),
    ...(may.move ? [action('travel', 'Travel…', 'travel', href('clock', { do: 'travel' }))] : []),
    ...(may.move ? [action('anchor', 'Set an anchor…', 'anchor', href('clock', { do: 'anchor' }))] : []),
    ...(may.move ? [action('hold', 'Hold the clock…', 'lock', href('clock', { do: 'hold' }))] : []),
    ...(isPaused === null ? [] : [action('follow', 'Follow the clock', 'clock', href('timeline', { follow: '1' }))]),
    action('play', 'Play this time range', 'play', href('timeline', { play: 'all' })),
    action('link', 'Copy a permanent link', 'copy', { copy: 'link' }),
    action('make', 'New timeline…', 'plus', { make: 'timeline' }),
    action('fork', `Fork ${timeline}…`, 'fork', { make: 'fork' }),
    action('save', 'Save this view…', 'check', { make: 'view' }),
    ...(hasDemo ? [action('tour', 'Take the tour', 'info', href('timeline', { timeline: 'demo', tour: '1' }))] : []),
    action('tree', 'Show forks and anchors', 'fork', href('timeline', { do: 'tree' })),
    action('as-of', 'View the timeline as of…', 'history', href('timeline', { do: 'as-of' })),
    action('people', 'Permissions: who may do what', 'people', access('permissions')),
    action('log', 'Access log: who did what', 'people', access('log')),
    action('retention', 'Retention: how long reads are kept', 'people', access('retention')),
    action('settings', `Settings of ${timeline}`, 'people', access('settings')),
    ...(isOperator
      ? [
          action('users', 'Users of the service', 'user', access('users')),
          action('restrictions', 'Restrictions: access levels', 'lock', access('restrictions')),
        ]
      : []),
    action('keys', 'Your API keys', 'key', access('keys')),
    action('sessions', 'Your sessions', 'key', access('sessions')),
    action('help', 'Help: keyboard shortcuts', 'info', { help: 'keys' }),
    action('compare', 'Compare with a fork', 'fork', href('compare')),
    action('list', 'Show events as a list', 'timeline', href('timeline', { view: 'list' })),
    action('map', 'Show a large map', 'globe', href('timeline', { view: 'map' })),
    action('zone', 'Change the time zone…', 'globe', { zone: true }),
    action('light', 'Colors: light', 'sun', { theme: 'light' }),
    action('dark', 'Colors: dark', 'moon', { theme: 'dark' }),
    action('system', 'Colors: system', 'half', { theme: 'system' }),
    action('timelines', 'Show all timelines and their clocks', 'timeline', href('timelines')),
    action('what-if', 'Ask “what if?”', 'paradox', href('paradoxes', { tab: 'lab' })),
  ];
}

/** Returns the match quality of a command. It must contain every word; word prefixes score higher. */
function fit(query: string, { title, group }: Command): number {
  const [name, all] = [title.toLowerCase(), `${title} ${group}`.toLowerCase()];
  let points = 1;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    if (!all.includes(word)) return 0;
    points += name.startsWith(word) ? 4 : new RegExp(`\\b${escaped(word)}`, 'u').test(name) ? 2 : 1;
  }
  return points;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

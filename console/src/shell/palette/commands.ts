/** What the palette offers for what is typed. */
import { understand } from '../../lib/calendar';
import { format, parse, type Micros } from '../../lib/instant';
import { momentText } from '../../lib/people';
import type { Anchor } from '../../lib/anchors';

export interface Command {
  /** What it is, for the list's keys. */
  id: string;
  group: 'Go to' | 'Time' | 'Saved' | 'Timelines' | 'Anchors' | 'Actions';
  title: string;
  hint: string;
  /** The name of a sign of `ui/Icon`. */
  icon: string;
  /** The address that it leads to. */
  href: string;
}

export interface Sources {
  timeline: string;
  now: Micros | null;
  views: readonly { id: string; title: string; icon: string }[];
  timelines: readonly { timeline_id: string; events: number; fork?: unknown }[];
  anchors: readonly Anchor[];
  saved: readonly { name: string; hash: string }[];
  /** What the timeline's clock and events may be used for. */
  may: { move: boolean; record: boolean };
  href: (view: string, params?: Record<string, string>) => string;
}

/** So many timelines and anchors are offered at once. */
const EACH_MAX = 8;

/** An hour in microseconds a pixel of an axis of a thousand: a day and a half in sight. */
const JUMP_ZOOM = '120000000';

/** Returns what fits what was typed; the best first in each group. */
export function commands(typed: string, sources: Sources): Command[] {
  const { timeline, now, href } = sources;
  const wanted = typed.trim();
  const views = sources.views.map(({ id, title, icon }): Command => ({
    id: `view ${id}`,
    group: 'Go to',
    title,
    hint: timeline,
    icon,
    href: href(id),
  }));
  const timelines = sources.timelines
    .filter(({ timeline_id }) => timeline_id !== timeline)
    .map(({ timeline_id, events, fork }): Command => ({
      id: `timeline ${timeline_id}`,
      group: 'Timelines',
      title: timeline_id,
      hint: `${events.toLocaleString('en')} event${events === 1 ? '' : 's'}`,
      icon: fork ? 'fork' : 'timeline',
      href: href('timeline', { timeline: timeline_id }),
    }));
  const anchors = sources.anchors.map(({ anchor_id, description, timestamp }): Command => ({
    id: `anchor ${anchor_id}`,
    group: 'Anchors',
    title: description || 'Anchor',
    hint: momentText(parse(timestamp) ?? 0n),
    icon: 'anchor',
    href: href('clock', { anchor: anchor_id }),
  }));
  const saved = sources.saved.map(({ name, hash }): Command => ({
    id: `saved ${name}`,
    group: 'Saved',
    title: name,
    hint: '',
    icon: 'check',
    href: hash,
  }));
  const fits = (command: Command): boolean => fit(wanted, command) > 0;
  const best = (found: Command[]): Command[] =>
    found
      .filter(fits)
      .sort((a, b) => fit(wanted, b) - fit(wanted, a))
      .slice(0, EACH_MAX);
  return [
    ...times(wanted, now, sources),
    ...best(saved),
    ...best(views),
    ...best(actions(sources)),
    ...best(timelines),
    ...(wanted === '' ? anchors.slice(0, 3) : best(anchors)),
  ];
}

/** A moment that was typed: to look at, and to send the clock to. */
function times(wanted: string, now: Micros | null, { href, may }: Sources): Command[] {
  const found = wanted === '' ? null : understand(wanted, now ?? 0n);
  if (found === null || (found.isRelative && now === null)) return [];
  const time = format(found.instant);
  const hint = momentText(found.instant);
  const look: Command = {
    id: 'look',
    group: 'Time',
    title: 'Show it on the axis',
    hint,
    icon: 'timeline',
    href: href('timeline', { center: time, zoom: JUMP_ZOOM }),
  };
  const travel: Command = {
    id: 'travel',
    group: 'Time',
    title: 'Travel there…',
    hint,
    icon: 'travel',
    href: href('clock', { do: 'travel', to: time }),
  };
  return may.move ? [look, travel] : [look];
}

function actions({ href, may, timelines }: Sources): Command[] {
  const hasDemo = timelines.some(({ timeline_id }) => timeline_id === 'demo');
  const act = (id: string, title: string, icon: string, at: string): Command => ({
    id: `action ${id}`,
    group: 'Actions',
    title,
    hint: '',
    icon,
    href: at,
  });
  return [
    ...(may.record ? [act('record', 'Record an event…', 'plus', href('timeline', { do: 'record' }))] : []),
    ...(may.record ? [act('import', 'Import a file…', 'upload', href('timeline', { do: 'import' }))] : []),
    act('export', 'Export events or a picture…', 'download', href('timeline', { do: 'export' })),
    ...(may.move ? [act('travel', 'Travel…', 'travel', href('clock', { do: 'travel' }))] : []),
    ...(may.move ? [act('anchor', 'Set an anchor…', 'anchor', href('clock', { do: 'anchor' }))] : []),
    ...(may.move ? [act('hold', 'Hold the clock…', 'lock', href('clock', { do: 'hold' }))] : []),
    act('save', 'Save this view…', 'check', href('timeline', { do: 'save' })),
    ...(hasDemo ? [act('tour', 'Take the tour', 'info', href('timeline', { timeline: 'demo', tour: '1' }))] : []),
    act('tree', 'Show forks and anchors', 'fork', href('timeline', { do: 'tree' })),
    act('as-of', 'Show what was known when', 'history', href('timeline', { do: 'as-of' })),
    act('compare', 'Compare with a fork', 'fork', href('compare')),
    act('list', 'Show events as a list', 'timeline', href('timeline', { view: 'list' })),
    act('timelines', 'Show all timelines and their clocks', 'timeline', href('timelines')),
    act('what-if', 'Ask what would happen if', 'paradox', href('paradoxes', { tab: 'lab' })),
  ];
}

/** Returns how well a command fits: each word has to be in it, best at the beginning of a word. */
function fit(wanted: string, { title, group }: Command): number {
  const [name, all] = [title.toLowerCase(), `${title} ${group}`.toLowerCase()];
  let points = 1;
  for (const word of wanted.toLowerCase().split(/\s+/).filter(Boolean)) {
    if (!all.includes(word)) return 0;
    points += name.startsWith(word) ? 4 : new RegExp(`\\b${escaped(word)}`, 'u').test(name) ? 2 : 1;
  }
  return points;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

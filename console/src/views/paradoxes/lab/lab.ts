/** The changes of an intervention, side by side, and the action syntax of the service. */
import { countText } from '../../../lib/events/words';
import { parse, wholeSecond } from '../../../lib/time/instant';
import { zonedText } from '../../../lib/time/display';
import { isDate, preciseText } from '../../../lib/time/when';
import type { Paradox } from '../paradox';

interface EventBody {
  event_id: string;
  time: string;
  end_time?: string | null;
  name?: string | null;
  description?: string | null;
  location?: string | null;
  geo?: Record<string, unknown> | null;
  precision?: string | null;
  kind?: string | null;
  actors?: string[] | null;
  causes?: { event_id: string; kind: string }[] | null;
}

interface Effect {
  kind: string;
  duration?: string | null;
  time?: string | null;
  location?: string | null;
  name?: string | null;
  description?: string | null;
}

/** The service's response to an intervention or a dry run. */
export interface InterventionResponse {
  status: string;
  event_id: string;
  effect: Effect;
  before?: EventBody | null;
  after?: EventBody | null;
  downstream: string[];
  downstream_count: number;
  paradoxes_created: Paradox[];
  paradoxes_resolved: Paradox[];
  dry_run: boolean;
  intervention_id?: string | null;
}

/** The service's response to a lookup by id or name. */
export interface LookupResponse {
  status: string;
  active: boolean;
  event_id?: string | null;
  event?: EventBody | null;
  relation?: string | null;
  causes: { event_id: string; distance: number }[];
  consequences: { count: number };
  interventions: { effect: Effect; changed: boolean; actor: string; recorded_at: string }[];
  paradoxes: Paradox[];
  candidates: { event_id: string; name?: string | null }[];
}

/** Counts the causes of an event, direct and indirect. */
export function causesText(causes: LookupResponse['causes']): string {
  const direct = causes.filter(({ distance }) => distance === 1).length;
  if (causes.length === 0) return 'No causes';
  if (direct === causes.length) return countText(direct, 'cause');
  return `${countText(direct, 'direct cause')}, ${causes.length.toLocaleString('en')} in total`;
}

/** Rewords the explanation of a paradox for a dry run, where nothing is canceled yet. */
export function conditionalText(explanation: string): string {
  return explanation
    .replace(/, which was removed(?=[ .])/, ', which would be canceled')
    .replace(/ removed (.+?), but happened because of it/, ' would cancel $1, but happens because of it');
}

/** Returns who canceled an event and when, or null if no intervention did. */
export function cancelledText({ interventions }: Pick<LookupResponse, 'interventions'>): string | null {
  const last = [...interventions].reverse().find(({ changed }) => changed);
  const at = last?.effect.kind === 'cancel' ? parse(last.recorded_at) : null;
  return last && at !== null ? `Canceled by ${last.actor}, ${zonedText(wholeSecond(at))} host time` : null;
}

export interface Difference {
  name: string;
  before: string | null;
  after: string | null;
  isDifferent: boolean;
}

/** Returns the fields of an event before and after, with differences marked. A field that both lack is left out. */
export function differences(before: EventBody | null, after: EventBody | null): Difference[] {
  const fields: [string, (event: EventBody) => string | null | undefined][] = [
    ['Time', (event) => momentText(event.time, event.precision)],
    ['Until', (event) => (event.end_time ? momentText(event.end_time, event.precision) : null)],
    ['Place', (event) => event.location],
    ['Coordinates', (event) => (event.geo ? `${String(event.geo.lat)}, ${String(event.geo.lon)}` : null)],
    ['Name', (event) => event.name],
    ['Description', (event) => event.description],
  ];
  const rows = fields.map(([name, read]): Difference => {
    const was = before ? (read(before) ?? null) : null;
    const is = after ? (read(after) ?? null) : null;
    // A canceled event has no fields after the intervention, so nothing is marked.
    return { name, before: was, after: is, isDifferent: after !== null && was !== is };
  });
  const presence = (event: EventBody | null): string => (event ? 'occurs' : 'canceled');
  return [
    {
      name: 'The event',
      before: presence(before),
      after: presence(after),
      isDifferent: (before === null) !== (after === null),
    },
    ...rows.filter((row) => row.before !== null || row.after !== null),
  ];
}

function momentText(text: string, precision?: string | null): string {
  const instant = parse(text);
  if (instant === null) return text;
  return isDate(precision) ? preciseText(instant, precision) : zonedText(instant);
}

const DRY = 'Dry run: nothing was changed. ';

/** Returns the service's description of an intervention, without the dry-run remark, which the page shows anyway. */
export function statusWords(status: string): string {
  return status.startsWith(DRY) ? status.slice(DRY.length) : status;
}

/** Returns how the service interpreted the action. */
export function effectWords(effect: Effect): string {
  const length = effect.duration ? ` by ${effect.duration}` : '';
  switch (effect.kind) {
    case 'cancel':
      return 'Cancel it';
    case 'restore':
      return 'Restore it as last recorded';
    case 'delay':
      return `Delay it${length}`;
    case 'advance':
      return `Bring it forward${length}`;
    case 'move':
      return `Move it to ${effect.time ? momentText(effect.time) : 'another time'}`;
    case 'relocate':
      return `Relocate it to ${effect.location ?? 'another place'}`;
    case 'rename':
      return `Rename it to “${effect.name ?? ''}”`;
    case 'describe':
      return 'Change its description';
    case 'note':
      return 'A note, which changes nothing';
    default:
      return effect.kind;
  }
}

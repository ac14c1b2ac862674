/** Converts an event to the text fields of the form, and back. */
import { format, parse, type Micros } from '../../../lib/time/instant';
import { isDate } from '../../../lib/time/when';
import { readDate, readMoment, zonedField } from '../../../lib/time/zoned';
import type { Input } from '../../../lib/service/api';
import type { Cause, EventBody } from '../../../lib/events/store';

/** An event as the API accepts it. */
type Content = Input<'correct_event'>['event'];

export interface Draft {
  name: string;
  description: string;
  time: string;
  end: string;
  precision: string;
  location: string;
  geo: string;
  actors: string;
  causes: string;
  attributes: string;
}

export function draftOf(event: EventBody | null, time: string): Draft {
  return {
    name: event?.name ?? '',
    description: event?.description ?? '',
    time: fieldText(event?.time ?? time),
    end: fieldText(event?.end_time ?? ''),
    precision: event?.precision ?? '',
    location: event?.location ?? '',
    geo: event?.geo ? `${event.geo.lat}, ${event.geo.lon}` : '',
    actors: (event?.actors ?? []).join(', '),
    causes: (event?.causes ?? []).map((cause) => cause.event_id).join(' '),
    attributes: event?.attributes ? JSON.stringify(event.attributes) : '',
  };
}

/** Formats a time of the API for a text field. */
function fieldText(time: string): string {
  const instant = parse(time);
  return instant === null ? time : zonedField(instant);
}

/** Parses a time field. A date without a time is the same date in every zone, so it is parsed as UTC. */
export function momentOf(text: string, precision: string): Micros | null {
  return (isDate(precision) ? readDate(text) : null) ?? readMoment(text);
}

/** Returns the request body and an error per invalid field. Properties that the form does not show are kept. */
export function bodyOf(draft: Draft, before: EventBody | null): { body: Content; wrong: Record<string, string> } {
  const wrong: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  if (before !== null) {
    for (const name of ['event_id', 'asserts', 'kind', 'sequence', 'source'] as const)
      if (before[name] != null) body[name] = before[name];
  }
  const instant = (name: string, text: string): void => {
    const time = momentOf(text, draft.precision);
    if (time === null) wrong[name] = 'Enter a time such as 1969-07-20T20:17:40Z, 1969-07-20 or 44 BCE';
    else body[name] = format(time);
  };
  instant('time', draft.time);
  if (draft.end.trim() !== '') instant('end_time', draft.end);
  for (const name of ['name', 'description', 'precision', 'location'] as const)
    if (draft[name].trim() !== '') body[name] = draft[name].trim();
  if (draft.name.trim() === '' && draft.description.trim() === '')
    wrong.description = 'Describe in a few words what happened';
  const actors = draft.actors
    .split(',')
    .map((actor) => actor.trim())
    .filter((actor) => actor !== '');
  if (actors.length > 0) body.actors = actors;
  geo(draft, before, body, wrong);
  const causes = draft.causes.split(/[\s,]+/).filter((cause) => cause !== '');
  if (causes.length > 0)
    body.causes = causes.map((id): Cause | string => before?.causes?.find((cause) => cause.event_id === id) ?? id);
  if (draft.attributes.trim() !== '') {
    const value = json(draft.attributes);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) body.attributes = value;
    else wrong.attributes = 'Enter a JSON object, such as {"topic": "science"}';
  }
  // Complete only if there are no errors.
  return { body: body as unknown as Content, wrong };
}

function geo(
  draft: Draft,
  before: EventBody | null,
  body: Record<string, unknown>,
  wrong: Record<string, string>,
): void {
  if (draft.geo.trim() === '') return;
  const [lat, lon, ...rest] = draft.geo
    .split(/[\s,;]+/)
    .filter((part) => part !== '')
    .map(Number);
  if (lat === undefined || lon === undefined || rest.length > 0 || !(Math.abs(lat) <= 90) || !(Math.abs(lon) <= 180)) {
    wrong.geo = 'Enter latitude and longitude in degrees, such as 28.57, -80.65';
    return;
  }
  const radius = before?.geo?.lat === lat && before.geo.lon === lon ? before.geo.radius_m : null;
  body.geo = radius == null ? { lat, lon } : { lat, lon, radius_m: radius };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

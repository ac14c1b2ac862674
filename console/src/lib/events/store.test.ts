import { describe, expect, it } from 'vitest';
import { format, parse } from '../time/instant';
import { EventStore, type EventBody } from './store';

const event = (event_id: string, time: string, more: Partial<EventBody> = {}): EventBody => ({
  event_id,
  time,
  description: `${event_id} happened`,
  ...more,
});

function storeOf(...bodies: EventBody[]): EventStore {
  const events = new EventStore();
  for (const body of bodies) events.push(body);
  return events;
}

const sampleStore = (): EventStore =>
  storeOf(
    event('a', '-000043-03-15T12:00:00Z'),
    event('b', '1969-07-20T20:17:40.000001Z', { geo: { lat: 28.57, lon: -80.65 }, causes: [{ event_id: 'a' }] }),
    event('c', '1969-07-20T20:17:40.000002Z', { end_time: '1969-07-21T00:00:00Z', precision: 'day' }),
  );

describe('event store', () => {
  it('returns times to the microsecond and finds rows by time', () => {
    const events = sampleStore();
    expect([0, 1, 2].map((row) => format(events.time(row)))).toEqual([
      '-000043-03-15T12:00:00Z',
      '1969-07-20T20:17:40.000001Z',
      '1969-07-20T20:17:40.000002Z',
    ]);
    expect(events.lowerBound(parse('1969-07-20T20:17:40.000001Z')!)).toBe(1);
    expect(events.lowerBound(parse('1969-07-20T20:17:40.000002Z')!)).toBe(2);
    expect(events.lowerBound(parse('9999-01-01T00:00:00Z')!)).toBe(3);
    expect(events.row('c')).toBe(2);
    expect(events.row('d')).toBe(-1);
    expect(events.effectsOf('a')).toEqual([1]);
    expect(format(events.end())).toBe('1969-07-21T00:00:00Z');
    expect([0, 1, 2].map((row) => events.precision(row))).toEqual(['', '', 'day']);
  });

  it('grows beyond its initial capacity', () => {
    const events = new EventStore();
    for (let index = 0; index < 3_000; index += 1)
      events.push(
        event(
          `e${index}`,
          `2000-01-01T00:${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}Z`,
        ),
      );
    expect(events.count).toBe(3_000);
    expect(format(events.time(2_999))).toBe('2000-01-01T00:49:59Z');
  });

  it('applies changes to a copy', () => {
    const before = sampleStore();
    const after = before.with(
      new Map<string, EventBody | null>([
        ['a', null],
        ['b', event('b', '2001-01-01T00:00:00Z')],
        ['d', event('d', '1000-01-01T00:00:00Z')],
      ]),
    );
    expect(after.ids).toEqual(['d', 'c', 'b']);
    expect(after.longestMicros).toBe(before.longestMicros);
    expect(before.ids).toEqual(['a', 'b', 'c']);
  });
});

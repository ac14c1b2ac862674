import { describe, expect, it } from 'vitest';
import { format, parse } from '../time/instant';
import { EventStore, type EventBody } from './store';

const event = (event_id: string, time: string, more: Partial<EventBody> = {}): EventBody => ({
  event_id,
  time,
  description: `${event_id} happened`,
  ...more,
});

function store(...events: EventBody[]): EventStore {
  const made = new EventStore();
  for (const one of events) made.push(one);
  return made;
}

const three = (): EventStore =>
  store(
    event('a', '-000043-03-15T12:00:00Z'),
    event('b', '1969-07-20T20:17:40.000001Z', { geo: { lat: 28.57, lon: -80.65 }, causes: [{ event_id: 'a' }] }),
    event('c', '1969-07-20T20:17:40.000002Z', { end_time: '1969-07-21T00:00:00Z', precision: 'day' }),
  );

describe('event store', () => {
  it('returns times to the microsecond and finds rows by time', () => {
    const made = three();
    expect([0, 1, 2].map((row) => format(made.time(row)))).toEqual([
      '-000043-03-15T12:00:00Z',
      '1969-07-20T20:17:40.000001Z',
      '1969-07-20T20:17:40.000002Z',
    ]);
    expect(made.lowerBound(parse('1969-07-20T20:17:40.000001Z')!)).toBe(1);
    expect(made.lowerBound(parse('1969-07-20T20:17:40.000002Z')!)).toBe(2);
    expect(made.lowerBound(parse('9999-01-01T00:00:00Z')!)).toBe(3);
    expect(made.row('c')).toBe(2);
    expect(made.row('d')).toBe(-1);
    expect(made.effectsOf('a')).toEqual([1]);
    expect(format(made.end())).toBe('1969-07-21T00:00:00Z');
    expect([0, 1, 2].map((row) => made.precision(row))).toEqual(['', '', 'day']);
  });

  it('grows beyond its initial capacity', () => {
    const made = new EventStore();
    for (let index = 0; index < 3_000; index += 1)
      made.push(
        event(
          `e${index}`,
          `2000-01-01T00:${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}Z`,
        ),
      );
    expect(made.count).toBe(3_000);
    expect(format(made.time(2_999))).toBe('2000-01-01T00:49:59Z');
  });

  it('applies changes to a copy', () => {
    const before = three();
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

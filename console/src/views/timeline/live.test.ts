import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../lib/events/store';
import { parse } from '../../lib/time/instant';
import { isWithin } from '../../lib/address/ranges';
import { changesIn, Live, type Changes } from './live.svelte';

const event = (event_id: string, geo?: { lat: number; lon: number }): [string, EventBody] => [
  event_id,
  { event_id, time: '2005-08-29T00:00:00Z', description: '', position: 1, ...(geo ? { geo } : {}) },
];
const changes: Changes = new Map([
  event('inside', { lat: 30, lon: -90 }),
  event('outside', { lat: 30, lon: -60 }),
  event('nowhere'),
  ['gone', null],
]);

describe('live changes', () => {
  it('in a box are kept if the event is there or may have been', () => {
    expect(changesIn(null, changes)).toBe(changes);
    const box = { west: -95, south: 25, east: -85, north: 35 };
    expect([...changesIn(box, changes).keys()]).toEqual(['inside', 'gone']);
  });
});

describe('changes outside the view', () => {
  const at = (event_id: string, year: number): [string, EventBody] => [
    event_id,
    { event_id, time: `${year}-01-01T00:00:00Z`, description: '', position: 1 },
  ];
  const moment = (year: number): bigint => parse(`${year}-01-01T00:00:00Z`)!;

  it('are dropped when they are in view, deleted, or moved into view', () => {
    const live = new Live(() => true);
    live.show(new Map([at('a', 1851), at('b', 1900), at('c', 2000)]), moment(1990), moment(2010));
    expect([...live.elsewhere.keys()]).toEqual(['a', 'b']);
    live.see(moment(1890), moment(2010));
    expect([...live.elsewhere.keys()]).toEqual(['a']);
    live.show(new Map([at('a', 1999)]), moment(1990), moment(2010));
    expect(live.elsewhere.size).toBe(0);
    live.show(new Map([at('d', 1851)]), moment(1990), moment(2010));
    live.show(new Map([['d', null]]), moment(1990), moment(2010));
    expect(live.elsewhere.size).toBe(0);
  });
});

describe('a box', () => {
  it('includes its edges and may cross the date line', () => {
    const box = { west: 170, south: -20, east: -170, north: 20 };
    for (const lon of [170, 180, -180, -170]) expect(isWithin(box, { lat: 20, lon })).toBe(true);
    for (const lon of [169, 0, -169]) expect(isWithin(box, { lat: 0, lon })).toBe(false);
    expect(isWithin(box, { lat: 21, lon: 175 })).toBe(false);
    expect(isWithin({ ...box, west: 10, east: 20 }, { lat: 0, lon: 15 })).toBe(true);
    expect(isWithin({ ...box, west: 10, east: 20 }, { lat: 0, lon: 25 })).toBe(false);
  });
});

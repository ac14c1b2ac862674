import { describe, expect, it } from 'vitest';
import { parse } from '../../../lib/time/instant';
import { ALL } from '../../../lib/events/filter';
import { COLORS, groupsOfStore, valuesOf, type GroupSelection } from './groups';
import { groupings } from '../attributes/attributes';
import { legendOf } from './legend';
import { FIRST, LAST } from '../../../lib/chart/scale';
import { EventStore, type EventBody } from '../../../lib/events/store';

const event = (event_id: string, more: Partial<EventBody>): EventBody => ({
  event_id,
  time: '2020-01-01T00:00:00Z',
  description: '',
  ...more,
});
function store(...events: EventBody[]): EventStore {
  const created = new EventStore();
  for (const one of events) created.push(one);
  return created;
}

const always = { from: FIRST, to: LAST };

describe('groups', () => {
  it('consist of actors, sources, or attributes at any depth', () => {
    const one = event('1', {
      actors: ['A', 'B'],
      source: 'S',
      attributes: { 'a.b': 1, a: { b: 2, c: { d: true } }, list: ['x', 5], object: { y: 1 } },
    });
    expect(valuesOf(one, 'actor')).toEqual(['A', 'B']);
    expect(valuesOf(one, 'source')).toEqual(['S']);
    // A key that contains the dot takes precedence.
    expect(valuesOf(one, 'attribute.a.b')).toEqual(['1']);
    expect(valuesOf(one, 'attribute.a.c.d')).toEqual(['true']);
    expect(valuesOf(one, 'attribute.list')).toEqual(['x', '5']);
    expect(valuesOf(one, 'attribute.object')).toEqual([]);
    expect(valuesOf(event('2', {}), 'attribute.a')).toEqual([]);
    expect(groupings([one, event('2', { source: 'T' })])[0]).toBe('source');
  });

  it('are sorted by size, with the rest combined', () => {
    const many = Array.from({ length: 12 }, (_, index) =>
      Array.from({ length: 12 - index }, (_, copy) => event(`${index} ${copy}`, { source: `S${index}` })),
    ).flat();
    const created = store(...many, event('none', {}));
    const legend = legendOf(created, ALL, 'source', always);
    expect(legend.groups.map(({ key }) => key)).toEqual(['S0', 'S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S7']);
    expect(legend.groups[0]!.count).toBe(12);
    expect([legend.others, legend.hasSeveral]).toEqual([4 + 3 + 2 + 1 + 1, false]);
    const groups = groupsOfStore(created, legend);
    expect([groups[0], groups[12], groups[created.count - 1]]).toEqual([0, 1, COLORS]);
  });

  it('report that an event with several values counts for each', () => {
    const created = store(event('1', { actors: ['A', 'B'] }), event('2', { actors: ['A'] }));
    const legend = legendOf(created, ALL, 'actor', always);
    expect(legend).toMatchObject({ hasSeveral: true, others: 0 });
    expect([...groupsOfStore(created, legend)]).toEqual([0, 0]);
    // The filtered actor has a color; other actors of the same events have none.
    expect(legendOf(created, { ...ALL, actor: 'B' }, 'actor', always).groups).toEqual([{ key: 'B', count: 1 }]);
  });

  it('include an event that started earlier and has not ended', () => {
    const created = store(
      event('long', { source: 'L', time: '1990-01-01T00:00:00Z', end_time: '2010-01-01T00:00:00Z' }),
      event('over', { source: 'O', time: '1991-01-01T00:00:00Z', end_time: '1992-01-01T00:00:00Z' }),
      event('now', { source: 'N' }),
    );
    const legend = legendOf(created, ALL, 'source', { from: parse('1999-01-01T00:00:00Z')!, to: LAST });
    expect([legend.groups.map(({ key }) => key), legend.others]).toEqual([['L', 'N'], 0]);
  });

  it('with colors can be chosen: pinned ones, or the next ones by count', () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      Array.from({ length: 20 - index }, (_, copy) =>
        event(`${index} ${copy}`, { source: `S${String(index).padStart(2, '0')}` }),
      ),
    ).flat();
    const created = store(...many);
    const keys = (chosen: GroupSelection): string =>
      legendOf(created, ALL, 'source', always, null, chosen)
        .groups.map(({ key }) => key.slice(1))
        .join(' ');
    expect(keys({ pins: [], skip: 8 })).toBe('08 09 10 11 12 13 14 15');
    expect(keys({ pins: ['S19', 'S00'], skip: 0 })).toBe('19 00 01 02 03 04 05 06');
    expect(keys({ pins: ['S19', 'S00'], skip: 6 })).toBe('19 00 07 08 09 10 11 12');
    // If fewer groups are left than colors, the last ones are used.
    expect(keys({ pins: [], skip: 400 })).toBe('12 13 14 15 16 17 18 19');
    // A pinned group keeps its lane without events in view.
    const legend = legendOf(created, ALL, 'source', always, null, { pins: ['none'], skip: 0 });
    expect(legend.groups[0]).toEqual({ key: 'none', count: 0 });
    expect([legend.all.length, legend.all.at(-1)]).toEqual([20, { key: 'S19', count: 1 }]);
  });

  it('are counted for a time range and keep their colors between ranges', () => {
    const at = (year: number, source: string): EventBody =>
      event(`${year} ${source}`, { source, time: `${year}-01-01T00:00:00Z` });
    const created = store(at(2000, 'A'), at(2001, 'A'), at(2002, 'B'), at(2003, 'B'), at(2004, 'B'), at(2005, 'C'));
    const year = (text: number): bigint => parse(`${text}-01-01T00:00:00Z`)!;
    const early = legendOf(created, ALL, 'source', { from: year(2000), to: year(2002) });
    expect(early.groups).toEqual([
      { key: 'A', count: 2 },
      { key: 'B', count: 1 },
    ]);
    expect(early.others).toBe(0);
    // A keeps the first color although B is larger now, and C is last.
    const all = legendOf(created, ALL, 'source', always, early);
    expect(all.groups.map(({ key }) => key)).toEqual(['A', 'B', 'C']);
    const late = legendOf(created, ALL, 'source', { from: year(2003), to: year(2005) }, all);
    expect(late.groups.map(({ key }) => key)).toEqual(['C', 'B']);
  });
});

import { expect, it } from 'vitest';
import type { EventBody } from '../../../lib/events/store';
import { facetsOf, shareText, type Facet } from './facets';

let eventCount = 0;
const event = (fields: Partial<EventBody>): EventBody => ({
  event_id: `e${(eventCount += 1)}`,
  time: '2000-01-01T00:00:00Z',
  description: '',
  ...fields,
});
const times = (count: number, fields: (index: number) => Partial<EventBody>): EventBody[] =>
  Array.from({ length: count }, (_, index) => event(fields(index)));
const named = (facets: readonly Facet[], name: string): Facet => facets.find((facet) => facet.name === name)!;

it('sorts attributes that set the selection apart first', () => {
  const storms = times(4, () => ({ source: 'log', attributes: { status: 'HU', basin: 'AL' } }));
  const others = times(8, (index) => ({ source: 'log', attributes: { status: index < 2 ? 'HU' : 'TS', basin: 'AL' } }));
  const facets = facetsOf(storms, others);
  expect(facets.map(({ name }) => name)).toEqual(['status', 'basin', 'source']);
  expect(facets[0]).toMatchObject({ by: 'attribute.status', count: 4, difference: 0.75 });
  expect(facets[0]!.shares).toEqual([
    { value: 'HU', count: 4, selected: 1, others: 0.25 },
    { value: 'TS', count: 0, selected: 0, others: 0.75 },
  ]);
  expect(facets[1]).toMatchObject({ difference: 0, shares: [{ value: 'AL', selected: 1, others: 1 }] });
});

it('covers sources, actors, places, and attributes at any depth', () => {
  const events = [
    event({
      source: 's',
      actors: ['a', 'b'],
      location: 'New Orleans',
      attributes: { sea: { height: 3, tags: ['x', 'x'] } },
    }),
    event({ actors: ['a'] }),
  ];
  const facets = facetsOf(events, []);
  expect(new Set(facets.map(({ by, name }) => `${by} ${name}`))).toEqual(
    new Set([
      'source source',
      'actor actor',
      'place place',
      'attribute.sea.height sea.height',
      'attribute.sea.tags sea.tags',
    ]),
  );
  // An event counts once for each of its distinct values.
  expect(named(facets, 'actor').shares.map(({ value, count, selected }) => [value, count, selected])).toEqual([
    ['a', 2, 1],
    ['b', 1, 0.5],
  ]);
  expect(named(facets, 'sea.tags').shares).toMatchObject([{ value: 'x', count: 1 }]);
});

it('marks nothing as notable without other events', () => {
  const facets = facetsOf(
    times(3, (index) => ({ attributes: { status: index === 0 ? 'TS' : 'HU' } })),
    [],
  );
  expect(facets[0]).toMatchObject({ difference: 0, shares: [{ value: 'HU' }, { value: 'TS' }] });
  expect(facetsOf([], [])).toEqual([]);
});

it('summarizes numbers and their difference from the others', () => {
  const wind = (values: readonly number[]): EventBody[] =>
    times(values.length, (index) => ({ attributes: { wind: values[index] } }));
  const own = [70, 80, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180];
  const facet = named(facetsOf(wind(own), wind([10, 20, 30, 70])), 'wind');
  expect(facet.selected).toEqual({ low: 70, median: 120, mean: 1580 / 13, high: 180, sum: 1580 });
  expect(facet.others).toEqual({ low: 10, median: 25, mean: 32.5, high: 70, sum: 130 });
  // No other value is above 70; all but one of the selected ones are.
  expect(facet.difference).toBeCloseTo(12 / 13);
  // A large number of distinct numbers is not listed one by one.
  expect(facet.shares).toEqual([]);
  expect(facet.more).toBe(0);
});

it('lists a few distinct numbers, and treats values as text if one is a word', () => {
  const code = (values: readonly unknown[]): EventBody[] =>
    times(values.length, (index) => ({ attributes: { code: values[index] } }));
  const few = named(facetsOf(code(['200', 200, '404']), []), 'code');
  expect(few.shares.map(({ value, count }) => [value, count])).toEqual([
    ['200', 2],
    ['404', 1],
  ]);
  expect(few.selected).toMatchObject({ low: 200, high: 404, median: 200 });
  expect(named(facetsOf(code(['200', 'none']), []), 'code').selected).toBeNull();
  expect(named(facetsOf(code([200]), code(['none'])), 'code').selected).toBeNull();
  expect(named(facetsOf(code([1, 2, 3, 4]), []), 'code').selected?.median).toBe(2.5);
});

it('reports how many values are omitted', () => {
  const facet = facetsOf(
    times(9, (index) => ({ attributes: { storm: `AL${index}` } })),
    [],
  )[0]!;
  expect([facet.shares.length, facet.more]).toEqual([5, 4]);
});

it('formats shares without false precision', () => {
  expect([0, 0.004, 0.01, 0.505, 0.995, 1].map(shareText)).toEqual(['0%', '<1%', '1%', '51%', '>99%', '100%']);
});

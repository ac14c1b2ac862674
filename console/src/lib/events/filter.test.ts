import { describe, expect, it } from 'vitest';
import {
  rangeConditionText,
  addressOf,
  ALL,
  isTrack,
  isTracked,
  filterParams,
  filterParts,
  isFiltered,
  isGroupBy,
  narrowed,
  parseFilter,
  queryOf,
} from './filter';

describe('event filter', () => {
  const full = parseFilter({ text: 'moon', actor: 'A', 'attribute.site.name': 'K', 'attribute.n': '5', q: 'x' });

  it('survives a round trip through the URL', () => {
    expect(full).toEqual({ text: 'moon', actor: 'A', source: '', place: '', attributes: { n: '5', 'site.name': 'K' } });
    const params = filterParams(ALL, full);
    const present = Object.fromEntries(Object.entries(params).filter((param): param is [string, string] => !!param[1]));
    expect(parseFilter(present)).toEqual(full);
    expect(filterParams(full, ALL)).toEqual({
      'attribute.site.name': null,
      'attribute.n': null,
      text: null,
      actor: null,
      source: null,
      place: null,
    });
  });

  it('has a place instead of a box', () => {
    const at = narrowed(ALL, 'place', 'Paris, France');
    expect(parseFilter({ place: 'Paris, France' })).toEqual(at);
    expect(filterParams(ALL, at)).toMatchObject({ place: 'Paris, France', box: null });
    expect(filterParts(at)).toEqual([{ label: 'place: Paris, France', without: ALL }]);
    const box = { west: 1, south: 2, east: 3, north: 4 };
    expect(queryOf({ timeline: 'main', filter: at, box })).toEqual({
      timeline_id: 'main',
      location: 'Paris, France',
    });
    expect(queryOf({ timeline: 'main', filter: ALL, box }).location).toBe('bbox:1,2,3,4');
  });

  it('is split into its parts, each once', () => {
    expect(filterParts(full).map(({ label }) => label)).toEqual(['“moon”', 'actor: A', 'n = 5', 'site.name = K']);
    expect(filterParts(full)[2]!.without.attributes).toEqual({ 'site.name': 'K' });
    expect([isFiltered(full), isFiltered(ALL)]).toEqual([true, false]);
  });

  it('is narrowed by a group', () => {
    expect(narrowed(ALL, 'actor', 'B').actor).toBe('B');
    expect(narrowed(full, 'attribute.site.name', 'L').attributes).toEqual({ n: '5', 'site.name': 'L' });
  });

  it('is converted to API parameters', () => {
    const box = { west: 170, south: 50, east: -150, north: 65 };
    expect(queryOf({ timeline: 't', filter: full, box })).toEqual({
      timeline_id: 't',
      location: 'bbox:170,50,-150,65',
      text: 'moon',
      actor: 'A',
      attribute: { n: '5', 'site.name': 'K' },
    });
    expect(queryOf({ timeline: 't', filter: ALL, box: null })).toEqual({ timeline_id: 't', location: '*' });
    expect(addressOf({ timeline: 't', filter: full, box: null }).attribute).toBe('{"n":"5","site.name":"K"}');
  });

  it('accepts only valid grouping keys', () => {
    expect(['actor', 'source', 'attribute.x', 'attribute.', 'color', null].map(isGroupBy)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('is a track if it selects one actor or object', () => {
    const by = (attributes: Record<string, string>): boolean => isTrack({ ...ALL, attributes });
    expect(isTrack({ ...ALL, actor: 'AL122005' })).toBe(true);
    expect([by({ storm_id: 'AL122005' }), by({ id: '7' }), by({ flightId: '7' })]).toEqual([true, true, true]);
    expect([by({ status: 'HU' }), by({ paid: 'yes' }), by({})]).toEqual([false, false, false]);
    // The same applies to each group of such a key.
    const groups = ['actor', 'attribute.storm_id', 'attribute.status', 'source'];
    expect(groups.map(isTracked)).toEqual([true, true, false, false]);
  });
});

describe('attribute condition', () => {
  it('is a value or a numeric range', () => {
    expect(
      ['HU', '140', '140/..', '../-2.5', '64/95', '1/2/3', '../x', 'a/b', '5/b', '/5', '5/', '2005-08-28/..', ''].map(
        rangeConditionText,
      ),
    ).toEqual([
      '= HU',
      '= 140',
      '≥ 140',
      '≤ -2.5',
      '64 to 95',
      '= 1/2/3',
      '= ../x',
      '= a/b',
      '= 5/b',
      '= /5',
      '= 5/',
      '= 2005-08-28/..',
      '= ',
    ]);
  });
});

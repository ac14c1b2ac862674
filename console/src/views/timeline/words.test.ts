import { describe, expect, it } from 'vitest';
import { parse } from '../../lib/instant';
import { boxParam, parseBox, parseRange } from '../../lib/ranges';
import { boxText, parseView, viewParams } from '../../lib/events/address';
import { bodyOf, draftOf } from './draft';
import { changes, geoText } from '../../lib/events/event';
import { scale } from '../../lib/events/scale';
import { countText, rangeParam, rangeText } from '../../lib/events/words';

const at = (text: string): bigint => parse(text)!;

describe('times in words', () => {
  it('tell a range as its length calls for', () => {
    expect(rangeText(at('-000499-01-01T00:00:00Z'), at('0500-01-01T00:00:00Z'))).toBe('500 BCE – 500');
    expect(rangeText(at('2005-01-01T00:00:00Z'), at('2006-01-01T00:00:00Z'))).toBe('2005');
    expect(rangeText(at('2005-12-01T00:00:00Z'), at('2006-01-01T00:00:00Z'))).toBe('December 2005');
    expect(rangeText(at('2005-12-31T00:00:00Z'), at('2006-01-01T00:00:00Z'))).toBe('31 December 2005');
    expect(rangeText(at('1969-01-01T00:00:00Z'), at('1969-07-01T00:00:00Z'))).toBe('January 1969 – July 1969');
    expect(rangeText(at('1969-07-20T20:00:00Z'), at('1969-07-20T23:30:00Z'))).toBe('20 July 1969, 20:00 – 23:30');
    expect(rangeText(at('1969-07-20T20:17:40Z'), at('1969-07-20T20:17:40.00005Z'))).toBe(
      '20 July 1969, 20:17:40.000000 – 20:17:40.000050',
    );
  });

  it('count', () => {
    expect([countText(1, 'event'), countText(100_000, 'event')]).toEqual(['1 event', '100,000 events']);
  });
});

describe('the address', () => {
  it('gives back what it was given', () => {
    const range = { from: at('-000043-03-15T00:00:00Z'), to: at('1969-07-20T20:17:40.000001Z') };
    expect(parseRange(rangeParam(range.from, range.to))).toEqual(range);
    const box = { west: 170, south: -30.5, east: -170, north: 0 };
    expect(parseBox(boxParam(box))).toEqual(box);
    const view = parseView(
      ...(Object.values(viewParams(scale(at('1969-07-20T20:17:40Z'), 0, 1.25e6, 800))) as [string, string]),
    )!;
    expect(view.pixel).toBe(1.25e6);
    expect(Math.abs(Number(view.center - at('1969-07-20T20:17:40Z')))).toBeLessThanOrEqual(1.25e6);
  });

  it('is taken for nothing where it makes no sense', () => {
    for (const text of [null, '', 'x', '2000-01-01T00:00:00Z', '2001-01-01T00:00:00Z/2000-01-01T00:00:00Z'])
      expect(parseRange(text)).toBeNull();
    for (const text of [null, '', '1,2,3', '1,2,3,4,5', '0,50,0,40', '0,0,181,1', '1,,3,4'])
      expect(parseBox(text)).toBeNull();
    for (const [center, zoom] of [
      [null, null],
      ['2000-01-01T00:00:00Z', '0'],
      ['never', '1'],
    ] as const)
      expect(parseView(center, zoom)).toBeNull();
  });

  it('names a box', () => {
    expect(boxText({ west: -41, south: 16, east: 67, north: 64 })).toBe('16° N to 64° N, 41° W to 67° E');
  });
});

describe('the form', () => {
  const event = {
    event_id: 'e',
    time: '1969-07-20T20:17:40Z',
    description: 'They land.',
    geo: { lat: 1, lon: 2, radius_m: 50 },
    causes: [{ event_id: 'a', kind: 'contributes' }],
    source: 'demo',
    sequence: 4,
  };

  it('sends back an event as it was', () => {
    expect(bodyOf(draftOf(event, ''), event)).toEqual({ body: event, wrong: {} });
  });

  it('takes what people type', () => {
    const typed = {
      ...draftOf(null, '1969-07-20 20:17'),
      name: ' Landing ',
      actors: 'Armstrong,  Aldrin,',
      geo: '0.67; 23.47',
      causes: 'launch, start',
      attributes: '{"topic":"space"}',
    };
    expect(bodyOf(typed, null)).toEqual({
      body: {
        time: '1969-07-20T20:17:00Z',
        name: 'Landing',
        actors: ['Armstrong', 'Aldrin'],
        geo: { lat: 0.67, lon: 23.47 },
        causes: ['launch', 'start'],
        attributes: { topic: 'space' },
      },
      wrong: {},
    });
  });

  it('says what is wrong with each field', () => {
    const typed = { ...draftOf(null, 'yesterday'), end: 'today', geo: '91, 0', attributes: '[1]' };
    expect(Object.keys(bodyOf(typed, null).wrong).sort()).toEqual([
      'attributes',
      'description',
      'end_time',
      'geo',
      'time',
    ]);
  });
});

describe('versions', () => {
  const before = { event_id: 'e', time: '1969-07-20T20:17:40Z', description: 'A', location: 'Moon' };

  it('are told by what changed', () => {
    expect(
      changes(before, { ...before, time: '1969-07-21T20:17:40Z', description: 'B', location: null, actors: ['x'] }),
    ).toEqual([
      'From 20 July 1969, 20:17:40 to 21 July 1969, 20:17:40',
      'Description changed from “A” to “B”',
      'Place removed',
      'Actors changed',
    ]);
    expect(changes(before, { ...before })).toEqual(['No visible field changed']);
  });

  it('have places that people can read', () => {
    expect(geoText({ lat: -33.87, lon: 151.21, radius_m: 1_500 })).toBe('33.87° S, 151.21° E, within 1.5 km');
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { zone } from '../../../lib/time/zone.svelte';
import { bodyOf, draftOf } from './draft';

afterEach(() => void (zone.choice = 'UTC'));

describe('event drafts', () => {
  it('keep the typed date in every time zone if the precision is a date', () => {
    zone.choice = 'Asia/Tokyo';
    const sent = (time: string, precision: string): unknown =>
      bodyOf({ ...draftOf(null, ''), time, name: 'x', precision }, null).body.time;
    expect(sent('2005-09-01', 'day')).toBe('2005-09-01T00:00:00Z');
    expect(sent('44 BCE', 'year')).toBe('-000043-01-01T00:00:00Z');
    expect(sent('2005-09-01', '')).toBe('2005-08-31T15:00:00Z');
    expect(sent('2005-09-01T10:00', 'day')).toBe('2005-09-01T01:00:00Z');
  });
});

describe('event form', () => {
  const event = {
    event_id: 'e',
    time: '1969-07-20T20:17:40Z',
    description: 'They land.',
    geo: { lat: 1, lon: 2, radius_m: 50 },
    causes: [{ event_id: 'a', kind: 'contributes' }],
    source: 'demo',
    sequence: 4,
  };

  it('sends an unchanged event back unchanged', () => {
    expect(bodyOf(draftOf(event, ''), event)).toEqual({ body: event, wrong: {} });
  });

  it('accepts free-form input', () => {
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

  it('reports the error of each field', () => {
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

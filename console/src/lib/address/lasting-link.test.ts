import { describe, expect, it } from 'vitest';
import { scale } from '../chart/scale';
import { parse } from '../time/instant';
import { lastingLink } from './lasting-link';

const AT = parse('2026-11-22T07:00:00Z')!;
const paramsOf = (link: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(link.split('?')[1] ?? ''));

describe('permanent link', () => {
  it('keeps the content and its time of knowledge', () => {
    const params = { timeline: 'demo', event: 'moon', center: '1969-07-20T20:17:40Z', zoom: '60000000' };
    const link = lastingLink('http://127.0.0.1:8080/here/#/timeline?timeline=main', params, AT);
    expect(link.startsWith('http://127.0.0.1:8080/here/#/timeline?')).toBe(true);
    expect(paramsOf(link)).toEqual({ ...params, as_of: '2026-11-22T07:00:00Z' });
  });

  it('keeps an existing time of knowledge, and drops playback parameters', () => {
    const params = {
      timeline: 'demo',
      as_of: '2026-01-01T00:00:00Z',
      do: 'as-of',
      follow: '1',
      play: 'all',
      tour: '2',
    };
    expect(paramsOf(lastingLink('http://h/#/timeline', params, AT))).toEqual({
      timeline: 'demo',
      as_of: '2026-01-01T00:00:00Z',
    });
  });

  it('fixes a relative period', () => {
    const view = scale(parse('2026-01-01T00:00:00Z')!, 0, 60_000_000, 1_000);
    const link = lastingLink('http://h/#/timeline', { timeline: 'demo', period: '24h' }, AT, view);
    expect(paramsOf(link)).toEqual({
      timeline: 'demo',
      as_of: '2026-11-22T07:00:00Z',
      center: '2026-01-01T00:00:00Z',
      zoom: '60000000',
    });
  });
});

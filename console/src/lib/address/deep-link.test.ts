import { describe, expect, it } from 'vitest';
import { wrongParams } from './deep-link';

describe('URL parameters', () => {
  it('are valid as the console writes them', () => {
    for (const [view, params] of [
      ['timeline', { timeline: 'demo', center: '1969-07-20T20:17:40Z', zoom: '2.5e6', view: 'list', q: 'moon' }],
      ['timeline', { map: '29.95,-90.07,4', box: '-98,18,-81,31', range: '1914-01-01T00:00:00Z/1919-01-01T00:00:00Z' }],
      [
        'timeline',
        { text: 'moon', actor: 'A', source: 'S', 'attribute.site.name': 'K', by: 'attribute.x', lanes: '1' },
      ],
      ['compare', { timeline: 'plan', with: 'main', change: 'differs', event: 'x' }],
      ['paradoxes', { tab: 'lab', event: 'x', action: 'cancel' }],
      ['paradoxes', { period: '7d' }],
      ['access', { tab: 'log', period: '365d' }],
      ['integrity', { position: '7', period: '24h' }],
      ['timeline', { period: '24h', export: '7d', path: 'to' }],
      ['timeline', { period: 'next-P1M', export: 'view' }],
      ['compare', { with: 'main', period: '30d' }],
      ['access', { tab: 'log', period: 'custom', from: '2020-01-01T00:00:00Z' }],
      ['explorer', { op: 'travel', anything: 'of the form' }],
    ] as const)
      expect(wrongParams(view, params)).toEqual([]);
  });

  it('are reported if they are invalid', () => {
    const wrong = (view: string, name: string, text: string): string[] => {
      const [lead, ...problems] = wrongParams(view, { [name]: text });
      expect(lead).toBe('Part of this link was ignored.');
      return problems;
    };
    expect(wrong('timeline', 'center', 'yesterday')).toEqual(['“center” must be a time such as 1969-07-20T20:17:40Z.']);
    expect(wrong('timeline', 'zoom', '-1')).toEqual(['“zoom” must be a number above 0.']);
    expect(wrong('timeline', 'box', '1,2,3')).toHaveLength(1);
    expect(wrong('timeline', 'map', '95,0,2')).toHaveLength(1);
    expect(wrong('timeline', 'map', '5,0,0.5')).toHaveLength(1);
    expect(wrong('timeline', 'operation', 'x')).toEqual(['This view has no “operation”.']);
    expect(wrong('timeline', 'by', 'color')).toHaveLength(1);
    expect(wrong('timeline', 'constructor', 'x')).toEqual(['This view has no “constructor”.']);
    expect(wrong('timeline', 'period', 'P2M')).toHaveLength(1);
    expect(wrong('compare', 'period', 'next-24h')).toHaveLength(1);
    expect(wrong('integrity', 'period', 'custom')).toHaveLength(1);
    expect(wrong('access', 'tab', 'nothing')).toHaveLength(1);
    expect(wrong('integrity', 'position', 'first')).toHaveLength(1);
  });

  it('are reported if an attribute range is invalid and searched as text', () => {
    const problems = (text: string): string[] => wrongParams('timeline', { 'attribute.wind': text });
    for (const text of ['140/..', '../-2.5', '140/160', '3/day', 'a/b/..', 'HU']) expect(problems(text)).toEqual([]);
    expect(problems('abc/..')).toEqual([
      '“attribute.wind” is searched as the text “abc/..”. Write a range as 140/.., ../160 or 140/160.',
    ]);
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Palette } from '../../../lib/chart/palette';
import { ALL } from '../../../lib/events/filter';
import { cellColor, coloringText, GroupCounter, hasColorsOf, mainGroup, sharesOf, sharesText } from './cell-groups';
import type { Legend } from '../groups/groups';

const legend = (...keys: string[]): Legend => ({
  by: 'source',
  groups: keys.map((key) => ({ key, count: 1 })),
  all: [],
  classes: null,
  others: 0,
  isAbout: false,
  hasSeveral: false,
});

describe('cell groups', () => {
  const byCell = sharesOf([
    new Map([
      ['0,0,1,1', 3],
      ['1,0,2,1', 1],
    ]),
    new Map([['1,0,2,1', 5]]),
  ]);

  it('are counted per cell in the order of the colors', () => {
    expect([...byCell]).toEqual([
      ['0,0,1,1', [3, 0]],
      ['1,0,2,1', [1, 5]],
    ]);
  });

  it('color a cell by its most frequent group', () => {
    expect(mainGroup({ count: 3 }, [3, 0], 2)).toBe(0);
    expect(mainGroup({ count: 6 }, [1, 5], 2)).toBe(1);
  });

  it('use the color of others if these are more frequent', () => {
    expect(mainGroup({ count: 12 }, [1, 5], 2)).toBe(2);
    expect(mainGroup({ count: 4 }, [0, 0], 2)).toBe(2);
    expect(mainGroup({ count: 4 }, [], 2)).toBe(2);
  });

  it('have no color while counting: the color of all events equals that of the first group', () => {
    const palette = new Proxy({}, { get: (_, name) => name }) as Palette;
    const cell = { key: '1,0,2,1', count: 6, west: 1, south: 0, east: 2, north: 1 };
    expect(cellColor(palette, cell, null, true)).toBe('faint');
    expect(cellColor(palette, cell, null, false)).toBe('accent');
    expect(cellColor(palette, cell, { legend: legend('A', 'B'), byCell }, true)).toBe('hue-2');
    expect(cellColor(palette, { ...cell, key: '9,9,10,10' }, { legend: legend('A', 'B'), byCell }, true)).toBe('faint');
  });

  it('may sum to more than the number of events if an event has several', () => {
    expect(mainGroup({ count: 5 }, [4, 5], 2)).toBe(1);
    expect(sharesText({ count: 5 }, [4, 5], legend('A', 'B'))).toBe('B 5, A 4');
  });

  it('are listed by size, followed by the rest', () => {
    const four = legend('A', 'B', 'C', 'D');
    expect(sharesText({ count: 1_500 }, [100, 1_200, 0, 50], four)).toBe('B 1,200, A 100, D 50, others 150');
    expect(sharesText({ count: 10 }, [1, 2, 3, 4], four)).toBe('D 4, C 3, B 2, others 1');
  });

  it('keep their colors while the legend has the same groups', () => {
    const groups = { legend: legend('A', 'B'), byCell };
    expect(hasColorsOf(groups, legend('A', 'B'))).toBe(true);
    expect(hasColorsOf(groups, legend('B', 'A'))).toBe(false);
    expect(hasColorsOf(groups, { ...legend('A', 'B'), by: 'actor' })).toBe(false);
    expect(hasColorsOf(null, legend('A'))).toBe(false);
  });

  it('report whether they are counted, and the reason if not', () => {
    const textOf = (more: Partial<Parameters<typeof coloringText>[1]>, of: Legend | null = legend('A')): string =>
      coloringText('status', { total: 5, groups: null, isFailed: false, ...more }, of);
    expect(textOf({}, null)).toBe('counting the most frequent status…');
    expect(textOf({})).toBe('counting the most frequent status…');
    expect(textOf({ groups: { legend: legend('A'), byCell } })).toBe('colored by the most frequent status');
    expect(textOf({ isFailed: true })).toBe('not colored by status: it could not be counted');
    expect(textOf({ total: 2_000_001 })).toContain('too slow for more than 2,000,000 events');
    const many = legend(...Array.from({ length: 500 }, (_, index) => `v${index}`));
    expect(textOf({}, many)).toBe('not colored by status: it has too many values');
  });
});

describe('cell counts', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('request all groups at once, then only new groups', async () => {
    const requests: string[] = [];
    vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
    vi.stubGlobal('fetch', (address: string | URL) => {
      const query = new URL(address).searchParams;
      requests.push([query.get('group_by'), query.get('values')].join(' '));
      const groups = [
        { key: '0,0,1,1', second_key: 'A', count: 2 },
        { key: '1,0,2,1', second_key: 'B', count: 3 },
      ];
      return Promise.resolve(new Response(JSON.stringify({ groups, groups_count: 2, count: 5 })));
    });
    const { signal } = new AbortController();
    const question = { timeline: 'demo', filter: ALL, box: null };
    const cells = { question, version: 1, range: { from: 0n, to: 9n }, resolution: 1, within: null };
    const counter = new GroupCounter();
    const { byCell } = await counter.read(cells, legend('A', 'B'), signal);
    expect([...byCell]).toEqual([
      ['0,0,1,1', [2, 0]],
      ['1,0,2,1', [0, 3]],
    ]);
    await counter.read(cells, legend('B', 'C'), signal);
    expect(requests).toEqual(['cell,source ["A","B"]', 'cell,source ["C"]']);
  });
});

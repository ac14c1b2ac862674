import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import type { Palette } from './palette';
import { paintRulerStrip } from './ruler';
import { fitted } from './scale';
import { ticks } from './ticks';

/** Labels of a ruler with their x positions. */
function words(from: string, to: string, height: number, width = 800): { text: string; x: number }[] {
  const found: { text: string; x: number }[] = [];
  const context = {
    fillRect: () => {},
    measureText: (text: string) => ({ width: text.length * 6 }),
    fillText: (text: string, x: number) => void found.push({ text, x }),
  };
  const scale = fitted(parse(`${from}T00:00:00Z`)!, parse(`${to}T00:00:00Z`)!, width, 0);
  const frame = { context: context as unknown as CanvasRenderingContext2D, palette: {} as Palette, scale };
  paintRulerStrip(frame, 0, height);
  return found;
}

describe('ruler', () => {
  it('has one line without room for two, with periods replacing the ticks they cover', () => {
    const found = words('2005-08-25', '2005-09-08', 16);
    expect(found.map(({ text }) => text)).toEqual(expect.arrayContaining(['August 2005', 'September 2005', '29', '5']));
    const sorted = [...found].sort((a, b) => a.x - b.x);
    sorted.slice(1).forEach(({ x }, index) => {
      const before = sorted[index]!;
      expect(x).toBeGreaterThanOrEqual(before.x + before.text.length * 6);
    });
  });

  it('centers labels below their ticks', () => {
    const scale = fitted(parse('1910-06-01T00:00:00Z')!, parse('1914-06-01T00:00:00Z')!, 800, 0);
    const at = new Map(ticks(scale).ticks.map(({ label, x }) => [`${label} ${Math.round(x)}`, x]));
    const found = words('1910-06-01', '1914-06-01', 34).filter(({ text }) => text === 'Jan' || text === 'Jul');
    expect(found.length).toBeGreaterThan(5);
    for (const { text, x } of found) expect(at.has(`${text} ${Math.round(x + (text.length * 6) / 2)}`)).toBe(true);
  });

  it('shows years below centuries, and clips no label', () => {
    const found = words('1850-01-01', '2020-01-01', 16);
    expect(found.map(({ text }) => text)).toContain('1900');
    expect(found.every(({ text, x }) => x + text.length * 6 <= 800)).toBe(true);
  });
});

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Tail, readSummary } from './timeline-bundle';

/** The frozen vectors of docs/bundle-format.md. */
interface Vectors {
  bundles: { about: string; lines: string[] }[];
}
const { bundles } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../test-data/bundle-format-v1.json'), 'utf8'),
) as Vectors;

const { signal } = new AbortController();
const fileOf = (lines: readonly string[]): Blob => new Blob(lines.map((line) => `${line}\n`));
const first = bundles[0]!.lines;

const layerOf = (line: string): string => (JSON.parse(line) as { layer: { timeline_id: string } }).layer.timeline_id;

function entry(action: string, payload: object): string {
  const leaf = JSON.stringify({ action, seq: 2 });
  return JSON.stringify({ entry: { leaf, payload: JSON.stringify(payload), salt: '' } });
}

describe('what a bundle says of itself', () => {
  it('is read from every bundle of the format', async () => {
    expect(await readSummary(fileOf(first), signal)).toEqual({
      timeline: 'apollo-11',
      origin: 'timenav.example/apollo-11',
      createdAt: '2026-11-20T09:00:00Z',
      entries: 2,
      layers: [],
      isHandedOver: false,
      people: [{ user: 'ada', role: 'admin' }],
    });
    for (const { about, lines } of bundles) {
      const read = await readSummary(fileOf(lines), signal);
      expect(typeof read, about).toBe('object');
      const layers = lines.filter((line) => line.startsWith('{"layer":'));
      expect(read, about).toMatchObject({ layers: layers.slice(0, -1).map(layerOf) });
    }
  });

  it('names those who might do something last, each once, and whether it was handed over', async () => {
    const permissions = { read: ['bob', 'eve'], write: ['bob'], admin: ['ada'] };
    const [header, layer, made] = first;
    const after = [
      entry('set_access_control', { permissions }),
      entry('handed_over', { asked_by: 'ada' }),
      entry('rotate_signing_key', {}),
    ];
    const end = first.at(-1)!;
    const read = await readSummary(fileOf([header!, layer!, made!, ...after, end]), signal);
    expect(read).toMatchObject({
      isHandedOver: true,
      people: [
        { user: 'ada', role: 'admin' },
        { user: 'bob', role: 'write' },
        { user: 'eve', role: 'read' },
      ],
    });
    const goesOn = [...after, entry('travel', {})];
    const other = await readSummary(fileOf([header!, layer!, made!, ...goesOn, end]), signal);
    expect(other).toMatchObject({ isHandedOver: false });
  });

  it('is a sentence where the file is none, or cut off', async () => {
    expect(await readSummary(new Blob([]), signal)).toBe('This file is empty.');
    for (const text of ['{"a":1}\n', 'no JSON', '{"bundle":{"format":"timenav-bundle/v2"}}\n'])
      expect(await readSummary(new Blob([text]), signal)).toBe('This file is not a timenav bundle.');
    expect(await readSummary(fileOf(first.slice(0, -1)), signal)).toContain('cut off');
    const whole = fileOf(first);
    expect(await readSummary(whole.slice(0, whole.size - 1), signal)).toContain('cut off');
  });

  it('is given up when nobody waits for it', async () => {
    const abort = new AbortController();
    abort.abort();
    await expect(readSummary(fileOf(first), abort.signal)).rejects.toThrow();
  });
});

describe('the end of a bundle', () => {
  const has = (...parts: string[]): boolean => {
    const tail = new Tail();
    for (const part of parts) tail.take(new TextEncoder().encode(part));
    return tail.hasEnd;
  };

  it('is the last line, however the file comes', () => {
    const whole = first.map((line) => `${line}\n`).join('');
    expect(has(whole)).toBe(true);
    expect(has(...Array.from(whole))).toBe(true);
    expect(has('{"end":{}}\n')).toBe(true);
  });

  it('is missing where the file is cut off anywhere', () => {
    const whole = '{"checkpoint":{}}\n{"end":{"data":0}}\n';
    for (let cut = 0; cut < whole.length; cut += 1) expect(has(whole.slice(0, cut)), String(cut)).toBe(false);
    expect(has(whole, '{"entry":{}}\n')).toBe(false);
    // An end that somebody wrote into an entry is no line.
    expect(has('{"entry":{"payload":"{\\"end\\":{}}"}}\n')).toBe(false);
  });
});

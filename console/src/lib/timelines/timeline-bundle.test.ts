import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Tail } from './timeline-bundle';

/** Frozen test vectors of docs/specs/bundle.md. */
interface Vectors {
  bundles: { lines: string[] }[];
}
const { bundles } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../../test-data/bundle-format-v1.json'), 'utf8'),
) as Vectors;

const first = bundles[0]!.lines;

describe('bundle end marker', () => {
  const has = (...parts: string[]): boolean => {
    const tail = new Tail();
    for (const part of parts) tail.take(new TextEncoder().encode(part));
    return tail.hasEnd;
  };

  it('is found in the last line, however the file is chunked', () => {
    const whole = first.map((line) => `${line}\n`).join('');
    expect(has(whole)).toBe(true);
    expect(has(...Array.from(whole))).toBe(true);
    expect(has('{"end":{}}\n')).toBe(true);
  });

  it('is missing if the file is truncated anywhere', () => {
    const whole = '{"checkpoint":{}}\n{"end":{"data":0}}\n';
    for (let cut = 0; cut < whole.length; cut += 1) expect(has(whole.slice(0, cut)), String(cut)).toBe(false);
    expect(has(whole, '{"entry":{}}\n')).toBe(false);
    // An end marker inside an entry does not count.
    expect(has('{"entry":{"payload":"{\\"end\\":{}}"}}\n')).toBe(false);
  });
});

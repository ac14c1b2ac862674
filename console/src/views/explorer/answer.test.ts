import { describe, expect, it } from 'vitest';
import { fileName, hexLines, size, took } from './answer';
import { foldedBelow, linesOf, shownLines } from './json-lines';

const textOf = (value: unknown): string =>
  linesOf(value)
    .map((line) => '  '.repeat(line.depth) + line.pieces.map((piece) => piece.text).join(''))
    .join('\n');

describe('JSON as lines', () => {
  it('is what JSON.stringify writes', () => {
    const value = { a: [1, 'x"y', { b: null }], empty: [], none: {}, t: true, '': -0.5 };
    expect(textOf(value)).toBe(JSON.stringify(value, null, 2));
    expect(textOf('alone')).toBe('"alone"');
    expect(textOf([])).toBe('[]');
  });

  it('folds to the line that closes', () => {
    const lines = linesOf({ a: [1, 2], b: { c: 3 } });
    expect(
      shownLines(lines, new Set([1])).map((index) => lines[index]!.pieces.map((piece) => piece.text).join('')),
    ).toEqual(['{', '"a": [', '"b": {', '"c": 3', '}', '}']);
    expect(shownLines(lines, new Set([0]))).toEqual([0]);
    expect([...foldedBelow(lines, 1)]).toEqual([1, 5]);
    expect(lines[1]?.inside).toBe('2 items');
  });
});

describe('an answer', () => {
  it('is told in units that people read', () => {
    expect([size(1), size(999), size(1_500), size(12_345_678)]).toEqual(['1 byte', '999 bytes', '1.5 kB', '12 MB']);
    expect([took(4.21), took(62.4), took(1_234), took(61_000)]).toEqual(['4.2 ms', '62 ms', '1.23 s', '61.0 s']);
  });

  it('is saved under a name that fits', () => {
    expect(fileName('export-events', 'text/csv; charset=utf-8')).toBe('export-events.csv');
    expect(fileName('export-events', 'application/x-ndjson')).toBe('export-events.ndjson');
    expect(fileName('timeline/{timeline_id}/tile', 'application/octet-stream')).toBe('timeline-timeline_id-tile.bin');
  });

  it('is shown in hexadecimal where it is not text', () => {
    expect(hexLines(new Uint8Array([0, 65, 255]))).toBe(`000000  00 41 ff${' '.repeat(39)}  ·A·`);
  });
});

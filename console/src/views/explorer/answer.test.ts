import { describe, expect, it } from 'vitest';
import { fileName, hexLines, took } from './answer';

describe('a response', () => {
  it('has its duration in a fitting unit', () => {
    expect([took(4.21), took(62.4), took(1_234), took(61_000)]).toEqual(['4.2 ms', '62 ms', '1.23 s', '61.0 s']);
  });

  it('is saved with the ending of its content type', () => {
    expect(fileName('export-events', 'text/csv; charset=utf-8')).toBe('export-events.csv');
    expect(fileName('export-events', 'application/x-ndjson')).toBe('export-events.ndjson');
    expect(fileName('timeline/{timeline_id}/tile', 'application/octet-stream')).toBe('timeline-timeline_id-tile.bin');
  });

  it('is hexadecimal if it is binary', () => {
    expect(hexLines(new Uint8Array(18).fill(255, 15))).toBe(`${'00 '.repeat(15)}ff\nff ff`);
  });
});

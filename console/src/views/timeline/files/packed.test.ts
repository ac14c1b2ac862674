import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BEGINNING_BYTES, beginningOf, contentsOf, hasBeginning, headOf, packingOf, unreadable } from './packed';

describe('compressed files', () => {
  it('are detected by their name, which also contains the inner name', () => {
    expect(packingOf('a.csv')).toEqual({ packing: null, inner: 'a.csv' });
    expect(packingOf('a.csv.gz')).toEqual({ packing: 'gzip', inner: 'a.csv' });
    expect(packingOf('a.NDJSON.GZ')).toEqual({ packing: 'gzip', inner: 'a.NDJSON' });
    expect(packingOf('a.csv.zst')).toEqual({ packing: null, inner: 'a.csv.zst' });
    expect(packingOf('gz')).toEqual({ packing: null, inner: 'gz' });
  });

  it('are read if the browser can decompress them', async () => {
    const text = 'time,name\n2005-08-29,Katrina\n';
    expect(await headOf(contentsOf(new Blob([gzipSync(text)]), 'gzip')!, 1_000)).toBe(text);
    expect(await headOf(contentsOf(new Blob([text]), null)!, 9)).toBe('time,name');
  });
});

describe('a binary file', () => {
  it('is detected by its first bytes, with advice', async () => {
    const problemIn = (...bytes: number[]): Promise<string | null> =>
      unreadable(new Blob([new Uint8Array(bytes)]), null);
    expect(await problemIn(0x50, 0x4b, 3, 4, 0x14)).toContain('a ZIP archive or a spreadsheet file. Extract it');
    expect(await problemIn(0x1f, 0x8b, 8)).toContain('gzip');
    expect(await problemIn(0x28, 0xb5, 0x2f, 0xfd, 0)).toContain('Decompress it with zstd -d.');
    expect(await problemIn(0xff, 0xfe, 0x74, 0)).toContain('UTF-16');
    expect(await unreadable(new Blob(['PK,name\n']), null)).toBeNull();
    expect(await unreadable(new Blob([gzipSync('a')]), 'gzip')).toBeNull();
  });
});

describe('the beginning of a file', () => {
  const cut = async (text: string, format: string, bytes: number): Promise<string> =>
    (await beginningOf(new Blob([text]), format, bytes)).text();

  it('ends with a complete record', async () => {
    expect(await cut('{"a":1}\n{"b":2}\n{"c":3}\n', 'ndjson', 20)).toBe('{"a":1}\n{"b":2}\n');
    expect(await cut('a\n"b\nc"\nd\n', 'csv', 6)).toBe('a\n');
    expect(await cut('a\n"b\nc"\nd\n', 'csv', 9)).toBe('a\n"b\nc"\n');
    // The service reports a line that is longer than the limit.
    expect(await cut('abcdef\n', 'ndjson', 3)).toBe('abc');
  });

  it('is available for large files with one record per line', () => {
    const long = { size: BEGINNING_BYTES + 1 } as Blob;
    expect(hasBeginning(long, 'csv', null)).toBe(true);
    expect(hasBeginning(long, 'csv', 'gzip')).toBe(false);
    expect(hasBeginning(long, 'geojson', null)).toBe(false);
    expect(hasBeginning({ size: BEGINNING_BYTES } as Blob, 'csv', null)).toBe(false);
  });
});

/**
 * Prepares files for upload: compressed files are sent as they are, and the beginning of a large file can be checked
 * separately.
 */

/** Compression of a file, as a `Content-Encoding` value. */
export type Packing = 'gzip';

const PACKINGS: Record<string, Packing> = { gz: 'gzip' };

/** Returns the compression that the file extension names, and the file name without it. */
export function packingOf(name: string): { packing: Packing | null; inner: string } {
  const [, inner, end = ''] = /^(.*)\.(\w+)$/s.exec(name) ?? [];
  const packing = PACKINGS[end.toLowerCase()] ?? null;
  return packing === null || inner === undefined ? { packing: null, inner: name } : { packing, inner };
}

/** Signatures of common binary files, with the same advice that the service gives. */
const OTHERS: readonly (readonly [start: readonly number[], what: string])[] = [
  [[0x1f, 0x8b], 'It is compressed with gzip. Rename it to end in .gz.'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'It is compressed with zstd. Decompress it with zstd -d.'],
  [[0x50, 0x4b, 0x03, 0x04], 'It is a ZIP archive or a spreadsheet file. Extract it, or save it as CSV.'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'It is compressed with xz. Decompress it.'],
  [[0x42, 0x5a, 0x68], 'It is compressed with bzip2. Decompress it.'],
  [[0xff, 0xfe], 'It is UTF-16. Save it as UTF-8.'],
  [[0xfe, 0xff], 'It is UTF-16. Save it as UTF-8.'],
];

/** Returns why a file cannot be read, with advice; null if it may be readable. */
export async function unreadable(file: Blob, packing: Packing | null): Promise<string | null> {
  if (packing !== null) return null;
  const bytes = new Uint8Array(await file.slice(0, 5).arrayBuffer());
  return OTHERS.find(([start]) => start.every((byte, at) => bytes[at] === byte))?.[1] ?? null;
}

/** Returns the decompressed contents of a file; null if this browser cannot decompress it. */
export function contentsOf(file: Blob, packing: Packing | null): ReadableStream<Uint8Array> | null {
  if (packing === null) return file.stream();
  if (!('DecompressionStream' in globalThis)) return null;
  return file.stream().pipeThrough(new DecompressionStream(packing));
}

/** Reads the first bytes of a stream as text. */
export async function headOf(contents: ReadableStream<Uint8Array>, bytesMax: number): Promise<string> {
  const reader = contents.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; bytes < bytesMax;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value.subarray(0, bytesMax - bytes), { stream: true });
    bytes += value.length;
  }
  // Cancel the stream, so that the rest is not decompressed.
  void reader.cancel().catch(() => {});
  return text;
}

/** Formats in which each record ends with a line, so that the beginning of a file is valid on its own. */
const OF_LINES = ['csv', 'ndjson', 'logfmt'];
/** Size of the beginning to check: it has fewer records than the limit of a dry run. */
export const BEGINNING_BYTES = 4_000_000;
const LINE_FEED = 10;
const QUOTE = 34;

/** Whether a file is large and its beginning can be checked separately. */
export function hasBeginning(file: Blob, format: string, packing: Packing | null): boolean {
  return packing === null && OF_LINES.includes(format) && file.size > BEGINNING_BYTES;
}

/**
 * Returns the beginning of a file, cut after a complete record. A line break inside quotation marks does not end a
 * record.
 */
export async function beginningOf(file: Blob, format: string, bytesMax = BEGINNING_BYTES): Promise<Blob> {
  const bytes = new Uint8Array(await file.slice(0, bytesMax).arrayBuffer());
  let end = 0;
  let isQuoted = false;
  for (const [at, byte] of bytes.entries()) {
    if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted;
    else if (byte === LINE_FEED && !isQuoted) end = at + 1;
  }
  return file.slice(0, end === 0 ? bytesMax : end);
}

/** Files as they are sent: packed ones as they are, and of large ones their beginning, to be checked alone. */

/** How a file is packed, as `Content-Encoding` says it. */
export type Packing = 'gzip';

const PACKINGS: Record<string, Packing> = { gz: 'gzip' };

/** Returns how a file is packed, as the end of its name tells, and the name that it has without that. */
export function packingOf(name: string): { packing: Packing | null; inner: string } {
  const [, inner, end = ''] = /^(.*)\.(\w+)$/s.exec(name) ?? [];
  const packing = PACKINGS[end.toLowerCase()] ?? null;
  return packing === null || inner === undefined ? { packing: null, inner: name } : { packing, inner };
}

/** How files begin that are often taken for text, and what is done about it, as the service says it. */
const OTHERS: readonly (readonly [start: readonly number[], what: string])[] = [
  [[0x1f, 0x8b], 'It is compressed with gzip. Rename it to end in .gz.'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'It is compressed with zstd. Decompress it with zstd -d.'],
  [[0x50, 0x4b, 0x03, 0x04], 'It is a ZIP archive or a spreadsheet file. Extract it, or save it as CSV.'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'It is compressed with xz. Decompress it.'],
  [[0x42, 0x5a, 0x68], 'It is compressed with bzip2. Decompress it.'],
  [[0xff, 0xfe], 'It is UTF-16. Save it as UTF-8.'],
  [[0xfe, 0xff], 'It is UTF-16. Save it as UTF-8.'],
];

/** Returns what a file is that cannot be read, and what to do; null for all others. */
export async function unreadable(file: Blob, packing: Packing | null): Promise<string | null> {
  if (packing !== null) return null;
  const bytes = new Uint8Array(await file.slice(0, 5).arrayBuffer());
  return OTHERS.find(([start]) => start.every((byte, at) => bytes[at] === byte))?.[1] ?? null;
}

/** Returns what is in a file as it is read; null where this browser cannot unpack it. */
export function contentsOf(file: Blob, packing: Packing | null): ReadableStream<Uint8Array> | null {
  if (packing === null) return file.stream();
  if (!('DecompressionStream' in globalThis)) return null;
  return file.stream().pipeThrough(new DecompressionStream(packing));
}

/** Reads the first bytes of what is in a file, as text. */
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
  // What is not read is not unpacked either.
  void reader.cancel().catch(() => {});
  return text;
}

/** Formats whose records end with their line, so that a beginning of a file is a file. */
const OF_LINES = ['csv', 'ndjson', 'logfmt'];
/** The beginning of a file has so many bytes: fewer records than a dry run can remember. */
export const BEGINNING_BYTES = 4_000_000;
const LINE_FEED = 10;
const QUOTE = 34;

/** Whether a file is large, and has a beginning that can be checked alone. */
export function hasBeginning(file: Blob, format: string, packing: Packing | null): boolean {
  return packing === null && OF_LINES.includes(format) && file.size > BEGINNING_BYTES;
}

/** Returns the beginning of a file: whole records only. A line that ends within quotation marks ends no record. */
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

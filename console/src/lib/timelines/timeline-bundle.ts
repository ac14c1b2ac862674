/** Downloads a timeline as one file (docs/specs/bundle.md). */
import { isAborted, ApiError, service } from '../service/api';
import { fileName, saveBlob } from '../page/files';

/** The last line contains two numbers and a hash. */
const END_BYTES_MAX = 256;

declare global {
  interface Window {
    /** Only in browsers that can stream to a file. */
    showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
  }
}

/** Keeps the last bytes of a stream to detect truncation. */
export class Tail {
  #tail: number[] = [];

  take(part: Uint8Array): void {
    this.#tail = [...this.#tail, ...part.slice(-END_BYTES_MAX)].slice(-END_BYTES_MAX);
  }

  /** Whether the last line is the end marker of a bundle. */
  get hasEnd(): boolean {
    const text = new TextDecoder().decode(Uint8Array.from(this.#tail));
    if (!text.endsWith('\n')) return false;
    return text.slice(text.slice(0, -1).lastIndexOf('\n') + 1).startsWith('{"end":{');
  }
}

/** Shows the file picker. Returns null if the browser cannot stream to a file. */
async function chooseFile(name: string): Promise<FileSystemFileHandle | null> {
  if (window.showSaveFilePicker === undefined) return null;
  return window.showSaveFilePicker({ suggestedName: name });
}

const truncated = (): ApiError =>
  new ApiError(0, 'unexpected_response', 'The download was interrupted.', 'No file was saved. Try again.');

/**
 * Downloads the bundle of a timeline and returns its size in bytes; null if the user canceled the file picker. Streams
 * to disk if the browser supports it, and discards incomplete files.
 */
export async function saveBundle(
  timeline: string,
  signal: AbortSignal,
  onbytes: (bytes: number) => void,
): Promise<number | null> {
  const name = `${fileName(timeline)}.timenav-bundle`;
  let file: FileSystemFileHandle | null;
  try {
    // Must come first: browsers require a recent user activation for the file picker.
    file = await chooseFile(name);
  } catch (error) {
    if (isAborted(error)) return null;
    throw error;
  }
  const response = await service.bundle({ timeline_id: timeline }, { signal });
  if (response.body === null) throw truncated();
  const tail = new Tail();
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, out) {
      tail.take(part);
      bytes += part.length;
      onbytes(bytes);
      out.enqueue(part);
    },
    flush() {
      if (!tail.hasEnd) throw truncated();
    },
  });
  try {
    const counted = response.body.pipeThrough(counting, { signal });
    // The data becomes the file when the stream closes, and is discarded when it is aborted.
    if (file) await counted.pipeTo(await file.createWritable(), { signal });
    else saveBlob(name, await new Response(counted as ReadableStream<Uint8Array<ArrayBuffer>>).blob());
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof TypeError ? truncated() : error;
  }
  return bytes;
}

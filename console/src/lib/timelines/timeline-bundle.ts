/** Saves a timeline in one file (docs/specs/bundle.md). */
import { isAborted, ApiError, service } from '../service/api';
import { fileName, saveBlob } from '../page/files';

/** A last line is two numbers and a hash. */
const END_BYTES_MAX = 256;

declare global {
  interface Window {
    /** Browsers that can write to a file as it comes. */
    showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
  }
}

/** Notes the last bytes of a file as it comes, to tell whether it is whole. */
export class Tail {
  #tail: number[] = [];

  take(part: Uint8Array): void {
    this.#tail = [...this.#tail, ...part.slice(-END_BYTES_MAX)].slice(-END_BYTES_MAX);
  }

  /** Whether the last line is the end of a bundle. Without it, the file was cut off. */
  get hasEnd(): boolean {
    const text = new TextDecoder().decode(Uint8Array.from(this.#tail));
    if (!text.endsWith('\n')) return false;
    return text.slice(text.slice(0, -1).lastIndexOf('\n') + 1).startsWith('{"end":{');
  }
}

/** Lets the user choose a file. Null where the browser cannot write to one as it comes. */
async function chooseFile(name: string): Promise<FileSystemFileHandle | null> {
  if (window.showSaveFilePicker === undefined) return null;
  return window.showSaveFilePicker({ suggestedName: name });
}

const brokenOff = (): ApiError =>
  new ApiError(0, 'unexpected_response', 'The download was interrupted.', 'No file was saved. Try again.');

/**
 * Downloads the bundle of a timeline, and returns how many bytes it has; null where the user chose no file. It is
 * written to disk as it comes where the browser can do that, and nothing is kept of one that breaks off.
 */
export async function saveBundle(
  timeline: string,
  signal: AbortSignal,
  onbytes: (bytes: number) => void,
): Promise<number | null> {
  const name = `${fileName(timeline)}.timenav-bundle`;
  let file: FileSystemFileHandle | null;
  try {
    // First of all: browsers show it only while a click is fresh.
    file = await chooseFile(name);
  } catch (error) {
    if (isAborted(error)) return null;
    throw error;
  }
  const answer = await service.bundle({ timeline_id: timeline }, { signal });
  if (answer.body === null) throw brokenOff();
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
      if (!tail.hasEnd) throw brokenOff();
    },
  });
  try {
    const counted = answer.body.pipeThrough(counting, { signal });
    // What is written becomes the file when the stream is closed, and is dropped when it is given up.
    if (file) await counted.pipeTo(await file.createWritable(), { signal });
    else saveBlob(name, await new Response(counted as ReadableStream<Uint8Array<ArrayBuffer>>).blob());
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof TypeError ? brokenOff() : error;
  }
  return bytes;
}

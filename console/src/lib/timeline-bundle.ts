/** A timeline in one file (docs/bundle-format.md): what it says of itself, and how it is saved. */
import { isAborted, ApiError, service } from './api';
import { fileName, saveBlob } from './files';

/** The second is that of a fork whose layers came from another service. */
const FORMATS = ['timenav-bundle/v1', 'timenav-bundle/v2'];
/** A last line is two numbers and a hash. */
const END_BYTES_MAX = 256;
const LINE_FEED = 10;

declare global {
  interface Window {
    /** Browsers that can write to a file as it comes. */
    showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
  }
}

/** Notes the last bytes of a file as it comes, to tell whether it is whole. */
export class Tail {
  #kept: number[] = [];

  take(part: Uint8Array): void {
    this.#kept = [...this.#kept, ...part.slice(-END_BYTES_MAX)].slice(-END_BYTES_MAX);
  }

  /** Whether the last line is the end of a bundle. Without it, the file was cut off. */
  get hasEnd(): boolean {
    const text = new TextDecoder().decode(Uint8Array.from(this.#kept));
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
  new ApiError(0, 'unexpected_response', 'The download broke off before the end.', 'No file was saved. Try again.');

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

/** Somebody who might do something on the timeline at the other service. */
export interface Person {
  user: string;
  role: 'read' | 'write' | 'admin';
}

/** What a bundle says of itself. Nothing of it is proven: the service checks the file with the key. */
export interface BundleSummary {
  timeline: string;
  /** The name of the ledger. */
  origin: string;
  createdAt: string;
  /** Entries of the timeline itself. */
  entries: number;
  /** Of a fork, the timelines that it goes on from, which the file has as well: the oldest first. */
  layers: string[];
  /** Whether the other service changes the timeline no more. */
  isHandedOver: boolean;
  people: Person[];
}

interface Header {
  format: string;
  layers: { size: number; timeline_id: string }[];
  origin: string;
  timeline_id: string;
  created_at: string;
}

interface Lists {
  read: string[];
  write: string[];
  admin: string[];
}

/** Entries whose payload tells the permissions as they are from then on. */
const TELLS_PERMISSIONS = /^\{"entry":\{"leaf":"\{\\"action\\":\\"(create_timeline|set_access_control)\\"/;
const ENTRY = /^\{"entry":\{"leaf":"\{\\"action\\":\\"([a-z_]+)\\"/;
/** What the service may still tell of itself after a timeline was handed over. */
const AFTERWARDS = ['rotate_signing_key', 'accept_rollback'];

/** Reads what a file says of itself; a sentence where it is no bundle, or not a whole one. */
export async function readSummary(file: Blob, signal: AbortSignal): Promise<BundleSummary | string> {
  let header: Header | null = null;
  let lists: Lists = { read: [], write: [], admin: [] };
  let isHandedOver = false;
  let isWhole = false;
  for await (const [line, isEnded] of lines(file, signal)) {
    if (header === null) {
      header = headerOf(line);
      if (header === null) return 'This file is not a timenav bundle.';
      continue;
    }
    const action = ENTRY.exec(line)?.[1];
    if (action !== undefined && !AFTERWARDS.includes(action)) isHandedOver = action === 'handed_over';
    if (TELLS_PERMISSIONS.test(line)) lists = listsOf(line) ?? lists;
    isWhole = isEnded && line.startsWith('{"end":{');
  }
  if (header === null) return 'This file is empty.';
  if (!isWhole) return 'This bundle is cut off: its last line is missing. Download it again.';
  return {
    timeline: header.timeline_id,
    origin: header.origin,
    createdAt: header.created_at,
    entries: header.layers.at(-1)?.size ?? 0,
    layers: header.layers.slice(0, -1).map((layer) => layer.timeline_id),
    isHandedOver,
    people: peopleOf(lists),
  };
}

/** Returns the lines of a file, each with whether it is ended. */
async function* lines(file: Blob, signal: AbortSignal): AsyncGenerator<[string, boolean]> {
  const reader = file.stream().getReader();
  const decoder = new TextDecoder();
  let begun: Uint8Array[] = [];
  try {
    for (;;) {
      signal.throwIfAborted();
      const { value, done } = await reader.read();
      if (done) break;
      let from = 0;
      for (let at = value.indexOf(LINE_FEED); at >= 0; at = value.indexOf(LINE_FEED, from)) {
        yield [decoder.decode(joined([...begun, value.subarray(from, at)])), true];
        begun = [];
        from = at + 1;
      }
      if (from < value.length) begun.push(value.slice(from));
    }
    if (begun.length > 0) yield [decoder.decode(joined(begun)), false];
  } finally {
    await reader.cancel();
  }
}

function joined(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function headerOf(line: string): Header | null {
  try {
    const { bundle } = JSON.parse(line) as { bundle?: Header };
    return bundle && FORMATS.includes(bundle.format) && Array.isArray(bundle.layers) ? bundle : null;
  } catch {
    return null;
  }
}

function listsOf(line: string): Lists | null {
  try {
    const { entry } = JSON.parse(line) as { entry: { payload: string } };
    return (JSON.parse(entry.payload) as { permissions: Lists }).permissions;
  } catch {
    return null;
  }
}

function peopleOf(lists: Lists): Person[] {
  const roles = ['admin', 'write', 'read'] as const;
  const people = roles.flatMap((role) => lists[role].map((user): Person => ({ user, role })));
  return people.filter(({ user }, index) => people.findIndex((other) => other.user === user) === index);
}

/** One import: a look before, the file on its way, what was recorded of it, and how it is taken back. */
import { isAborted, service, upload } from '../../../lib/service/api';
import { timelines } from '../../../lib/timelines/timelines.svelte';
import { grouped } from './grouped';
import type { Packing } from './packed';

export interface Imported {
  status: string;
  import_id?: string | null;
  imported: number;
  unchanged: number;
  repeated?: number | null;
  rejected: number;
  rejections: { line: number; code: string; detail: string }[];
  warnings?: { line: number; code: string; detail: string }[];
  warning_count?: number | null;
}

interface Undone {
  undone_count: number;
  skipped_changed: number;
}

/** What was recorded before somebody stopped an import. */
export interface Stopped {
  /** Null where it cannot be told from what others did meanwhile. */
  taken: number | null;
  import_id: string | null;
}

/** How a file is read. */
export interface Sent {
  format: string;
  map: string;
  packing: Packing | null;
}

/** How a timeline stands: its entries, and the events that stand. */
interface Stand {
  entries: number;
  events: number;
}

/** What was sent before an import is stopped is still recorded, within moments: until its number stays. */
const SETTLED_MS = 700;
/** If it goes on for longer, what was recorded until then is told. */
const SETTLED_MAX_MS = 20_000;

export class FileImport {
  step = $state<'choose' | 'checked' | 'done' | 'stopped' | 'undone'>('choose');
  /** Bytes that are on their way; null while nothing is sent. */
  sent = $state<number | null>(null);
  /** Whether what was stopped is being counted. */
  isStopping = $state(false);
  isUndoing = $state(false);
  result = $state.raw<Imported | null>(null);
  stopped = $state.raw<Stopped | null>(null);
  undone = $state.raw<Undone | null>(null);
  error = $state.raw<unknown>(null);
  readonly isBusy = $derived(this.sent !== null || this.isUndoing || this.isStopping);
  /** What can be taken back. */
  readonly importId = $derived(this.result?.import_id ?? this.stopped?.import_id ?? null);
  #sending = new AbortController();
  #isLeft = false;

  /** `onchanged` is told when the timeline has other events. */
  constructor(
    private readonly timeline: string,
    private readonly onchanged: () => void,
  ) {}

  /** What was checked was another file, or read in another way. */
  anew(): void {
    [this.step, this.result, this.error] = ['choose', null, null];
  }

  async check(file: Blob, how: Sent): Promise<void> {
    await this.#send(file, how, true);
  }

  async send(file: Blob, how: Sent): Promise<void> {
    this.result = null;
    const before = await this.#stand().catch(() => null);
    if (await this.#send(file, how, false)) return;
    this.isStopping = true;
    this.stopped = before === null ? { taken: null, import_id: null } : await this.#settled(before);
    this.isStopping = false;
    this.step = 'stopped';
    this.#changed();
  }

  /** Sends a file, and returns whether it went as far as it would. */
  async #send(file: Blob, { format, map, packing }: Sent, isDry: boolean): Promise<boolean> {
    this.#sending = new AbortController();
    [this.sent, this.error] = [0, null];
    try {
      const response = await upload<Imported>('v1/import-events', file, {
        query: { timeline_id: this.timeline, format, map, dry_run: isDry ? true : null },
        type: 'application/octet-stream',
        encoding: packing,
        signal: this.#sending.signal,
        onsent: (bytes) => (this.sent = bytes),
      });
      this.result = { ...response, status: grouped(response.status) };
      this.step = isDry ? 'checked' : 'done';
      if (!isDry) this.#changed();
    } catch (thrown) {
      if (isAborted(thrown) && !isDry && !this.#isLeft) return false;
      if (!isAborted(thrown)) this.error = thrown;
    } finally {
      this.sent = null;
    }
    return true;
  }

  /** Ends what is being sent. */
  stop(): void {
    this.#sending.abort();
  }

  /** Ends it because nobody looks any more. */
  leave(): void {
    this.#isLeft = true;
    this.stop();
  }

  async #stand(): Promise<Stand> {
    const { head, events } = await service.timeline({ timeline_id: this.timeline });
    return { entries: head.size, events };
  }

  /** Returns what was recorded since, once that stays the same. No answer tells it: whoever stops hears no more. */
  async #settled(before: Stand): Promise<Stopped> {
    let now = before;
    const since = performance.now();
    for (let tries = 0; performance.now() - since < SETTLED_MAX_MS; tries += 1) {
      await new Promise((done) => setTimeout(done, SETTLED_MS));
      const next = await this.#stand().catch(() => null);
      if (next === null) return { taken: null, import_id: null };
      const isSettled = tries > 0 && next.events === now.events;
      now = next;
      if (isSettled) break;
    }
    const taken = now.events - before.events;
    if (taken <= 0) return { taken: taken === 0 ? 0 : null, import_id: null };
    // The service compares it with the ledger, and refuses to undo what is not of one import.
    return { taken, import_id: `${before.entries}-${now.entries}-${taken}` };
  }

  async undo(importId: string): Promise<void> {
    [this.isUndoing, this.error] = [true, null];
    const sum: Undone = { undone_count: 0, skipped_changed: 0 };
    try {
      for (let left: string | null = importId; left !== null;) {
        const part: Undone & { next_import_id?: string | null } = await service.undoImport({
          timeline_id: this.timeline,
          import_id: left,
        });
        sum.undone_count += part.undone_count;
        sum.skipped_changed += part.skipped_changed;
        left = part.next_import_id ?? null;
      }
      [this.undone, this.step] = [sum, 'undone'];
      this.#changed();
    } catch (thrown) {
      this.error = thrown;
    }
    this.isUndoing = false;
  }

  #changed(): void {
    void timelines.read().catch(() => {});
    this.onchanged();
  }
}

/** State of one import: dry run, upload, result, stop and undo. */
import { isAborted, service } from '../../../lib/service/api';
import { upload } from '../../../lib/service/upload';
import { timelines } from '../../../lib/timelines/timelines.svelte';
import { grouped } from './grouped';
import type { Packing } from './packed';

export interface ImportResponse {
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

interface UndoResponse {
  undone_count: number;
  skipped_changed: number;
}

/** Events recorded before an import was stopped. */
interface PartialImport {
  /** Null if changes by others make it impossible to count. */
  taken: number | null;
  import_id: string | null;
}

/** How to parse the file. */
interface ImportOptions {
  format: string;
  map: string;
  packing: Packing | null;
}

/** Number of entries and of current events of a timeline. */
interface Totals {
  entries: number;
  events: number;
}

/**
 * Poll interval after a stop. Data sent before the stop is still recorded shortly after it; the count is final once it
 * stays the same.
 */
const POLL_MS = 700;
/** Report the current count if it does not settle within this time. */
const POLL_MAX_MS = 20_000;

export class FileImport {
  step = $state<'choose' | 'checked' | 'done' | 'stopped' | 'undone'>('choose');
  /** Bytes sent so far; null if no upload is running. */
  sent = $state<number | null>(null);
  /** Whether the events of a stopped import are being counted. */
  isStopping = $state(false);
  isUndoing = $state(false);
  result = $state.raw<ImportResponse | null>(null);
  stopped = $state.raw<PartialImport | null>(null);
  undone = $state.raw<UndoResponse | null>(null);
  error = $state.raw<unknown>(null);
  readonly isBusy = $derived(this.sent !== null || this.isUndoing || this.isStopping);
  /** Id for undoing the import. */
  readonly importId = $derived(this.result?.import_id ?? this.stopped?.import_id ?? null);
  #sending = new AbortController();
  #isLeft = false;

  /** Called when the events of the timeline have changed. */
  constructor(
    private readonly timeline: string,
    private readonly onchanged: () => void,
  ) {}

  /** Resets the result after a change of the file or of its options. */
  reset(): void {
    [this.step, this.result, this.error] = ['choose', null, null];
  }

  async check(file: Blob, how: ImportOptions): Promise<void> {
    await this.#send(file, how, true);
  }

  async send(file: Blob, how: ImportOptions): Promise<void> {
    this.result = null;
    const before = await this.#totals().catch(() => null);
    if (await this.#send(file, how, false)) return;
    this.isStopping = true;
    this.stopped = before === null ? { taken: null, import_id: null } : await this.#settled(before);
    this.isStopping = false;
    this.step = 'stopped';
    this.#changed();
  }

  /** Uploads a file. Returns false if the user stopped the upload of an import. */
  async #send(file: Blob, { format, map, packing }: ImportOptions, isDry: boolean): Promise<boolean> {
    this.#sending = new AbortController();
    [this.sent, this.error] = [0, null];
    try {
      const response = await upload<ImportResponse>('v1/import-events', file, {
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

  /** Aborts the upload. */
  stop(): void {
    this.#sending.abort();
  }

  /** Aborts the upload because the dialog was closed. */
  leave(): void {
    this.#isLeft = true;
    this.stop();
  }

  async #totals(): Promise<Totals> {
    const { head, events } = await service.timeline({ timeline_id: this.timeline });
    return { entries: head.size, events };
  }

  /**
   * Returns the events recorded since `before`, once their number is stable. An aborted request has no response that
   * contains it.
   */
  async #settled(before: Totals): Promise<PartialImport> {
    let now = before;
    const since = performance.now();
    for (let tries = 0; performance.now() - since < POLL_MAX_MS; tries += 1) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      const next = await this.#totals().catch(() => null);
      if (next === null) return { taken: null, import_id: null };
      const isSettled = tries > 0 && next.events === now.events;
      now = next;
      if (isSettled) break;
    }
    const taken = now.events - before.events;
    if (taken <= 0) return { taken: taken === 0 ? 0 : null, import_id: null };
    // The service checks the id against the ledger and rejects it if the entries are not from a single import.
    return { taken, import_id: `${before.entries}-${now.entries}-${taken}` };
  }

  async undo(importId: string): Promise<void> {
    [this.isUndoing, this.error] = [true, null];
    const sum: UndoResponse = { undone_count: 0, skipped_changed: 0 };
    try {
      for (let left: string | null = importId; left !== null;) {
        const part: UndoResponse & { next_import_id?: string | null } = await service.undoImport({
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

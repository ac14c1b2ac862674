/** Compares all entries of a ledger with the signed tree: progress and result. */
import { CheckRun } from '../check-run.svelte';
import { ApiError, service } from '../../../lib/service/api';
import { readNote } from '../../../lib/ledger/note';
import { checkCheckpoint, type Check, type CheckpointBody } from '../check';
import { Contents, type Difference, type EntriesBody } from './contents';

const PAGE_ENTRIES = 500;

export class ContentsCheck extends CheckRun {
  /** Number of entries read, and of all entries. */
  progress = $state.raw<{ entries: number; total: number } | null>(null);
  checks = $state.raw<Check[] | null>(null);
  differences = $state.raw<Difference[]>([]);

  constructor(private readonly timeline: string) {
    super();
  }

  run(body: CheckpointBody): Promise<void> {
    this.progress = null;
    this.checks = null;
    this.differences = [];
    return this.start((signal) => this.#compare(body, signal));
  }

  async #compare(body: CheckpointBody, signal: AbortSignal): Promise<void> {
    const { checkpoint, checks } = await checkCheckpoint(body.checkpoint, body.verifier_key, this.timeline);
    if (checkpoint === null) {
      this.checks = checks;
      return;
    }
    const contents = new Contents(this.timeline);
    await this.#read(contents, checkpoint.size, signal);
    const all = [...checks, await contents.checkTree(checkpoint)];
    if (contents.isUnexplained) {
      // A payload may have been erased after the checkpoint. A later entry under a later checkpoint records that.
      const page = await this.#page(contents.size, 1, signal);
      const later = readNote(page.checkpoint);
      const { checks: signed } = await checkCheckpoint(page.checkpoint, body.verifier_key, this.timeline);
      if (typeof later !== 'string' && signed.every((check) => check.state !== 'bad')) {
        await this.#read(contents, later.size, signal);
        all.push(await contents.checkTree(later));
      }
    }
    if (signal.aborted) return;
    this.checks = [...contents.checks(), ...all];
    this.differences = contents.listed();
  }

  /** Reads further entries, up to a size. */
  async #read(contents: Contents, size: number, signal: AbortSignal): Promise<void> {
    while (contents.size < size) {
      const first = contents.size;
      const { entries } = await this.#page(first, Math.min(PAGE_ENTRIES, size - first), signal);
      if (entries.length === 0 || entries.length > size - first || entries[0]?.position !== first)
        throw new ApiError(0, 'unexpected_response', `The service did not return the entries from ${first} on.`, '');
      for (const entry of entries) await contents.take(entry);
      signal.throwIfAborted();
      this.progress = { entries: contents.size, total: size };
    }
  }

  #page(from: number, limit: number, signal: AbortSignal): Promise<EntriesBody> {
    return service.entries({ timeline_id: this.timeline, from, limit }, { signal });
  }
}

/** A scan for tampering: progress and findings. Leaving the page stops it. */
import { CheckRun } from '../check-run.svelte';
import { ApiError, service } from '../../../lib/service/api';

export interface Progress {
  stage: string;
  entries: number;
  entries_total: number;
  bytes: number;
}

export interface Finding {
  kind: string;
  position?: number | null;
  evidence: string;
  last_good_checkpoint?: number | null;
}

interface ScanResult {
  status: string;
  tampering_detected: boolean;
  details: string;
  findings: Finding[];
  findings_omitted: number;
  checked: { what: string; count: number }[];
  not_checked: string[];
  checkpoint: { size: number; root: string } | null;
}

export class Scan extends CheckRun {
  progress = $state.raw<Progress | null>(null);
  result = $state.raw<ScanResult | null>(null);

  constructor(private readonly timeline: string) {
    super();
  }

  run(depth: string): Promise<void> {
    this.progress = null;
    this.result = null;
    return this.start((signal) => this.#read(depth, signal));
  }

  async #read(depth: string, signal: AbortSignal): Promise<void> {
    const query = { timeline_id: this.timeline, scan_depth: depth };
    for await (const { event, data } of await service.detectTamperingStream(query, { signal })) {
      if (event === 'progress') this.progress = data as Progress;
      if (event === 'result') this.result = data as ScanResult;
      if (event === 'error') throw ApiError.of(200, data, null, null);
    }
    if (this.result === null)
      throw new ApiError(
        0,
        'unexpected_response',
        'The scan ended without a result.',
        'The service may have been stopped. Run it again.',
      );
  }
}

const STAGES: Record<string, string> = {
  checkpoints: 'Verifying checkpoints',
  entries: 'Reading entries',
  tables: 'Comparing tables with the ledger',
  tree: 'Rebuilding the tree',
};

export function stageWords(stage: string): string {
  return STAGES[stage] ?? stage;
}

const CHECKED: Record<string, string> = {
  checkpoints: 'checkpoints',
  roots: 'roots',
  entries: 'entries',
  payloads: 'payloads',
  erased: 'erased payloads',
  tiles: 'tiles of the tree',
  changes: 'changes replayed',
  events: 'events compared',
  data_records: 'sealed records',
  rows: 'rows of tables',
};

export function checkedWords(what: string): string {
  return CHECKED[what] ?? what.replaceAll('_', ' ');
}

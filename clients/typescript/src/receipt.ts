/** Receipts of advances. */
import { NotSettledError } from './errors.js';
import { Instant } from './instant.js';
import type { Schema } from './operation-types.js';

/** The receipt of an advance. */
export interface Receipt {
  readonly timelineId: string;
  /**
   * `settled` at the destination; `stopped` if the clock was paused, or held for too long; `stuck` if timers kept
   * arming themselves for the same instant.
   */
  readonly state: 'settled' | 'running' | 'stopped' | 'stuck';
  /** The time that the clock has reached. */
  readonly reached: Instant;
  /** The destination. */
  readonly to: Instant;
  /** The number of firings. */
  readonly fired: number;
  readonly acknowledged: number;
  readonly failed: number;
  /** The number of firings without an outcome. If the advance is settled, their queues have no listener. */
  readonly unacknowledged: number;
  /** The first 100 firings. */
  readonly firings: readonly Schema<'FiringBody'>[];
  /** Null if the clock passed no timer. */
  readonly advanceId: string | null;
  /** The worker, hold or followers that the last instant waited for; if the advance is stuck, the last timer. */
  readonly heldBy: string | null;
}

/** Returns the receipt of a clock change that passed no timer. */
export function receiptWithoutTimers(changed: Schema<'ClockBody'>): Receipt {
  const current = Instant.parse(changed.current_time);
  const counts = { fired: 0, acknowledged: 0, failed: 0, unacknowledged: 0, firings: [] };
  const advance = { advanceId: null, heldBy: null };
  return { timelineId: changed.timeline_id, state: 'settled', reached: current, to: current, ...counts, ...advance };
}

/** Parses a receipt. Throws `NotSettledError` if the advance ended before its destination. */
export function receiptOf(settled: Schema<'ReceiptBody'>): Receipt {
  const { fired, acknowledged, failed, unacknowledged, firings } = settled;
  const receipt: Receipt = {
    timelineId: settled.timeline_id,
    state: settled.state as Receipt['state'],
    reached: Instant.parse(settled.reached),
    to: Instant.parse(settled.to),
    ...{ fired, acknowledged, failed, unacknowledged, firings },
    advanceId: settled.advance_id,
    heldBy: settled.held_by ?? null,
  };
  if (receipt.state === 'stopped' || receipt.state === 'stuck') throw new NotSettledError(receipt);
  return receipt;
}

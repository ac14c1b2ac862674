/** Operations on a clock: executed one at a time, with the error of the last one and an undo for moves. */
import { service } from '../../lib/service/api';
import type { ClockBody, LiveClock } from '../../lib/live/clock.svelte';
import { format, type Micros } from '../../lib/time/instant';
import type { AdvanceReceipt } from '../../lib/timers/timers';
import { toasts } from '../../lib/page/toast.svelte';
import { moveOfReceipt, moveTo, type Move } from './moves/moves';

/** The clock before a move. */
interface UndoState {
  instant: Micros;
  location: string | null;
  /** The generation after the move. If the clock has another one, the move can no longer be undone. */
  generation: number;
  statusText: string;
}

interface TimelineParam {
  timeline_id: string;
}

/** How long a request waits for timers on the way, in host time. A longer advance is followed by its receipt. */
const WAIT = '2s';

/** Operations on a clock. */
const OPERATIONS = {
  'pause-time': (on: TimelineParam) => service.pauseTime(on),
  'resume-time': (on: TimelineParam) => service.resumeTime(on),
  'fast-forward': (on: TimelineParam & { duration: string }) => service.fastForward({ ...on, wait: WAIT }),
  'advance-to-next': (on: TimelineParam) => service.advanceToNext({ ...on, wait: WAIT }),
  rewind: (on: TimelineParam & { duration: string; refire?: boolean }) => service.rewind(on),
  travel: (on: TimelineParam & { destination_time: string; location?: string; refire?: boolean }) =>
    service.travel({ ...on, wait: WAIT }),
  'set-rate': (on: TimelineParam & { rate: number }) => service.setRate(on),
  'return-to-anchor': (on: TimelineParam & { anchor_id: string; scope: 'all' | 'clock' }) => service.returnToAnchor(on),
} as const;

type Operation = keyof typeof OPERATIONS;
type OperationParams<D extends Operation> = Omit<Parameters<(typeof OPERATIONS)[D]>[0], keyof TimelineParam>;
type OperationBody = ClockBody & { status: string; receipt?: AdvanceReceipt | null };

const MOVES: readonly Operation[] = ['fast-forward', 'advance-to-next', 'rewind', 'travel', 'return-to-anchor'];

/** Maximum number of queued operations: enough for quick key presses, but not for the repeats of a held key. */
const WAITING_MAX = 8;

export class ClockOperations {
  /** The operation in progress. */
  busy = $state<Operation | null>(null);
  error = $state<unknown>(null);
  /** The operation that caused the error. */
  failed = $state<Operation | null>(null);
  private before = $state<UndoState | null>(null);

  private waiting = 0;
  private failures = 0;
  private last: Promise<boolean> = Promise.resolve(true);

  constructor(
    private readonly timeline: string,
    private readonly clock: () => LiveClock | null,
    /** Called with the receipt of a move, complete or still in progress. */
    private readonly onsettled: (settled: AdvanceReceipt) => void,
    /** Called with the start and end of each move. */
    private readonly onmoved: (move: Move) => void = () => {},
  ) {}

  /** The state to undo to, if the clock has not changed since the last move. */
  get back(): UndoState | null {
    return this.before?.generation === this.clock()?.body?.generation ? this.before : null;
  }

  /**
   * Runs an operation after those in the queue, and updates the clock from the response. Returns whether it succeeded.
   */
  run<D extends Operation>(operation: D, params: OperationParams<D>): Promise<boolean> {
    return this.enqueue(() => this.act(operation, params));
  }

  /** Pauses a running clock, resumes a paused one, or ends an advance. The state is read when its turn comes. */
  toggle(): Promise<boolean> {
    return this.enqueue(() => {
      const body = this.clock()?.body;
      return this.act(body?.state === 'paused' && !body.advance ? 'resume-time' : 'pause-time', {});
    });
  }

  /** Undoes the last move, if possible. */
  undo(): Promise<boolean> {
    return this.enqueue(async () => {
      const before = this.back;
      if (before === null) return false;
      const place = before.location === null ? {} : { location: before.location };
      const isDone = await this.act('travel', { destination_time: format(before.instant), ...place });
      if (isDone) this.before = null;
      return isDone;
    });
  }

  /** Drops the undo state. */
  forget(): void {
    this.before = null;
  }

  /** Queues an operation. If one fails, those behind it are dropped, because they assumed that it succeeded. */
  private enqueue(operation: () => Promise<boolean>): Promise<boolean> {
    if (this.waiting === WAITING_MAX) return Promise.resolve(false);
    const failures = this.failures;
    this.waiting += 1;
    this.last = this.last.then(() => {
      this.waiting -= 1;
      return failures === this.failures ? operation() : false;
    });
    return this.last;
  }

  private async act<D extends Operation>(operation: D, params: OperationParams<D>): Promise<boolean> {
    const clock = this.clock();
    if (clock === null) return false;
    const was = clock.body ? { instant: clock.exact(), location: clock.body.location } : null;
    this.busy = operation;
    this.error = null;
    try {
      const act = OPERATIONS[operation] as (on: TimelineParam) => Promise<OperationBody>;
      const body = await act({ timeline_id: this.timeline, ...params });
      clock.take(body);
      if (body.receipt) this.onsettled(body.receipt);
      if (MOVES.includes(operation)) {
        // The end of an advance increments the generation too.
        const generation = body.generation + (body.advance ? 1 : 0);
        this.before = was && { ...was, generation, statusText: body.status };
        const move = body.receipt ? moveOfReceipt(body.receipt) : was && moveTo(was.instant, body.origin_virtual);
        if (move) this.onmoved(move);
      } else {
        this.before = null;
        toasts.say(body.status);
      }
      return true;
    } catch (error) {
      this.failures += 1;
      this.error = error;
      this.failed = operation;
      return false;
    } finally {
      this.busy = null;
    }
  }
}

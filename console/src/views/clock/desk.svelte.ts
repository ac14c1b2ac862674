/** What is done to a clock: one thing at a time, with what came of it, and a way back. */
import { service } from '../../lib/service/api';
import type { ClockBody, LiveClock } from '../../lib/live/clock.svelte';
import { format, type Micros } from '../../lib/time/instant';
import type { Settled } from '../../lib/timers/timers';
import { toasts } from '../../lib/page/toast.svelte';
import { moveOfReceipt, moveTo, type Move } from './moves/moves';

/** Where the clock was before it was moved. */
export interface Before {
  instant: Micros;
  location: string | null;
  /** The generation that the move made: once there is another one, this is no longer the way back. */
  generation: number;
  statusText: string;
}

interface On {
  timeline_id: string;
}

/** How long an answer waits for the timers that are passed, in host time. What takes longer is followed. */
const WAIT = '2s';

/** What can be done to a clock. */
const DEEDS = {
  'pause-time': (on: On) => service.pauseTime(on),
  'resume-time': (on: On) => service.resumeTime(on),
  'fast-forward': (on: On & { duration: string }) => service.fastForward({ ...on, wait: WAIT }),
  'advance-to-next': (on: On) => service.advanceToNext({ ...on, wait: WAIT }),
  rewind: (on: On & { duration: string; refire?: boolean }) => service.rewind(on),
  travel: (on: On & { destination_time: string; location?: string; refire?: boolean }) =>
    service.travel({ ...on, wait: WAIT }),
  'set-rate': (on: On & { rate: number }) => service.setRate(on),
  'return-to-anchor': (on: On & { anchor_id: string; scope: 'all' | 'clock' }) => service.returnToAnchor(on),
} as const;

type Deed = keyof typeof DEEDS;
type DeedParams<D extends Deed> = Omit<Parameters<(typeof DEEDS)[D]>[0], keyof On>;
type Done = ClockBody & { status: string; receipt?: Settled | null };

const MOVES: readonly Deed[] = ['fast-forward', 'advance-to-next', 'rewind', 'travel', 'return-to-anchor'];

/**
 * How many deeds are kept while one is under way: what a quick hand presses, and no more of a key that is held down.
 */
const WAITING_MAX = 8;

export class Desk {
  /** What is under way. */
  busy = $state<Deed | null>(null);
  error = $state<unknown>(null);
  /** What caused the error. */
  failed = $state<Deed | null>(null);
  private before = $state<Before | null>(null);

  private waiting = 0;
  private failures = 0;
  private last: Promise<boolean> = Promise.resolve(true);

  constructor(
    private readonly timeline: string,
    private readonly clock: () => LiveClock | null,
    /** Told what fired on the way of a move, or that the clock is still on its way. */
    private readonly onsettled: (settled: Settled) => void,
    /** Told from where to where a move took the clock. */
    private readonly onmoved: (move: Move) => void = () => {},
  ) {}

  /** The way back of the last move, as long as nobody changed the clock since. */
  get back(): Before | null {
    return this.before?.generation === this.clock()?.body?.generation ? this.before : null;
  }

  /** Does it once what is under way is done, and takes the clock over from the answer. Returns whether it was done. */
  run<D extends Deed>(deed: D, params: DeedParams<D>): Promise<boolean> {
    return this.inTurn(() => this.act(deed, params));
  }

  /** Pauses a clock that runs by then, or lets one go on that stands; ends an advance. */
  toggle(): Promise<boolean> {
    return this.inTurn(() => {
      const body = this.clock()?.body;
      return this.act(body?.state === 'paused' && !body.advance ? 'resume-time' : 'pause-time', {});
    });
  }

  /** Goes the way back, where there is one. */
  undo(): Promise<boolean> {
    return this.inTurn(async () => {
      const before = this.back;
      if (before === null) return false;
      const place = before.location === null ? {} : { location: before.location };
      const isDone = await this.act('travel', { destination_time: format(before.instant), ...place });
      if (isDone) this.before = null;
      return isDone;
    });
  }

  /** No longer offers the way back. */
  forget(): void {
    this.before = null;
  }

  /** One after the other. What waits behind a deed that fails is not done: it was meant for another clock. */
  private inTurn(deed: () => Promise<boolean>): Promise<boolean> {
    if (this.waiting === WAITING_MAX) return Promise.resolve(false);
    const failures = this.failures;
    this.waiting += 1;
    this.last = this.last.then(() => {
      this.waiting -= 1;
      return failures === this.failures ? deed() : false;
    });
    return this.last;
  }

  private async act<D extends Deed>(deed: D, params: DeedParams<D>): Promise<boolean> {
    const clock = this.clock();
    if (clock === null) return false;
    const was = clock.body ? { instant: clock.exact(), location: clock.body.location } : null;
    this.busy = deed;
    this.error = null;
    try {
      const act = DEEDS[deed] as (on: On) => Promise<Done>;
      const body = await act({ timeline_id: this.timeline, ...params });
      clock.take(body);
      if (body.receipt) this.onsettled(body.receipt);
      if (MOVES.includes(deed)) {
        // The end of an advance is a generation of its own.
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
      this.failed = deed;
      return false;
    } finally {
      this.busy = null;
    }
  }
}

/** What is done to a clock: one thing at a time, with what came of it, and a way back. */
import { call } from '../../lib/api';
import type { ClockBody, LiveClock } from '../../lib/clock.svelte';
import { format, type Micros } from '../../lib/instant';
import { toasts } from '../../lib/toast.svelte';

/** Where the clock was before it was moved. */
export interface Before {
  instant: Micros;
  location: string | null;
  /** The generation that the move made: once there is another one, this is no longer the way back. */
  generation: number;
  told: string;
}

type Deed = 'pause-time' | 'resume-time' | 'fast-forward' | 'rewind' | 'travel' | 'set-rate' | 'return-to-anchor';

const MOVES: readonly Deed[] = ['fast-forward', 'rewind', 'travel', 'return-to-anchor'];

export class Desk {
  /** What is under way. */
  busy = $state<Deed | null>(null);
  error = $state<unknown>(null);
  /** What caused the error. */
  failed = $state<Deed | null>(null);
  before = $state<Before | null>(null);

  constructor(
    private readonly timeline: string,
    private readonly clock: () => LiveClock | null,
  ) {}

  /** Does it, and takes the clock over from the answer. Returns whether it was done. */
  async run(deed: Deed, parameters: Record<string, unknown> = {}): Promise<boolean> {
    const clock = this.clock();
    if (this.busy !== null || clock === null) return false;
    const was = clock.body ? { instant: clock.now, location: clock.body.location } : null;
    this.busy = deed;
    this.error = null;
    try {
      const body = await call<ClockBody & { status: string }>('POST', `v1/${deed}`, { body: { timeline_id: this.timeline, ...parameters } });
      clock.take(body);
      if (MOVES.includes(deed)) {
        this.before = was && { ...was, generation: body.generation, told: body.status };
      } else {
        this.before = null;
        toasts.say(body.status);
      }
      return true;
    } catch (error) {
      this.error = error;
      this.failed = deed;
      return false;
    } finally {
      this.busy = null;
    }
  }

  /** Takes the last move back, as long as nobody changed the clock since. */
  async undo(): Promise<void> {
    const before = this.before;
    if (before === null) return;
    const place = before.location === null ? {} : { location: before.location };
    if (await this.run('travel', { destination_time: format(before.instant), ...place })) this.before = null;
  }
}

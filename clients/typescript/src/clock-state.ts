/** The arithmetic of a clock, as the service does it: whole microseconds, rates in millionths, nothing rounded twice. */
import { floorDiv, Instant } from './instant.js';
import type { Schema } from './shapes.js';

type ClockBody = Pick<
  Schema<'ClockBody'>,
  'timeline_id' | 'generation' | 'state' | 'rate' | 'origin_host' | 'origin_virtual' | 'location'
>;

/** A clock as the service told it: everything that is needed to compute what it shows. */
export class ClockState {
  private constructor(
    readonly timelineId: string,
    /** Counts changes of the clock. */
    readonly generation: number,
    /** Whether virtual time passes. */
    readonly isRunning: boolean,
    /** Virtual microseconds per host second. */
    readonly rateMicros: bigint,
    readonly originHost: Instant,
    readonly originVirtual: Instant,
    readonly location: string | null,
  ) {}

  /** Reads a clock out of an answer or a message. */
  static of(body: ClockBody): ClockState {
    return new ClockState(
      body.timeline_id,
      body.generation,
      body.state === 'running',
      BigInt(Math.round(body.rate * 1_000_000)),
      Instant.parse(body.origin_host),
      Instant.parse(body.origin_virtual),
      body.location ?? null,
    );
  }

  /** Virtual seconds per host second. */
  get rate(): number {
    return Number(this.rateMicros) / 1_000_000;
  }

  /** Returns what the clock shows at a host time. One that reaches an end of −9999…9999 stands there. */
  at(hostMicros: bigint): Instant {
    if (!this.isRunning) return this.originVirtual;
    const passed = floorDiv((hostMicros - this.originHost.micros) * this.rateMicros, 1_000_000n);
    const micros = this.originVirtual.micros + passed;
    if (micros <= Instant.MIN.micros) return Instant.MIN;
    return micros >= Instant.MAX.micros ? Instant.MAX : new Instant(micros);
  }

  /** Returns the first host time at which the clock shows this or later; null if it never will as it is. */
  hostWhen(virtualMicros: bigint): bigint | null {
    if (!this.isRunning) return this.originVirtual.micros >= virtualMicros ? this.originHost.micros : null;
    if (virtualMicros > Instant.MAX.micros) return null;
    const distance = virtualMicros - this.originVirtual.micros;
    return this.originHost.micros - floorDiv(-distance * 1_000_000n, this.rateMicros);
  }

  /** Tells whether another clock is computed in the same way. */
  hasSameReadings(other: ClockState): boolean {
    return (
      this.timelineId === other.timelineId &&
      this.generation === other.generation &&
      this.isRunning === other.isRunning &&
      this.rateMicros === other.rateMicros &&
      this.originHost.micros === other.originHost.micros &&
      this.originVirtual.micros === other.originVirtual.micros
    );
  }
}

/** Clock arithmetic, identical to the service's: whole microseconds, rates in millionths, no double rounding. */
import { floorDiv, Instant } from './instant.js';
import type { Schema } from './operation-types.js';

type ClockBody = Pick<
  Schema<'ClockBody'>,
  'timeline_id' | 'generation' | 'state' | 'rate' | 'origin_host' | 'origin_virtual' | 'location'
>;

/** The state of a clock: the values from which readings are computed. */
export class ClockState {
  private constructor(
    readonly timelineId: string,
    /** The number of changes of the clock. */
    readonly generation: number,
    /** Whether virtual time passes. */
    readonly isRunning: boolean,
    /** Virtual microseconds per host second. */
    readonly rateMicros: bigint,
    readonly originHost: Instant,
    readonly originVirtual: Instant,
    readonly location: string | null,
  ) {}

  /** Parses a clock in a response or a stream message. */
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

  /** Returns the reading at a host time. A clock that reaches either end of the range −9999…9999 stops there. */
  at(hostMicros: bigint): Instant {
    if (!this.isRunning) return this.originVirtual;
    const passed = floorDiv((hostMicros - this.originHost.micros) * this.rateMicros, 1_000_000n);
    const micros = this.originVirtual.micros + passed;
    if (micros <= Instant.MIN.micros) return Instant.MIN;
    return micros >= Instant.MAX.micros ? Instant.MAX : new Instant(micros);
  }

  /**
   * Returns the first host time at which the clock shows this time or a later one; null if it never does.
   */
  hostTimeAt(virtualMicros: bigint): bigint | null {
    if (!this.isRunning) return this.originVirtual.micros >= virtualMicros ? this.originHost.micros : null;
    if (virtualMicros > Instant.MAX.micros) return null;
    const distance = virtualMicros - this.originVirtual.micros;
    return this.originHost.micros - floorDiv(-distance * 1_000_000n, this.rateMicros);
  }

  /** Returns whether another state gives the same readings. */
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

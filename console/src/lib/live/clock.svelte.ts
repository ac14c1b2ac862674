/** The clock of a timeline, extrapolated locally from stream messages instead of polled. */
import { format, parse, type Micros, wholeSecond } from '../time/instant';
import { Stream } from './stream.svelte';

/** A clock as the API returns it. */
export interface ClockBody {
  timeline_id: string;
  current_time: string;
  /** `running` or `paused`. */
  state: string;
  rate: number;
  location: string | null;
  local_time?: string | null;
  generation: number;
  origin_host: string;
  origin_virtual: string;
  /** The running advance: its destination and the number of instants it has stopped at. */
  advance?: { advance_id: string; step: number; to: string } | null;
}

/** Refresh interval of a clock that runs faster than one second per second. */
const QUICK_MS = 100;
/** Shorter intervals use animation frames. */
const FRAME_MS = 20;

/** Ends of the API's calendar. */
const LAST: Micros = 253_402_300_799_999_999n;
const FIRST: Micros = -377_705_116_800_000_000n;

export class LiveClock {
  body = $state<ClockBody | null>(null);
  /** The displayed time. Updated at each second of a running clock, and as often as `often` requires. */
  now = $state<Micros>(0n);
  #stream: Stream;
  #receivedTime: Micros = 0n;
  /**
   * `performance.now()` at the time of `#receivedTime`. The wall clock of the browser may be wrong; its monotonic clock
   * is not.
   */
  #since = 0;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #eager = new Map<symbol, number>();

  constructor(readonly timeline: string) {
    this.#stream = new Stream({ timeline, events: ['clock'] }, ({ data, ageMs }) => {
      this.take((data as { clock: ClockBody }).clock, ageMs);
    });
  }

  /** Updates `now` at least every `everyMs`. Returns a function that ends this. */
  often(everyMs: number): () => void {
    const key = Symbol();
    this.#eager.set(key, everyMs);
    this.#schedule();
    return () => void this.#eager.delete(key);
  }

  /** Updates `now` and schedules the next change. A paused clock needs no timer. */
  #tick(): void {
    this.now = this.#compute();
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    if (this.body === null || this.body.state === 'paused') return;
    const { rate } = this.body;
    const within = Number(((this.#compute() % 1_000_000n) + 1_000_000n) % 1_000_000n) / 1_000;
    // One millisecond after the second begins.
    const second = (1_000 - within) / rate + 1;
    const wait = Math.min(Math.max(second, rate > 1 ? QUICK_MS : 0), ...this.#eager.values());
    if (wait < FRAME_MS) this.#frame = requestAnimationFrame(() => this.#tick());
    else this.#timer = setTimeout(() => this.#tick(), Math.min(wait, 60_000));
  }

  /** Returns the time at this moment, independent of scheduled updates. */
  exact(): Micros {
    return this.#compute();
  }

  /** Text about connection problems, or null. */
  get trouble(): string | null {
    return this.#stream.trouble;
  }

  /** Whether the service rejected the stream for this user. */
  get isRejected(): boolean {
    return this.#stream.state === 'rejected';
  }

  /** Applies a clock from a response or the stream, unless a newer one is known. */
  take(body: ClockBody, ageMs = 0): void {
    if (this.body !== null && isOlder(body, this.body)) return;
    this.#receivedTime = parse(body.current_time) ?? 0n;
    this.#since = performance.now() - ageMs;
    this.body = body;
    this.#tick();
  }

  #compute(): Micros {
    if (this.body === null || this.body.state === 'paused') return this.#receivedTime;
    return extrapolate(this.#receivedTime, this.body.rate, performance.now() - this.#since);
  }

  /** UTC offset of local time at the clock's location in microseconds, or null. */
  get offset(): Micros | null {
    const local = this.body?.local_time;
    if (!local) return null;
    const match = /([+-])(\d{2}):?(\d{2})(?::?(\d{2}))?$/.exec(local);
    if (match === null) return null;
    const seconds = Number(match[2]) * 3_600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return BigInt(match[1] === '-' ? -seconds : seconds) * 1_000_000n;
  }

  /** The displayed time as an API timestamp without fractions. */
  get text(): string {
    const whole = wholeSecond(this.now);
    return format(whole);
  }

  close(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#stream.close();
  }
}

/** Returns the time of a running clock after `passedMs` of host time, clamped to the calendar. */
export function extrapolate(from: Micros, rate: number, passedMs: number): Micros {
  const now = from + BigInt(Math.floor(passedMs * rate * 1_000));
  return now > LAST ? LAST : now < FIRST ? FIRST : now;
}

/** Whether a time is at an end of the calendar, where a clock stops advancing. */
export function isAtEnd(time: Micros): boolean {
  return time === FIRST || time === LAST;
}

/** All instants of an advance share one generation. */
function isOlder(body: ClockBody, known: ClockBody): boolean {
  if (body.generation !== known.generation) return body.generation < known.generation;
  return (body.advance?.step ?? 0) < (known.advance?.step ?? 0);
}

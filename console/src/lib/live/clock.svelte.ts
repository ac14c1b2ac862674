/**
 * The clock of a timeline, computed here from what the stream told: nothing is polled.
 */
import { format, parse, type Micros } from '../time/instant';
import { Stream } from './stream.svelte';

/** What the API says of a clock. */
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
  /** While an advance moves it: where it goes, and how many instants it has stood at. */
  advance?: { advance_id: string; step: number; to: string } | null;
}

/** A clock that runs faster than seconds can be read is shown so often. */
const QUICK_MS = 100;
/** What is wanted more often comes with the pictures of the browser. */
const FRAME_MS = 20;

/** Where the calendar of the API ends. */
const LAST: Micros = 253_402_300_799_999_999n;
const FIRST: Micros = -377_705_116_800_000_000n;

export class LiveClock {
  body = $state<ClockBody | null>(null);
  /** What the clock shows: new with each of its seconds while it runs, and as often as somebody wants it. */
  now = $state<Micros>(0n);
  #stream: Stream;
  #receivedTime: Micros = 0n;
  /** `performance.now()` when the clock showed `#shown`: the browser's wall clock may be wrong, its pace is not. */
  #since = 0;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #eager = new Map<symbol, number>();

  constructor(readonly timeline: string) {
    this.#stream = new Stream({ timeline, events: ['clock'] }, ({ data, ageMs }) => {
      this.take((data as { clock: ClockBody }).clock, ageMs);
    });
  }

  /** Shows it at least every so many milliseconds, for who sees it move between its seconds; returns what ends that. */
  often(everyMs: number): () => void {
    const who = Symbol();
    this.#eager.set(who, everyMs);
    this.#schedule();
    return () => void this.#eager.delete(who);
  }

  /** Shows what it shows now, and comes back when that is something else. A paused clock costs nothing. */
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
    // A thousandth after the second has begun.
    const second = (1_000 - within) / rate + 1;
    const wait = Math.min(Math.max(second, rate > 1 ? QUICK_MS : 0), ...this.#eager.values());
    if (wait < FRAME_MS) this.#frame = requestAnimationFrame(() => this.#tick());
    else this.#timer = setTimeout(() => this.#tick(), Math.min(wait, 60_000));
  }

  /** Returns what it shows at this moment, also between two pictures. */
  exact(): Micros {
    return this.#compute();
  }

  /** What to tell people of the connection, or null where all is well. */
  get trouble(): string | null {
    return this.#stream.trouble;
  }

  /** Whether the service said that there is no such clock for this user. */
  get isRefused(): boolean {
    return this.#stream.state === 'refused';
  }

  /** Takes over what an answer or the stream says, unless something newer is known already. */
  take(body: ClockBody, ageMs = 0): void {
    if (this.body !== null && isOlder(body, this.body)) return;
    this.#receivedTime = parse(body.current_time) ?? 0n;
    this.#since = performance.now() - ageMs;
    this.body = body;
    this.#tick();
  }

  #compute(): Micros {
    if (this.body === null || this.body.state === 'paused') return this.#receivedTime;
    return movedOn(this.#receivedTime, this.body.rate, performance.now() - this.#since);
  }

  /** Returns how far local time at the clock's location is from UTC, in microseconds, or null. */
  get offset(): Micros | null {
    const local = this.body?.local_time;
    if (!local) return null;
    const match = /([+-])(\d{2}):?(\d{2})(?::?(\d{2}))?$/.exec(local);
    if (match === null) return null;
    const seconds = Number(match[2]) * 3_600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return BigInt(match[1] === '-' ? -seconds : seconds) * 1_000_000n;
  }

  /** Returns what the clock shows, to the whole second, as the API writes it. */
  get text(): string {
    const whole = this.now - (((this.now % 1_000_000n) + 1_000_000n) % 1_000_000n);
    return format(whole);
  }

  close(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#stream.close();
  }
}

/** Returns what a running clock shows some milliseconds of host time later; at the ends of the calendar it stays. */
export function movedOn(from: Micros, rate: number, passedMs: number): Micros {
  const now = from + BigInt(Math.floor(passedMs * rate * 1_000));
  return now > LAST ? LAST : now < FIRST ? FIRST : now;
}

/** Returns whether a clock that shows this time stands at an end of the calendar, running or not. */
export function isAtEnd(time: Micros): boolean {
  return time === FIRST || time === LAST;
}

/** An advance is one generation, however many instants it stands at. */
function isOlder(body: ClockBody, known: ClockBody): boolean {
  if (body.generation !== known.generation) return body.generation < known.generation;
  return (body.advance?.step ?? 0) < (known.advance?.step ?? 0);
}

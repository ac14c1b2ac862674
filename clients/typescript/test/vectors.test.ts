/** The test cases that all languages share. */
import { describe, expect, it } from 'vitest';
import { ClockClosedError, ClockStaleError, ClockState, Follower, Instant, type Schema } from '../src/index.js';
import { waitMs, type Outcome } from '../src/retry.js';
import { EventReader } from '../src/sse.js';
import { vectors } from './harness.js';

type Body = Schema<'ClockBody'>;
type ClockFields = Pick<Body, 'state' | 'rate' | 'origin_host' | 'origin_virtual'>;
interface Step {
  at: number;
  do?: keyof typeof TRANSITIONS | 'apply_message' | 'apply_response';
  event?: string;
  body?: Body;
  first?: boolean;
  change?: { jump: number; reset: boolean } | null;
  read?: { shows?: string; generation?: number; error?: 'stale' | 'closed'; uncertainty?: number };
}
interface Seconds {
  stale_after: number;
  lost_after: number;
}

function state(clock: ClockFields): ClockState {
  return ClockState.of({ timeline_id: 'main', generation: 0, location: null, ...clock });
}

const clocks = vectors<{ cases: { name: string; clock: ClockFields; readings: { host: string; shows: string }[] }[] }>(
  'clock',
);

describe('a clock', () => {
  it.each(clocks.cases)('computes the same readings as the service: $name', ({ clock, readings }) => {
    for (const { host, shows } of readings) {
      const clockState = state(clock);
      expect(String(clockState.at(Instant.parse(host).micros)), host).toBe(shows);
      const micros = Instant.parse(shows).micros;
      const first = clockState.hostTimeAt(micros);
      if (first === null || [Instant.MIN.micros, Instant.MAX.micros].includes(micros)) continue;
      expect(clockState.at(first).micros).toBeGreaterThanOrEqual(micros);
      if (clockState.isRunning) expect(clockState.at(first - 1n).micros).toBeLessThan(micros);
    }
  });

  it('matches recorded readings of a service', () => {
    const { readings } = vectors<{ readings: { clock: ClockFields; host: string; shows: string }[] }>('recorded');
    expect(readings.length).toBeGreaterThan(100);
    for (const { clock, host, shows } of readings) {
      expect(String(state(clock).at(Instant.parse(host).micros))).toBe(shows);
    }
  });
});

describe('timestamps', () => {
  const { valid, invalid } = vectors<{
    valid: { text: string; micros: number; written?: string }[];
    invalid: string[];
  }>('timestamps');
  it.each(valid)('$text is parsed and formatted', ({ text, micros, written }) => {
    // Both numbers are rounded to the nearest float. The comparison of texts below is exact.
    expect(Number(Instant.parse(text).micros)).toBe(micros);
    expect(String(Instant.parse(text))).toBe(written ?? text);
  });
  it.each(invalid)('%j is rejected', (text) => {
    expect(() => Instant.parse(text)).toThrow(RangeError);
  });
  it('match Date within its range', () => {
    for (let day = -377_705_116_800_000; day < 253_402_300_800_000; day += 83_991_234_577) {
      const instant = new Instant(BigInt(day) * 1_000n);
      expect(instant.toDate().getTime()).toBe(day);
      expect(Instant.parse(String(instant)).micros).toBe(instant.micros);
      expect(Date.parse(String(instant)), String(instant)).toBe(day);
    }
  });
});

describe('follower readings', () => {
  const file = vectors<{ bounds: Seconds; cases: { name: string; bounds?: Seconds; steps: Step[] }[] }>('follow');
  it.each(file.cases)('$name', ({ bounds = file.bounds, steps }) => {
    const follower = new Follower({ staleAfterMs: bounds.stale_after * 1_000, lostAfterMs: bounds.lost_after * 1_000 });
    for (const step of steps) run(follower, step);
  });

  it('are stale after invalidation', () => {
    const follower = new Follower({ staleAfterMs: 30_000, lostAfterMs: 10_000 });
    const first = file.cases[1]!.steps.slice(0, 3);
    for (const step of first) run(follower, step);
    follower.invalidate();
    expect(() => follower.read(3_000n)).toThrow(ClockStaleError);
    expect(follower.isConnected).toBe(false);
    follower.requestSent(4_000n);
    follower.streamOpened(5_000n);
    expect(follower.read(5_000n).generation).toBe(3);
  });
});

/** Transitions of a follower without a message, by their names in the vectors. */
const TRANSITIONS = {
  request_sent: (follower: Follower, at: bigint): void => follower.requestSent(at),
  stream_opened: (follower: Follower, at: bigint): void => follower.streamOpened(at),
  message_received: (follower: Follower, at: bigint): void => follower.messageReceived(at),
  connection_lost: (follower: Follower, at: bigint): void => follower.connectionLost(at),
  closed: (follower: Follower): void => follower.closed(),
};

function run(follower: Follower, step: Step): void {
  const at = BigInt(step.at);
  if (step.read) {
    checkReading(follower, at, step.read);
  } else if (step.do === 'apply_message' || step.do === 'apply_response') {
    const change =
      step.do === 'apply_response'
        ? follower.applyResponse(step.body!, at)
        : follower.applyMessage(step.event!, step.body!, at, step.first);
    expect(change && { jump: Number(change.jumpMicros), reset: change.isReset }).toEqual(step.change);
  } else if (step.do !== undefined) {
    TRANSITIONS[step.do](follower, at);
  }
}

function checkReading(follower: Follower, at: bigint, expected: NonNullable<Step['read']>): void {
  if (expected.error) {
    expect(() => follower.read(at)).toThrow(expected.error === 'stale' ? ClockStaleError : ClockClosedError);
    return;
  }
  const { now, generation, uncertaintyMicros } = follower.read(at);
  expect([String(now), generation], `at ${at}`).toEqual([expected.shows, expected.generation]);
  if (expected.uncertainty !== undefined) expect(uncertaintyMicros).toBe(BigInt(expected.uncertainty));
}

describe('server-sent events', () => {
  const { cases } = vectors<{ cases: { name: string; pieces: string[]; events: object[]; last_id: string }[] }>('sse');
  it.each(cases)('$name', ({ pieces, events, last_id: lastId }) => {
    const encoded = pieces.map((piece) => new TextEncoder().encode(piece));
    const bytes = encoded.flatMap((piece) => [...piece].map((byte) => Uint8Array.of(byte)));
    for (const chunks of [encoded, bytes]) {
      const reader = new EventReader();
      expect(chunks.flatMap((chunk) => reader.push(chunk))).toEqual(events);
      expect(reader.lastId).toBe(lastId);
    }
  });
});

interface RetryCase {
  name: string;
  attempt: number;
  outcome: Outcome;
  is_repeatable: boolean;
  retry_after: number | null;
  waited: number;
  wait: [number, number] | null;
}

describe('the wait before a retry', () => {
  const { attempts, wait_max, cases } = vectors<{
    attempts: number;
    wait_max: number;
    cases: RetryCase[];
  }>('retry');
  it.each(cases)('$name', ({ attempt, outcome, is_repeatable: isRepeatable, retry_after, waited, wait }) => {
    const attemptMade = { attempt, outcome, isRepeatable, retryAfterSeconds: retry_after, waitedMs: waited * 1_000 };
    const ms = waitMs({ attempts, waitMsMax: wait_max * 1_000 }, attemptMade);
    if (wait === null) {
      expect(ms).toBeNull();
    } else {
      expect(ms).toBeGreaterThanOrEqual(wait[0] * 1_000);
      expect(ms).toBeLessThanOrEqual(wait[1] * 1_000);
    }
  });
});

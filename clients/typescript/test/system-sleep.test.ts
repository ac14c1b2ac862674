/** System sleep while a clock is open. Most monotonic clocks stop during sleep, but the wall clock does not. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { ClockStaleError } from '../src/index.js';
import { client, eventually, timeline } from './harness.js';

const slept = vi.hoisted(() => ({ ms: 0 }));
vi.mock('../src/host-time.js', async (original) => {
  const host = await original<typeof import('../src/host-time.js')>();
  return { ...host, wallAheadMs: () => host.wallAheadMs() + slept.ms };
});

it('a clock fails after system sleep until it reconnects', async () => {
  const service = client();
  const clock = await service.virtualClock(await timeline(service));
  onTestFinished(() => clock.close());
  const before = clock.now();
  slept.ms = 3_600_000;
  expect(() => clock.now()).toThrow(ClockStaleError);
  expect(() => clock.now()).toThrow('asleep');
  await eventually(() => clock.isConnected);
  expect(clock.now().micros).toBeGreaterThan(before.micros);
});

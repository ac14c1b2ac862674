/** Fixtures for Vitest: a timeline and a clock of its own for each test. */
import { test as base } from 'vitest';
import { Client } from './client.js';
import { follow } from './fake-timers.js';
import { Service, TestClock } from './testing.js';

export { Service, TestClock } from './testing.js';

/** What a test that asks for it gets. */
export interface ClockFixtures {
  /** A client of the service that the tests use. */
  timenavClient: Client;
  /** The clock of a timeline that was created for this test and ends with it. */
  timenavClock: TestClock;
  /** As `timenavClock`; `Date` shows it too, and timers go by it (needs `@sinonjs/fake-timers`). */
  timenavTime: TestClock;
}

/**
 * Vitest's `test` with a clock. The service is that of `TIMENAV_URL`. Nothing is started unless `TIMENAV_START=1` asks
 * for it; then the program is `timenav`, or what `TIMENAV_BIN` names, and each file of tests has a service of its own.
 */
export const test = base.extend<ClockFixtures>({
  timenavClient: [
    // eslint-disable-next-line no-empty-pattern -- Vitest reads what a fixture needs from its pattern
    async ({}, use) => {
      if (process.env.TIMENAV_START !== '1') {
        await use(new Client());
        return;
      }
      const service = await Service.start();
      try {
        await use(await service.client());
      } finally {
        await service.stop();
      }
    },
    { scope: 'file' },
  ],
  timenavClock: async ({ timenavClient, task }, use) => {
    const clock = await TestClock.create(timenavClient, task.name);
    try {
      await use(clock);
      clock.throwFailure();
    } finally {
      await clock.end();
    }
  },
  timenavTime: async ({ timenavClock }, use) => {
    const stop = follow(timenavClock.clock);
    try {
      await use(timenavClock);
    } finally {
      stop();
    }
  },
});

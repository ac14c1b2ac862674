/** Vitest fixtures: each test has its own timeline and clock. */
import { test as base } from 'vitest';
import { Client } from './client.js';
import { follow } from './fake-timers.js';
import { Service, TestClock } from './testing.js';

export { Service, TestClock } from './testing.js';

/** The fixtures of a test. */
export interface ClockFixtures {
  /** A client of the service that the tests use. */
  timenavClient: Client;
  /** The clock of a timeline that is created for the test and ends with it. */
  timenavClock: TestClock;
  /** Like `timenavClock`, but `Date` and timers follow the clock, too (needs `@sinonjs/fake-timers`). */
  timenavTime: TestClock;
}

/**
 * Vitest's `test` with clock fixtures. They use the service at `TIMENAV_URL`. If `TIMENAV_START=1`, they start one
 * service for each test file instead, with the program in `TIMENAV_BIN` or else `timenav`.
 */
export const test = base.extend<ClockFixtures>({
  timenavClient: [
    // eslint-disable-next-line no-empty-pattern -- Vitest reads the dependencies of a fixture from this pattern
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

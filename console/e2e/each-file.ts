/** Runs once for each file of tests. The modules that these import run once for each worker. */
import { afterEach } from 'vitest';
import { closePages, printPages } from './harness';

afterEach(async ({ task }) => {
  const hasPassed = task.result?.state !== 'fail';
  if (!hasPassed) await printPages(task.name);
  await closePages(hasPassed);
});

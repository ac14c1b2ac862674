/** Runs once per test file. Imported modules run once per worker. */
import { afterEach } from 'vitest';
import { closePages, printPages } from './harness';

afterEach(async ({ task }) => {
  const hasPassed = task.result?.state !== 'fail';
  if (!hasPassed) await printPages(task.name);
  await closePages(hasPassed);
});

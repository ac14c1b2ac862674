/** Runs once for each file of tests. The modules that these import run once for each worker. */
import { afterEach } from 'vitest';
import { closePages, tellPages } from './harness';

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await tellPages(task.name);
  await closePages();
});

/** Runs once for each file of tests. The modules that these import run once for each worker. */
import { afterEach } from 'vitest';
import { closePages } from './harness';

afterEach(closePages);

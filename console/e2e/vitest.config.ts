import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: '../node_modules/.vite-e2e',
  test: {
    root: import.meta.dirname,
    include: ['**/*.spec.ts'],
    // Files share a worker process, and with it a browser. Tests wait about as long as they keep a processor busy.
    isolate: false,
    maxWorkers: Math.min(8, availableParallelism() + 1),
    // A machine with much else to do is slow, not wrong: these only end what would never end.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // As long as the browser waits.
    expect: { poll: { timeout: 60_000 } },
    globalSetup: './setup.ts',
    setupFiles: './each-file.ts',
  },
});

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: '../node_modules/.vite-e2e',
  test: {
    root: import.meta.dirname,
    include: ['**/*.spec.ts'],
    // Test files share a worker process and its browser. Tests spend about half of their time waiting.
    isolate: false,
    maxWorkers: Math.min(8, availableParallelism() + 1),
    // Generous limits for a busy machine. They only end tests that would hang.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Same as the browser's timeout.
    expect: { poll: { timeout: 60_000 } },
    globalSetup: './setup.ts',
    setupFiles: './each-file.ts',
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: '../node_modules/.vite-e2e',
  test: {
    root: import.meta.dirname,
    include: ['**/*.spec.ts'],
    // One service and one browser at a time: the machine that checks a change may have two cores.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As long as the browser waits: a machine with much else to do is slow, not wrong.
    expect: { poll: { timeout: 30_000 } },
    globalSetup: './setup.ts',
  },
});

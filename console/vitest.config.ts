import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  // Other tests may run on the same two cores.
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000 },
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

/** Files that are worth a compressed copy. Fonts are compressed already. */
const COMPRESSED = /\.(html|js|css|svg|json)$/;

/** Writes a `.br` beside each text file of the build, so that the service compresses nothing while it runs. */
function brotli(): Plugin {
  let folder = '';
  return {
    name: 'brotli',
    apply: 'build',
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!COMPRESSED.test(name)) continue;
        const path = join(folder, name);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path), { params }));
      }
    },
  };
}

// `npm run dev` shows the console beside a service that runs at TIMENAV_URL.
const service = process.env.TIMENAV_URL ?? 'http://127.0.0.1:8080';

/** What every view needs, and every page loads first. */
const LIBRARIES = /node_modules\/(svelte|clsx|esm-env)\/|clients\/typescript\//;
const SHARED = /src\/(lib\/[\w.-]+|ui\/(Icon|ProblemNote|Prose|Spinner|Empty))\.(ts|svelte)$/;

export default defineConfig({
  // Relative addresses: the console works behind any path prefix.
  base: './',
  plugins: [svelte(), brotli()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A font or a picture inlined as `data:` would need a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      output: {
        // What each view needs, and what each view of events needs, are a file each: on a slow line every further file
        // costs more than what a view could do without in these.
        codeSplitting: {
          groups: [
            {
              name: 'common',
              test: (id) => LIBRARIES.test(id) || SHARED.test(id),
              minShareCount: 4,
            },
            { name: 'events', test: /src\/(lib\/[\w./-]+|ui\/(Menu|menu-keys))\.(ts|svelte)$/, minShareCount: 3 },
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: {
    // The client for TypeScript lies beside the console.
    fs: { allow: ['..'] },
    proxy: {
      '^/(v1|api|timelines|timeline|openapi.*|healthz|readyz)': { target: service, changeOrigin: true },
    },
  },
});

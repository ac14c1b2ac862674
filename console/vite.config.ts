import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { firstScript } from './scripts/first-script.ts';

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

type Read = (id: string) => { importedIds: readonly string[] } | null;

/** Returns the modules that a module cannot start without. */
function needed(id: string, read: Read, found = new Set<string>()): Set<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const other of read(id)?.importedIds ?? []) needed(other, read, found);
  return found;
}

const TIMELINE = resolve('src/views/timeline/TimelineView.svelte');
const OTHERS = ['clock/Clock', 'compare/Compare', 'paradoxes/Paradoxes', 'timers/Timers'];

/**
 * Returns in which file a module is. What every page needs is one; what the timeline needs, where everybody begins, is
 * another, but for what other views of events need as well: on a slow line each further file costs more than a few
 * bytes that a view could do without.
 */
function fileOf(): (id: string, read: Read) => string | null {
  let sets: { every: Set<string>; timeline: Set<string>; shared: Set<string> } | null = null;
  return (id, read) => {
    sets ??= {
      every: needed(resolve('src/main.ts'), read),
      timeline: needed(TIMELINE, read),
      shared: OTHERS.reduce(
        (found, name) => needed(resolve(`src/views/${name}View.svelte`), read, found),
        new Set<string>(),
      ),
    };
    if (sets.every.has(id)) return 'common';
    if (!sets.timeline.has(id)) return null;
    return sets.shared.has(id) ? 'events' : 'timeline';
  };
}

const inFile = fileOf();

export default defineConfig({
  // Relative addresses: the console works behind any path prefix.
  base: './',
  plugins: [svelte(), firstScript(), brotli()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A font or a picture inlined as `data:` would need a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      // Defines an element of its own, which nothing here is.
      treeshake: {
        moduleSideEffects: [
          { test: /svelte\/src\/internal\/client\/dom\/elements\/custom-element\.js$/, sideEffects: false },
        ],
      },
      output: {
        codeSplitting: { groups: [{ name: (id, context) => inFile(id, (one) => context.getModuleInfo(one)) }] },
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

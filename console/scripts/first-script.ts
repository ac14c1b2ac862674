import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';

const SOURCE = 'src/first.ts';
/** Matches the entry script in the page. */
const ENTRY = /<script type="module"[^>]* src="\.\/([^"]+)"/;
const WORKER = /\/worker-[^/]+\.js$/;
const VIEW = /\/views\/([\w-]+)\/(\w+)View\.svelte$/;

type Bundle = Rolldown.OutputBundle;

/** Returns a chunk and its static dependencies. */
function needed(bundle: Bundle, name: string, found = new Set<string>()): Set<string> {
  const chunk = bundle[name];
  if (found.has(name) || chunk?.type !== 'chunk') return found;
  found.add(name);
  for (const other of chunk.imports) needed(bundle, other, found);
  return found;
}

function styles(bundle: Bundle, names: Iterable<string>): string[] {
  return [...names].flatMap((name) => {
    const chunk = bundle[name];
    return chunk?.type === 'chunk' ? [...(chunk.viteMetadata?.importedCss ?? [])] : [];
  });
}

/** Returns the view of a module, or null. */
function viewOf(id: string): string | null {
  const [, view = '', name = ''] = VIEW.exec(id) ?? [];
  return view !== '' && view.replaceAll('-', '') === name.toLowerCase() ? view : null;
}

/** Returns the files that each view needs in addition to those in the page. */
function filesOfViews(bundle: Bundle, entry: string): Record<string, string[]> {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const every = needed(bundle, entry);
  const files: Record<string, string[]> = {};
  for (const chunk of chunks) {
    const view = chunk.moduleIds.map(viewOf).find((name) => name !== null);
    if (!view) continue;
    const scripts = [...needed(bundle, chunk.fileName)].filter((name) => !every.has(name));
    files[view] = [...scripts.reverse(), ...styles(bundle, scripts)];
  }
  return files;
}

/** Deduplicates the names, because most files are used by several views. */
function numbered(files: Record<string, string[]>): Record<'FILES' | 'VIEW_FILES', string> {
  const names = [...new Set(Object.values(files).flat())];
  const views = Object.entries(files).map(([view, its]) => [view, its.map((name) => names.indexOf(name))]);
  return { FILES: JSON.stringify(names), VIEW_FILES: JSON.stringify(Object.fromEntries(views)) };
}

/** Builds the first script of the page, which preloads the other scripts of a view, and inserts it before them. */
export function firstScript(): Plugin {
  let root = '';
  let folder = '';
  return {
    name: 'first-script',
    apply: 'build',
    configResolved(config) {
      root = config.root;
      folder = resolve(config.root, config.build.outDir);
    },
    // Before the files are compressed.
    async writeBundle(_, bundle) {
      const page = join(folder, 'index.html');
      const html = readFileSync(page, 'utf8');
      const [before, entry] = ENTRY.exec(html) ?? [];
      if (before === undefined || entry === undefined) throw new Error('the page has no script');
      const worker = Object.keys(bundle).find((name) => WORKER.test(name));
      if (worker === undefined) throw new Error('the build has no worker');
      const files = filesOfViews(bundle, entry);
      const output = await build({
        configFile: false,
        root,
        logLevel: 'warn',
        define: { ...numbered(files), WORKER_FILE: JSON.stringify(worker) },
        build: { write: false, target: 'es2022', lib: { entry: SOURCE, formats: ['iife'], name: 'first' } },
      });
      const [built] = Array.isArray(output) ? output : [];
      const code = built?.output[0].code;
      if (code === undefined) throw new Error(`${SOURCE} did not become a script`);
      const name = `assets/first-${createHash('sha256').update(code).digest('base64url').slice(0, 8)}.js`;
      writeFileSync(join(folder, name), code);
      writeFileSync(page, html.replace(before, `<script src="./${name}"></script>\n    ${before}`));
    },
  };
}

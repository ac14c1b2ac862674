// Fails if the scripts of a first view, or the files of the first visit of the timeline, exceed their size limit: `node
// first-paint.mjs DIST`. Sizes are after brotli compression.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Maximum compressed script size before the first paint of any view, in bytes. */
const FIRST_PAINT_BYTES_MAX = 100_000;
/**
 * Maximum size of HTML, styles and scripts before the first picture of the timeline, the start page. They take 1.6 s at
 * 400 kbit/s.
 */
const FIRST_VISIT_BYTES_MAX = 80_000;
/** Matches static imports, but not `import(…)`. */
const STATIC_IMPORT = /(?:^|[;}\s])(?:import|export)\s*(?:[^"'()]*?\bfrom\s*)?["']\.\/([^"']+\.js)["']/g;

const [dist] = process.argv.slice(2);
const assets = join(dist, 'assets');

/** Returns the names of a module and its static dependencies. */
function needed(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, other] of readFileSync(join(assets, name), 'utf8').matchAll(STATIC_IMPORT))
    needed(basename(other), found);
  return found;
}

const page = readFileSync(join(dist, 'index.html'), 'utf8');
const entry = page.match(/type="module"[^>]* src="\.\/assets\/([^"]+\.js)"/)[1];
const VIEW = /(View|^timeline)-[\w-]{8}\.js$/;
const views = readdirSync(assets).filter((name) => VIEW.test(name));
const bytes = (names) => [...names].reduce((sum, name) => sum + statSync(join(assets, `${name}.br`)).size, 0);
const weights = new Map([['log in', bytes(needed(entry))]]);
for (const view of views)
  weights.set(view.replace(/(View)?-[\w-]{8}\.js$/, '').toLowerCase(), bytes(needed(view, needed(entry))));

for (const [view, weight] of weights)
  console.log(`${view.padEnd(12)}${(weight / 1000).toFixed(1).padStart(7)} KB of script`);
const heavy = [...weights].filter(([, weight]) => weight > FIRST_PAINT_BYTES_MAX).map(([view]) => view);
if (heavy.length > 0) {
  console.error(`more than ${FIRST_PAINT_BYTES_MAX / 1000} KB of script before the first paint: ${heavy.join(', ')}`);
  process.exit(1);
}

const all = readdirSync(assets);
const files = [
  'index.html',
  ...[...page.matchAll(/"\.\/(assets\/[^"]+\.(?:css|svg))"/g)].map(([, name]) => name),
  ...all
    .filter((name) => /^((TimelineView|timeline|events)-.*\.css|(first|worker)-.*\.js)$/.test(name))
    .map((name) => `assets/${name}`),
];
const visit = weights.get('timeline') + files.reduce((sum, name) => sum + statSync(join(dist, `${name}.br`)).size, 0);
console.log(`${'first visit'.padEnd(12)}${(visit / 1000).toFixed(2).padStart(7)} KB of all files`);
if (visit > FIRST_VISIT_BYTES_MAX) {
  console.error(`more than ${FIRST_VISIT_BYTES_MAX / 1000} KB before the axis of the timeline`);
  process.exit(1);
}

/**
 * Opens every view of the console on a timeline, and prints its cost as a table or as one line of JSON:
 *
 * - `first`: the time until the first paint with contents, and `ready`: until the view had its main contents, both in
 *   milliseconds from the start of navigation;
 * - `requests` and transferred `kB` until the view was ready and the network was idle;
 * - `heap` in MB after garbage collection;
 * - `idle`: CPU of all browser processes without user input, in percent of a core;
 * - for views with an axis, its frame rate while it is dragged and zoomed, and that of the map while it is dragged: the
 *   median, the slowest 5%, and the longest frame in milliseconds.
 *
 *   TIMENAV_API_KEY=… node bench/views.mjs http://127.0.0.1:8080 demo [--json] [--against FORK] [--only VIEW]
 *
 * `idle` is measured once all responses have arrived. With `--json` there is also a row `Blank` for an empty page: the
 * cost of the browser itself on this machine.
 *
 * Needs the key of an operator. A user `bench-views` is created to log in with, and deleted at the end. CHROMIUM_BIN
 * names the browser. Results depend on the machine and its load: report both with the figures.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { drag, floor, zoom } from './pictures-drawn.mjs';
import { viewsOf } from './view-list.mjs';
import { SIZE, Site, Traffic, launchServer } from './visit.mjs';

const READY_MAX_MS = 120_000;
const QUIET_MS = 1_200;
const REST_MAX_MS = 120_000;
const IDLE_MS = 10_000;
const MOVE_MS = 5_000;
/** The kernel's clock ticks per second (USER_HZ): 100 on every Linux that Debian ships. */
const TICKS = 100;
const [base, timeline, ...options] = process.argv.slice(2);
const key = process.env.TIMENAV_API_KEY;
const against = options.includes('--against') ? options[options.indexOf('--against') + 1] : null;
if (!base || !timeline || !key) {
  console.error('usage: TIMENAV_API_KEY=… node bench/views.mjs URL TIMELINE [--json] [--against FORK] [--only VIEW]');
  process.exit(2);
}
const site = new Site(base, key);

const only = options.includes('--only') ? options[options.indexOf('--only') + 1] : null;

const VIEWS = viewsOf(against);

/** Processor time of a process and its descendants in seconds. */
function cpuSeconds(pid) {
  const parents = new Map();
  const times = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The program name is in parentheses and may contain spaces.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(name), Number(fields[1]));
      times.set(Number(name), (Number(fields[11]) + Number(fields[12])) / TICKS);
    } catch {
      // The process has exited.
    }
  }
  let sum = 0;
  for (const [child, time] of times) {
    let above = child;
    while (above !== undefined && above !== pid && above > 1) above = parents.get(above);
    if (above === pid) sum += time;
  }
  return sum;
}

async function move(page, { axis, map }) {
  const dragged = await drag(page, axis, MOVE_MS);
  const zoomed = await zoom(page, axis, MOVE_MS);
  return { drag: dragged, zoom: zoomed, ...(map ? { map: await mapDrag(page, map) } : {}) };
}

/** Zooms in until the map can be dragged, with the same number of events. */
async function mapDrag(page, map) {
  await page.getByRole('button', { name: 'Fit', exact: true }).click();
  for (let step = 0; step < 2; step += 1) await page.getByRole('button', { name: 'Zoom the map in' }).click();
  return drag(page, map, MOVE_MS, 0.4);
}

async function idleOf(page, pid) {
  await page.mouse.move(SIZE.width - 2, SIZE.height - 2);
  await page.waitForTimeout(2_000);
  const before = cpuSeconds(pid);
  await page.waitForTimeout(IDLE_MS);
  return Math.round(((cpuSeconds(pid) - before) / (IDLE_MS / 1_000)) * 1_000) / 10;
}

/** The baseline cost of the browser with an empty page. */
async function blank(context, pid) {
  const page = await context.newPage();
  await page.setViewportSize(SIZE);
  const idle_percent = await idleOf(page, pid);
  await page.close();
  const most = await floor(context, SIZE, MOVE_MS);
  return { view: 'Blank', idle_percent, ...most, map: most.drag };
}

async function measure(context, pid, view) {
  const page = await context.newPage();
  await page.setViewportSize(SIZE);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const traffic = new Traffic(devtools);
  const began = performance.now();
  await page.goto(`${site.root}/#/${view.at}?timeline=${encodeURIComponent(timeline)}${view.params ?? ''}`);
  await view.ready(page).waitFor({ timeout: READY_MAX_MS });
  const ready = performance.now() - began;
  await traffic.rest(page, QUIET_MS, REST_MAX_MS);
  const [requestsBefore, received] = [traffic.requests, traffic.bytes];
  const first = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
  );
  const idle_percent = await idleOf(page, pid);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  const moved = view.axis ? await move(page, view) : null;
  await page.close();
  return {
    view: view.name,
    first_ms: Math.round(first),
    ready_ms: Math.round(ready),
    requests: requestsBefore,
    kb: Math.round(received / 1_000),
    heap_mb: Math.round(usedSize / 1e5) / 10,
    idle_percent,
    ...(moved ?? {}),
  };
}

function print(rows) {
  const cells = rows.map((row) => [
    row.view,
    row.first_ms,
    row.ready_ms,
    row.requests,
    row.kb,
    row.heap_mb,
    row.idle_percent,
    ...['drag', 'zoom', 'map'].map((name) =>
      row[name] ? `${row[name].fps} / ${row[name].slow} / ${row[name].worst_ms}` : '',
    ),
  ]);
  const heads = ['view', 'first ms', 'ready ms', 'requests', 'kB', 'heap MB', 'idle %', 'drag', 'zoom', 'map'];
  console.log(`| ${heads.join(' | ')} |`);
  console.log(
    `| --- | ${heads
      .slice(1)
      .map(() => '---:')
      .join(' | ')} |`,
  );
  for (const row of cells) console.log(`| ${row.join(' | ')} |`);
}

const password = await site.makeUser([timeline, against].filter(Boolean));
const server = await launchServer();
try {
  const browser = await chromium.connect(server.wsEndpoint());
  const context = await browser.newContext({ viewport: SIZE });
  await site.logIn(context, password);
  const rows = [];
  for (const view of VIEWS.filter(({ name }) => only === null || name === only))
    rows.push(await measure(context, server.process().pid, view));
  if (options.includes('--json')) {
    rows.unshift(await blank(context, server.process().pid));
    console.log(JSON.stringify({ bench: 'console views', timeline, rows }));
  } else print(rows);
  await browser.close();
} finally {
  await server.close();
  await site.removeUser();
}

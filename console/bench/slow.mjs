/**
 * Opens the timeline over a slow connection emulated by Chromium, and prints as a table or as one line of JSON:
 *
 * - `bars`: the time until the first bars, in milliseconds from the start of navigation, with the number of their
 *   events and their range. The bars are on the first picture, or on the axis if that was earlier. If one response
 *   cannot count all events, the bars are of those counted so far;
 * - `axis`: the time until the axis had its bars, with the number of requests and the kB transferred;
 * - `click`: the time from a click on a bar until its range was in view and counted (empty if no bar was hit), and
 *   `event`: the time from the key for the next event until its card was visible;
 *
 * each for a first visit and for a visit with the console in the browser cache.
 *
 *   TIMENAV_API_KEY=… node bench/slow.mjs http://127.0.0.1:8080 hurricanes [--kbits 400] [--latency 50] [--json]
 *
 * Needs the key of an operator. A user `bench-views` is created to log in with, and deleted at the end. CHROMIUM_BIN
 * names the browser. Results depend on the machine and its load: report both with the figures.
 */
import { SIZE, Site, Traffic, launch } from './visit.mjs';

/** Ten million events are counted a million at a time. */
const MAX_MS = 120_000;
const QUIET_MS = 1_200;
/** Positions to click for a bar, as fractions of the axis. With few events there are gaps between bars. */
const CLICKS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
const REST_MS = 500;
const [base, timeline, ...options] = process.argv.slice(2);
const key = process.env.TIMENAV_API_KEY;
if (!base || !timeline || !key) {
  console.error('usage: TIMENAV_API_KEY=… node bench/slow.mjs URL TIMELINE [--kbits 400] [--latency 50] [--json]');
  process.exit(2);
}
const option = (name, otherwise) => (options.includes(name) ? Number(options[options.indexOf(name) + 1]) : otherwise);
const kbits = option('--kbits', 400);
const latency = option('--latency', 50);
const site = new Site(base, key);

async function visit(context, isCached) {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  if (!isCached) await devtools.send('Network.clearBrowserCache');
  const throughput = (kbits * 1_000) / 8;
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  });
  const traffic = new Traffic(devtools);
  const since = (began) => Math.round(performance.now() - began);
  const began = performance.now();
  await page.goto(`${site.root}/#/timeline?timeline=${encodeURIComponent(timeline)}`, { waitUntil: 'commit' });
  const axis = page.getByRole('region', { name: 'Axis' });
  const countText = (place, text = /^[\d,]+ events$/) => place.getByText(text).first();
  const visibleAfter = (place) => place.waitFor({ timeout: MAX_MS }).then(() => since(began));
  // The first picture is optional.
  const first = visibleAfter(countText(page.locator('#first-picture'), /^[\d,]+ events( so far)?$/)).catch(
    () => Infinity,
  );
  // With many events, only counted ones have bars, and initially there are none.
  const part = visibleAfter(countText(axis, /(?<!of |[\d,])[1-9][\d,]* (of [\d,]+ )?counted/)).catch(() => Infinity);
  const axis_ms = await visibleAfter(countText(axis));
  const row = {
    files: isCached ? 'cached' : 'new',
    bars_ms: Math.min(axis_ms, await Promise.race([first, part, axis_ms])),
    axis_ms,
    requests: traffic.requests,
    kb: Math.round(traffic.bytes / 1_000),
  };
  if (options.includes('--names')) console.error(traffic.names.join('\n'));
  // Pause like a user, while pending requests may arrive.
  await page.waitForTimeout(1_000);
  const { x, y, width, height } = await page.locator('.axis canvas').first().boundingBox();
  const whole = await page.getByTitle('Enter a time range').innerText();
  row.click_ms = null;
  for (const part of CLICKS) {
    const clicked = performance.now();
    await page.mouse.click(x + width * part, y + height * 0.8);
    const isMoved = await page
      .waitForFunction((text) => document.querySelector('.which')?.textContent !== text, whole, { timeout: REST_MS })
      .then(
        () => true,
        () => false,
      );
    if (!isMoved) continue;
    await axis
      .getByText(/^((about )?[\d,]+ in view|[\d,]+ events$)/)
      .first()
      .waitFor({ timeout: MAX_MS });
    row.click_ms = since(clicked);
    break;
  }
  await page.waitForTimeout(1_000);
  await page.getByRole('application', { name: /^Time axis of/ }).focus();
  const pressed = performance.now();
  await page.keyboard.press(']');
  await page.getByRole('article', { name: 'Event' }).getByRole('heading').first().waitFor({ timeout: MAX_MS });
  row.event_ms = since(pressed);
  await traffic.rest(page, QUIET_MS, MAX_MS / 4);
  row.requests_all = traffic.requests;
  row.kb_all = Math.round(traffic.bytes / 1_000);
  await page.close();
  return row;
}

const COLUMNS = ['files', 'bars_ms', 'axis_ms', 'requests', 'kb', 'click_ms', 'event_ms', 'requests_all', 'kb_all'];

function print(rows) {
  const heads = [
    'files',
    'bars ms',
    'axis ms',
    'requests',
    'kB',
    'click ms',
    'event ms',
    'requests in all',
    'kB in all',
  ];
  console.log(`| ${heads.join(' | ')} |`);
  console.log(`| --- |${' ---: |'.repeat(heads.length - 1)}`);
  for (const row of rows) console.log(`| ${COLUMNS.map((column) => row[column] ?? '').join(' | ')} |`);
}

const password = await site.makeUser([timeline]);
const browser = await launch();
try {
  const context = await browser.newContext({ viewport: SIZE });
  await site.logIn(context, password);
  const rows = [await visit(context, false)];
  // Prefetched files are in the cache for the next visit.
  await visit(context, true);
  rows.push(await visit(context, true));
  if (options.includes('--json'))
    console.log(JSON.stringify({ bench: 'console slow', timeline, kbits, latency, rows }));
  else print(rows);
} finally {
  await browser.close();
  await site.removeUser();
}

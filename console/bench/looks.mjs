/**
 * Takes screenshots of every view of the console on a timeline, and of the states that users open in them, light and
 * dark, for a phone, a laptop and a wide screen:
 *
 *   TIMENAV_API_KEY=… node bench/looks.mjs http://127.0.0.1:8080 demo FOLDER
 *     [--against FORK] [--only VIEW] [--width 1440]
 *
 * Files are named `VIEW-SCHEME-WIDTH.png`. `sheet-SCHEME-WIDTH-NUMBER.png` combine several of one kind at a readable
 * size. The script fails if a view does not become ready, overflows the page width, or logs to the browser console, and
 * lists these views. Needs the key of an operator; CHROMIUM_BIN names the browser.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statesOf, viewsOf } from './view-list.mjs';
import { Site, launch } from './visit.mjs';

const READY_MAX_MS = 60_000;
/** Time for what loads after a view is ready: maps, tracks, and animations. */
const REST_MS = 1_500;
const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
  { width: 2560, height: 1440 },
];
/** Display width per screenshot width, such that text on a sheet is readable. */
const DISPLAY_WIDTHS = { 390: 360, 1440: 720, 2560: 1440 };
const EACH = { 390: 8, 1440: 4, 2560: 1 };
const SHEET_WIDTH = 1460;
const [base, timeline, folder, ...options] = process.argv.slice(2);
const key = process.env.TIMENAV_API_KEY;
if (!base || !timeline || !folder || !key) {
  console.error(
    'usage: TIMENAV_API_KEY=… node bench/looks.mjs URL TIMELINE FOLDER [--against FORK] [--only VIEW] [--width PIXELS]',
  );
  process.exit(2);
}
const option = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : null);
const against = option('--against');
const only = option('--only');
const file = (name, scheme, width) =>
  join(folder, `${name.toLowerCase().replace(/[^a-z]+/g, '-')}-${scheme}-${width}.png`);
const faults = [];

/** Takes a screenshot of a view and records problems. */
async function look(context, view, path) {
  const page = await context.newPage();
  const fault = (what) => faults.push(`${path}: ${what}`);
  page.on('pageerror', (error) => fault(error.message));
  page.on('console', (message) => message.type() === 'error' && fault(message.text()));
  await page.goto(`${base}/#/${view.at}?timeline=${encodeURIComponent(timeline)}${view.params ?? ''}`);
  await view
    .ready(page)
    .waitFor({ timeout: READY_MAX_MS })
    .catch(() => fault('is not ready'));
  await page.waitForTimeout(REST_MS);
  // Counting may take any time. Do not capture a view with spinners.
  await page
    .waitForFunction(() => document.querySelector('main .spinner') === null, null, { timeout: READY_MAX_MS })
    .catch(() => fault('does not come to rest'));
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (beyond > 0) fault(`is ${beyond} pixels wider than its page`);
  await page.screenshot({ path });
  await page.close();
}

/** Combines screenshots into one image. */
async function sheet(browser, pictures, width, path) {
  const displayWidth = DISPLAY_WIDTHS[width];
  const image = (picture) =>
    `<img width=${displayWidth} src="data:image/png;base64,${readFileSync(picture).toString('base64')}">`;
  const page = await browser.newPage({ viewport: { width: Math.max(displayWidth, SHEET_WIDTH) + 12, height: 600 } });
  await page.setContent(`<body style="margin:6px;background:#888">${pictures.map(image).join(' ')}</body>`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}

const site = new Site(base, key);
const { event_id: first } = await site.firstEvent(timeline);
const all = [...viewsOf(against), ...statesOf(timeline, first)];
const views = all.filter(({ name }) => only === null || name.toLowerCase().startsWith(only.toLowerCase()));
if (views.length === 0) {
  console.error(`no view begins with ${only}; there are: ${all.map(({ name }) => name).join('; ')}`);
  process.exit(2);
}
const password = await site.makeUser(
  against === null ? [timeline] : [timeline, against],
  ['read', 'write', 'admin'],
  true,
);
mkdirSync(folder, { recursive: true });
const browser = await launch();
try {
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of SIZES.filter(({ width }) => [null, String(width)].includes(option('--width')))) {
      const hasTouch = viewport.width < 600;
      const context = await browser.newContext({ viewport, colorScheme, hasTouch, reducedMotion: 'reduce' });
      await site.logIn(context, password);
      const pictures = [];
      for (const view of views) {
        pictures.push(file(view.name, colorScheme, viewport.width));
        await look(context, view, pictures.at(-1));
      }
      await context.close();
      const each = EACH[viewport.width];
      for (let first = 0; first < pictures.length; first += each)
        await sheet(
          browser,
          pictures.slice(first, first + each),
          viewport.width,
          join(folder, `sheet-${colorScheme}-${viewport.width}-${String(first / each + 1).padStart(2, '0')}.png`),
        );
    }
  }
} finally {
  await browser.close();
  await site.removeUser();
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

/**
 * Drags 100 000 events, and prints how many pictures a second the browser shows while it does, as one line of JSON.
 *
 *   TIMENAV_API_KEY=… node bench/drag.mjs http://127.0.0.1:8080
 *
 * The key is an operator's. The events go into the timeline `drag-100k`, which is made where it is missing and stays;
 * a user of the same name is made to log in with, and deleted in the end. CHROMIUM_BIN names the browser.
 */
import { randomBytes } from 'node:crypto';
import { chromium } from 'playwright-core';

const EVENTS = 100_000;
const BATCH = 10_000;
const SECONDS = 5;
const TIMELINE = 'drag-100k';
const USER = 'drag-100k';
const SIZE = { width: 1440, height: 900 };
const LOAD_MAX_MS = 120_000;

const base = process.argv[2]?.replace(/\/$/, '');
const key = process.env.TIMENAV_API_KEY;
if (!base || !key) {
  console.error('usage: TIMENAV_API_KEY=… node bench/drag.mjs URL');
  process.exit(2);
}

async function call(method, path, body, type = 'application/json') {
  const answer = await fetch(`${base}/${path}`, { method, body, headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': type }) } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

/** The same numbers in each run, from 0 to less than 1. */
function* numbers() {
  let state = 0x2545f491;
  for (;;) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield (state >>> 0) / 2 ** 32;
  }
}

/** Two thousand years, denser towards the present, with bursts; all over the world. */
function* events() {
  const next = numbers();
  const number = () => next.next().value;
  for (let index = 0; index < EVENTS; index += 1) {
    const isBurst = index % 10 < 3;
    const year = isBurst ? 1900 + Math.floor(number() * 12) * 10 : Math.floor(2026 * Math.sqrt(number()));
    const at = new Date(Date.UTC(2001, 0, 1) + Math.floor(number() * 365 * 86_400_000)).toISOString().slice(4);
    yield {
      event_id: `drag-${index}`,
      time: `${String(year).padStart(4, '0')}${at}`,
      name: `Event ${index} of the bench`,
      description: 'Stands for something that happened.',
      geo: { lat: Math.round((number() * 150 - 70) * 100) / 100, lon: Math.round((number() * 360 - 180) * 100) / 100 },
    };
  }
}

async function fill() {
  const { timelines } = await call('GET', 'timelines?limit=1000');
  const made = timelines.find((timeline) => timeline.timeline_id === TIMELINE);
  if (made?.events === EVENTS) return;
  if (!made) await call('POST', 'timelines', JSON.stringify({ timeline_id: TIMELINE }));
  let lines = [];
  const send = async () => {
    await call('POST', `v1/import-events?timeline_id=${TIMELINE}&format=ndjson`, lines.join('\n'), 'application/x-ndjson');
    lines = [];
  };
  for (const event of events()) {
    lines.push(JSON.stringify(event));
    if (lines.length === BATCH) await send();
  }
}

/** Logs in where the console asks for it; returns what takes the user away again. */
async function logIn(page) {
  const asked = page.getByLabel('Password', { exact: true });
  await asked.or(page.getByRole('application', { name: `Time axis of ${TIMELINE}` })).first().waitFor();
  if (!(await asked.isVisible())) return async () => {};
  const password = randomBytes(18).toString('base64url');
  await call('POST', 'v1/users', JSON.stringify({ user_id: USER }));
  const remove = () => call('DELETE', `v1/users/${USER}`);
  try {
    await call('POST', 'v1/set-access-control', JSON.stringify({ timeline_id: TIMELINE, permissions: { read: [USER] } }));
    await call('POST', 'v1/set-password', JSON.stringify({ user_id: USER, password }));
    await page.getByLabel('User', { exact: true }).fill(USER);
    await asked.fill(password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}

/** Drags to and fro, further than the axis is wide, and returns the times between pictures in milliseconds, sorted. */
async function drag(page, canvas) {
  const { x, y, width, height } = await canvas.boundingBox();
  const middle = { x: x + width / 2, y: y + height * 0.8 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.evaluate(() => {
    const shown = [];
    window.shownAt = shown;
    const take = (at) => {
      shown.push(at);
      if (window.shownAt === shown) requestAnimationFrame(take);
    };
    requestAnimationFrame(take);
  });
  const started = performance.now();
  for (let passed = 0; passed < SECONDS * 1_000; passed = performance.now() - started) {
    await page.mouse.move(middle.x + Math.sin(passed / 700) * width * 0.48, middle.y);
  }
  await page.mouse.up();
  const shown = await page.evaluate(() => {
    const kept = window.shownAt;
    window.shownAt = null;
    return kept;
  });
  return shown.slice(1).map((at, index) => at - shown[index]).sort((a, b) => a - b);
}

/** Of a hundred pictures, `p5` says how fast all but the five slowest come. */
function told(gaps) {
  const rate = (share) => Math.round(10_000 / gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))]) / 10;
  return { frames: gaps.length, median_fps: rate(0.5), p5_fps: rate(0.95) };
}

await fill();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let remove = async () => {};
try {
  const page = await browser.newPage({ viewport: SIZE });
  const opened = performance.now();
  await page.goto(`${base}/#/timeline?timeline=${TIMELINE}`);
  remove = await logIn(page);
  await page.getByText('100,000 events', { exact: true }).first().waitFor({ timeout: LOAD_MAX_MS });
  const loaded = Math.round(performance.now() - opened);
  const canvas = page.locator('.axis canvas');
  const whole = told(await drag(page, canvas));
  for (let step = 0; step < 8; step += 1) await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
  const near = told(await drag(page, canvas));
  console.log(JSON.stringify({ bench: 'console drag', events: EVENTS, seconds: SECONDS, load_ms: loaded, whole, near }));
} finally {
  await remove();
  await browser.close();
}

/**
 * Drags and zooms 100 000 events, and prints the frame rate of the axis as one line of JSON: `whole` with all events in
 * view, `near` with a few hundred, and `zoomed` between the two. `empty` and `turned` are the maximum of this browser
 * on this machine: a line that follows pointer and wheel.
 *
 *   TIMENAV_API_KEY=… node bench/drag.mjs http://127.0.0.1:8080
 *
 * Needs the key of an operator. The events are recorded on the timeline `drag-100k`, which is created if missing and
 * then kept. A user of the same name is created to log in with, and deleted at the end. CHROMIUM_BIN names the browser.
 */
import { randomBytes } from 'node:crypto';
import { chromium } from 'playwright-core';
import { drag, floor, zoom } from './pictures-drawn.mjs';

const EVENTS = 100_000;
const BATCH = 10_000;
const FOR_MS = 5_000;
const AXIS = '.axis canvas';
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
  const answer = await fetch(`${base}/${path}`, {
    method,
    body,
    headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': type }) },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

/** A deterministic pseudo-random sequence in [0, 1). */
function* numbers() {
  let state = 0x2545f491;
  for (;;) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield (state >>> 0) / 2 ** 32;
  }
}

/** Two thousand years, denser towards the present, with bursts, all over the world. */
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
      geo: {
        lat: Math.round((number() * 150 - 70) * 100) / 100,
        lon: Math.round((number() * 360 - 180) * 100) / 100,
      },
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
    await call(
      'POST',
      `v1/import-events?timeline_id=${TIMELINE}&format=ndjson`,
      lines.join('\n'),
      'application/x-ndjson',
    );
    lines = [];
  };
  for (const event of events()) {
    lines.push(JSON.stringify(event));
    if (lines.length === BATCH) await send();
  }
}

/** Creates a user to log in with if the console requires it. Returns the password, or null. */
async function makeUser() {
  const { user_id: known } = await (await fetch(`${base}/v1/session`)).json();
  if (known) return null;
  const password = randomBytes(18).toString('base64url');
  await call('POST', 'v1/users', JSON.stringify({ user_id: USER }));
  await call('POST', 'v1/set-access-control', JSON.stringify({ timeline_id: TIMELINE, permissions: { read: [USER] } }));
  await call('POST', 'v1/set-password', JSON.stringify({ user_id: USER, password }));
  return password;
}

/** Logs in as the console does, so that the page has the cookie. */
async function logIn(page, password) {
  const status = await page.evaluate(
    async (body) => {
      const answer = await fetch('v1/login', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      return answer.status;
    },
    JSON.stringify({ user_id: USER, password }),
  );
  if (status !== 200) throw new Error(`the login answers ${status}`);
  await page.reload();
}

await fill();
const password = await makeUser();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const most = await floor(browser, SIZE, FOR_MS);
  const page = await browser.newPage({ viewport: SIZE });
  const opened = performance.now();
  await page.goto(`${base}/#/timeline?timeline=${TIMELINE}`);
  if (password !== null) await logIn(page, password);
  await page.getByText('100,000 events', { exact: true }).first().waitFor({ timeout: LOAD_MAX_MS });
  const loaded = Math.round(performance.now() - opened);
  const whole = await drag(page, AXIS, FOR_MS);
  const zoomed = await zoom(page, AXIS, FOR_MS);
  await page.getByRole('button', { name: 'Fit', exact: true }).click();
  for (let step = 0; step < 8; step += 1) await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
  const near = await drag(page, AXIS, FOR_MS);
  console.log(
    JSON.stringify({
      bench: 'console drag',
      events: EVENTS,
      for_ms: FOR_MS,
      load_ms: loaded,
      empty: most.drag,
      turned: most.zoom,
      whole,
      near,
      zoomed,
    }),
  );
} finally {
  await browser.close();
  if (password !== null) await call('DELETE', `v1/users/${USER}`);
}

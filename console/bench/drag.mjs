/**
 * Drags and zooms 100 000 events, and prints the frame rate of the axis as one line of JSON: `whole` with all events in
 * view, `near` with a few hundred, and `zoomed` between the two. `empty` and `turned` are the maximum of this browser
 * on this machine: a line that follows pointer and wheel.
 *
 *   TIMENAV_API_KEY=… node bench/drag.mjs http://127.0.0.1:8080
 *
 * Needs the key of an operator. The events are recorded on the timeline `drag-100k`, which is created if missing and
 * then kept. A user is created to log in with, and deleted at the end. CHROMIUM_BIN names the browser.
 */
import { drag, floor, zoom } from './pictures-drawn.mjs';
import { SIZE, Site, launch } from './visit.mjs';

const EVENTS = 100_000;
const BATCH = 10_000;
const FOR_MS = 5_000;
const AXIS = '.axis canvas';
const TIMELINE = 'drag-100k';
const LOAD_MAX_MS = 120_000;

const base = process.argv[2];
const key = process.env.TIMENAV_API_KEY;
if (!base || !key) {
  console.error('usage: TIMENAV_API_KEY=… node bench/drag.mjs URL');
  process.exit(2);
}

const site = new Site(base, key);

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
  const { timelines } = await site.call('GET', 'timelines?limit=1000');
  const made = timelines.find((timeline) => timeline.timeline_id === TIMELINE);
  if (made?.events === EVENTS) return;
  if (!made) await site.call('POST', 'timelines', { timeline_id: TIMELINE });
  let lines = [];
  const send = async () => {
    await site.call(
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

await fill();
const password = await site.makeUser([TIMELINE]);
const browser = await launch();
try {
  const most = await floor(browser, SIZE, FOR_MS);
  const context = await browser.newContext({ viewport: SIZE });
  await site.logIn(context, password);
  const page = await context.newPage();
  const opened = performance.now();
  await page.goto(`${site.root}/#/timeline?timeline=${TIMELINE}`);
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
  await site.removeUser();
}

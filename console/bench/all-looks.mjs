/**
 * Takes screenshots of all views on some of the benchmark histories:
 *
 *   node bench/all-looks.mjs FOLDER [DATA] [--on demo,hurricanes,flights,large] [--only VIEW] [--width 1440]
 *
 * The default is the demo and all hurricanes. `flights` covers one year. `large` has ten million generated events,
 * which take minutes and need a release build; `--events` reduces their number. Each history gets a fork without one
 * event, for the comparison.
 *
 * DATA is `../../shared/data` by default: see `fill.mjs`. A history without its file is skipped. The service is
 * TIMENAV_BIN, or the debug build, with a temporary data folder. CHROMIUM_BIN names the browser. Fails under the same
 * conditions as `looks.mjs`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Site } from './visit.mjs';

const BINARY = process.env.TIMENAV_BIN ?? resolve(import.meta.dirname, '../../target/debug/timenav');
const START_MAX_MS = 60_000;
/**
 * The histories by timeline: the source file (generated if null), and the event that the fork lacks (default: the
 * first).
 */
const HISTORIES = {
  demo: { timeline: 'demo', file: null, cancel: 'battle-of-actium-31-bce' },
  hurricanes: { timeline: 'hurricanes', file: 'hurricanes/hurdat2_atlantic_1851_2025.csv' },
  flights: { timeline: 'flights', file: 'flights/flights.csv.zip' },
  large: { timeline: 'made', file: null },
};
const EVENTS = '10000000';
const [folder, ...rest] = process.argv.slice(2);
const [given] = rest.filter((each, index) => !each.startsWith('--') && !rest[index - 1]?.startsWith('--'));
const options = rest.filter((each) => each !== given);
/** Extracts an option of this script from the arguments passed on. */
function taken(name, otherwise) {
  const at = options.indexOf(name);
  return at < 0 ? otherwise : (options.splice(at, 2)[1] ?? '');
}
const histories = taken('--on', 'demo,hurricanes').split(',');
const events = taken('--events', EVENTS);
if (!folder || !histories.every((name) => Object.hasOwn(HISTORIES, name))) {
  console.error(
    'usage: node bench/all-looks.mjs FOLDER [DATA] [--on demo,hurricanes,flights,large] [--events NUMBER] ' +
      '[--only VIEW] [--width PIXELS]',
  );
  process.exit(2);
}
const data = given ?? resolve(import.meta.dirname, '../../../shared/data');
const home = mkdtempSync(join(tmpdir(), 'timenav-looks-'));

/** Starts the service and returns its URL. */
function listening(service) {
  return new Promise((found, failed) => {
    const timer = setTimeout(() => failed(new Error('the service does not start')), START_MAX_MS);
    service.once('exit', () => failed(new Error('the service ended')));
    createInterface(service.stdout).on('line', (line) => {
      const url = /listening on (\S+)/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      found(url);
    });
  });
}

const run = (script, url, key, ...given) =>
  new Promise((done) => {
    const path = join(import.meta.dirname, script);
    const child = spawn(process.execPath, [path, url, ...given], {
      stdio: 'inherit',
      env: { ...process.env, TIMENAV_API_KEY: key },
    });
    child.once('exit', (code) => done(code ?? 1));
  });

/** Forks a timeline, cancels one event (by default the first), and returns the name of the fork. */
async function forked(site, timeline, cancel) {
  const { event_id, time } = cancel
    ? (await site.call('GET', `v1/events/${cancel}?timeline_id=${timeline}`)).event
    : await site.firstEvent(timeline);
  const timeline_id = `${timeline}-fork`;
  await site.call('POST', 'timelines', { timeline_id, fork_of: timeline });
  await site.call('POST', 'v1/manipulate-event', { timeline_id, event_id, action: 'cancel', time });
  return timeline_id;
}

/** Fills the timeline of a history and takes its screenshots. Returns the number of failed scripts. */
async function pictured(url, key, history) {
  const { timeline, file, cancel } = HISTORIES[history];
  if (file !== null && !existsSync(join(data, file))) {
    console.error(`no ${history}: there is no ${join(data, file)}`);
    return 0;
  }
  let failed = 0;
  if (history !== 'demo') failed += await run('fill.mjs', url, key, timeline, history === 'large' ? events : data);
  const fork = await forked(new Site(url, key), timeline, cancel);
  return failed + (await run('looks.mjs', url, key, timeline, join(folder, history), '--against', fork, ...options));
}

const service = spawn(BINARY, ['serve', '--demo', '--data', home, '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let code = 0;
try {
  const url = await listening(service);
  const key = readFileSync(join(home, 'admin.key'), 'utf8').trim();
  for (const history of histories) code += await pictured(url, key, history);
} finally {
  service.removeAllListeners('exit');
  const exited = new Promise((done) => service.once('exit', done));
  if (service.kill('SIGTERM')) await exited;
  rmSync(home, { recursive: true, force: true });
}
process.exit(code === 0 ? 0 : 1);

/**
 * Takes pictures of all views, on some of the histories that the console is measured on:
 *
 *   node bench/all-looks.mjs FOLDER [DATA] [--on demo,hurricanes,flights,large] [--only VIEW] [--width 1440]
 *
 * It takes the demo and all hurricanes unless `--on` says otherwise. `flights` are those of a year, and `large` is ten
 * million made events: filling it takes minutes, and a release build. `--events` makes it smaller. Each history has a
 * fork to compare it with, which lacks one event.
 *
 * DATA is `../../shared/data` unless it is given: see `fill.mjs`. A history whose file is not there is left out. The
 * service is TIMENAV_BIN, or the debug build, on a folder of its own that is removed in the end; CHROMIUM_BIN names the
 * browser. Fails as `looks.mjs` does.
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
 * What there are pictures of: the timeline, the file that it is filled with, if it is not made, and what its fork
 * lacks, if not the first event.
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
/** Takes an option for this script out of those that are handed on. */
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

/** Starts the service, and returns where it listens. */
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

/** Forks a timeline, cancels one event there, or the first, and returns the name of the fork. */
async function forked(site, timeline, cancel) {
  const { event_id, time } = cancel
    ? (await site.call('GET', `v1/events/${cancel}?timeline_id=${timeline}`)).event
    : await site.firstEvent(timeline);
  const timeline_id = `${timeline}-fork`;
  await site.call('POST', 'timelines', { timeline_id, fork_of: timeline });
  await site.call('POST', 'v1/manipulate-event', { timeline_id, event_id, action: 'cancel', time });
  return timeline_id;
}

/** Fills the timeline of a history, and takes the pictures of it. Returns how many scripts have failed. */
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

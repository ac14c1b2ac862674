/**
 * Takes pictures of all views, on the demo and, where their file is in a folder of data, on all hurricanes:
 *
 *   node bench/all-looks.mjs FOLDER [DATA] [--only VIEW] [--width 1440]
 *
 * DATA is `../../shared/data` unless it is given: see `fill.mjs`. The service is TIMENAV_BIN, or the debug build, on a
 * folder of its own that is removed in the end; CHROMIUM_BIN names the browser. Fails as `looks.mjs` does.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const BINARY = process.env.TIMENAV_BIN ?? resolve(import.meta.dirname, '../../target/debug/timenav');
const START_MAX_MS = 60_000;
const HURRICANES = 'hurricanes/hurdat2_atlantic_1851_2025.csv';
const FORK = 'demo-without-actium';
const [folder, ...rest] = process.argv.slice(2);
const [given] = rest.filter((each, index) => !each.startsWith('--') && !rest[index - 1]?.startsWith('--'));
const options = rest.filter((each) => each !== given);
if (!folder) {
  console.error('usage: node bench/all-looks.mjs FOLDER [DATA] [--only VIEW] [--width PIXELS]');
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

async function post(url, key, path, body) {
  const answer = await fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

const service = spawn(BINARY, ['serve', '--demo', '--data', home, '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let code = 0;
try {
  const url = await listening(service);
  const key = readFileSync(join(home, 'admin.key'), 'utf8').trim();
  await post(url, key, 'timelines', { timeline_id: FORK, fork_of: 'demo' });
  await post(url, key, 'v1/manipulate-event', {
    timeline_id: FORK,
    event_id: 'battle-of-actium-31-bce',
    action: 'cancel',
    time: '-000030-09-02T00:00:00Z',
  });
  code += await run('looks.mjs', url, key, 'demo', join(folder, 'demo'), '--against', FORK, ...options);
  if (!existsSync(join(data, HURRICANES))) console.error(`no hurricanes: there is no ${join(data, HURRICANES)}`);
  else {
    code += await run('fill.mjs', url, key, 'hurricanes', data);
    code += await run('looks.mjs', url, key, 'hurricanes', join(folder, 'hurricanes'), ...options);
  }
} finally {
  service.removeAllListeners('exit');
  const gone = new Promise((done) => service.once('exit', done));
  if (service.kill('SIGTERM')) await gone;
  rmSync(home, { recursive: true, force: true });
}
process.exit(code === 0 ? 0 : 1);

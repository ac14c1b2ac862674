/**
 * Fills a timeline of a running service with one of the benchmark histories:
 *
 *   TIMENAV_API_KEY=… node bench/fill.mjs http://127.0.0.1:8080 hurricanes|flights FOLDER
 *   TIMENAV_API_KEY=… node bench/fill.mjs http://127.0.0.1:8080 made 10000000
 *
 * `hurricanes` are all fixes of HURDAT2, and `flights` are the departures from New York in 2013. Their files in FOLDER
 * are `hurricanes/hurdat2_atlantic_1851_2025.csv` and `flights/flights.csv.zip`, which needs `unzip`. `made` generates
 * this number of readings over 75 years at 500 places, each from one of eight networks, with the same result in each
 * run. Needs the key of an operator. Only missing events are added.
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';

const [base, name, argument] = process.argv.slice(2);
const key = process.env.TIMENAV_API_KEY;
/** Size of an upload. An interrupted one is sent again from its start, so it should not be too long. */
const EVENTS_PER_FILE = 250_000;
/** Lines per chunk. */
const LINES_PER_PIECE = 2_000;

/** Column mapping of the importer. */
const HURRICANES = {
  event_id: '{storm_id}:{time}',
  time: 'time',
  name: '{name} ({status})',
  actors: 'storm_id',
  // -99 means that the wind was not measured. As a number, it would distort sums and scales.
  missing: { max_wind_kt: ['-99'] },
};
/** The flight mapping of `test-data/import-examples.txt`. */
const FLIGHTS = {
  time: '{time_hour} + {minute}m + {dep_delay}m|sum',
  end_time: '{time_hour} + {minute}m + {dep_delay}m + {air_time}m|sum',
  name: '{carrier} {flight}',
  asserts: '{tailnum}/flies as/{carrier} {flight}|split:/',
  actors: 'tailnum',
  location: 'origin',
};

function usage() {
  console.error('usage: TIMENAV_API_KEY=… node bench/fill.mjs URL hurricanes|flights FOLDER | made NUMBER');
  process.exit(2);
}

async function call(method, path, body, type) {
  const answer = await fetch(`${base.replace(/\/$/, '')}/${path}`, {
    method,
    body,
    duplex: 'half',
    headers: { Authorization: `Bearer ${key}`, ...(type === undefined ? {} : { 'Content-Type': type }) },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

async function send(body, type, parameters) {
  const query = new URLSearchParams({ timeline_id: name, ...parameters });
  const { taken, unchanged, refused } = await call('POST', `v1/import-events?${query}`, body, type);
  console.error(`${name}: ${taken} taken, ${unchanged} unchanged, ${refused} refused`);
}

/** Returns the only file of a ZIP archive. */
function unpacked(path) {
  const { stdout } = spawn('unzip', ['-p', path], { stdio: ['ignore', 'pipe', 'inherit'] });
  return stdout;
}

/** A hash function to 32 bits, used as a deterministic pseudo-random number. */
function mix(number, salt) {
  let mixed = (number ^ Math.imul(salt, 0x9e3779b9)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

const BEGIN = Date.UTC(1950, 0, 1);
const YEARS = 75;
const YEAR_MS = 31_556_952_000;
const PLACES = 500;
const SENSORS = 4;
const NETWORKS = 8;

/**
 * Generates sensor readings in order of time. Their number grows from year to year and peaks in summer. Networks differ
 * in size, and each has more places in one region.
 */
function made(number, events) {
  const year = YEARS * Math.sqrt(number / events);
  const time = new Date(BEGIN + Math.floor((year + 0.1 * Math.sin(2 * Math.PI * year)) * YEAR_MS)).toISOString();
  const place = mix(number, 1) % PLACES;
  const sensor = mix(number, 2) % SENSORS;
  const lat = Math.floor(place / 25) * 6 - 60 + (mix(place * SENSORS + sensor, 3) % 96_000) / 1e5;
  const lon = (place % 25) * 14 - 170 + (mix(place * SENSORS + sensor, 4) % 96_000) / 1e5;
  const isStray = mix(number, 5) % 4 === 0;
  const network = Math.floor((isStray ? mix(number, 6) / 2 ** 32 : (place % 25) / 25) ** 2 * NETWORKS);
  const reading = Math.round(20 - Math.abs(lat) / 3 + (mix(number, 7) % 200) / 10);
  return (
    `{"event_id":"reading-${String(number).padStart(8, '0')}","time":"${time}",` +
    `"description":"Sensor ${sensor} at place ${place} reports ${reading} degrees.","source":"network-${network}",` +
    `"location":"Place ${place}","geo":{"lat":${lat.toFixed(5)},"lon":${lon.toFixed(5)}}}\n`
  );
}

async function* lines(from, to, events) {
  const encoder = new TextEncoder();
  for (let first = from; first < to; first += LINES_PER_PIECE) {
    const length = Math.min(LINES_PER_PIECE, to - first);
    yield encoder.encode(Array.from({ length }, (_, index) => made(first + index, events)).join(''));
  }
}

if (!base || !key || !argument) usage();
const { timelines } = await call('GET', `timelines?limit=1000`);
const known = timelines.find((timeline) => timeline.timeline_id === name)?.events ?? 0;
if (name === 'made') {
  const events = Number(argument);
  const whole = known - (known % EVENTS_PER_FILE);
  for (let first = known < events ? whole : events; first < events; first += EVENTS_PER_FILE)
    await send(lines(first, Math.min(first + EVENTS_PER_FILE, events), events), 'application/x-ndjson', {
      format: 'ndjson',
    });
} else if (name === 'hurricanes' || name === 'flights') {
  const [map, file] =
    name === 'hurricanes'
      ? [HURRICANES, createReadStream(join(argument, 'hurricanes/hurdat2_atlantic_1851_2025.csv'))]
      : [FLIGHTS, unpacked(join(argument, 'flights/flights.csv.zip'))];
  if (known === 0) await send(file, 'text/csv', { map: JSON.stringify(map) });
} else usage();

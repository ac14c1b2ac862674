/**
 * Durations in the syntax of the service (`docs/http-api.md`): `90m`, `1d12h`, `P1M`, `2 hours 30 minutes`. The service
 * adds months in local time at the clock's location; here they are added in UTC.
 */
import { DAY, HOUR, MINUTE, SECOND, daysInMonth, fromCivil, toCivil, type Micros } from './instant';

interface Duration {
  /** Months, including years. Their length varies. */
  months: number;
  micros: bigint;
}

type Read = { ok: true; duration: Duration } | { ok: false; problem: string };

/** Units: short, in words, and in months or microseconds. The micro sign and the Greek letter mu look the same. */
const UNITS: [short: RegExp | null, words: RegExp, months: number, micros: bigint][] = [
  [null, /^y(ea)?rs?$|^y$/i, 12, 0n],
  [null, /^mon?s?$|^mths?$|^months?$/i, 1, 0n],
  [/^w$/, /^w(ee)?ks?$|^w$/i, 0, 7n * DAY],
  [/^d$/, /^d(ays?)?$/i, 0, DAY],
  [/^h$/, /^h(ou)?rs?$|^h$/i, 0, HOUR],
  [/^m$/, /^min(ute)?s?$|^m$/i, 0, MINUTE],
  [/^s$/, /^s(ec(ond)?s?)?$/i, 0, SECOND],
  [/^ms$/, /^milli(s(ec(ond)?s?)?)?$|^ms(ecs?)?$/i, 0, SECOND / 1000n],
  [/^[u\u{b5}\u{3bc}]s$/u, /^micro(s(ec(ond)?s?)?)?$|^us(ecs?)?$|^[\u{b5}\u{3bc}]s$/iu, 0, 1n],
];
const WHOLE = String.raw`(\d+)`;
const BROKEN = String.raw`(\d+(?:[.,]\d+)?)`;
const ISO = new RegExp(
  `^P(?=[\\dT])(?:${WHOLE}Y)?(?:${WHOLE}M)?(?:${BROKEN}W)?(?:${BROKEN}D)?` +
    `(?:T(?=\\d)(?:${BROKEN}H)?(?:${BROKEN}M)?(?:${BROKEN}S)?)?$`,
);
const BYTES_MAX = 64;
const MONTHS_MAX = 2 ** 32 - 1;
const MICROS_MAX = 2n ** 63n - 1n;

/** Parses a duration. Callers trim it if they send it trimmed. */
export function readDuration(given: string): Read {
  if (given === '') return wrong('Write a length of time, such as 90m, 1d12h or P1M.');
  if (/^[-+]/.test(given)) return wrong('Leave out the sign: use rewind to go back, fast-forward to go ahead.');
  if (new TextEncoder().encode(given).length > BYTES_MAX) return wrong(`Use at most ${BYTES_MAX} characters.`);
  const duration = /^p/i.test(given) ? readIso(given) : readShort(given);
  if (typeof duration === 'string') return wrong(duration);
  if (/^p.*\d[.,]\d+\D+\d/i.test(given)) return wrong('Only the last number can have a fraction.');
  if (duration.months > MONTHS_MAX || duration.micros > MICROS_MAX) return wrong('It is too long.');
  if (duration.months === 0 && duration.micros === 0n) return wrong('It must be longer than zero.');
  return { ok: true, duration };
}

/** Returns the error in a duration, or null. */
export function durationIssue(text: string): string | null {
  const read = readDuration(text);
  return read.ok ? null : read.problem;
}

/** Returns the error in a duration that must have a fixed length, or null. */
export function fixedLengthIssue(text: string): string | null {
  const read = readDuration(text);
  if (read.ok && read.duration.months === 0) return null;
  if (read.ok || /mo|y/i.test(text)) return 'Months and years differ in length: write days, such as 90d.';
  return /[a-z]/i.test(text) && !/^p/i.test(text)
    ? 'Write a number with a unit, such as 90d, 36h or 15m.'
    : read.problem;
}

const wrong = (problem: string): Read => ({ ok: false, problem });

function readShort(text: string): Duration | string {
  const parts = [...text.matchAll(/\s*(\d*\.?\d+)\s*(\p{L}*)(?:(?:\s*,)?(?:\s+and)?\s*(?=[\d.])|\s*$)/gu)];
  if (parts.map((part) => part[0]).join('') !== text) return 'Write numbers with units, such as 90m, 1.5h or 2 hours.';
  const duration = { months: 0, micros: 0n };
  let last = -1;
  // In the short form, units are in order, and only the last number has a fraction.
  const isShort = parts.every((part) => UNITS.some(([short]) => short?.test(part[2] ?? ''))) && !/[\s,]/.test(text);
  for (const [, number = '', name = ''] of parts) {
    if (name === '') return `The unit of ${number} is missing: write one of w, d, h, m, s, ms, us.`;
    if (name === 'M') return `Write P${number}M for months, or ${number}m for minutes.`;
    const index = UNITS.findIndex(([, words]) => words.test(name));
    const unit = UNITS[index];
    if (unit === undefined) return `Unknown unit ${name}: write w, d, h, m, s, months or years.`;
    if (isShort && index <= last) return 'Write each unit once, the largest first.';
    last = index;
    const [, , months, micros] = unit;
    if (months > 0 && number.includes('.')) return 'Months and years must be whole numbers.';
    duration.months += months * Number(number);
    duration.micros += times(number, micros);
  }
  if (isShort && /\.\d+\D+\d/.test(text)) return 'Only the last number can have a fraction.';
  return duration;
}

function readIso(text: string): Duration | string {
  const parts = ISO.exec(text);
  if (parts === null)
    return /^[^T]*\d[.,]\d+[YM]/.test(text)
      ? 'Months and years must be whole numbers.'
      : 'Write it as P1Y2M10DT2H30M, with T before hours.';
  const units = [7n * DAY, DAY, HOUR, MINUTE, SECOND];
  const micros = units.reduce((sum, unit, index) => sum + times(parts[index + 3] ?? '0', unit), 0n);
  return { months: Number(parts[1] ?? 0) * 12 + Number(parts[2] ?? 0), micros };
}

/** Multiplies a decimal number by a unit without floating point. */
function times(number: string, unit: bigint): bigint {
  const [whole = '0', fraction = ''] = number.split(/[.,]/);
  const digits = fraction.slice(0, 12);
  return BigInt(whole) * unit + (BigInt(digits || '0') * unit) / 10n ** BigInt(digits.length);
}

/** Adds or subtracts a duration. Months are added in UTC. */
export function shift(from: Micros, duration: Duration, sign: 1 | -1): Micros {
  let at = from;
  if (duration.months !== 0) {
    const civil = toCivil(from);
    const month = civil.year * 12 + civil.month - 1 + sign * duration.months;
    civil.year = Math.floor(month / 12);
    civil.month = month - civil.year * 12 + 1;
    civil.day = Math.min(civil.day, daysInMonth(civil.year, civil.month));
    at = fromCivil(civil);
  }
  return at + BigInt(sign) * duration.micros;
}

const NAMES: [string, bigint][] = [
  ['week', 7n * DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
];

/** Returns a duration in words, such as "1 day 12 hours". */
export function durationWords(duration: Duration): string {
  const words: string[] = [];
  const say = (count: bigint | number, name: string): unknown =>
    words.push(`${count.toLocaleString('en')} ${name}${Number(count) === 1 ? '' : 's'}`);
  const years = Math.floor(duration.months / 12);
  if (years > 0) say(years, 'year');
  if (duration.months % 12 > 0) say(duration.months % 12, 'month');
  let rest = duration.micros;
  for (const [name, unit] of NAMES) {
    // Use weeks only for whole weeks: 10 days are not "1 week 3 days".
    if (name === 'week' && rest % unit !== 0n) continue;
    if (rest >= unit) say(rest / unit, name);
    rest %= unit;
  }
  if (rest > 0n) words.push(`${Number(rest) / 1_000} milliseconds`);
  return words.join(' ');
}

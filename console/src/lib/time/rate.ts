/** Clock rates in words and on a slider. */

const RATE_MIN = 0.000_001;
const RATE_MAX = 1_000_000;

/** Parses a rate, with an optional `x` or `×` suffix. Returns an error text if it is invalid. */
export function readRate(text: string): number | string {
  const given = text
    .trim()
    .replace(/[x×]$/i, '')
    .replaceAll(/[\s,_]/g, '');
  if (!/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given)) return 'Write a number, such as 60 or 0.5.';
  const rate = Number(given);
  if (rate === 0) return 'A rate of 0 would be a pause: use Pause instead.';
  if (rate < RATE_MIN || rate > RATE_MAX) return 'A rate must be between 0.000001 and 1,000,000.';
  return rate;
}

/** Returns a rate with a × suffix. */
export function rateText(rate: number): string {
  return `${rate.toLocaleString('en', { maximumFractionDigits: 6 })}×`;
}

const UNITS: [number, string][] = [
  [31_556_952, 'year'],
  [2_629_746, 'month'],
  [604_800, 'week'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** Returns the meaning of a rate, such as "a day passes every second". */
export function rateWords(rate: number): string {
  if (rate === 1) return 'As fast as the host’s clock';
  if (rate > 1) return `${amount(rate)} every second`;
  return `A second takes ${amount(1 / rate).toLowerCase()}`;
}

function amount(seconds: number): string {
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? [1, 'second'];
  const count = Math.round((seconds / size) * 10) / 10;
  if (count === 1) return `${name === 'hour' ? 'An' : 'A'} ${name}`;
  return `${count.toLocaleString('en')} ${name}s`;
}

/** The slider is logarithmic, from −6 to 6. */
export function rateToSlider(rate: number): number {
  return Math.log10(rate);
}

/** Returns the rate at a slider position, rounded to two digits. */
export function sliderToRate(value: number): number {
  return Math.min(RATE_MAX, Math.max(RATE_MIN, Number((10 ** value).toPrecision(2))));
}

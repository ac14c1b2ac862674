/** Draws the values below the axis in an exported picture: lines, or distributions if there are many. */
import { timeAt, xOf, type Scale } from '../../../lib/chart/scale';
import type { EventStore } from '../../../lib/events/store';
import { hue, type Palette } from '../../../lib/chart/palette';
import type { Legend } from '../groups/groups';
import { VALUES_HEIGHT } from '../axis/paint';
import { linesOf, scaleAround, sumOf, sumOfOne, sumText, type Interval, type ValueScale } from '../values/values';
import { numberText, withUnit } from '../attributes/numbers';
import { CELL, cellsOf, yOf } from '../values/values-paint';
import type { Pen } from './lanes';

export interface ValuesInput {
  /** The attribute with the values. */
  measure: string;
  /** Aggregated intervals, null for those without numbers; null if the events themselves are loaded. */
  measured: readonly (Interval | null)[] | null;
  /** Length of an interval, for display. */
  intervalText: string;
  /** Unit of the values; empty if none is set. */
  unit: string;
  /** Whether a logarithmic scale is requested; it requires positive values. */
  isLog: boolean;
}

interface PictureParts {
  view: Scale;
  store: EventStore;
  legend: Legend | null;
  groups: Uint8Array | null;
}

const GAP = 8;

/** Draws the values below `top`. */
export function values(
  input: PictureParts,
  { measure, measured, intervalText, unit, isLog }: ValuesInput,
  palette: Palette,
  top: number,
  pen: Pen,
): { svg: string; height: number } {
  const { view } = input;
  const [from, to] = [timeAt(view, 0), timeAt(view, view.width)];
  const intervals = (measured ?? []).filter(
    (interval) => interval !== null && interval.to > from && interval.from <= to,
  ) as Interval[];
  const { lines, isJoined } = linesOf(input.store, measure, input.groups, [0, input.store.count]);
  const points = measured === null ? lines.flatMap((line) => line.points) : [];
  const inView = points.filter(({ time }) => time >= from && time <= to);
  const scale = scaleAround(
    [...points.map(({ value }) => value), ...intervals.flatMap(({ low, high }) => [low, high])],
    isLog,
  );
  const sum = sumOf(measured === null ? inView.map(sumOfOne) : intervals);
  const words = [
    sum === null ? 'no numbers in view' : sumText(sum, unit),
    ...(sum !== null && measured !== null ? [`in intervals of ${intervalText}`] : []),
    ...(scale?.isLog ? ['logarithmic scale'] : scale?.hasZero === false ? ['the scale does not start at zero'] : []),
  ].join(' · ');
  const head =
    `<rect y="${pen.n(top)}" width="${pen.n(view.width)}" height="1" fill="${palette.line}"/>` +
    pen.text(16, top + 19, `${measure}: ${words}`, `font-size="12" fill="${palette.ink}"`);
  const drawn =
    scale === null
      ? ''
      : grid(view, scale, palette, top, pen) +
        (measured === null
          ? lines.map((line) => drawLine(input, line, isJoined, scale, palette, top, pen)).join('')
          : spread(view, intervals, scale, palette, top, pen)) +
        ticks(scale, unit, palette, top, pen);
  return { svg: head + drawn, height: VALUES_HEIGHT + GAP };
}

function grid(view: Scale, scale: ValueScale, palette: Palette, top: number, { n }: Pen): string {
  return scale.ticks
    .map((tick) => {
      const color = tick === 0 ? palette['line-strong'] : palette.line;
      return `<rect y="${n(top + yOf(scale, tick))}" width="${n(view.width)}" height="1" fill="${color}"/>`;
    })
    .join('');
}

function ticks(scale: ValueScale, unit: string, palette: Palette, top: number, { text }: Pen): string {
  // Outline the text so that it stays readable where a line crosses it.
  const ground = `stroke="${palette.surface}" stroke-width="3" paint-order="stroke"`;
  const attributes = `font-size="11" fill="${palette.muted}" ${ground}`;
  return scale.ticks
    .map((tick) => text(8, top + yOf(scale, tick) + 4, withUnit(numberText(tick), unit), attributes))
    .join('');
}

function drawLine(
  { view, legend }: PictureParts,
  { group, points }: ReturnType<typeof linesOf>['lines'][number],
  isJoined: boolean,
  scale: ValueScale,
  palette: Palette,
  top: number,
  { n }: Pen,
): string {
  const color = group < 0 ? palette.accent : hue(palette, group, legend?.groups.length ?? 0);
  const places = points.map(({ time, value }) => ({ x: xOf(view, time), y: top + yOf(scale, value) }));
  // Extend the line to the next point beyond either edge.
  const first = places.findIndex(({ x }) => x >= 0);
  const beyond = places.findIndex(({ x }) => x > view.width);
  if (first < 0) return '';
  const visible = places.slice(Math.max(0, first - 1), beyond < 0 ? undefined : beyond + 1);
  const path = visible.map(({ x, y }) => `${n(x)},${n(y)}`).join(' ');
  const joined =
    isJoined && visible.length > 1
      ? `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="1.5" stroke-opacity="0.75"/>`
      : '';
  const dots = visible
    .filter(({ x }) => x >= 0 && x <= view.width)
    .map(({ x, y }) => `<circle cx="${n(x)}" cy="${n(y)}" r="2.2" fill="${color}"/>`);
  return joined + dots.join('');
}

function spread(
  view: Scale,
  intervals: readonly Interval[],
  scale: ValueScale,
  palette: Palette,
  top: number,
  { n }: Pen,
): string {
  const cells = intervals.map((interval) => cellsOf(interval, scale));
  const most = Math.max(1, ...cells.flatMap((own) => [...own.values()]));
  return intervals
    .map((interval, index) => {
      const left = Math.max(0, xOf(view, interval.from));
      const wide = Math.max(1.5, Math.min(view.width, xOf(view, interval.to)) - left - 1);
      const rect = (x: number, y: number, width: number, high: number, color: string, opacity = 1): string =>
        `<rect x="${n(x)}" y="${n(top + y)}" width="${n(width)}" height="${n(high)}" fill="${color}"` +
        `${opacity === 1 ? '' : ` fill-opacity="${n(opacity)}"`}/>`;
      const box = (y: number, high: number, color: string, opacity = 1): string =>
        rect(left, y, wide, high, color, opacity);
      const [high, low] = [yOf(scale, interval.high), yOf(scale, interval.low)];
      const shades = [...cells[index]!].map(([cell, count]) =>
        box(cell * CELL, CELL, palette.accent, 0.14 + 0.76 * Math.sqrt(count / most)),
      );
      return [
        rect(left + wide / 2 - 0.5, high, 1, low - high, palette.accent, 0.3),
        ...shades,
        box(yOf(scale, interval.mean) - 1, 2, palette.ink),
      ].join('');
    })
    .join('');
}

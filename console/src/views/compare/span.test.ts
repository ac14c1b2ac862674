import { expect, test } from 'vitest';
import { parse, type Micros } from '../../lib/time/instant';
import { withSurroundings, spanOf } from './span';

const at = (text: string): Micros => parse(text)!;
const instant = (time: string, precision: string | null = null) => ({
  a: { event_id: 'one', time, precision, description: '' },
  b: null,
  at: { a: at(time), b: null },
  until: { a: null, b: null },
});

test('the span reaches from the first to the last difference', () => {
  expect(spanOf([])).toBeNull();
  expect(spanOf([instant('2001-01-02T00:00:00Z'), instant('2001-01-01T00:00:00Z')])).toEqual({
    from: at('2001-01-01T00:00:00Z'),
    to: at('2001-01-02T00:00:00Z'),
  });
});

test('a year-precision time covers the whole year', () => {
  const { from, to } = spanOf([instant('-000030-01-01T00:00:00Z', 'year')])!;
  expect(from).toBe(at('-000030-01-01T00:00:00Z'));
  expect(Number(to - from) / 86_400e6).toBeCloseTo(365.24, 1);
});

test('the span includes end times', () => {
  const flight = { ...instant('2013-01-01T10:17:00Z'), until: { a: at('2013-01-01T14:04:00Z'), b: null } };
  expect(spanOf([flight])).toEqual({ from: at('2013-01-01T10:17:00Z'), to: at('2013-01-01T14:04:00Z') });
});

test('a single moment is shown with its surroundings, or in an hour', () => {
  const noon = at('2001-01-01T12:00:00Z');
  const moment = { from: noon, to: noon + 1_000_000n };
  const [before, after] = [at('2000-12-25T00:00:00Z'), at('2001-02-01T00:00:00Z')];
  expect(withSurroundings(moment, [after, before, noon])).toEqual({ from: before, to: after });
  const { from, to } = withSurroundings(moment, []);
  expect(to - from).toBe(3_600_000_000n);
  expect(from < noon && noon < to).toBe(true);
});

/** Dates before the common era: `44 BCE`, `March 44 BCE`, `15 March 44 BCE`. */
import { MONTHS } from './instant';

const SHAPE = /^(?:(?:(?<day>\d{1,2})\s+)?(?<month>\p{L}{3,9})\s+)?(?<year>\d{1,5})\s*BCE?$/iu;
const two = (value: number | string): string => String(value).padStart(2, '0');

/** Returns the first day of such a date in timestamp form, with its precision; null for other text. */
export function readBce(text: string): { date: string; precision: 'year' | 'month' | 'day' } | null {
  const { day, month, year } = SHAPE.exec(text.trim())?.groups ?? {};
  if (year === undefined || Number(year) === 0) return null;
  const monthName = month?.toLowerCase();
  const index = MONTHS.findIndex((name) => monthName !== undefined && isMonth(name.toLowerCase(), monthName));
  if (monthName !== undefined && index < 0) return null;
  // 1 BCE is the year 0.
  const before = Number(year) - 1;
  const sign = before === 0 ? '0000' : `-${String(before).padStart(6, '0')}`;
  const precision = day !== undefined ? 'day' : monthName !== undefined ? 'month' : 'year';
  return { date: `${sign}-${two(monthName === undefined ? 1 : index + 1)}-${two(day ?? 1)}`, precision };
}

const isMonth = (name: string, typed: string): boolean => name === typed || name.slice(0, 3) === typed;

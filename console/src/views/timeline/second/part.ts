/** Formats one count as a percentage of another; null if the whole is zero. */
export function partOf(count: number, whole: number): string | null {
  if (whole === 0) return null;
  const percent = (100 * count) / whole;
  if (count > 0 && percent < 0.1) return 'less than 0.1%';
  if (count < whole && percent > 99.9) return 'more than 99.9%';
  const isNearAnEnd = percent < 10 || (percent > 90 && percent < 100);
  return `${percent.toLocaleString('en', { maximumFractionDigits: isNearAnEnd ? 1 : 0 })}%`;
}

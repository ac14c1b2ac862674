/** Groups the digits of the counts in the status of an import. */
export function grouped(status: string): string {
  return status.replace(/(?<![^\s])\d{4,}(?= (?:events?|already|the same|unchanged|rejected)\b)/g, (count) =>
    Number(count).toLocaleString('en'),
  );
}

/** Returns what an import did, in the words of the service, with its counts as people write them. */
export function grouped(status: string): string {
  return status.replace(/(?<![^\s])\d{4,}(?= (?:events?|already|the same|unchanged|rejected)\b)/g, (count) =>
    Number(count).toLocaleString('en'),
  );
}

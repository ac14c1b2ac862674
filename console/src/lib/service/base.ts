/** Returns the URL of a service path, relative to the console's base URL. */
export function address(path: string, query?: Query): string {
  const url = new URL(path.replace(/^\//, ''), new URL('.', document.baseURI));
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === '') continue;
    url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Query parameters. Empty ones are omitted. */
export type Query = Record<string, string | number | boolean | null | undefined>;

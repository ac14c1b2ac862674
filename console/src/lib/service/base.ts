/** Returns the address of a path of the service, relative to where the console is served from. */
export function address(path: string, query?: Query): string {
  const url = new URL(path.replace(/^\//, ''), new URL('.', document.baseURI));
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === '') continue;
    url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Parameters of a query string; those without a value are left out. */
export type Query = Record<string, string | number | boolean | null | undefined>;

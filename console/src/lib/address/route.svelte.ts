/** Parameters that are kept when the view changes. */
const LASTING_PARAMS = ['timeline', 'tz'] as const;

/**
 * The current location: `#/<view>?<parameters>`. Every view and every selection is in the URL, so it can be linked. The
 * hash needs no server support and works under any path prefix.
 */
class Route {
  view = $state('');
  params = $state<Record<string, string>>({});
  /** The hash that view and parameters were read from. `hashchange` fires later than `location.hash` changes. */
  #known = '';

  constructor() {
    this.#read();
    addEventListener('hashchange', () => {
      if (location.hash !== this.#known) this.#read();
    });
  }

  #read(): void {
    this.#known = location.hash;
    const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
    this.view = path;
    this.params = Object.fromEntries(new URLSearchParams(query));
  }

  /** Returns a parameter, or null. */
  get(name: string): string | null {
    return this.params[name] ?? null;
  }

  /** The current timeline. */
  get timeline(): string {
    return this.params.timeline ?? 'main';
  }

  /** Whether the URL names a timeline. */
  get isChosen(): boolean {
    return this.params.timeline !== undefined;
  }

  /** Returns the link to a view. Keeps the timeline and the time zone unless `params` overrides them. */
  href(view: string, params: Record<string, string> = {}): string {
    const lasting = Object.fromEntries(
      LASTING_PARAMS.flatMap((name) => (this.params[name] ? [[name, this.params[name]]] : [])),
    );
    return link(view, { ...lasting, ...params });
  }

  /** Navigates to a view and adds a history entry. */
  go(view: string, params: Record<string, string> = {}): void {
    location.hash = this.href(view, params);
    this.#read();
  }

  /**
   * Changes parameters of this view; null removes a parameter. Minor changes (zooming, typing in a search field)
   * replace the current history entry, others add one. Does nothing if the user has navigated away: a debounced change
   * belongs to the page it was made on.
   */
  set(changes: Record<string, string | null>, step: 'replace' | 'push' = 'replace'): void {
    if (location.hash !== this.#known) return;
    const all = Object.entries({ ...this.params, ...changes });
    const present = all.filter((param): param is [string, string] => param[1] !== null && param[1] !== '');
    const params = Object.fromEntries(present);
    const hash = link(this.view || 'timeline', params);
    if (hash === location.hash) return;
    if (step === 'push') location.hash = hash;
    else history.replaceState(history.state, '', hash);
    this.#read();
  }
}

function link(view: string, params: Record<string, string>): string {
  const query = new URLSearchParams(params).toString();
  return `#/${view}${query ? `?${query}` : ''}`;
}

export const route = new Route();

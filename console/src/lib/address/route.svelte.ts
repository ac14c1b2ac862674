/** What stays when the view changes. */
const LASTING_PARAMS = ['timeline', 'tz'] as const;

/**
 * Where the user is: `#/<view>?<parameters>`. Everything that can be pointed at is in the address, so each view and
 * each selection has a link. A hash needs nothing of the server, whatever prefix the console is served under.
 */
class Route {
  view = $state('');
  params = $state<Record<string, string>>({});
  /** The hash that view and parameters were read from. The browser says only later that somebody went elsewhere. */
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

  /** The timeline that is looked at. It stays when the view changes. */
  get timeline(): string {
    return this.params.timeline ?? 'main';
  }

  /** Whether the address names a timeline. */
  get isChosen(): boolean {
    return this.params.timeline !== undefined;
  }

  /** Returns the link to a view. The timeline and the time zone come along unless others are named. */
  href(view: string, params: Record<string, string> = {}): string {
    const lasting = Object.fromEntries(
      LASTING_PARAMS.flatMap((name) => (this.params[name] ? [[name, this.params[name]]] : [])),
    );
    return link(view, { ...lasting, ...params });
  }

  /** Goes to a view, as a step that the browser can go back from. */
  go(view: string, params: Record<string, string> = {}): void {
    location.hash = this.href(view, params);
    this.#read();
  }

  /**
   * Changes parameters of this view; null takes one away. Small changes (a zoom, a letter of a search) replace the
   * step of the browser's history, others add one. Somebody who has just followed a link stays there: what was to be
   * written, after a moment of rest for example, was meant for the page that they left.
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

import { beforeEach, describe, expect, it, vi } from 'vitest';

type Hear = () => void;

/** A mock location: links change it at once, but `hashchange` listeners are called later. */
const bar = {
  hash: '',
  hear: (() => undefined) as Hear,
  steps: [] as string[],
  follow(hash: string): void {
    this.hash = hash;
    this.steps.push(hash);
  },
};

async function start(hash: string): Promise<(typeof import('./route.svelte'))['route']> {
  Object.assign(bar, { hash, steps: [hash] });
  vi.resetModules();
  return (await import('./route.svelte')).route;
}

beforeEach(() => {
  vi.stubGlobal('location', {
    get hash(): string {
      return bar.hash;
    },
    set hash(to: string) {
      bar.follow(to);
    },
  });
  vi.stubGlobal('history', {
    replaceState(_state: unknown, _title: string, to: string): void {
      bar.hash = to;
      bar.steps.splice(-1, 1, to);
    },
  });
  vi.stubGlobal('addEventListener', (_name: string, hear: Hear) => (bar.hear = hear));
});

describe('route', () => {
  it('replaces the history entry for minor changes and adds one for others', async () => {
    const route = await start('#/timeline?timeline=demo');
    route.set({ zoom: '2' });
    route.set({ zoom: '3', range: '' });
    expect(bar.steps).toEqual(['#/timeline?timeline=demo&zoom=3']);
    route.set({ event: 'launch' }, 'push');
    // In the same tick, like an effect that runs after the choice.
    route.set({ zoom: '4' });
    expect(bar.steps).toEqual(['#/timeline?timeline=demo&zoom=3', '#/timeline?timeline=demo&zoom=4&event=launch']);
    route.set({ event: null, zoom: null });
    expect(route.params).toEqual({ timeline: 'demo' });
  });

  it('changes the view that was navigated to', async () => {
    const route = await start('#/timeline?timeline=demo&zoom=3');
    route.go('explorer', { op: 'travel' });
    route.set({ destination_time: '2028' });
    expect(bar.hash).toBe('#/explorer?timeline=demo&op=travel&destination_time=2028');
    expect(route.view).toBe('explorer');
  });

  it('does not overwrite a link that was just followed', async () => {
    const route = await start('#/explorer?op=travel');
    bar.follow('#/explorer?op=clock');
    route.set({ op: 'travel', destination_time: '2028' });
    route.set({ op: 'travel' }, 'push');
    expect(bar.hash).toBe('#/explorer?op=clock');
    bar.hear();
    expect(route.params).toEqual({ op: 'clock' });
    route.set({ timeline_id: 'demo' });
    expect(bar.hash).toBe('#/explorer?op=clock&timeline_id=demo');
  });
});

/**
 * What the view knows: the events, what part of time is shown, what is chosen, and what becomes of it while it is
 * looked at.
 */
import { readAnchors, type Anchor } from '../../lib/anchors';
import { call, isAborted } from '../../lib/api';
import { format, type Micros } from '../../lib/instant';
import { Stream } from '../../lib/stream.svelte';
import { timelines } from '../../lib/timelines.svelte';
import { countWithin, readDensity, type Density } from './density';
import { readLanes, type Lane } from './lanes';
import { EVENTS_MAX, loadEvents } from './load';
import { readPage } from './pages';
import type { Marks } from './paint';
import { FIRST, LAST, fitted, scale, timeAt, type Scale } from './scale';
import { EventStore, isInBox, type EventBody } from './store';
import type { Box } from '../../lib/ranges';

export interface Range {
  from: Micros;
  to: Micros;
}

interface StreamBody {
  event_id?: string | null;
  event?: EventBody | null;
  intervention?: { changed: boolean; after?: EventBody | null } | null;
}

/** With more events on the screen, what hangs on each is not asked. */
const MARKS_MAX = 1_000;
const ANCHORS_MAX = 1_000;
const LIVE_MS = 200;
const SETTLED_MS = 450;
/** What is kept of a range around the screen when not all events fit. */
const WINDOW_MAX = 60_000;
/** So many of too many events are shown on the map. */
const SAMPLE_ITEMS = 500;

export class TimelineModel {
  /** All that was read. */
  all = $state.raw(new EventStore());
  /** What of it is in the box on the map. */
  shown = $derived.by(() => this.#inBox(this.all, this.box));
  view = $state.raw<Scale>(scale(0n, 0, 1e9, 1_000));
  /** Whether `view` was chosen, by an address or by hand, and not only by what there is. */
  isViewChosen = false;
  range = $state.raw<Range | null>(null);
  box = $state.raw<Box | null>(null);
  selected = $state<string | null>(null);
  anchors = $state.raw<Anchor[]>([]);
  lanes = $state.raw<Lane[]>([]);
  lanesMore = $state(0);
  marks = $state.raw<Marks>(new Map());
  /** Events that came or changed while one looked, by when. */
  flashes = $state.raw<ReadonlyMap<string, number>>(new Map());
  /** How many there are over all of time, where they are too many to read. */
  overall = $state.raw<Density | null>(null);
  /** The same for the time around the screen, while that has too many as well. */
  density = $state.raw<Density | null>(null);
  /** The first events in sight, while these are too many to read: what the map shows of them. */
  sample = $state.raw(new EventStore());
  /** What came or changed out of sight while one looked, the latest last. */
  elsewhere = $state.raw<readonly string[]>([]);
  phase = $state<'loading' | 'ready' | 'canceled' | 'failed'>('loading');
  read = $state(0);
  error = $state.raw<unknown>(null);
  /** Is there nothing at all? */
  isEmpty = $derived(this.phase === 'ready' && this.all.count === 0 && this.overall === null);

  #stream: Stream;
  #loading = new AbortController();
  #settling: AbortController | null = null;
  #settled: ReturnType<typeof setTimeout> | undefined;
  #pending = new Map<string, EventBody | null>();
  #flush: ReturnType<typeof setTimeout> | undefined;
  #isWindowed = false;
  /** For which time the events were read, where not all fit. */
  #window: Range | null = null;

  constructor(
    readonly timeline: string,
    /** More events are not read at once. */
    private readonly eventsMax = EVENTS_MAX,
  ) {
    this.#stream = new Stream(
      { timeline, events: ['events', 'interventions', 'reset'] },
      (message) => {
        if (message.event === 'reset') void this.load();
        else this.#take(message.data as StreamBody);
      },
      () => void this.load(),
    );
  }

  /** What to tell people of the connection, or null where all is well. */
  get trouble(): string | null {
    return this.#stream.trouble;
  }

  /** Whether there are too many events in sight to read: then lists, map and search ask the service. */
  get isFar(): boolean {
    return this.density !== null && this.all.count === 0;
  }

  /** Whether not all events of the timeline are read, but at most those around what is in sight. */
  get isWindowed(): boolean {
    return this.overall !== null;
  }

  /** The events that the map shows. */
  get placed(): EventStore {
    return this.isFar ? this.sample : this.all;
  }

  /** How many events the timeline says it has; what has been read is measured against it. */
  get total(): number | null {
    return timelines.find(this.timeline)?.events ?? null;
  }

  /** Returns roughly how many events are on the screen, where they are too many to read. */
  countInSight(): number {
    if (this.density === null) return 0;
    const count = countWithin(this.density, timeAt(this.view, 0), timeAt(this.view, this.view.width));
    const grain = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(count, 1))) - 2);
    return Math.round(count / grain) * grain;
  }

  async load(): Promise<void> {
    this.#loading.abort();
    const loading = new AbortController();
    this.#loading = loading;
    this.phase = 'loading';
    this.error = null;
    this.read = 0;
    try {
      await timelines.ready();
      void this.readAround();
      if ((this.total ?? 0) > this.eventsMax) {
        await this.#loadDensity(loading.signal);
      } else {
        const { store, isCut } = await loadEvents({
          timeline: this.timeline,
          signal: loading.signal,
          limit: this.eventsMax,
          onProgress: (store) => this.#progress(store),
        });
        if (isCut) await this.#loadDensity(loading.signal);
        else this.#ready(store);
      }
      this.phase = 'ready';
    } catch (error) {
      if (loading !== this.#loading) return;
      this.phase = isAborted(error) ? 'canceled' : 'failed';
      this.error = isAborted(error) ? null : error;
    }
  }

  cancel(): void {
    this.#loading.abort();
  }

  #progress(store: EventStore): void {
    this.read = store.count;
    // A store of its own for each picture: what is drawn must not grow under the drawing hand.
    if (this.all.count < store.count) this.#ready(store.filter(() => true));
  }

  #ready(store: EventStore): void {
    this.read = store.count;
    this.all = store;
    if (!this.isViewChosen) this.fit();
  }

  async #loadDensity(signal: AbortSignal): Promise<void> {
    this.#isWindowed = true;
    this.#window = null;
    this.all = new EventStore();
    const take = (density: Density): void => {
      this.overall = density;
      this.density = density;
      this.read = density.count;
      if (!this.isViewChosen) this.fit();
    };
    take(await readDensity(this.timeline, null, null, signal, take));
    this.settle();
  }

  /** Anchors and lanes; the axis does not wait for them. */
  async readAround(): Promise<void> {
    const { signal } = this.#loading;
    const anchors = readAnchors(this.timeline, { limit: ANCHORS_MAX, signal });
    const lanes = readLanes(this.timeline, timelines.list, signal);
    try {
      this.anchors = (await anchors).anchors;
      const found = await lanes;
      this.lanes = found.lanes;
      this.lanesMore = found.more;
    } catch {
      // The events tell what is wrong; without anchors and lanes the axis is still right.
    }
  }

  /** Shows all there is. */
  fit(): void {
    const { all, overall } = this;
    const width = this.view.width;
    if (overall?.first != null && overall.last !== null) {
      this.view = fitted(overall.first, overall.last, width);
    } else if (all.count > 0) {
      const end = all.end();
      this.view = fitted(all.time(0), end > LAST ? LAST : end, width, width < 600 ? 0.06 : 0.04);
    }
    this.settle();
  }

  look(view: Scale): void {
    this.view = view;
    this.isViewChosen = true;
    const read = this.#window;
    if (read !== null && (timeAt(view, 0) < read.from || timeAt(view, view.width) > read.to)) this.#leaveWindow();
    this.settle();
  }

  /** Shows how many there are until the events that are now on the screen have come. */
  #leaveWindow(): void {
    this.#window = null;
    this.all = new EventStore();
    this.density = this.overall;
  }

  /** Brings an instant into sight, without zooming. */
  reveal(instant: Micros): void {
    const { view } = this;
    const from = timeAt(view, view.width * 0.03);
    const to = timeAt(view, view.width * 0.97);
    if (instant < from || instant > to) this.look(scale(instant, 0, view.pixel, view.width));
  }

  /** Asks what depends on the part that is shown, once it stays. */
  settle(): void {
    clearTimeout(this.#settled);
    this.#settling?.abort();
    this.#settled = setTimeout(() => {
      this.#settling = new AbortController();
      void this.#ask(this.#settling.signal).catch(() => {});
    }, SETTLED_MS);
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const from = timeAt(this.view, 0);
    const to = timeAt(this.view, this.view.width);
    if (this.#isWindowed) await this.#askWindow(from, to, signal);
    const visible = this.shown.lowerBound(to) - this.shown.lowerBound(from);
    if (visible === 0 || visible > MARKS_MAX || this.shown.count === 0) return;
    const body = {
      timeline_id: this.timeline,
      location: '*',
      time_range: `${format(from)}/${format(to)}`,
      limit: MARKS_MAX,
    };
    const page = await call<{ events: { event_id: string; interventions?: unknown[]; paradoxes?: unknown[] }[] }>(
      'POST',
      'v1/scan-events',
      { body, signal },
    );
    const marks = new Map(this.marks);
    for (const event of page.events) {
      const isTouched = (event.interventions?.length ?? 0) > 0;
      const isParadox = (event.paradoxes?.length ?? 0) > 0;
      if (isTouched || isParadox) marks.set(event.event_id, { isTouched, isParadox });
      else marks.delete(event.event_id);
    }
    if (!isSame(marks, this.marks)) this.marks = marks;
  }

  async #askWindow(from: Micros, to: Micros, signal: AbortSignal): Promise<void> {
    const room = (to - from) / 2n;
    const low = from - room < FIRST ? FIRST : from - room;
    const high = to + room > LAST ? LAST : to + room;
    const density = await readDensity(this.timeline, low, high, signal, () => {});
    if (density.count > Math.min(WINDOW_MAX, this.eventsMax) || density.isCut) {
      this.#leaveWindow();
      this.density = density;
      this.sample = (await readPage(this.timeline, from, to, null, SAMPLE_ITEMS, signal)).store;
      return;
    }
    const range = `${format(low)}/${format(high)}`;
    const { store } = await loadEvents({ timeline: this.timeline, range, signal, onProgress: () => {} });
    this.all = store;
    this.#window = { from: low, to: high };
  }

  #take(body: StreamBody): void {
    if (!body.event_id) return;
    const event = body.event ?? body.intervention?.after ?? null;
    if (event !== null) this.#pending.set(body.event_id, event);
    else if (body.intervention?.changed) this.#pending.set(body.event_id, null);
    else return;
    // Imports tell thousands at once: they are put in together.
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined;
      this.#apply();
    }, LIVE_MS);
  }

  #apply(): void {
    if (this.phase === 'loading') {
      this.#flush = setTimeout(() => {
        this.#flush = undefined;
        this.#apply();
      }, LIVE_MS);
      return;
    }
    const changes = this.#pending;
    this.#pending = new Map();
    if (this.#isWindowed) {
      this.settle();
      return;
    }
    const wasEmpty = this.all.count === 0;
    this.all = this.all.with(changes);
    const now = performance.now();
    const flashes = new Map([...this.flashes].filter(([, since]) => now - since < 2_000));
    for (const [id, event] of [...changes].slice(0, 200)) if (event !== null) flashes.set(id, now);
    this.flashes = flashes;
    if (!wasEmpty) this.#noteElsewhere(changes);
    if (wasEmpty && !this.isViewChosen) this.fit();
    else this.settle();
  }

  /** Remembers what nobody saw, until one goes there. */
  #noteElsewhere(changes: ReadonlyMap<string, EventBody | null>): void {
    const from = timeAt(this.view, 0);
    const to = timeAt(this.view, this.view.width);
    const unseen = [...changes.keys()].filter((id) => {
      const row = this.all.row(id);
      return row >= 0 && (this.all.time(row) < from || this.all.time(row) > to);
    });
    if (unseen.length > 0) this.elsewhere = [...new Set([...this.elsewhere, ...unseen])];
  }

  #inBox(store: EventStore, within: Box | null): EventStore {
    return within === null ? store : store.filter((row) => isInBox(within, store.lats[row]!, store.lons[row]!));
  }

  close(): void {
    this.#loading.abort();
    this.#settling?.abort();
    clearTimeout(this.#settled);
    clearTimeout(this.#flush);
    this.#stream.close();
  }
}

function isSame(a: Marks, b: Marks): boolean {
  if (a.size !== b.size) return false;
  for (const [id, mark] of a) {
    const other = b.get(id);
    if (other?.isParadox !== mark.isParadox || other.isTouched !== mark.isTouched) return false;
  }
  return true;
}

/**
 * State of the timeline view: the visible range, its events and their counts. Counts are loaded first; events are
 * loaded individually only if the number in view is small enough to draw each.
 */
import { isAborted, ApiConnectionError } from '../../lib/service/api';
import { beginRequest } from '../../lib/loading/network-idle';
import type { Micros } from '../../lib/time/instant';
import { loadOrThrow } from '../../lib/loading/later';
import type { Box } from '../../lib/address/ranges';
import { Stream } from '../../lib/live/stream.svelte';
import { timelines } from '../../lib/timelines/timelines.svelte';
import { SurroundingEvents, MARKS_MAX } from './surrounding-events.svelte';
import { BAR_PIXELS, EventCounts } from './counts/event-counts.svelte';
import { countStore, countWithin, rounded, type Counts } from '../../lib/events/counts';
import {
  ALL,
  filterQuery,
  isFiltered,
  isSameFilter,
  type Filter,
  type GroupBy,
  type Question,
} from '../../lib/events/filter';
import { Colors } from './groups/colors.svelte';
import type { ExactCounts } from './counts/exact-counts.svelte';
import { groupsOfStore, type GroupSelection, type Legend } from './groups/groups';
import type { ValueMeasurements } from './values/measurements.svelte';
import { changesIn, Live, spanOf, type Changes } from './live.svelte';
import { Renewal } from './counts/renewal';
import { Viewport, type Range } from './viewport.svelte';
import { readEnds, readExtent, readPage, readSpan } from '../../lib/events/pages';
import { FIRST, LAST, paddedScale, type Scale } from '../../lib/chart/scale';
import { stepOf } from '../../lib/events/steps';
import { EventStore } from '../../lib/events/store';

const recounting = loadOrThrow(() => import('./counts/recount'));

const SETTLED_MS = 250;
const EMPTY = new EventStore();

/** Summary of an event from its card. */
export interface EventSummary {
  event_id: string;
  /** Without invisible characters. */
  title: string;
  time: Micros | null;
  end: Micros | null;
  /** Null if the event has no coordinates. */
  at: { lat: number; lon: number } | null;
}

export class TimelineModel {
  /** The individually loaded events. */
  all = $state.raw(EMPTY);
  range = $state.raw<Range | null>(null);
  box = $state.raw<Box | null>(null);
  filter = $state.raw<Filter>(ALL);
  /** Host time of the displayed state; null for the current state. */
  asOf = $state<string | null>(null);
  /** The attribute of the value chart. */
  measure = $state<string | null>(null);
  selected = $state<string | null>(null);
  /** Time and place of an event from its card; needed if the event is only counted. */
  summary = $state.raw<EventSummary | null>(null);
  /** Playback position; null without playback. */
  playhead = $state<Micros | null>(null);
  phase = $state<'loading' | 'ready' | 'canceled' | 'failed'>('loading');
  error = $state.raw<unknown>(null);
  /** Incremented when the displayed events change, for dependent data. */
  version = $state(0);

  readonly viewport = new Viewport(() => this.settle());
  readonly counted = new EventCounts();
  readonly colors = new Colors(this.counted);
  readonly #renewal = new Renewal((span) => this.#renew(span));
  /** Created by the component that displays it. */
  measured = $state.raw<ValueMeasurements | null>(null);
  exactCounts = $state.raw<ExactCounts | null>(null);
  readonly around: SurroundingEvents;
  readonly live = new Live((changes) => this.#apply(changes));

  /** Time range of the loaded events. */
  window = $state.raw<Range | null>(null);
  /** Time range that contains all events. */
  extent = $state.raw<Range | null>(null);
  /** Whether there are too many events in view to load them: then they are counted. */
  isFar = $derived(
    this.window === null || this.window.from > this.viewport.range.from || this.window.to < this.viewport.range.to,
  );
  /** The events that are displayed individually. */
  visible = $derived(this.isFar ? EMPTY : this.all);
  /** Whether all matching events are loaded. */
  isWhole = $derived(this.window?.from === FIRST && this.window.to === LAST);
  readonly #step = $derived(stepOf(this.view.pixel * BAR_PIXELS));
  /** Counts for the bars of the axis. */
  counts = $derived.by<Counts | null>(() => {
    if (!this.isFar) return countStore(this.all, this.#step);
    return this.counted.best(this.view.pixel, this.viewport.range.from, this.viewport.range.to);
  });
  /** Counts by group, as far as they are loaded; null without known groups. */
  seriesSoFar = $derived.by<readonly (Counts | null)[] | null>(() => {
    const { legend, counts } = this;
    if (legend === null || counts === null) return null;
    if (!this.isFar) {
      const groups = groupsOfStore(this.all, legend);
      return legend.groups.map((_, index) => countStore(this.all, counts.step, (row) => groups[row] === index));
    }
    return this.counted.seriesOf(legend, counts);
  });
  /** Counts of all groups; null until all are loaded. */
  series = $derived.by<readonly Counts[] | null>(() => {
    const { seriesSoFar } = this;
    return seriesSoFar?.every((counts) => counts !== null) ? seriesSoFar : null;
  });
  /** Group of each visible event. */
  groups = $derived(this.legend === null ? null : groupsOfStore(this.visible, this.legend));
  /** Whether the timeline has no events. */
  isEmpty = $derived(this.phase === 'ready' && this.all.count === 0 && this.extent === null && this.isPlain);
  /** Whether no event matches the filter. */
  hasNoMatches = $derived(
    this.phase === 'ready' &&
      !this.isPlain &&
      (this.isWhole ? this.all.count === 0 : this.counted.overall?.count === 0),
  );

  #stream = $state.raw<Stream | null>(null);
  /** Ends the initial request once the first picture is shown: deferred files are not loaded before. */
  readonly #pictured = beginRequest();
  #loading = new AbortController();
  #settling: AbortController | null = null;
  #settled: ReturnType<typeof setTimeout> | undefined;
  /** The store whose marks were loaded. */
  #marked: EventStore | null = null;

  constructor(
    readonly timeline: string,
    /** Maximum number of events in view to load individually. */
    readonly singlesMax: number,
    /** Initial query. */
    start: { filter: Filter; by: GroupBy | null; box: Box | null; asOf: string | null },
  ) {
    this.around = new SurroundingEvents(timeline);
    this.filter = start.filter;
    this.colors.by = start.by;
    this.box = start.box;
    this.asOf = this.around.asOf = start.asOf;
    this.#listen();
  }

  /** Subscribes to matching events. Loads the data once the stream is open, so that no change is missed. */
  #listen(): void {
    this.#stream?.close();
    this.#stream = new Stream(
      { timeline: this.timeline, events: ['events', 'interventions', 'reset'], filter: filterQuery(this.filter) },
      (message) => {
        // A past state does not change.
        if (this.asOf !== null) return;
        if (message.event === 'reset') void this.load();
        else this.live.take(message.data as Parameters<Live['take']>[0]);
      },
      () => void this.load(),
    );
  }

  get view(): Scale {
    return this.viewport.view;
  }

  set view(view: Scale) {
    this.viewport.view = view;
  }

  /** Whether the user chose the visible range. */
  get isViewChosen(): boolean {
    return this.viewport.isChosen;
  }

  get by(): GroupBy | null {
    return this.colors.by;
  }

  get legend(): Legend | null {
    return this.colors.legend;
  }

  setView(view: Scale): void {
    this.viewport.setView(view);
  }

  /** Whether neither a filter nor a box is active. */
  get isPlain(): boolean {
    return !isFiltered(this.filter) && this.box === null;
  }

  /** Problem of the stream connection, or null. */
  get trouble(): string | null {
    return this.#stream?.trouble ?? null;
  }

  get question(): Question {
    return { timeline: this.timeline, filter: this.filter, box: this.box, asOf: this.asOf };
  }

  /** Number of events according to the list of timelines. */
  get total(): number | null {
    return timelines.find(this.timeline)?.events ?? null;
  }

  /** Returns the number of events in a time range, rounded if it is an estimate. */
  countIn(from: Micros, to: Micros): { count: number; isExact: boolean } {
    if (!this.isFar) return { count: this.all.lowerBound(to + 1n) - this.all.lowerBound(from), isExact: true };
    if (this.counts === null) return { count: 0, isExact: false };
    const { count, isExact } = this.exactCounts?.of(from, to) ?? countWithin(this.counts, from, to);
    return { count: isExact ? count : rounded(count), isExact };
  }

  countInView(): { count: number; isExact: boolean } {
    return this.countIn(this.viewport.range.from, this.viewport.range.to);
  }

  async load(): Promise<void> {
    this.#loading.abort();
    this.#settling?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    this.phase = 'loading';
    this.error = null;
    this.measured?.forget(null);
    try {
      await timelines.ready();
      await this.#read(loading.signal);
      void this.around.read(loading.signal);
      this.phase = 'ready';
      this.version += 1;
      this.settle();
    } catch (error) {
      if (loading !== this.#loading) return;
      this.phase = isAborted(error) ? 'canceled' : 'failed';
      this.error = isAborted(error) ? null : error;
      // Only the first load is not a new version.
      this.version = Math.max(this.version, 1);
    }
    this.#pictured();
  }

  /** Loads the events if there are few, otherwise their counts. */
  async #read(signal: AbortSignal): Promise<void> {
    const { question, singlesMax: limit } = this;
    if ((this.total ?? 0) <= limit) {
      const page = await readPage(question, { limit, signal });
      if (page.next === null) {
        this.counted.clear();
        this.#ends = null;
        this.all = page.store;
        this.window = { from: FIRST, to: LAST };
        this.extent = page.store.count === 0 ? null : { from: page.store.time(0), to: page.store.end() };
        if (!this.viewport.isChosen) this.fit();
        return;
      }
    }
    const extent = await readExtent(this.question, signal);
    this.window = null;
    this.counted.clear();
    this.#ends = null;
    this.extent = extent && { from: extent.first, to: extent.last };
    if (extent === null) return;
    if (!this.viewport.isChosen) this.fit();
    const whole = paddedScale(extent.first, extent.last, this.view.width);
    await this.counted.readOverall(question, extent, whole.pixel, signal);
    const passing = this.#passing;
    if (passing === null) return;
    // Fit to the matching events: a single storm in a hundred years is shown in days.
    const range = { from: max(passing.from, FIRST), to: min(passing.to, LAST) };
    const ends = await readEnds(question, range, signal).catch(() => null);
    this.#ends = ends && { of: this.counted.overall, ...ends };
    if (!this.viewport.isChosen) this.fit();
  }

  cancel(): void {
    this.#loading.abort();
    // The legend waited for the counts.
    this.settle();
  }

  /** Changes the query: the filter, the box or the state. */
  ask(filter: Filter, box: Box | null, asOf = this.asOf): void {
    const isSame = JSON.stringify(box) === JSON.stringify(this.box) && asOf === this.asOf;
    const hasSameFilter = isSameFilter(filter, this.filter);
    if (isSame && hasSameFilter) return;
    this.asOf = this.around.asOf = asOf;
    this.filter = filter;
    this.box = box;
    this.colors.forget();
    this.live.forget();
    if (hasSameFilter) void this.load();
    else this.#listenAnew();
  }

  /** The new stream triggers a load when it opens, so loading now would be redundant. */
  #listenAnew(): void {
    this.#loading.abort();
    this.#loading = new AbortController();
    this.phase = 'loading';
    this.error = null;
    this.#listen();
  }

  /** Summary of the selected event; null until its card has loaded. */
  get selectedSummary(): EventSummary | null {
    return this.summary?.event_id === this.selected ? this.summary : null;
  }

  /** Place of the selected event, if known. */
  get selectedAt(): { lat: number; lon: number } | null {
    const { selected, visible } = this;
    const row = selected === null ? -1 : visible.row(selected);
    if (row < 0) return this.selectedSummary?.at ?? null;
    const [lat, lon] = [visible.lats[row]!, visible.lons[row]!];
    return Number.isNaN(lat) ? null : { lat, lon };
  }

  /** Changes the grouping attribute or the colored groups. */
  groupBy(by: GroupBy | null, chosen: GroupSelection): void {
    if (this.colors.choose(by, chosen)) this.settle(0);
  }

  /** Changes the attribute of the value chart. */
  measureBy(key: string | null): void {
    if (key === this.measure) return;
    this.measure = key;
    this.settle(0);
  }

  /** Times of the first and last matching event; null if unknown. */
  #ends: (Range & { of: Counts | null }) | null = null;

  /** Time range of the buckets with matching events; null if unknown. */
  get #passing(): Range | null {
    const { overall } = this.counted;
    if (this.isWhole || overall === null || overall.until < overall.to) return null;
    if (this.isPlain) return null;
    const [first, last] = [overall.buckets[0], overall.buckets.at(-1)];
    return first === undefined ? null : { from: first.from, to: last!.to };
  }

  /** Shows all matching events. */
  fit(): void {
    const { width } = this.view;
    if (this.extent !== null) {
      const ends = this.#ends?.of === this.counted.overall ? this.#ends : null;
      const { from, to } = ends ?? this.#passing ?? this.extent;
      this.view = paddedScale(from, to, width);
    }
    this.settle();
  }

  /** Loads the data of the visible range once it is stable. */
  settle(wait = SETTLED_MS): void {
    clearTimeout(this.#settled);
    this.#settling?.abort();
    this.#settled = setTimeout(() => {
      this.#settling = new AbortController();
      // After an error, missing data is requested on the next move; the displayed bars stay valid.
      void this.#settle(this.#settling.signal).catch(() => {});
    }, wait);
  }

  async #settle(signal: AbortSignal): Promise<void> {
    if (this.phase === 'failed') return;
    const { from, to } = this.viewport.range;
    this.live.see(from, to);
    if (this.isFar && this.extent !== null) await this.#readNear(from, to, signal);
    await Promise.all([this.#readGroups(signal), this.measured?.readIn(this, signal)]);
    const { all } = this;
    const window = this.window;
    if (window === null || this.isFar || all === this.#marked || all.count === 0 || all.count > MARKS_MAX) return;
    await this.around.readMarks(this.question, window.from, window.to, signal);
    this.#marked = all;
  }

  async #readNear(from: Micros, to: Micros, signal: AbortSignal): Promise<void> {
    const { question, counted, view } = this;
    await counted.cover(question, this.#step, from, to, signal);
    const half = (to - from) / 2n;
    const counts = counted.best(view.pixel, from, to);
    for (const room of [half, 0n]) {
      const low = from - room < FIRST ? FIRST : from - room;
      const high = to + room > LAST ? LAST : to + room;
      const found = counts === null ? null : countWithin(counts, low, high);
      if (found === null || counts!.until < counts!.to || found.most > this.singlesMax) continue;
      const read = await readSpan(question, { from: low, to: high, limit: this.singlesMax, signal });
      if (read === null) continue;
      this.all = read;
      this.window = { from: low, to: high };
      return;
    }
  }

  async #readGroups(signal: AbortSignal): Promise<void> {
    const extent = this.extent;
    if (extent === null) return;
    // There is nothing to count before the first and after the last event.
    const { from, to } = this.viewport.range;
    const span = { from: max(from, extent.from), to: min(to, extent.to) };
    const seen = {
      span,
      isAllTime: span.from === extent.from && span.to === extent.to,
      isLoading: this.phase === 'loading',
      visible: this.visible,
      isFar: () => this.isFar,
      counts: () => this.counts,
    };
    await this.colors.read(this.question, seen, signal);
  }

  #apply(changes: Changes): boolean {
    if (this.phase === 'loading') return false;
    const { from, to } = this.viewport.range;
    const wasEmpty = this.extent === null;
    if (this.isWhole && this.isPlain && this.all.count + changes.size <= this.singlesMax) {
      this.all = this.all.with(changes);
      this.extent = this.all.count === 0 ? null : { from: this.all.time(0), to: this.all.end() };
      if (wasEmpty && !this.viewport.isChosen) this.fit();
      this.settle();
    } else if (wasEmpty) void this.load();
    else this.#renewal.add(spanOf(changes));
    // Only the service can match an event to a place name.
    if (!wasEmpty && this.filter.place === '') this.live.show(changesIn(this.box, changes), from, to);
    return true;
  }

  /** Recounts a changed range and reloads the visible events. */
  async #renew(span: Range | null): Promise<void> {
    const { signal } = this.#loading;
    try {
      const { readAgain } = await recounting();
      await readAgain(this, span, signal);
    } catch (error) {
      // Data is reloaded when the stream reconnects; until then the page shows the connection problem.
      if (signal.aborted || isAborted(error) || error instanceof ApiConnectionError) return;
      [this.phase, this.error] = ['failed', error];
    }
  }

  close(): void {
    this.#pictured();
    this.#loading.abort();
    this.#settling?.abort();
    clearTimeout(this.#settled);
    this.#renewal.close();
    this.live.close();
    this.#stream?.close();
  }
}

const min = (a: Micros, b: Micros): Micros => (a < b ? a : b);
const max = (a: Micros, b: Micros): Micros => (a > b ? a : b);

/**
 * What the view shows: what part of time, which events, and what is known of them. Counts come first. Events are read
 * one by one only where there are so few in sight that each can be seen.
 */
import { isAborted, ApiConnectionError } from '../../lib/service/api';
import { beginRequest } from '../../lib/loading/quiet';
import type { Micros } from '../../lib/time/instant';
import { laterOrThrow } from '../../lib/loading/later';
import type { Box } from '../../lib/address/ranges';
import { Stream } from '../../lib/live/stream.svelte';
import { timelines } from '../../lib/timelines/timelines.svelte';
import { Around, MARKS_MAX } from './around.svelte';
import { BAR_PIXELS, Counted } from './counts/counted.svelte';
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
import type { Exactly } from './counts/exactly.svelte';
import { groupsOfStore, type Chosen, type Legend } from './groups/groups';
import type { Measured } from './values/measured.svelte';
import { changesIn, Live, spanOf, type Changes } from './live.svelte';
import { Renewal } from './counts/renewal';
import { Sight, type Range } from './sight.svelte';
import { readEnds, readExtent, readPage, readSpan } from '../../lib/events/pages';
import { FIRST, LAST, paddedScale, type Scale } from '../../lib/chart/scale';
import { stepOf } from '../../lib/events/steps';
import { EventStore } from '../../lib/events/store';

const recounting = laterOrThrow(() => import('./counts/recount'));

const SETTLED_MS = 250;
const EMPTY = new EventStore();

/** What a card tells of its event. */
export interface EventSummary {
  event_id: string;
  /** Without hidden letters. */
  title: string;
  time: Micros | null;
  end: Micros | null;
  /** Null where the event has no coordinates. */
  at: { lat: number; lon: number } | null;
}

export class TimelineModel {
  /** The events that were read one by one. */
  all = $state.raw(EMPTY);
  range = $state.raw<Range | null>(null);
  box = $state.raw<Box | null>(null);
  filter = $state.raw<Filter>(ALL);
  /** Host time of what is shown; null for all that is known now. */
  asOf = $state<string | null>(null);
  /** The attribute whose numbers are shown. */
  measure = $state<string | null>(null);
  selected = $state<string | null>(null);
  /** When and where an event happened, as its card tells: it may be one of many that are only counted. */
  summary = $state.raw<EventSummary | null>(null);
  /** Up to where time is played; null where it is not. */
  playhead = $state<Micros | null>(null);
  phase = $state<'loading' | 'ready' | 'canceled' | 'failed'>('loading');
  error = $state.raw<unknown>(null);
  /** Changes with what is shown, for those who read more of it. */
  version = $state(0);

  readonly sight = new Sight(() => this.settle());
  readonly counted = new Counted();
  readonly colors = new Colors(this.counted);
  readonly #renewal = new Renewal((span) => this.#renew(span));
  /** Made by who shows it. */
  measured = $state.raw<Measured | null>(null);
  exactly = $state.raw<Exactly | null>(null);
  readonly around: Around;
  readonly live = new Live((changes) => this.#apply(changes));

  /** For which time the events were read. */
  window = $state.raw<Range | null>(null);
  /** All of time that has events. */
  extent = $state.raw<Range | null>(null);
  /** Whether there are too many events in sight to read each: then they are counted. */
  isFar = $derived(
    this.window === null || this.window.from > this.sight.range.from || this.window.to < this.sight.range.to,
  );
  /** The events that are shown one by one. */
  visible = $derived(this.isFar ? EMPTY : this.all);
  /** Whether every event that passes was read. */
  isWhole = $derived(this.window?.from === FIRST && this.window.to === LAST);
  readonly #step = $derived(stepOf(this.view.pixel * BAR_PIXELS));
  /** What the bars of the axis are made of. */
  counts = $derived.by<Counts | null>(() => {
    if (!this.isFar) return countStore(this.all, this.#step);
    return this.counted.best(this.view.pixel, this.sight.range.from, this.sight.range.to);
  });
  /** The same of each group, as far as they are counted; null where no groups are wanted or known. */
  seriesSoFar = $derived.by<readonly (Counts | null)[] | null>(() => {
    const { legend, counts } = this;
    if (legend === null || counts === null) return null;
    if (!this.isFar) {
      const groups = groupsOfStore(this.all, legend);
      return legend.groups.map((_, index) => countStore(this.all, counts.step, (row) => groups[row] === index));
    }
    return this.counted.seriesOf(legend, counts);
  });
  /** The counts of all groups; null until they are there. */
  series = $derived.by<readonly Counts[] | null>(() => {
    const { seriesSoFar } = this;
    return seriesSoFar?.every((counts) => counts !== null) ? seriesSoFar : null;
  });
  /** Which group each shown event is in. */
  groups = $derived(this.legend === null ? null : groupsOfStore(this.visible, this.legend));
  /** Is there nothing at all? */
  isEmpty = $derived(this.phase === 'ready' && this.all.count === 0 && this.extent === null && this.isPlain);
  /** Does nothing pass the filter? */
  isNothing = $derived(
    this.phase === 'ready' &&
      !this.isPlain &&
      (this.isWhole ? this.all.count === 0 : this.counted.overall?.count === 0),
  );

  #stream = $state.raw<Stream | null>(null);
  /** Called once the first picture is there: until then nobody fetches what can wait. */
  readonly #pictured = beginRequest();
  #loading = new AbortController();
  #settling: AbortController | null = null;
  #settled: ReturnType<typeof setTimeout> | undefined;
  /** Whose interventions and paradoxes were read. */
  #marked: EventStore | null = null;

  constructor(
    readonly timeline: string,
    /** More events in sight are not read one by one. */
    readonly singlesMax: number,
    /** Which of them to begin with. */
    start: { filter: Filter; by: GroupBy | null; box: Box | null; asOf: string | null },
  ) {
    this.around = new Around(timeline);
    this.filter = start.filter;
    this.colors.by = start.by;
    this.box = start.box;
    this.asOf = this.around.asOf = start.asOf;
    this.#listen();
  }

  /** Is told of what passes the filter, and reads what there is once nothing of that is missed. */
  #listen(): void {
    this.#stream?.close();
    this.#stream = new Stream(
      { timeline: this.timeline, events: ['events', 'interventions', 'reset'], filter: filterQuery(this.filter) },
      (message) => {
        // What was known then does not change.
        if (this.asOf !== null) return;
        if (message.event === 'reset') void this.load();
        else this.live.take(message.data as Parameters<Live['take']>[0]);
      },
      () => void this.load(),
    );
  }

  get view(): Scale {
    return this.sight.view;
  }

  set view(view: Scale) {
    this.sight.view = view;
  }

  /** Whether somebody chose what is in sight. */
  get isViewChosen(): boolean {
    return this.sight.isChosen;
  }

  get by(): GroupBy | null {
    return this.colors.by;
  }

  get legend(): Legend | null {
    return this.colors.legend;
  }

  look(view: Scale): void {
    this.sight.look(view);
  }

  /** Whether neither a filter nor a box hides anything. */
  get isPlain(): boolean {
    return !isFiltered(this.filter) && this.box === null;
  }

  /** What to tell people of the connection, or null where all is well. */
  get trouble(): string | null {
    return this.#stream?.trouble ?? null;
  }

  get question(): Question {
    return { timeline: this.timeline, filter: this.filter, box: this.box, asOf: this.asOf };
  }

  /** How many events the timeline says it has. */
  get total(): number | null {
    return timelines.find(this.timeline)?.events ?? null;
  }

  /** Returns how many events there are in a time, rounded where that is not known exactly. */
  countIn(from: Micros, to: Micros): { count: number; isExact: boolean } {
    if (!this.isFar) return { count: this.all.lowerBound(to + 1n) - this.all.lowerBound(from), isExact: true };
    if (this.counts === null) return { count: 0, isExact: false };
    const { count, isExact } = this.exactly?.of(from, to) ?? countWithin(this.counts, from, to);
    return { count: isExact ? count : rounded(count), isExact };
  }

  countInSight(): { count: number; isExact: boolean } {
    return this.countIn(this.sight.range.from, this.sight.range.to);
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
    }
    this.#pictured();
  }

  /** Reads the events, where there are few; else how many there are. */
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
        if (!this.sight.isChosen) this.fit();
        return;
      }
    }
    const extent = await readExtent(this.question, signal);
    this.window = null;
    this.counted.clear();
    this.#ends = null;
    this.extent = extent && { from: extent.first, to: extent.last };
    if (extent === null) return;
    if (!this.sight.isChosen) this.fit();
    const whole = paddedScale(extent.first, extent.last, this.view.width);
    await this.counted.readOverall(question, extent, whole.pixel, signal);
    const passing = this.#passing;
    if (passing === null) return;
    // Of a hundred years with one storm, its days are shown.
    const range = { from: max(passing.from, FIRST), to: min(passing.to, LAST) };
    const ends = await readEnds(question, range, signal).catch(() => null);
    this.#ends = ends && { of: this.counted.overall, ...ends };
    if (!this.sight.isChosen) this.fit();
  }

  cancel(): void {
    this.#loading.abort();
  }

  /** Shows other events: those that pass another filter, of another box, or as they were known at another time. */
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

  /** What is read before the new line is there would be read again then. */
  #listenAnew(): void {
    this.#loading.abort();
    this.#loading = new AbortController();
    this.phase = 'loading';
    this.error = null;
    this.#listen();
  }

  /** What the card tells of the selected event; null before. */
  get selectedSummary(): EventSummary | null {
    return this.summary?.event_id === this.selected ? this.summary : null;
  }

  /** Where the selected event happened, as far as that is known. */
  get selectedAt(): { lat: number; lon: number } | null {
    const { selected, visible } = this;
    const row = selected === null ? -1 : visible.row(selected);
    if (row < 0) return this.selectedSummary?.at ?? null;
    const [lat, lon] = [visible.lats[row]!, visible.lons[row]!];
    return Number.isNaN(lat) ? null : { lat, lon };
  }

  /** Tells events apart by something else, or gives other groups colors. */
  groupBy(by: GroupBy | null, chosen: Chosen): void {
    if (this.colors.choose(by, chosen)) this.settle(0);
  }

  /** Shows the numbers of another attribute. */
  measureBy(key: string | null): void {
    if (key === this.measure) return;
    this.measure = key;
    this.settle(0);
  }

  /** When the first and the last event happens that passes the filter; null while that is not known. */
  #ends: (Range & { of: Counts | null }) | null = null;

  /** The stretches of time that have events which pass the filter; null while that is not known. */
  get #passing(): Range | null {
    const { overall } = this.counted;
    if (this.isWhole || overall === null || overall.until < overall.to) return null;
    if (this.isPlain) return null;
    const [first, last] = [overall.buckets[0], overall.buckets.at(-1)];
    return first === undefined ? null : { from: first.from, to: last!.to };
  }

  /** Shows all there is. */
  fit(): void {
    const { width } = this.view;
    if (this.extent !== null) {
      const ends = this.#ends?.of === this.counted.overall ? this.#ends : null;
      const { from, to } = ends ?? this.#passing ?? this.extent;
      this.view = paddedScale(from, to, width);
    }
    this.settle();
  }

  /** Asks for what depends on the part that is shown, once it stays. */
  settle(wait = SETTLED_MS): void {
    clearTimeout(this.#settled);
    this.#settling?.abort();
    this.#settled = setTimeout(() => {
      this.#settling = new AbortController();
      // What is missing then is asked for when one moves on; the bars that are there stay true.
      void this.#settle(this.#settling.signal).catch(() => {});
    }, wait);
  }

  async #settle(signal: AbortSignal): Promise<void> {
    if (this.phase === 'failed') return;
    const { from, to } = this.sight.range;
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
    // Before the first event and after the last one there is nothing to count.
    const { from, to } = this.sight.range;
    const span = { from: max(from, extent.from), to: min(to, extent.to) };
    const isAllTime = span.from === extent.from && span.to === extent.to;
    const seen = { span, isAllTime, visible: this.visible, isFar: () => this.isFar, counts: () => this.counts };
    await this.colors.read(this.question, seen, signal);
  }

  #apply(changes: Changes): boolean {
    if (this.phase === 'loading') return false;
    const { from, to } = this.sight.range;
    const wasEmpty = this.extent === null;
    if (this.isWhole && this.isPlain && this.all.count + changes.size <= this.singlesMax) {
      this.all = this.all.with(changes);
      this.extent = this.all.count === 0 ? null : { from: this.all.time(0), to: this.all.end() };
      if (wasEmpty && !this.sight.isChosen) this.fit();
      this.settle();
    } else if (wasEmpty) void this.load();
    else this.#renewal.add(spanOf(changes));
    // What happens at a place by its name, the service knows.
    if (!wasEmpty && this.filter.place === '') this.live.show(changesIn(this.box, changes), from, to);
    return true;
  }

  /** Counts anew where something changed, and reads the events in sight again. */
  async #renew(span: Range | null): Promise<void> {
    const { signal } = this.#loading;
    try {
      const { readAgain } = await recounting();
      await readAgain(this, span, signal);
    } catch (error) {
      // What cannot be reached is read again once the stream is back, which the page says meanwhile.
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

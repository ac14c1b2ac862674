/**
 * What the view shows: what part of time, which events, and what is known of them. Counts come first. Events are read
 * one by one only where there are so few in sight that each can be seen.
 */
import { isAborted } from '../../lib/api';
import { asked } from '../../lib/quiet';
import type { Micros } from '../../lib/instant';
import type { Box } from '../../lib/ranges';
import { Stream } from '../../lib/stream.svelte';
import { timelines } from '../../lib/timelines.svelte';
import { Around, MARKS_MAX } from './around.svelte';
import { BAR_PIXELS, Counted } from './counted.svelte';
import { countStore, countWithin, rounded, type Counts } from '../../lib/events/counts';
import { ALL, isFiltered, isSameFilter, type Filter, type GroupBy, type Question } from '../../lib/events/filter';
import { SETTLE_MS } from './follow';
import { groupsOfStore, legendOf, readLegend, type Legend, type Span } from './groups';
import { Measured } from './measured.svelte';
import { Live, spanOf, type Changes } from './live.svelte';
import { readEnds, readExtent, readPage } from '../../lib/events/pages';
import { FIRST, LAST, fitted, scale, timeAt, type Scale } from '../../lib/events/scale';
import { stepOf } from '../../lib/events/steps';
import { EventStore } from '../../lib/events/store';

export interface Range {
  from: Micros;
  to: Micros;
}

const SETTLED_MS = 250;
/** While much changes, counts are renewed no more often. */
const RENEW_MS = 1_500;
const EMPTY = new EventStore();

export class TimelineModel {
  /** The events that were read one by one. */
  all = $state.raw(EMPTY);
  view = $state.raw<Scale>(scale(0n, 0, 1e9, 1_000));
  /** Whether `view` was chosen, by an address or by hand, and not only by what there is. */
  isViewChosen = false;
  range = $state.raw<Range | null>(null);
  box = $state.raw<Box | null>(null);
  filter = $state.raw<Filter>(ALL);
  /** Host time of what is shown; null for all that is known now. */
  asOf = $state<string | null>(null);
  by = $state<GroupBy | null>(null);
  /** The attribute whose numbers are shown. */
  measure = $state<string | null>(null);
  selected = $state<string | null>(null);
  /** Up to where time is played; null where it is not. */
  playhead = $state<Micros | null>(null);
  legendError = $state.raw<unknown>(null);
  phase = $state<'loading' | 'ready' | 'canceled' | 'failed'>('loading');
  error = $state.raw<unknown>(null);
  /** Changes with what is shown, for those who read more of it. */
  version = $state(0);

  readonly counted = new Counted();
  readonly measured = new Measured();
  readonly around: Around;
  readonly live = new Live((changes) => this.#apply(changes));

  /** For which time the events were read. */
  #window = $state.raw<Range | null>(null);
  #extent = $state.raw<Range | null>(null);
  readonly #inSight = $derived({ from: timeAt(this.view, 0), to: timeAt(this.view, this.view.width) });
  /** Whether there are too many events in sight to read each: then they are counted. */
  isFar = $derived(
    this.#window === null || this.#window.from > this.#inSight.from || this.#window.to < this.#inSight.to,
  );
  /** The events that are shown one by one. */
  shown = $derived(this.isFar ? EMPTY : this.all);
  /** Whether every event that passes was read. */
  isWhole = $derived(this.#window?.from === FIRST && this.#window.to === LAST);
  /** The largest groups of what was in sight when it last stayed; null while they are not counted, or not wanted. */
  legend = $state.raw<Legend | null>(null);
  /** Of which time the legend is; null where it has to be counted anew. */
  #legendSpan: Span | null = null;
  readonly #step = $derived(stepOf(this.view.pixel * BAR_PIXELS));
  /** What the bars of the axis are made of. */
  counts = $derived.by<Counts | null>(() => {
    if (!this.isFar) return countStore(this.all, this.#step);
    return this.counted.best(this.view.pixel, this.#inSight.from, this.#inSight.to);
  });
  /** The same of each group, the largest first; null until they are counted. */
  series = $derived.by<readonly Counts[] | null>(() => {
    const { legend, counts } = this;
    if (legend === null || counts === null) return null;
    if (!this.isFar) {
      const groups = groupsOfStore(this.all, legend);
      return legend.groups.map((_, index) => countStore(this.all, counts.step, (row) => groups[row] === index));
    }
    return this.counted.seriesOf(legend, counts);
  });
  /** Which group each shown event is in. */
  groups = $derived(this.legend === null ? null : groupsOfStore(this.shown, this.legend));
  /** Is there nothing at all? */
  isEmpty = $derived(
    this.phase === 'ready' &&
      this.all.count === 0 &&
      this.#extent === null &&
      !isFiltered(this.filter) &&
      this.box === null,
  );
  /** Does nothing pass the filter? */
  isNothing = $derived(
    this.phase === 'ready' &&
      (isFiltered(this.filter) || this.box !== null) &&
      (this.isWhole ? this.all.count === 0 : this.counted.overall?.count === 0),
  );

  #stream: Stream;
  /** Called once the first picture is there: until then nobody fetches what can wait. */
  readonly #pictured = asked();
  #loading = new AbortController();
  #settling: AbortController | null = null;
  #settled: ReturnType<typeof setTimeout> | undefined;
  #renewing: ReturnType<typeof setTimeout> | undefined;
  #renewed: Range | 'all' | null = null;
  /** Whose interventions and paradoxes were read. */
  #marked: EventStore | null = null;

  constructor(
    readonly timeline: string,
    /** More events in sight are not read one by one. */
    private readonly singlesMax: number,
    /** Which of them to begin with. */
    start: { filter: Filter; by: GroupBy | null; box: Box | null; asOf: string | null },
  ) {
    this.around = new Around(timeline);
    this.filter = start.filter;
    this.by = start.by;
    this.box = start.box;
    this.asOf = this.around.asOf = start.asOf;
    this.#stream = new Stream(
      { timeline, events: ['events', 'interventions', 'reset'] },
      (message) => {
        // What was known then does not change.
        if (this.asOf !== null) return;
        if (message.event === 'reset') void this.load();
        else this.live.take(message.data as Parameters<Live['take']>[0]);
      },
      () => void this.load(),
    );
  }

  /** What to tell people of the connection, or null where all is well. */
  get trouble(): string | null {
    return this.#stream.trouble;
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
    const { count, isExact } = countWithin(this.counts, from, to);
    return { count: isExact ? count : rounded(count), isExact };
  }

  countInSight(): { count: number; isExact: boolean } {
    return this.countIn(this.#inSight.from, this.#inSight.to);
  }

  async load(): Promise<void> {
    this.#loading.abort();
    this.#settling?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    this.phase = 'loading';
    this.error = null;
    this.measured.forget(null);
    try {
      await timelines.ready();
      void this.around.read(loading.signal);
      await this.#read(loading.signal);
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
        this.#window = { from: FIRST, to: LAST };
        this.#extent = page.store.count === 0 ? null : { from: page.store.time(0), to: page.store.end() };
        if (!this.isViewChosen) this.fit();
        return;
      }
    }
    const extent = await readExtent(this.question, signal);
    this.#window = null;
    this.counted.clear();
    this.#ends = null;
    this.#extent = extent && { from: extent.first, to: extent.last };
    if (extent === null) return;
    if (!this.isViewChosen) this.fit();
    const whole = fitted(extent.first, extent.last, this.view.width, roomOf(this.view.width));
    await this.counted.readOverall(question, extent, whole.pixel, signal);
    const passing = this.#passing;
    if (passing === null) return;
    // Of a hundred years with one storm, its days are shown.
    const range = { from: max(passing.from, FIRST), to: min(passing.to, LAST) };
    const ends = await readEnds(question, range, signal).catch(() => null);
    this.#ends = ends && { of: this.counted.overall, ...ends };
    if (!this.isViewChosen) this.fit();
  }

  cancel(): void {
    this.#loading.abort();
  }

  /** Shows other events: those that pass another filter, of another box, or as they were known at another time. */
  ask(filter: Filter, box: Box | null, asOf = this.asOf): void {
    const isSame = JSON.stringify(box) === JSON.stringify(this.box) && asOf === this.asOf;
    if (isSame && isSameFilter(filter, this.filter)) return;
    this.asOf = this.around.asOf = asOf;
    this.filter = filter;
    this.box = box;
    this.#legendSpan = null;
    void this.load();
  }

  /** Tells events apart by something else. */
  groupBy(by: GroupBy | null): void {
    if (by === this.by) return;
    this.by = by;
    this.legend = null;
    this.#legendSpan = null;
    this.settle(0);
  }

  /** Shows the numbers of another attribute. */
  measureBy(key: string | null): void {
    if (key === this.measure) return;
    this.measure = key;
    this.settle(0);
  }

  /** All of time that has events. */
  get extent(): Range | null {
    return this.#extent;
  }

  /** When the first and the last event happens that passes the filter; null while that is not known. */
  #ends: (Range & { of: Counts | null }) | null = null;

  /** The stretches of time that have events which pass the filter; null while that is not known. */
  get #passing(): Range | null {
    const { overall } = this.counted;
    if (this.isWhole || overall === null || overall.until < overall.to) return null;
    if (!isFiltered(this.filter) && this.box === null) return null;
    const [first, last] = [overall.buckets[0], overall.buckets.at(-1)];
    return first === undefined ? null : { from: first.from, to: last!.to };
  }

  /** Shows all there is. */
  fit(): void {
    const { width } = this.view;
    if (this.#extent !== null) {
      const ends = this.#ends?.of === this.counted.overall ? this.#ends : null;
      const { from, to } = ends ?? this.#passing ?? this.#extent;
      this.view = fitted(from, to > LAST ? LAST : to, width, roomOf(width));
    }
    this.settle();
  }

  look(view: Scale): void {
    this.view = view;
    this.isViewChosen = true;
    this.settle();
  }

  #followed = 0;
  /** Goes on with the clock. With each frame is too often to ask for anything. */
  follow(view: Scale): void {
    this.view = view;
    this.isViewChosen = true;
    if (performance.now() - this.#followed < SETTLE_MS) return;
    this.#followed = performance.now();
    this.settle();
  }

  /** Brings an instant into sight, without zooming. */
  reveal(instant: Micros): void {
    const { view } = this;
    const from = timeAt(view, view.width * 0.03);
    const to = timeAt(view, view.width * 0.97);
    if (instant < from || instant > to) this.look(scale(instant, 0, view.pixel, view.width));
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
    const { from, to } = this.#inSight;
    if (this.isFar && this.#extent !== null) await this.#readNear(from, to, signal);
    await this.#readGroups(signal);
    if (this.isFar && this.measure !== null && this.#extent !== null) {
      const part = { from: max(from, this.#extent.from), to: min(to, this.#extent.to) };
      await this.measured.read(this.question, this.measure, this.view, part, this.counts, signal);
    }
    const { all } = this;
    const window = this.#window;
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
      const page = await readPage(question, { from: low, to: high, limit: this.singlesMax, signal });
      if (page.next !== null) continue;
      this.all = page.store;
      this.#window = { from: low, to: high };
      return;
    }
  }

  async #readGroups(signal: AbortSignal): Promise<void> {
    const { by, question } = this;
    const extent = this.#extent;
    if (by === null || extent === null) return;
    // Before the first event and after the last one there is nothing to count.
    const { from, to } = this.#inSight;
    const span = { from: max(from, extent.from), to: min(to, extent.to) };
    try {
      this.legendError = null;
      if (!this.isFar || span.from > span.to) this.legend = legendOf(this.shown, this.filter, by, span, this.legend);
      else if (this.#legendSpan === null || !isAlike(span, this.#legendSpan))
        this.legend = await readLegend(question, by, span, this.legend, signal);
      this.#legendSpan = span;
      const { counts, legend } = this;
      if (this.isFar && counts !== null && legend !== null)
        await this.counted.readSeries(question, legend, counts, signal);
    } catch (error) {
      if (!isAborted(error)) this.legendError = error;
    }
  }

  #apply(changes: Changes): boolean {
    if (this.phase === 'loading') return false;
    const { from, to } = this.#inSight;
    const wasEmpty = this.#extent === null;
    const isPlain = !isFiltered(this.filter) && this.box === null;
    if (this.isWhole && isPlain && this.all.count + changes.size <= this.singlesMax) {
      this.all = this.all.with(changes);
      this.#extent = this.all.count === 0 ? null : { from: this.all.time(0), to: this.all.end() };
      if (wasEmpty && !this.isViewChosen) this.fit();
      this.settle();
    } else if (wasEmpty) void this.load();
    else this.#renewSoon(spanOf(changes));
    if (!wasEmpty) this.live.show(changes, from, to);
    return true;
  }

  /** Counts anew where something changed, and reads the events in sight again. */
  #renewSoon(span: Range | null): void {
    const before = this.#renewed;
    if (span === null || before === 'all') this.#renewed = 'all';
    else if (before === null) this.#renewed = span;
    else this.#renewed = { from: min(before.from, span.from), to: max(before.to, span.to) };
    this.#renewing ??= setTimeout(() => this.#renewNow(), RENEW_MS);
  }

  #renewNow(): void {
    const part = this.#renewed;
    this.#renewed = null;
    void this.#renew(part === 'all' ? null : part).finally(() => {
      // What changed meanwhile waits as long as the first.
      this.#renewing = this.#renewed === null ? undefined : setTimeout(() => this.#renewNow(), RENEW_MS);
    });
  }

  async #renew(span: Range | null): Promise<void> {
    const { question, counted } = this;
    const { signal } = this.#loading;
    const extent = await readExtent(this.question, signal).catch(() => null);
    const { overall } = counted;
    if (extent !== null && overall !== null && (extent.first < overall.from || extent.last >= overall.to)) {
      await this.load();
      return;
    }
    if (extent !== null) this.#extent = { from: extent.first, to: extent.last };
    await counted.renew(question, span, signal).catch(() => {});
    this.measured.forget(span);
    const window = this.#window;
    if (window !== null) {
      const page = await readPage(question, { ...window, limit: this.singlesMax, signal }).catch(() => null);
      if (page?.next === null) this.all = page.store;
      else if (page !== null && this.isWhole) {
        // It has become too much to show one by one.
        await this.load();
        return;
      } else this.#window = null;
    }
    this.#legendSpan = null;
    this.version += 1;
    this.settle();
  }

  close(): void {
    this.#pictured();
    this.#loading.abort();
    this.#settling?.abort();
    clearTimeout(this.#settled);
    clearTimeout(this.#renewing);
    this.live.close();
    this.#stream.close();
  }
}

/** How much of an axis is left free at its ends. */
const roomOf = (width: number): number => (width < 600 ? 0.06 : 0.04);
/** A legend is counted anew where one end of what is in sight moved by more than such a part of it. */
const LEGEND_MOVES = 20n;
const isAlike = (a: Span, b: Span): boolean => {
  const moved = (one: Micros, other: Micros): Micros => (one > other ? one - other : other - one) * LEGEND_MOVES;
  return moved(a.from, b.from) <= b.to - b.from && moved(a.to, b.to) <= b.to - b.from;
};
const min = (a: Micros, b: Micros): Micros => (a < b ? a : b);
const max = (a: Micros, b: Micros): Micros => (a > b ? a : b);

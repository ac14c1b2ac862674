/** Compares two timelines with a common history: their differences, and the event counts of each over time. */
import { isAborted, service } from '../../lib/service/api';
import { readCounts, type Counts } from '../../lib/events/counts';
import { ALL } from '../../lib/events/filter';
import { readExtent, readPage } from '../../lib/events/pages';
import { FIRST, LAST, fitted, scale, timeAt, widened, type Scale } from '../../lib/chart/scale';
import { stepBegin, stepEnd, stepOf } from '../../lib/events/steps';
import type { EventBody } from '../../lib/events/store';
import { parse, type Micros } from '../../lib/time/instant';
import { Stream } from '../../lib/live/stream.svelte';
import { withSurroundings, spanOf } from './span';

export type Change = 'only_in_base' | 'only_in_compare' | 'differs';

interface EventDifferenceBody {
  event_id: string;
  change: Change;
  base?: EventBody | null;
  compare?: EventBody | null;
}

export interface Difference {
  event_id: string;
  change: Change;
  a?: EventBody | null;
  b?: EventBody | null;
  /** The time on each side; null if the event is missing there. */
  at: { a: Micros | null; b: Micros | null };
  /** The end time on each side; null if the event has none. */
  until: { a: Micros | null; b: Micros | null };
}

interface DiffBody {
  common: { timeline_id: string; size: number };
  differences: EventDifferenceBody[];
  next_cursor?: string | null;
  has_more: boolean;
}

const PAGE_ITEMS = 500;
/** Number of differences read automatically. The user can request more. */
const READ_MAX = 2_000;
const SETTLED_MS = 300;
/** Minimum width of a bar. */
const BAR_PIXELS = 6;
/** With at most this many differences, the view includes events of both around them, up to this many on each side. */
const FEW = 8;
const AROUND = 8;
/** Minimum time between comparisons while either side changes. */
const RENEW_MS = 1_500;

export class Comparison {
  differences = $state.raw<readonly Difference[]>([]);
  common = $state.raw<DiffBody['common'] | null>(null);
  hasMore = $state(false);
  isReading = $state(false);
  error = $state.raw<unknown>(null);
  view = $state.raw<Scale>(scale(0n, 0, 1e9, 1_000));
  counts = $state.raw<{ a: Counts; b: Counts } | null>(null);
  /** Whether counting failed, so that the missing counts will not arrive. */
  isCountOver = $state(false);
  /** Incremented after each comparison. */
  stamp = $state(0);
  /** Whether the user chose the view. Otherwise it fits the data. */
  isViewChosen = $state(false);
  /** Times of events around the differences, and the time span for which they were read. */
  #around: { key: string; times: Micros[] } = { key: '', times: [] };
  #extent: { from: Micros; to: Micros } | null = null;
  #cursor: string | null = null;
  #reading = new AbortController();
  #counting = new AbortController();
  #settled: ReturnType<typeof setTimeout> | undefined;

  #streams: Stream[];
  #renewing: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly a: string,
    readonly b: string,
  ) {
    // Any change on either side triggers a comparison. Data read before the stream opened is read again too.
    const onChange = (): void => this.#schedule();
    this.#streams = [a, b].map(
      (timeline) =>
        new Stream({ timeline, events: ['events', 'interventions', 'advances', 'reset'] }, onChange, () => {
          if (this.common !== null) onChange();
        }),
    );
  }

  /** Whether both streams are open. */
  get isLive(): boolean {
    return this.#streams.every((stream) => stream.state === 'open');
  }

  async read(): Promise<void> {
    this.#cursor = null;
    this.differences = [];
    this.stamp += 1;
    await this.more(READ_MAX);
    if (!this.isViewChosen && this.error === null) await this.fit();
  }

  /** Schedules a renewal. */
  #schedule(): void {
    this.#renewing ??= setTimeout(() => void this.#renew(), RENEW_MS);
  }

  /** Compares both sides again. The current differences stay until all pages have arrived. */
  async #renew(): Promise<void> {
    this.#renewing = undefined;
    if (this.isReading) {
      this.#schedule();
      return;
    }
    const { signal } = this.#reading;
    const before = this.differences;
    const most = Math.max(READ_MAX, before.length);
    const found: Difference[] = [];
    try {
      for await (const page of this.#pages(null, signal)) {
        found.push(...page.differences.map(timed));
        if (page.has_more && found.length < most) continue;
        this.differences = found.sort(byTime);
        this.#continueAfter(page);
        break;
      }
      this.stamp += 1;
      if (!this.isViewChosen && before.length === 0) await this.fit();
      else this.#settle();
    } catch (error) {
      if (!isAborted(error)) this.error = error;
      // The user requested more differences. Those continue what is shown, so the renewal waits.
      else if (signal !== this.#reading.signal) this.#schedule();
    }
  }

  async *#pages(cursor: string | null, signal: AbortSignal): AsyncGenerator<DiffBody> {
    let next: string | null | undefined = cursor;
    do {
      const query = { base: this.a, compare: this.b, limit: PAGE_ITEMS, cursor: next ?? undefined };
      const page = (await service.timelinesDiff(query, { signal })) as DiffBody;
      next = page.next_cursor;
      yield page;
    } while (next);
  }

  /** Continues after this page when more differences are requested. */
  #continueAfter(page: DiffBody): void {
    this.common = page.common;
    this.#cursor = page.next_cursor ?? null;
    this.hasMore = page.has_more;
  }

  /** Reads further differences, page by page. */
  async more(most = PAGE_ITEMS): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    this.isReading = true;
    this.error = null;
    const until = this.differences.length + most;
    try {
      for await (const page of this.#pages(this.#cursor, signal)) {
        this.differences = [...this.differences, ...page.differences.map(timed)].sort(byTime);
        this.#continueAfter(page);
        if (this.differences.length >= until) break;
      }
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.isReading = false;
  }

  /** Fits all differences into the view, or all events if there are none. */
  async fit(): Promise<void> {
    const span = spanOf(this.differences);
    if (span !== null) {
      const before = this.view.center;
      const { from, to } = this.differences.length > FEW ? span : withSurroundings(span, await this.#readAround(span));
      // The user moved the view meanwhile, or it follows the clock.
      if (this.view.center !== before) return;
      this.view = fitted(from, to, this.view.width, 0.12);
    } else {
      this.#extent ??= await this.#readExtent();
      if (this.#extent) this.view = fitted(this.#extent.from, this.#extent.to, this.view.width);
    }
    this.#settle();
  }

  async #readAround({ from, to }: { from: Micros; to: Micros }): Promise<Micros[]> {
    const key = `${from}/${to}`;
    if (this.#around.key === key) return this.#around.times;
    const query = { timeline: this.a, filter: ALL, box: null };
    const options = { limit: AROUND, signal: this.#reading.signal };
    try {
      const sides = await Promise.all([
        readPage(query, { ...options, to: max(from - 1n, FIRST), order: 'newest' }),
        readPage(query, { ...options, from: min(to + 1n, LAST) }),
      ]);
      const times = sides.flatMap(({ store }) => (store.count === 0 ? [] : [store.time(store.count - 1)]));
      this.#around = { key, times };
    } catch {
      // Optional: without them, the view fits the differences alone.
      return [];
    }
    return this.#around.times;
  }

  async #readExtent(): Promise<{ from: Micros; to: Micros } | null> {
    const found = await readExtent({ timeline: this.a }, this.#reading.signal).catch(() => null);
    return found && { from: found.first, to: found.last };
  }

  setView(view: Scale): void {
    this.view = view;
    this.isViewChosen = true;
    this.#settle();
  }

  /** Sets the width in pixels. */
  setWidth(width: number): void {
    if (Math.abs(width - this.view.width) < 0.5) return;
    this.view = widened(this.view, width);
    if (this.isViewChosen) this.#settle();
    else if (this.common !== null) void this.fit();
  }

  /** Whether a count of the current view is scheduled. */
  get #isElsewhere(): boolean {
    return this.#settled !== undefined;
  }

  /** Counts both sides once the view has settled. */
  #settle(): void {
    // The failed count was of another view.
    this.isCountOver = false;
    clearTimeout(this.#settled);
    this.#settled = setTimeout(() => void this.#count(), SETTLED_MS);
  }

  async #count(): Promise<void> {
    this.#settled = undefined;
    this.#counting.abort();
    this.#counting = new AbortController();
    const { signal } = this.#counting;
    const { view } = this;
    const step = stepOf(view.pixel * BAR_PIXELS);
    const half = view.width / 2;
    const [from, to] = [timeAt(view, -half), timeAt(view, view.width + half)];
    const range = { from: stepBegin(step, max(from, FIRST)), to: stepEnd(step, stepBegin(step, min(to, LAST))) };
    const { counts } = this;
    // For the same range, old counts stay until both new ones are complete. Otherwise partial counts are shown.
    const isSame = counts?.a.step === step && counts.a.from === range.from && counts.a.to === range.to;
    const none: Counts = { step, ...range, until: range.from, buckets: [], count: 0 };
    const found = { a: none, b: none };
    const count = async (side: 'a' | 'b'): Promise<void> => {
      const question = { timeline: this[side], filter: ALL, box: null };
      found[side] = await readCounts(question, step, range, signal, (some) => {
        found[side] = some;
        if (!isSame) this.counts = { ...found };
      });
    };
    try {
      await Promise.all([count('a'), count('b')]);
      this.counts = found;
    } catch (error) {
      // The differences are still valid. The part without counts stays covered.
      if (!isAborted(error) && !this.#isElsewhere) this.isCountOver = true;
    }
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
    clearTimeout(this.#renewing);
    clearTimeout(this.#settled);
    this.#reading.abort();
    this.#counting.abort();
  }
}

const min = (a: Micros, b: Micros): Micros => (a < b ? a : b);
const max = (a: Micros, b: Micros): Micros => (a > b ? a : b);
const timeOf = ({ at }: Difference): Micros => at.a ?? at.b ?? 0n;
const byTime = (x: Difference, y: Difference): number =>
  timeOf(x) < timeOf(y) ? -1 : timeOf(x) > timeOf(y) ? 1 : x.event_id < y.event_id ? -1 : 1;

function timed({ event_id, change, base: a, compare: b }: EventDifferenceBody): Difference {
  const both = (of: 'time' | 'end_time'): Difference['at'] => ({
    a: parse(a?.[of] ?? ''),
    b: parse(b?.[of] ?? ''),
  });
  return { event_id, change, a, b, at: both('time'), until: both('end_time') };
}

/**
 * Visible events in columns, sorted by time. Iterating over 100,000 objects for each frame would be slow. Event details
 * are requested when a card is opened.
 */
import { parse, type Micros } from '../time/instant';
import { plain } from '../text/plain';
import { split } from '../chart/scale';

export interface Cause {
  event_id: string;
  kind?: string | null;
}

interface Geo {
  lat: number;
  lon: number;
  radius_m?: number | null;
}

/** An event as the API returns it. */
export interface EventBody {
  event_id: string;
  time: string;
  end_time?: string | null;
  name?: string | null;
  description: string;
  location?: string | null;
  geo?: Geo | null;
  causes?: Cause[] | null;
  actors?: string[] | null;
  attributes?: Record<string, unknown> | null;
  asserts?: { subject: string; predicate: string; value: unknown }[] | null;
  kind?: string | null;
  precision?: string | null;
  source?: string | null;
  sequence?: number | null;
  position?: number;
  timeline_id?: string | null;
}

/** The uncertainty of each precision in microseconds. */
const PRECISION_MICROS: Record<string, number> = {
  year: 31_556_952e6,
  month: 2_629_746e6,
  day: 86_400e6,
  hour: 3_600e6,
  minute: 60e6,
  second: 1e6,
};

/** Returns by how many microseconds an event may have happened later than its time. */
export const uncertaintyOf = ({ precision }: Pick<EventBody, 'precision'>): number =>
  PRECISION_MICROS[precision ?? ''] ?? 0;

const PRECISIONS = new Map(Object.entries(PRECISION_MICROS).map(([precision, micros]) => [micros, precision]));

export class EventStore {
  count = 0;
  ids: string[] = [];
  titles: string[] = [];
  /** Original events, for grouping. */
  bodies: EventBody[] = [];
  seconds = new Float64Array(1_024);
  micros = new Float64Array(1_024);
  /** Length in microseconds; 0 without an end. */
  lengths = new Float64Array(1_024);
  /** Uncertainty after the time in microseconds; 0 if exact. */
  softness = new Float64Array(1_024);
  lats = new Float32Array(1_024);
  lons = new Float32Array(1_024);
  causes: (Cause[] | null)[] = [];
  /** Length of the longest event, to find events that begin before the visible range. */
  longestMicros = 0;
  #rows: Map<string, number> | null = null;

  /** Appends an event. The caller ensures time order. */
  push(event: EventBody): boolean {
    const time = parse(event.time);
    if (time === null) return false;
    if (this.count === this.seconds.length) this.#grow();
    const row = this.count;
    const parts = split(time);
    const end = event.end_time ? parse(event.end_time) : null;
    const length = end !== null && end > time ? Number(end - time) : 0;
    this.seconds[row] = parts.seconds;
    this.micros[row] = parts.micros;
    this.lengths[row] = length;
    this.softness[row] = uncertaintyOf(event);
    this.lats[row] = event.geo?.lat ?? NaN;
    this.lons[row] = event.geo?.lon ?? NaN;
    this.ids.push(event.event_id);
    const name = event.name ?? '';
    this.titles.push(plain(name || event.description || event.event_id));
    this.bodies.push(event);
    this.causes.push(event.causes && event.causes.length > 0 ? event.causes : null);
    this.longestMicros = Math.max(this.longestMicros, length);
    this.count += 1;
    this.#rows = null;
    return true;
  }

  #grow(): void {
    for (const name of ['seconds', 'micros', 'lengths', 'softness', 'lats', 'lons'] as const) {
      const old = this[name];
      const larger =
        name === 'lats' || name === 'lons' ? new Float32Array(old.length * 2) : new Float64Array(old.length * 2);
      larger.set(old);
      (this as unknown as Record<string, Float32Array | Float64Array>)[name] = larger;
    }
  }

  time(row: number): Micros {
    return BigInt(this.seconds[row]!) * 1_000_000n + BigInt(this.micros[row]!);
  }

  /** Returns the precision of an event's time, such as `year`, or an empty string if it is exact. */
  precision(row: number): string {
    return PRECISIONS.get(this.softness[row]!) ?? '';
  }

  /** Returns the latest end of all events. */
  end(): Micros {
    let latest = 0;
    for (let row = 0; row < this.count; row += 1) {
      const after =
        (this.seconds[row]! - this.seconds[0]!) * 1e6 + (this.micros[row]! - this.micros[0]!) + this.lengths[row]!;
      if (after > latest) latest = after;
    }
    return this.time(0) + BigInt(Math.round(latest));
  }

  /** Returns the row of an event, or −1. */
  row(eventId: string): number {
    if (this.#rows === null) {
      this.#rows = new Map();
      for (let row = 0; row < this.count; row += 1) this.#rows.set(this.ids[row]!, row);
    }
    return this.#rows.get(eventId) ?? -1;
  }

  /** Returns the first row at or after an instant. */
  lowerBound(instant: Micros): number {
    const { seconds, micros } = split(instant);
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.seconds[middle]!;
      if (at < seconds || (at === seconds && this.micros[middle]! < micros)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the rows of events that name an event as a cause. */
  effectsOf(eventId: string): number[] {
    const found: number[] = [];
    for (let row = 0; row < this.count; row += 1) {
      if (this.causes[row]?.some((cause) => cause.event_id === eventId)) found.push(row);
    }
    return found;
  }

  /** Returns a store with events replaced, or removed where the change is null. */
  with(changes: ReadonlyMap<string, EventBody | null>): EventStore {
    const next = new EventStore();
    const added = [...changes.values()]
      .filter((event) => event !== null)
      .map((event) => ({ event, time: parse(event.time) ?? 0n }))
      .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    let taken = 0;
    for (let row = 0; row < this.count; row += 1) {
      while (taken < added.length && added[taken]!.time < this.time(row)) next.push(added[taken++]!.event);
      if (!changes.has(this.ids[row]!)) next.#copy(this, row);
    }
    while (taken < added.length) next.push(added[taken++]!.event);
    return next;
  }

  /** Returns a store of the rows that pass a test. */
  filter(test: (row: number) => boolean): EventStore {
    const next = new EventStore();
    for (let row = 0; row < this.count; row += 1) if (test(row)) next.#copy(this, row);
    return next;
  }

  #copy(from: EventStore, row: number): void {
    if (this.count === this.seconds.length) this.#grow();
    const to = this.count;
    for (const name of ['seconds', 'micros', 'lengths', 'softness', 'lats', 'lons'] as const)
      this[name][to] = from[name][row]!;
    for (const name of ['ids', 'titles'] as const) this[name].push(from[name][row]!);
    this.bodies.push(from.bodies[row]!);
    this.causes.push(from.causes[row]!);
    this.longestMicros = Math.max(this.longestMicros, from.lengths[row]!);
    this.count += 1;
  }
}

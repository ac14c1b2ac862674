/** What the map shows where events are too many to be placed one by one: how many there are in each cell. */
import { isAborted } from '../../../lib/service/api';
import { GROUPS_MAX } from '../../../lib/events/counts';
import { SLICES, cellsAt, knownCount, slicesOf, type Growth } from './cell-growth';
import { coloredMax, GroupCounter, hasColorsOf, readCellCounts, type CellGroups } from './cell-groups';
import { CellCounter, RESOLUTIONS, resolutionOf, type Cells, type CellsQuery } from './cells';
import type { Legend } from '../groups/groups';
import { boxInSight, degreesOf, type MapView, type Size } from '../map/map-view';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../sight.svelte';

/** A cell is so many pixels wide, or more where the map is large: the service tells so many of them. */
const CELL_PIXELS = 12;
const CELLS_MAX = GROUPS_MAX;
/** Where that takes long, cells are not counted once more to have finer ones. */
const FINER_EVENTS_MAX = 500_000;
/** Cells that are so many times larger than those that a view is counted in say too little of it to be smoothed. */
const COARSE_MIN = 3;
/** A browser has six connections to a service, and the axis wants some. */
const AT_ONCE = 2;

/** Returns how large the cells are that fit a view. */
export function fittingResolution(view: MapView, size: Size): number {
  const pixels = Math.max(CELL_PIXELS, Math.sqrt((size.width * size.height) / CELLS_MAX));
  return resolutionOf(degreesOf(view, size, pixels));
}

/**
 * Returns how large cells can be where only those that were found have events: as fine as one can point at, and no more
 * of them than the service tells.
 */
export function finerResolution(
  { resolution, cells }: Pick<Cells, 'resolution' | 'cells'>,
  view: MapView,
  size: Size,
): number {
  const least = degreesOf(view, size, CELL_PIXELS);
  const fits = (finer: number): boolean => cells.length * (resolution / finer) ** 2 <= CELLS_MAX;
  return RESOLUTIONS.find((finer) => finer >= least && finer < resolution && fits(finer)) ?? resolution;
}

/** Whether cells are those of a much wider view. */
export function isCoarse({ resolution }: Pick<Cells, 'resolution'>, view: MapView, size: Size): boolean {
  return resolution > COARSE_MIN * fittingResolution(view, size);
}

/** Where a map goes by itself. */
export interface Way {
  /** Returns what brings cells into sight that were counted for a view; null where the map stays there. */
  next: (found: Cells, view: MapView) => MapView | null;
  go: (view: MapView) => void;
}

export class MapCells {
  /** What is counted; null before. */
  whole = $state.raw<Cells | null>(null);
  /** What groups their events are in; null where that is not counted. */
  groups = $state.raw<CellGroups | null>(null);
  /** Whether counting that failed. */
  areGroupsFailed = $state(false);
  /** How they fill while time is played; null where nobody plays it. */
  growth = $state.raw<Growth | null>(null);
  isFailed = $state(false);
  /** How many events of this time have no place; null where that was not counted, as not all of the earth was. */
  withoutPlace = $state<number | null>(null);
  /** Of what that was counted. */
  #withoutOf = '';
  /** How many were counted, where the service needs several questions for it; null while it does not. */
  countedSoFar = $state<number | null>(null);
  /** What is being counted, also while what was counted before is shown; null while nothing is. */
  counting = $state<'places' | 'finer cells' | null>(null);
  /** What is there up to where time is played. */
  readonly visible = $derived.by(() => {
    const { whole, growth } = this;
    const { playhead } = this.model;
    return playhead !== null && growth?.of === whole ? cellsAt(growth, playhead) : whole;
  });

  #asking = new AbortController();
  /** What was asked for. */
  #query: CellsQuery | null = null;
  readonly #cellCounter = new CellCounter();
  readonly #finerCounter = new CellCounter();
  readonly #groupCounter = new GroupCounter();

  constructor(private readonly model: TimelineModel) {}

  /** What events are told apart by, and which of it has colors. */
  get legend(): Legend | null {
    return this.model.legend;
  }

  /**
   * Counts what happens in a time, in what of the map is in sight. Where the map comes nearer to what is found, that is
   * counted before it goes there: cells of the whole earth would cover half a continent.
   */
  async count(range: Range, view: MapView, size: Size, way: Way): Promise<void> {
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { question, version, legend } = this.model;
    const queryIn = (seen: MapView): CellsQuery => ({
      question,
      version,
      range,
      resolution: fittingResolution(seen, size),
      within: boxInSight(seen, size),
    });
    const query = queryIn(view);
    this.counting = query.resolution < (this.whole?.resolution ?? 0) ? 'finer cells' : 'places';
    // What is there says more than a part of what comes, unless that is the first.
    const isFirst = this.whole === null;
    try {
      const found = await this.#cellCounter.read(query, signal, (part) => {
        this.countedSoFar = part.placed;
        if (isFirst) this.whole = part;
      });
      // The whole earth is counted before the map comes nearer.
      const of = JSON.stringify([question, version, String(range.from), String(range.to)]);
      if (query.within === null && question.box === null)
        [this.withoutPlace, this.#withoutOf] = [found.total - found.placed, of];
      else if (of !== this.#withoutOf) this.withoutPlace = null;
      const next = way.next(found, view);
      const nextQuery = next === null ? this.#finerThan(found, query, view, size) : query;
      // What is there already is not made coarse in between.
      if (isFirst && nextQuery !== query) [this.whole, this.counting] = [found, 'finer cells'];
      const result = nextQuery === query ? found : await this.#finer(found, nextQuery, signal);
      // Colors of other cells, or of other groups, would be wrong ones.
      if (result !== this.whole || legend === null || !hasColorsOf(this.groups, legend)) this.groups = null;
      [this.whole, this.#query, this.isFailed] = [result, result === found ? query : nextQuery, false];
      if (next !== null) {
        [this.countedSoFar, this.counting] = [null, 'finer cells'];
        const nearer = queryIn(next);
        const finer = await this.#cellCounter.read(nearer, signal, () => {});
        [this.whole, this.groups, this.#query] = [finer, null, nearer];
        // This is counted anew from there, and finds that most of it is done.
        way.go(next);
        return;
      }
      this.areGroupsFailed = false;
      if (legend !== null && found.total <= coloredMax(legend)) {
        // Where they cannot be counted, the legend says so.
        void this.#groupCounter.read(this.#query, legend, signal).then(
          (groups) => (this.groups = signal.aborted ? this.groups : groups),
          () => (this.areGroupsFailed ||= !signal.aborted),
        );
      }
    } catch (error) {
      if (!isAborted(error)) this.isFailed = true;
    }
    if (!signal.aborted) [this.countedSoFar, this.counting] = [null, null];
  }

  /** Returns what to ask for finer cells where there is room for them; what was asked where there is none. */
  #finerThan(found: Cells, query: CellsQuery, view: MapView, size: Size): CellsQuery {
    const resolution = found.total > FINER_EVENTS_MAX ? query.resolution : finerResolution(found, view, size);
    return resolution < query.resolution ? { ...query, resolution } : query;
  }

  async #finer(found: Cells, query: CellsQuery, signal: AbortSignal): Promise<Cells> {
    const finer = await this.#finerCounter.read(query, signal, () => {});
    // Where they are more than the service tells, some are missing.
    return finer.placed < found.placed ? found : finer;
  }

  /** Counts the parts of the time that is played, from the first on: so that the cells fill. */
  async grow(signal: AbortSignal): Promise<void> {
    const { whole } = this;
    const query = this.#query;
    if (whole === null || query === null) return;
    if (this.growth?.of === whole && knownCount(this.growth) === SLICES) return;
    const slices: (ReadonlyMap<string, number> | null)[] = Array.from({ length: SLICES }, () => null);
    const parts = [...slicesOf(query.range).entries()];
    this.growth = { of: whole, range: query.range, slices };
    const work = async (): Promise<void> => {
      for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
        const [index, range] = part;
        if (range.from > range.to) slices[index] = new Map();
        else slices[index] = await readCellCounts({ ...query, range }, query.question.filter, signal);
        if (!signal.aborted) this.growth = { of: whole, range: query.range, slices: [...slices] };
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } catch (error) {
      if (!isAborted(error)) [this.growth, this.isFailed] = [null, true];
    }
  }

  /** Gives up what is being counted. */
  stop(): void {
    this.#asking.abort();
  }
}

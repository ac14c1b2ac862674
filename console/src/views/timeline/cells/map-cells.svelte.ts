/** Event counts per map cell, shown if there are too many events to place individually. */
import { isAborted } from '../../../lib/service/api';
import { GROUPS_MAX } from '../../../lib/events/counts';
import { SLICES, cellsAt, knownCount, slicesOf, type Growth } from './cell-growth';
import { coloredMax, GroupCounter, hasColorsOf, readCellCounts, type CellGroups } from './cell-groups';
import { CellCounter, RESOLUTIONS, resolutionOf, type Cells, type CellsQuery } from './cells';
import type { Legend } from '../groups/groups';
import { visibleBox, degreesOf, type MapView, type Size } from '../map/map-view';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../viewport.svelte';

/** Minimum cell width in pixels. Large maps use wider cells because the service limits the number of groups. */
const CELL_PIXELS = 12;
const CELLS_MAX = GROUPS_MAX;
/** With more events than this, cells are not recounted at a finer resolution. */
const FINER_EVENTS_MAX = 500_000;
/** Cells that exceed the fitting resolution by this factor are too coarse to be smoothed. */
const COARSE_MIN = 3;
/** A browser opens six connections to a service; leave some for the axis. */
const CONCURRENT_REQUESTS = 2;

/** Returns the cell size that fits a view. */
export function fittingResolution(view: MapView, size: Size): number {
  const pixels = Math.max(CELL_PIXELS, Math.sqrt((size.width * size.height) / CELLS_MAX));
  return resolutionOf(degreesOf(view, size, pixels));
}

/**
 * Returns a finer cell size if few cells have events. Cells stay large enough to point at, and within the limit of the
 * service.
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

/** Whether cells belong to a much wider view. */
export function isCoarse({ resolution }: Pick<Cells, 'resolution'>, view: MapView, size: Size): boolean {
  return resolution > COARSE_MIN * fittingResolution(view, size);
}

/** Automatic movement of the map. */
interface AutoMove {
  /** Returns the view that shows the counted cells; null if the map should stay. */
  next: (found: Cells, view: MapView) => MapView | null;
  go: (view: MapView) => void;
}

export class MapCells {
  /** Counted cells; null before the first count. */
  whole = $state.raw<Cells | null>(null);
  /** Groups of the cells; null if they are not counted. */
  groups = $state.raw<CellGroups | null>(null);
  /** Whether counting the groups failed. */
  areGroupsFailed = $state(false);
  /** Slices for playback; null without playback. */
  growth = $state.raw<Growth | null>(null);
  isFailed = $state(false);
  /** Number of events without a place; null if unknown because only a part of the earth was counted. */
  withoutPlace = $state<number | null>(null);
  /** Key of the query that `withoutPlace` belongs to. */
  #withoutOf = '';
  /** Events counted so far, if the count needs several requests; otherwise null. */
  countedSoFar = $state<number | null>(null);
  /** The running count, including a recount while older cells are shown; null if idle. */
  counting = $state<'places' | 'finer cells' | null>(null);
  /** Cells up to the playback position. */
  readonly visible = $derived.by(() => {
    const { whole, growth } = this;
    const { playhead } = this.model;
    return playhead !== null && growth?.of === whole ? cellsAt(growth, playhead) : whole;
  });

  #request = new AbortController();
  /** Query of the displayed cells. */
  #query: CellsQuery | null = null;
  readonly #cellCounter = new CellCounter();
  readonly #finerCounter = new CellCounter();
  readonly #groupCounter = new GroupCounter();

  constructor(private readonly model: TimelineModel) {}

  /** The grouping attribute and its colored groups. */
  get legend(): Legend | null {
    return this.model.legend;
  }

  /**
   * Counts the events of a time range in the visible area. If the map is about to zoom in, counts the closer area
   * first: cells of the whole earth would cover half a continent.
   */
  async count(range: Range, view: MapView, size: Size, autoMove: AutoMove): Promise<void> {
    this.#request = new AbortController();
    const { signal } = this.#request;
    const { question, legend } = this.model;
    // The change of version from 0 to 1 by the initial load must not repeat the count.
    const version = Math.max(this.model.version, 1);
    const queryIn = (seen: MapView): CellsQuery => ({
      question,
      version,
      range,
      resolution: fittingResolution(seen, size),
      within: visibleBox(seen, size),
    });
    const query = queryIn(view);
    this.counting = query.resolution < (this.whole?.resolution ?? 0) ? 'finer cells' : 'places';
    // Show a partial count only if there is nothing better to show.
    const isFirst = this.whole === null;
    try {
      const found = await this.#cellCounter.read(query, signal, (part) => {
        this.countedSoFar = part.placed;
        if (isFirst) this.whole = part;
      });
      // The whole earth is counted before the map zooms in.
      const of = JSON.stringify([question, version, String(range.from), String(range.to)]);
      if (query.within === null && question.box === null)
        [this.withoutPlace, this.#withoutOf] = [found.total - found.placed, of];
      else if (of !== this.#withoutOf) this.withoutPlace = null;
      const next = autoMove.next(found, view);
      const nextQuery = next === null ? this.#finerThan(found, query, view, size) : query;
      // Do not replace existing cells by coarser ones in between.
      if (isFirst && nextQuery !== query) [this.whole, this.counting] = [found, 'finer cells'];
      const result = nextQuery === query ? found : await this.#finer(found, nextQuery, signal);
      // Drop the groups of other cells or of another legend.
      if (result !== this.whole || legend === null || !hasColorsOf(this.groups, legend)) this.groups = null;
      [this.whole, this.#query, this.isFailed] = [result, result === found ? query : nextQuery, false];
      if (next !== null) {
        [this.countedSoFar, this.counting] = [null, 'finer cells'];
        const nearer = queryIn(next);
        const finer = await this.#cellCounter.read(nearer, signal, () => {});
        [this.whole, this.groups, this.#query] = [finer, null, nearer];
        // The move triggers another count, which finds this result in the cache.
        autoMove.go(next);
        return;
      }
      this.areGroupsFailed = false;
      if (legend !== null && found.total <= coloredMax(legend)) {
        // The legend reports a failure.
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

  /** Returns a query for finer cells if they fit; otherwise the same query. */
  #finerThan(found: Cells, query: CellsQuery, view: MapView, size: Size): CellsQuery {
    const resolution = found.total > FINER_EVENTS_MAX ? query.resolution : finerResolution(found, view, size);
    return resolution < query.resolution ? { ...query, resolution } : query;
  }

  async #finer(found: Cells, query: CellsQuery, signal: AbortSignal): Promise<Cells> {
    const finer = await this.#finerCounter.read(query, signal, () => {});
    // If the finer cells exceed the limit of the service, some are missing.
    return finer.placed < found.placed ? found : finer;
  }

  /** Counts the time slices for playback, from the first on. */
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
      await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
    } catch (error) {
      if (!isAborted(error)) [this.growth, this.isFailed] = [null, true];
    }
  }

  /** Aborts the running count. */
  stop(): void {
    this.#request.abort();
  }
}

/** What the map shows where events are too many to be placed one by one: how many there are in each cell. */
import { isAborted } from '../../lib/api';
import { SLICES, cellsAt, knownCount, slicesOf, type Growth } from './cell-growth';
import { coloredMax, GroupCounter, hasColorsOf, readCellCounts, type CellGroups, type CellsAsked } from './cell-groups';
import { CellCounter, resolutionOf, type Cells } from './cells';
import { boxInSight, degreesOf, type MapView, type Size } from './map';
import type { TimelineModel } from './model.svelte';
import type { Range } from './sight.svelte';

/** A cell is so many pixels wide, or more where the map is large: the service tells some hundreds of them. */
const CELL_PIXELS = 12;
const CELLS_MAX = 1_000;
/** A browser has six connections to a service, and the axis wants some. */
const AT_ONCE = 2;

export class MapCells {
  /** What is counted; null before. */
  whole = $state.raw<Cells | null>(null);
  /** What groups their events are in; null where that is not counted. */
  groups = $state.raw<CellGroups | null>(null);
  /** How they fill while time is played; null where nobody plays it. */
  growth = $state.raw<Growth | null>(null);
  isFailed = $state(false);
  /** How many events of this time have no place; null where that was not counted, as not all of the earth was. */
  withoutPlace = $state<number | null>(null);
  /** Of what that was counted. */
  #withoutOf = '';
  /** How many were counted, where the service needs several questions for it; null while it does not. */
  countedSoFar = $state<number | null>(null);
  /** What is there up to where time is played. */
  readonly shown = $derived.by(() => {
    const { whole, growth } = this;
    const { playhead } = this.model;
    return playhead !== null && growth?.of === whole ? cellsAt(growth, playhead) : whole;
  });

  #asking = new AbortController();
  /** What was asked for. */
  #asked: CellsAsked | null = null;
  readonly #cellCounter = new CellCounter();
  readonly #groupCounter = new GroupCounter();

  constructor(private readonly model: TimelineModel) {}

  /**
   * Counts what happens in a time, in what of the map is in sight. `comesNearer` is told what is found, and says
   * whether the map goes elsewhere for it: then that is counted next.
   */
  async count(range: Range, view: MapView, size: Size, comesNearer: (found: Cells) => boolean): Promise<void> {
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { question, version, legend } = this.model;
    const pixels = Math.max(CELL_PIXELS, Math.sqrt((size.width * size.height) / CELLS_MAX));
    const resolution = resolutionOf(degreesOf(view, size, pixels));
    const asked = { question, version, range, resolution, within: boxInSight(view, size) };
    // What is there says more than a part of what comes, unless that is the first.
    const isFirst = this.whole === null;
    try {
      const found = await this.#cellCounter.read(this.model, range, resolution, asked.within, signal, (part) => {
        this.countedSoFar = part.placed;
        if (isFirst) this.whole = part;
      });
      // The whole earth is counted before the map comes nearer.
      const of = JSON.stringify([question, version, String(range.from), String(range.to)]);
      if (asked.within === null && question.box === null)
        [this.withoutPlace, this.#withoutOf] = [found.looked - found.placed, of];
      else if (of !== this.#withoutOf) this.withoutPlace = null;
      // Colors of other cells, or of other groups, would be wrong ones.
      if (found !== this.whole || legend === null || !hasColorsOf(this.groups, legend)) this.groups = null;
      [this.whole, this.#asked, this.isFailed] = [found, asked, false];
      if (!comesNearer(found) && legend !== null && found.looked <= coloredMax(legend)) {
        // Where they cannot be counted, the legend says that the cells have no colors.
        void this.#groupCounter.read(asked, legend, signal).then(
          (groups) => (this.groups = signal.aborted ? this.groups : groups),
          () => {},
        );
      }
    } catch (error) {
      if (!isAborted(error)) this.isFailed = true;
    }
    if (!signal.aborted) this.countedSoFar = null;
  }

  /** Counts the parts of the time that is played, from the first on: so that the cells fill. */
  async grow(signal: AbortSignal): Promise<void> {
    const { whole } = this;
    const asked = this.#asked;
    if (whole === null || asked === null) return;
    if (this.growth?.of === whole && knownCount(this.growth) === SLICES) return;
    const slices: (ReadonlyMap<string, number> | null)[] = Array.from({ length: SLICES }, () => null);
    const parts = [...slicesOf(asked.range).entries()];
    this.growth = { of: whole, range: asked.range, slices };
    const work = async (): Promise<void> => {
      for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
        const [index, range] = part;
        if (range.from > range.to) slices[index] = new Map();
        else slices[index] = await readCellCounts({ ...asked, range }, asked.question.filter, signal);
        if (!signal.aborted) this.growth = { of: whole, range: asked.range, slices: [...slices] };
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

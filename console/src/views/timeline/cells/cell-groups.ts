/** Groups of the events in each map cell. */
import { aggregate, GROUPS_MAX, PAIRS_MAX } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import { hue, ungrouped, type Palette } from '../../../lib/chart/palette';
import type { Cell, CellsQuery } from './cells';
import { hasTooManyValues } from '../groups/classes';
import { membersOf, type Legend } from '../groups/groups';

/** Number of events of each colored group in a cell, in the order of the colors. */
type Shares = readonly number[];

export interface CellGroups {
  /** The legend that defines the group colors. */
  legend: Legend;
  byCell: ReadonlyMap<string, Shares>;
}

/** Whether the groups match the colors of a legend. */
export function hasColorsOf(groups: CellGroups | null, legend: Legend): boolean {
  const colorsOf = ({ by, groups: colored }: Legend): string => JSON.stringify([by, colored.map(membersOf)]);
  return groups !== null && colorsOf(groups.legend) === colorsOf(legend);
}

/** Values per request: a map has up to `GROUPS_MAX` cells. */
const VALUES_PER_REQUEST = PAIRS_MAX / GROUPS_MAX;

/**
 * Returns the maximum number of events to color: about as many as one response counts, or two if the service has an
 * index. Counting more would delay other requests.
 */
export function coloredMax(legend: Legend): number {
  const { by } = legend;
  if (hasTooManyValues(legend)) return 0;
  return by === 'actor' || by === 'source' ? 2_000_000 : 400_000;
}

/** Describes the state of the cell colors. */
export function coloringText(
  name: string,
  { total, groups, isFailed }: { total: number; groups: CellGroups | null; isFailed: boolean },
  legend: Legend | null,
): string {
  if (groups !== null) return `colored by the most frequent ${name}`;
  if (legend !== null && hasTooManyValues(legend)) return `not colored by ${name}: it has too many values`;
  if (legend !== null && total > coloredMax(legend))
    return `not colored by ${name}: too slow for more than ${coloredMax(legend).toLocaleString('en')} events`;
  if (isFailed) return `not colored by ${name}: it could not be counted`;
  return `counting the most frequent ${name}…`;
}

/** Counts groups by cell and caches the counts of the last query. */
export class GroupCounter {
  #of = '';
  #byKey = new Map<string, ReadonlyMap<string, number>>();

  async read(query: CellsQuery, legend: Legend, signal: AbortSignal): Promise<CellGroups> {
    const { question, version, range, resolution, within } = query;
    const of = JSON.stringify([question, version, String(range.from), String(range.to), resolution, within, legend.by]);
    if (of !== this.#of) this.#byKey = new Map();
    this.#of = of;
    const byKey = this.#byKey;
    const missing = legend.groups.flatMap(membersOf).filter((key) => !byKey.has(key));
    for (let first = 0; first < missing.length; first += VALUES_PER_REQUEST) {
      const values = missing.slice(first, first + VALUES_PER_REQUEST);
      const found = await readValueCells(query, legend.by, values, signal);
      for (const value of values) byKey.set(value, found.get(value) ?? new Map());
    }
    const cells = legend.groups.map((group) => summed(membersOf(group).map((key) => byKey.get(key))));
    return { legend, byCell: sharesOf(cells) };
  }
}

/** Sums the counts of a group's values by cell. */
function summed(values: readonly (ReadonlyMap<string, number> | undefined)[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const cells of values) for (const [cell, count] of cells ?? []) sums.set(cell, (sums.get(cell) ?? 0) + count);
  return sums;
}

/** Counts the events of each cell by value. */
async function readValueCells(
  { question, range, resolution, within }: CellsQuery,
  by: GroupBy,
  values: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const byValue = new Map<string, Map<string, number>>();
  const bounded = { ...question, box: question.box ?? within };
  const query = { group_by: `cell,${by}`, resolution, values: JSON.stringify(values), limit: PAIRS_MAX };
  await aggregate(bounded, query, range, signal, (body) => {
    for (const { key, second_key, count } of body.groups) {
      const cells = byValue.get(second_key ?? '') ?? new Map<string, number>();
      cells.set(key, (cells.get(key) ?? 0) + count);
      byValue.set(second_key ?? '', cells);
    }
  });
  return byValue;
}

/** Counts the events of each cell that match a filter. */
export async function readCellCounts(
  { question, range, resolution, within }: CellsQuery,
  filter: Question['filter'],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const bounded = { ...question, filter, box: question.box ?? within };
  await aggregate(bounded, { group_by: 'cell', resolution, limit: GROUPS_MAX }, range, signal, (body) => {
    for (const { key, count } of body.groups) counts.set(key, (counts.get(key) ?? 0) + count);
  });
  return counts;
}

/** Converts cell counts by group to group counts by cell. */
export function sharesOf(groups: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, Shares> {
  const byCell = new Map<string, number[]>();
  groups.forEach((cells, group) => {
    for (const [key, count] of cells) {
      const shares = byCell.get(key) ?? groups.map(() => 0);
      shares[group] = count;
      byCell.set(key, shares);
    }
  });
  return byCell;
}

/**
 * Returns the most frequent group of a cell, or `named`, the number of groups, if the events outside all colored groups
 * are more numerous.
 */
export function mainGroup({ count }: Pick<Cell, 'count'>, shares: Shares, named: number): number {
  const most = shares.reduce((best, share, group) => (share > shares[best]! ? group : best), 0);
  const others = count - shares.reduce((sum, share) => sum + share, 0);
  return (shares[most] ?? 0) > 0 && shares[most]! >= others ? most : named;
}

/** Returns the color of a cell's most frequent group, or the ungrouped color until the groups are counted. */
export function cellColor(palette: Palette, cell: Cell, groups: CellGroups | null, isColored: boolean): string {
  if (groups === null) return ungrouped(palette, isColored);
  const named = groups.legend.groups.length;
  return hue(palette, mainGroup(cell, groups.byCell.get(cell.key) ?? [], named), named);
}

const NAMED_MAX = 3;

/** Lists the groups of a cell, the largest first. */
export function sharesText(cell: Pick<Cell, 'count'>, shares: Shares, legend: Legend): string {
  const named = legend.groups
    .map(({ key }, group) => ({ key, count: shares[group] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  const listed = named.slice(0, NAMED_MAX);
  const rest = cell.count - listed.reduce((sum, { count }) => sum + count, 0);
  return [...listed, ...(rest > 0 ? [{ key: 'others', count: rest }] : [])]
    .map(({ key, count }) => `${key} ${count.toLocaleString('en')}`)
    .join(', ');
}

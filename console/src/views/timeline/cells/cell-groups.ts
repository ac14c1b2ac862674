/** Which groups the events of each cell are in, as far as the groups have colors. */
import { aggregate, GROUPS_MAX, PAIRS_MAX } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import { hue, ungrouped, type Palette } from '../../../lib/chart/palette';
import type { Cell, CellsQuery } from './cells';
import { hasTooMany } from '../groups/classes';
import { membersOf, type Legend } from '../groups/groups';

/** How many events of each colored group a cell has, in the order of the colors. */
export type Shares = readonly number[];

export interface CellGroups {
  /** Whose colors these are. */
  legend: Legend;
  byCell: ReadonlyMap<string, Shares>;
}

/** Whether groups have the colors that a legend gives them. */
export function hasColorsOf(groups: CellGroups | null, legend: Legend): boolean {
  const colorsOf = ({ by, groups: colored }: Legend): string => JSON.stringify([by, colored.map(membersOf)]);
  return groups !== null && colorsOf(groups.legend) === colorsOf(legend);
}

/** How many values are counted in one request: a map has up to `GROUPS_MAX` cells. */
const VALUES_AT_ONCE = PAIRS_MAX / GROUPS_MAX;

/** More events than in one response, or two if the service counts with an index, keep others waiting. */
export function coloredMax(legend: Legend): number {
  const { by } = legend;
  if (hasTooMany(legend)) return 0;
  return by === 'actor' || by === 'source' ? 2_000_000 : 400_000;
}

/** Says how far the colors of cells are: of so many events, told apart by a name. */
export function coloringText(
  name: string,
  { total, groups, isFailed }: { total: number; groups: CellGroups | null; isFailed: boolean },
  legend: Legend | null,
): string {
  if (groups !== null) return `colored by the most frequent ${name}`;
  if (legend !== null && hasTooMany(legend)) return `not colored by ${name}: it has too many values`;
  if (legend !== null && total > coloredMax(legend))
    return `not colored by ${name}: too slow for more than ${coloredMax(legend).toLocaleString('en')} events`;
  if (isFailed) return `not colored by ${name}: it could not be counted`;
  return `counting the most frequent ${name}…`;
}

/** Counts the groups of cells. What was counted last is not counted again. */
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
    for (let first = 0; first < missing.length; first += VALUES_AT_ONCE) {
      const values = missing.slice(first, first + VALUES_AT_ONCE);
      const found = await readValueCells(query, legend.by, values, signal);
      for (const value of values) byKey.set(value, found.get(value) ?? new Map());
    }
    const cells = legend.groups.map((group) => summed(membersOf(group).map((key) => byKey.get(key))));
    return { legend, byCell: sharesOf(cells) };
  }
}

/** Adds up what the values of a group have in each cell. */
function summed(values: readonly (ReadonlyMap<string, number> | undefined)[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const cells of values) for (const [cell, count] of cells ?? []) sums.set(cell, (sums.get(cell) ?? 0) + count);
  return sums;
}

/** Counts the events of each cell for each of some values. */
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

/** Counts the events of each cell that pass a filter. */
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

/** Turns the cells of each group into the groups of each cell. */
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
 * Returns which group most events of a cell are in; `named`, which is the number of groups, where none has as many as
 * all events together that are in no group with a color.
 */
export function leading({ count }: Pick<Cell, 'count'>, shares: Shares, named: number): number {
  const most = shares.reduce((best, share, group) => (share > shares[best]! ? group : best), 0);
  const others = count - shares.reduce((sum, share) => sum + share, 0);
  return (shares[most] ?? 0) > 0 && shares[most]! >= others ? most : named;
}

/** Returns the color of a cell: that of the group that most of its events are in, and gray until that is known. */
export function cellColor(palette: Palette, cell: Cell, groups: CellGroups | null, isColored: boolean): string {
  if (groups === null) return ungrouped(palette, isColored);
  const named = groups.legend.groups.length;
  return hue(palette, leading(cell, groups.byCell.get(cell.key) ?? [], named), named);
}

const NAMED_MAX = 3;

/** Says which groups a cell has, the largest first. */
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

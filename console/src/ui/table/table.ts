/** What a table is made of, and which of its rows are on the screen. */

export interface Column<Row> {
  id: string;
  title: string;
  /** By what rows are sorted; a column without it cannot be sorted by. Null comes last, whichever way. */
  value?: (row: Row) => string | number | bigint | null;
  /** Why it cannot be sorted by, where one might expect that. */
  unsorted?: string;
  /** Whether it names the row. */
  isName?: boolean;
  /** Whether it is set to the right, as numbers are. */
  isEnd?: boolean;
  /** Whether it is no wider than what is in it: the others share what is left. */
  isTight?: boolean;
  /** Whether the title is for screen readers only. */
  isQuiet?: boolean;
  /** Whether it is there only once somebody asks for it. */
  isExtra?: boolean;
  /** Whether it is left out where there is little room. */
  isWide?: boolean;
  /** Whether it cannot be taken away: without it nobody knows what a row is. */
  isFixed?: boolean;
}

/** Whether somebody may ask for a column, or take it away. */
export const isChoosable = ({ isName, isQuiet, isFixed }: Column<never>): boolean => !isName && !isQuiet && !isFixed;

/** Whether a table has a column, as somebody asked for it: by its id, and by `-id` for one that is to be gone. */
export function isVisible(column: Column<never>, chosen: readonly string[]): boolean {
  return column.isExtra ? chosen.includes(column.id) : !isChoosable(column) || !chosen.includes(`-${column.id}`);
}

/** Returns what is asked for once a column is shown that was not, or the other way round. */
export function turned(column: Column<never>, chosen: readonly string[]): string[] {
  const word = column.isExtra ? column.id : `-${column.id}`;
  return chosen.includes(word) ? chosen.filter((one) => one !== word) : [...chosen, word];
}

export interface Order {
  by: string;
  isDown: boolean;
}

/** Returns the rows in an order; those that are equal stay as they were. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | null,
): readonly Row[] {
  const value = columns.find(({ id }) => id === order?.by)?.value;
  if (order === null || value === undefined) return rows;
  const way = order.isDown ? -1 : 1;
  return rows
    .map((row, index) => ({ row, index, key: value(row) }))
    .sort((a, b) => {
      if (a.key === null || b.key === null) return a.key === b.key ? a.index - b.index : a.key === null ? 1 : -1;
      return way * compared(a.key, b.key) || a.index - b.index;
    })
    .map(({ row }) => row);
}

const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function compared(a: string | number | bigint, b: string | number | bigint): number {
  if (typeof a === 'string' || typeof b === 'string') return words.compare(String(a), String(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the order after a press on the head of a column: up, down, and as they came. */
export function nextOrder(order: Order | null, id: string): Order | null {
  if (order?.by !== id) return { by: id, isDown: false };
  return order.isDown ? null : { by: id, isDown: true };
}

/** Some rows above and below the screen are there too, so that a quick hand finds them drawn. */
const OVERSCAN_ROWS = 12;
/** With fewer rows all are drawn: then the browser's own search finds them. */
export const DRAWN_MAX = 160;

/** Returns which rows are drawn: `[first, last)`. */
export function drawn(count: number, tall: number, top: number, height: number): { first: number; last: number } {
  if (count <= DRAWN_MAX || tall <= 0) return { first: 0, last: count };
  const first = Math.max(0, Math.floor(top / tall) - OVERSCAN_ROWS);
  const last = Math.min(count, Math.ceil((top + height) / tall) + OVERSCAN_ROWS);
  return { first: Math.min(first, Math.max(0, count - 1)), last: Math.max(last, Math.min(count, first + 1)) };
}

/** Writes an order for an address, and reads it: `time`, or `-time` for the largest first. */
export const orderParam = (order: Order | null): string | null =>
  order === null ? null : `${order.isDown ? '-' : ''}${order.by}`;

export function parseOrder(text: string | null): Order | null {
  if (!text) return null;
  return text.startsWith('-') ? { by: text.slice(1), isDown: true } : { by: text, isDown: false };
}

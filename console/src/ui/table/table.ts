/** Table columns, sorting and row virtualization. */

export interface Column<Row> {
  id: string;
  title: string;
  /** Sort value; columns without it are not sortable. Null sorts last in both directions. */
  value?: (row: Row) => string | number | bigint | null;
  /** Why the column is not sortable, if users may expect it to be. */
  unsorted?: string;
  /** Whether the column identifies the row. */
  isName?: boolean;
  /** Whether the column is right-aligned, as for numbers. */
  isEnd?: boolean;
  /** Whether the column is as narrow as its content. The other columns share the remaining width. */
  isTight?: boolean;
  /** Whether the title is for screen readers only. */
  isQuiet?: boolean;
  /** Whether the column is hidden by default. */
  isExtra?: boolean;
  /** Whether the column is hidden on narrow pages. */
  isWide?: boolean;
  /** Whether the column cannot be hidden because rows would be ambiguous without it. */
  isFixed?: boolean;
}

/** Whether users can show or hide a column. */
export const isChoosable = ({ isName, isQuiet, isFixed }: Column<never>): boolean => !isName && !isQuiet && !isFixed;

/** Whether a column is visible. `chosen` contains IDs of added columns, and `-id` for removed ones. */
export function isVisible(column: Column<never>, chosen: readonly string[]): boolean {
  return column.isExtra ? chosen.includes(column.id) : !isChoosable(column) || !chosen.includes(`-${column.id}`);
}

/** Returns `chosen` with the visibility of a column toggled. */
export function toggled(column: Column<never>, chosen: readonly string[]): string[] {
  const word = column.isExtra ? column.id : `-${column.id}`;
  return chosen.includes(word) ? chosen.filter((entry) => entry !== word) : [...chosen, word];
}

export interface Order {
  by: string;
  isDown: boolean;
}

/** Returns the rows in an order. Stable for equal rows. */
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

/** Returns the sort order after a click on a column header: ascending, descending, unsorted. */
export function nextOrder(order: Order | null, id: string): Order | null {
  if (order?.by !== id) return { by: id, isDown: false };
  return order.isDown ? null : { by: id, isDown: true };
}

/** Rows rendered above and below the viewport, to avoid blank areas during fast scrolling. */
const OVERSCAN_ROWS = 12;
/** Shorter tables are rendered completely, so that the browser's text search finds every row. */
export const DRAWN_MAX = 160;

/** Returns the rows to render: `[first, last)`. */
export function drawn(count: number, rowHeight: number, top: number, height: number): { first: number; last: number } {
  if (count <= DRAWN_MAX || rowHeight <= 0) return { first: 0, last: count };
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN_ROWS);
  return { first: Math.min(first, Math.max(0, count - 1)), last: Math.max(last, Math.min(count, first + 1)) };
}

/** Returns an order as a URL parameter: `time`, or `-time` for descending. */
export const orderParam = (order: Order | null): string | null =>
  order === null ? null : `${order.isDown ? '-' : ''}${order.by}`;

export function parseOrder(text: string | null): Order | null {
  if (!text) return null;
  return text.startsWith('-') ? { by: text.slice(1), isDown: true } : { by: text, isDown: false };
}

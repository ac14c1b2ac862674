import { describe, expect, it } from 'vitest';
import {
  DRAWN_MAX,
  drawn,
  nextOrder,
  orderParam,
  parseOrder,
  sorted,
  type Column,
  isChoosable,
  isVisible,
  toggled,
} from './table';

interface Row {
  name: string;
  wind: number | null;
}

const columns: Column<Row>[] = [
  { id: 'name', title: 'Name', value: (row) => row.name },
  { id: 'wind', title: 'Wind', value: (row) => row.wind },
  { id: 'marks', title: 'Marks' },
];
const rows: Row[] = [
  { name: 'tl-10', wind: 3 },
  { name: 'Tl-9', wind: null },
  { name: 'tl-2', wind: 20 },
  { name: 'b', wind: 3 },
];
const names = (by: string, isDown = false): string[] => sorted(rows, columns, { by, isDown }).map(({ name }) => name);

describe('rows', () => {
  it('are sorted naturally, and equal rows keep their order', () => {
    expect(names('name')).toEqual(['b', 'tl-2', 'Tl-9', 'tl-10']);
    expect(names('wind')).toEqual(['tl-10', 'b', 'tl-2', 'Tl-9']);
    expect(names('wind', true)).toEqual(['tl-2', 'tl-10', 'b', 'Tl-9']);
  });

  it('keep their order without a sortable column', () => {
    expect(sorted(rows, columns, null)).toBe(rows);
    expect(sorted(rows, columns, { by: 'marks', isDown: false })).toBe(rows);
    expect(sorted(rows, columns, { by: 'gone', isDown: false })).toBe(rows);
  });

  it('are rendered if visible, and completely in short tables', () => {
    expect(drawn(DRAWN_MAX, 40, 0, 400)).toEqual({ first: 0, last: DRAWN_MAX });
    expect(drawn(1_000, 40, 0, 400)).toEqual({ first: 0, last: 22 });
    expect(drawn(1_000, 40, 20_000, 400)).toEqual({ first: 488, last: 522 });
    // The scroll position is beyond the end of a list that became shorter.
    const { first, last } = drawn(200, 40, 400_000, 400);
    expect(first).toBeLessThan(last);
    expect(last).toBe(200);
  });
});

describe('sort order', () => {
  it('cycles through ascending, descending and none', () => {
    const up = nextOrder(null, 'wind');
    const down = nextOrder(up, 'wind');
    expect([up, down, nextOrder(down, 'wind'), nextOrder(down, 'name')]).toEqual([
      { by: 'wind', isDown: false },
      { by: 'wind', isDown: true },
      null,
      { by: 'name', isDown: false },
    ]);
  });

  it('survives a round trip through the URL', () => {
    for (const order of [null, { by: 'wind', isDown: false }, { by: 'attribute.wind', isDown: true }])
      expect(parseOrder(orderParam(order))).toEqual(order);
  });
});

describe('columns', () => {
  const own: Column<never> = { id: 'wind', title: 'Wind' };
  const extra: Column<never> = { id: 'source', title: 'Source', isExtra: true };

  it('are shown, hidden and restored', () => {
    expect([isVisible(own, []), isVisible(extra, [])]).toEqual([true, false]);
    const chosen = toggled(extra, toggled(own, ['of another table']));
    expect(chosen).toEqual(['of another table', '-wind', 'source']);
    expect([isVisible(own, chosen), isVisible(extra, chosen)]).toEqual([false, true]);
    expect(toggled(extra, toggled(own, chosen))).toEqual(['of another table']);
  });

  it('stay visible if rows would be ambiguous without them', () => {
    for (const flag of ['isName', 'isQuiet', 'isFixed'] as const) {
      const column = { ...own, [flag]: true };
      expect([isChoosable(column), isVisible(column, ['-wind'])]).toEqual([false, true]);
    }
    expect(isChoosable(own)).toBe(true);
  });
});

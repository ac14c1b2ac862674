import { expect, it } from 'vitest';
import { columnsOf } from './columns';

it('exported columns are the attributes without a standard column, the most frequent first', () => {
  const event = (attributes: Record<string, unknown>) => ({ event_id: 'a', time: '', description: '', attributes });
  expect(
    columnsOf([event({ kind: 'x', 'a,b': 1, '': 2, wind: 40 }), event({ at: { site: 'K' }, wind: '50' })]),
  ).toEqual(['attribute.wind', 'attribute.at.site']);
  expect(columnsOf([])).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a${index}`, index]));
  expect(columnsOf([event(many)])).toHaveLength(50);
});

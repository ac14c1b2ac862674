import { expect, it } from 'vitest';
import { grouped } from './grouped';

it('an import status has its counts grouped, and nothing else changed', () => {
  expect(grouped('1707 events are new, 12 already recorded, 1000 rejected.')).toBe(
    '1,707 events are new, 12 already recorded, 1,000 rejected.',
  );
  expect(
    grouped('1 event is new, 0 already recorded, 1199 the same as an earlier record in the file, 0 rejected.'),
  ).toBe('1 event is new, 0 already recorded, 1,199 the same as an earlier record in the file, 0 rejected.');
  expect(grouped('1 event imported (import_id `1717-2000-2`)')).toBe('1 event imported (import_id `1717-2000-2`)');
});

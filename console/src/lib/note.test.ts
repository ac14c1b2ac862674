import { expect, test } from 'vitest';
import { format } from './instant';
import { cosigners, readNote } from './note';

// The log's line is made up; that of the witness is from another program (see the vectors of the ledger's core).
const TEXT = 'log.example/system\n20\nH9cvmG5rjLfJMyZNfdJ6TyzKBvHtqyEvnhoH1VTwZ0c=\n';
const LINE =
  'witness.example/w1 qkoJ0QAAAABkGFDLidJzIo+es0hpJ/NUV6bfCYPinYL0jBmN2/Yn' +
  'Re9P9QEW/FSK7aInBu9K12GjjfSKqr2SHH+a1PE8K+mfJuwVAQ==';

function note(...lines: string[]): string {
  return `${TEXT}\n${lines.map((line) => `— ${line}\n`).join('')}`;
}

function cosignersOf(text: string): [string, string][] {
  const read = readNote(text);
  if (typeof read === 'string') throw new Error(read);
  return cosigners(read).map(({ name, at }) => [name, format(at)]);
}

test('witnesses are told with their times', () => {
  const own = `log.example/system ${btoa('\x01'.repeat(4 + 64))}`;
  expect(cosignersOf(note(own))).toEqual([]);
  expect(cosignersOf(note(own, LINE))).toEqual([['witness.example/w1', '2023-03-20T12:25:47Z']]);
});

test('lines of other kinds, and times that cannot be shown, are left out', () => {
  const mlDsa44 = `w2 ${btoa('\x06'.repeat(4 + 8 + 2420))}`;
  const far = `w3 ${btoa('\x7f'.repeat(4 + 8 + 64))}`;
  expect(cosignersOf(note(mlDsa44, far, LINE))).toHaveLength(1);
});

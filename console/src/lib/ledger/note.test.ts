import { expect, test } from 'vitest';
import { format } from '../time/instant';
import { cosigners, readKey, readNote, readWitnessKey, readWitnessKeys, renamed, verifyCosigned } from './note';

// The line of the witness, and its key below, are from another program (see the vectors of the ledger's core).
const TEXT = 'log.example/system\n20\nPAb5plclr2BSYfY2ZyyWINQJcx2JpFHXRV/pxK4WeCk=\n';
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

const KEY = 'witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs';

async function cosigned(text: string): Promise<string> {
  const [read, key] = [readNote(text), await readWitnessKey(KEY)];
  if (typeof read === 'string' || key === null) throw new Error(`${KEY}: ${JSON.stringify(read)}`);
  const verified = await verifyCosigned(read, key);
  return typeof verified === 'string' ? verified : format(verified.at);
}

test('what a witness has cosigned is verified', async () => {
  expect(await cosigned(note(LINE))).toBe('2023-03-20T12:25:47Z');
  expect(await cosigned(note(LINE.replace('/w1', '/w2')))).toBe('not cosigned');
  expect(await cosigned(note(LINE).replace('\n20\n', '\n21\n'))).toBe('wrong signature');
  // The time is signed too, and each line counts.
  const [name = '', base64 = ''] = LINE.split(' ');
  const later = atob(base64).replace('\xcb', '\xcc');
  expect(await cosigned(note(`${name} ${btoa(later)}`))).toBe('wrong signature');
  expect(await cosigned(note(LINE, `${name} ${btoa(later)}`))).toBe('wrong signature');
  expect(await cosigned(note(`${name} ${btoa(atob(base64).slice(0, 4 + 64))}`))).toBe('wrong signature');
});

test('a key signs, or cosigns', async () => {
  expect(await readKey(KEY)).toBeNull();
  expect((await readWitnessKey(KEY))?.name).toBe('witness.example/w1');
  expect(await readWitnessKey(KEY.replace('aa4a09d1', 'aa4a09d2'))).toBeNull();
});

// That of the vectors of the ledger (test-data/ledger-format-v1.json).
const LEDGER = 'timenav.example/apollo-11+c3476d15+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4';

test('keys of witnesses are entered one a line, as they are printed', async () => {
  const names = async (text: string): Promise<unknown> => {
    const keys = await readWitnessKeys(text);
    return typeof keys === 'string' ? keys : keys.map(({ name }) => name);
  };
  expect(await names('')).toEqual([]);
  expect(await names(`\n  ${KEY}\r\nwitness key ${KEY}\n${KEY}=https://witness.example:8180\n`)).toEqual([
    'witness.example/w1',
  ]);
  expect(await names(KEY.slice(0, -1))).toContain('This is not a valid witness key');
  expect(await names(`${KEY}\n\n${LEDGER}`)).toContain('Line 3 is a ledger key.');
});

test('one public key signs the ledgers of a service under their names', async () => {
  const key = await readKey(LEDGER);
  expect(await renamed(await renamed(key!, 'timenav.example/system'), key!.name)).toEqual(key);
  expect((await renamed(key!, 'timenav.example/system')).id).not.toEqual(key!.id);
});

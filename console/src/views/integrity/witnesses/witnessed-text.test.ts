import { expect, it, vi } from 'vitest';
import type { ErrorCode } from '../../../lib/service/api';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} });
const { ApiError } = await import('../../../lib/service/api');
const { rejectionText, verifyCommand } = await import('./witnessed-text');
const { read, witnessKeys } = await import('./witness-keys.svelte');

const rejection = (code: ErrorCode, field: string, detail: string): InstanceType<typeof ApiError> =>
  new ApiError(400, code, 'A parameter has an invalid value.', detail, [{ field, code, detail }]);

it('a missing proof is explained with the progress of witnesses', () => {
  const detail = 'witnesses vouch for 12 entries of this timeline so far; ask again later';
  expect(rejectionText(rejection('invalid_parameter', 'position', detail))).toBe(
    'Witnesses vouch for 12 entries of this timeline so far; ask again later. ' +
      'The service sends checkpoints to witnesses at an interval, by default every minute. ' +
      'If the number does not change, ask the operator whether the witnesses respond.',
  );
  expect(rejectionText(new ApiError(403, 'feature_disabled', '', ''))).toContain('`timenav serve --witness`');
  expect(rejectionText(new ApiError(403, 'permission_denied', '', ''))).toBeNull();
  expect(rejectionText(rejection('invalid_parameter', 'witnessed', 'it is unknown'))).toBeNull();
  expect(rejectionText(new Error('no'))).toBeNull();
});

it('a saved proof is verified by a command with the same keys', () => {
  const text = '  w1+aa4a09d1+BO/=https://w1.example\n\nwitness key w2+00000000+BA+A\n';
  expect(verifyCommand('a-1.json', 'a/b+1+AQ', text)).toEqual([
    'timenav verify a-1.json',
    '--verifier-key a/b+1+AQ',
    '--witness w1+aa4a09d1+BO/',
    '--witness w2+00000000+BA+A',
  ]);
  expect(verifyCommand('a-1.json', "a b'c", '').join(' ')).toBe(
    String.raw`timenav verify a-1.json --verifier-key 'a b'\''c' --witness KEY`,
  );
});

it('keys are stored per user, and deleted when the field is cleared', () => {
  witnessKeys.keep('ada', 'one');
  witnessKeys.keep('bob', 'two');
  witnessKeys.keep(null, 'three');
  expect([witnessKeys.of('ada'), witnessKeys.of('bob'), witnessKeys.of(null)]).toEqual(['one', 'two', '']);
  witnessKeys.keep('ada', ' \n');
  expect([witnessKeys.of('ada'), witnessKeys.of('bob')]).toEqual(['', 'two']);
  expect(read('[{"user":"ada","text":"one"},{"user":1},null]')).toEqual([{ user: 'ada', text: 'one' }]);
  expect([read(null), read('{'), read('{}')]).toEqual([[], [], []]);
});

import { describe, expect, it } from 'vitest';
import { brief, plain } from './words';

describe('service message', () => {
  it('loses its backticks', () => {
    expect(plain('No tampering found on `demo`.')).toBe('No tampering found on demo.');
  });

  it('gets typographic quotes outside code', () => {
    expect(plain('`flies as` of `N713TW` is "DL 120" by `a` and "DL 2126" by `b`.')).toBe(
      'flies as of N713TW is “DL 120” by a and “DL 2126” by b.',
    );
    expect(brief('`{"a": "b"}` is not "c".')).toBe('`{"a": "b"}` is not “c”.');
  });

  it('has only generated IDs shortened', () => {
    expect(brief('`intervention_01m7was16se0q94xtzydv4e83y` took `event_of_mine` away.')).toBe(
      '`intervention_…e83y` took `event_of_mine` away.',
    );
    expect(plain('`sha256-1654f8f640437e3a309f06a6c1f8c262` stands.')).toBe('sha256-…c262 stands.');
  });
});

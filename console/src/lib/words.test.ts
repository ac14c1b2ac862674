import { describe, expect, it } from 'vitest';
import { brief, plain } from './words';

describe('a sentence of the service', () => {
  it('has its backticks taken out', () => {
    expect(plain('No tampering found on `demo`.')).toBe('No tampering found on demo.');
  });

  it('has the ids in short that the service made, and no other', () => {
    expect(brief('`intervention_01m7was16se0q94xtzydv4e83y` took `event_of_mine` away.')).toBe(
      '`intervention_…e83y` took `event_of_mine` away.',
    );
    expect(plain('`sha256-1654f8f640437e3a309f06a6c1f8c262` stands.')).toBe('sha256-…c262 stands.');
  });
});

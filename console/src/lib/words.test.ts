import { describe, expect, it } from 'vitest';
import { brief, plain } from './words';

describe('a sentence of the service', () => {
  it('has its backticks taken out', () => {
    expect(plain('No tampering was found on `demo`.')).toBe('No tampering was found on demo.');
  });

  it('has the ids in short that the service made, and no other', () => {
    expect(brief('`intervention_01m7was16se0q94xtzydv4e83y` took `event_of_mine` away.')).toBe('`intervention_…e83y` took `event_of_mine` away.');
  });
});

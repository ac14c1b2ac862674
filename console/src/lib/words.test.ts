import { describe, expect, it } from 'vitest';
import { pieces, plain } from './words';

describe('a sentence of the service', () => {
  it('has ids apart from its words', () => {
    expect(pieces('`a` took `b` away.')).toEqual([
      { text: 'a', isCode: true }, { text: ' took ', isCode: false }, { text: 'b', isCode: true }, { text: ' away.', isCode: false },
    ]);
    expect(plain('No tampering was found on `demo`.')).toBe('No tampering was found on demo.');
  });

  it('shortens the ids that the service made, and no other', () => {
    expect(plain('`intervention_01m7was16se0q94xtzydv4e83y` took `event_of_mine` away.')).toBe('intervention_…e83y took event_of_mine away.');
  });
});

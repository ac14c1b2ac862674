import { describe, expect, it } from 'vitest';
import { isOfEvent, nameIn, runsOf } from './entry-names';
import { displayName, cacheNames, knownName } from './known-names';

describe('event name', () => {
  it('falls back to the beginning of the description', () => {
    expect(displayName({ name: 'Moon landing', description: 'They land.' })).toBe('Moon landing');
    expect(displayName({ name: ' ', description: ' They land. ' })).toBe('They land.');
    expect(displayName({})).toBe('');
    const long = displayName({ description: `The foundation stone of the cathedral, ${'x'.repeat(90)} was laid` });
    expect(long).toBe(`The foundation stone of the cathedral…`);
    expect(displayName({ description: 'y'.repeat(200) })).toBe(`${'y'.repeat(72)}…`);
  });

  it('is cached per timeline after a read', () => {
    cacheNames('main', [{ event_id: 'a', name: 'The vote', description: '' }, { event_id: 'b' }]);
    expect(['a', 'b', 'c'].map((id) => knownName('main', id))).toEqual(['The vote', '', undefined]);
    expect(knownName('other', 'a')).toBeUndefined();
  });
});

describe('ledger entries', () => {
  it('are read together if they are close', () => {
    expect(runsOf([])).toEqual([]);
    expect(runsOf([7, 5, 7, 9])).toEqual([{ from: 5, limit: 5 }]);
    expect(runsOf([5, 60, 400])).toEqual([
      { from: 5, limit: 1 },
      { from: 60, limit: 1 },
      { from: 400, limit: 1 },
    ]);
    const many = runsOf(Array.from({ length: 300 }, (_, index) => index));
    expect(many).toEqual([
      { from: 0, limit: 250 },
      { from: 250, limit: 50 },
    ]);
  });

  it('contain the name of their event', () => {
    expect(isOfEvent({ action: 'record_event', subject: 'a' })).toBe(true);
    expect(isOfEvent({ action: 'erase_events', subject: 'events' })).toBe(false);
    expect(isOfEvent({ action: 'record_event', subject: '' })).toBe(false);
    expect(nameIn('{"event_id":"a","name":"The vote","description":"d"}')).toEqual({ id: 'a', name: 'The vote' });
    expect(nameIn('{"event":{"event_id":"a","description":"They vote."}}')).toEqual({ id: 'a', name: 'They vote.' });
    expect(nameIn('{"event_id":"a","action":"delay 2h","after":{"event_id":"a","name":"Vote"}}')).toEqual({
      id: 'a',
      name: 'Vote',
    });
    // Canceled events are named only by their ID, and erased entries are empty.
    for (const none of ['{"event_id":"a","action":"cancel"}', null, undefined, '', '[1]', 'nonsense'])
      expect(nameIn(none)).toBeNull();
  });
});

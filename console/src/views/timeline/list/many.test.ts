import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../lib/service/api';
import type { EventBody } from '../../../lib/events/store';
import { changeText, doneText, inOrder, issueOf, reasonOf, withRejection, requestOf, type Rejection } from './many';
import { SELECTED_MAX, Selection } from './selection.svelte';

const event = (event_id: string, time: string): EventBody => ({ event_id, time, description: '' });
const cause = event('cause', '2020-01-01T00:00:00Z');
const effect = event('effect', '2020-01-01T00:01:00Z');
const delay = { kind: 'delay', amount: ' 2h ', label: '' } as const;

describe('changes of several events', () => {
  it('describe the action and its result', () => {
    expect(changeText(delay, 3)).toBe('Postpone 3 events by 2h');
    expect(changeText({ ...delay, kind: 'cancel' }, 1)).toBe('Cancel 1 event');
    expect(changeText({ kind: 'note', amount: '', label: 'checked' }, 1_200)).toBe('Label 1,200 events “checked”');
    expect(doneText('advance', 1, 2)).toBe('1 of 2 events brought forward');
  });

  it('are sent in the format of the API: a label is never parsed as an action', () => {
    const { event_id, time } = cause;
    expect(requestOf(delay, cause)).toEqual({
      event_id,
      time,
      action: 'delay by 2h',
      effect: { kind: 'delay', duration: '2h' },
    });
    expect(requestOf({ kind: 'note', amount: '', label: 'cancel?' }, cause)).toEqual({
      event_id,
      time,
      action: 'cancel?',
      effect: { kind: 'note' },
    });
  });

  it('are invalid without an amount or a label', () => {
    expect(issueOf(delay)).toBeNull();
    expect(issueOf({ ...delay, amount: '2' })).toMatch(/unit/);
    expect(issueOf({ ...delay, kind: 'note' })).toMatch(/label/);
    expect(issueOf({ ...delay, kind: 'cancel', amount: '' })).toBeNull();
  });

  it('start with effects, or with causes if events are brought forward', () => {
    const ids = (events: EventBody[]) => events.map(({ event_id }) => event_id);
    expect(ids(inOrder('cancel', [cause, effect]))).toEqual(['effect', 'cause']);
    expect(ids(inOrder('delay', [cause, effect]))).toEqual(['effect', 'cause']);
    expect(ids(inOrder('advance', [effect, cause]))).toEqual(['cause', 'effect']);
  });

  it('group rejections by reason, the largest group first', () => {
    let groups: Rejection[] = [];
    const paradox = reasonOf(
      new ApiError(422, 'would_create_paradox', 'It creates a paradox.', 'effect requires cause'),
    );
    groups = withRejection(groups, cause, 'other');
    groups = withRejection(groups, cause, paradox);
    groups = withRejection(groups, effect, paradox);
    expect(groups.map(({ why, events }) => [why, events.length])).toEqual([
      ['It creates a paradox.', 2],
      ['other', 1],
    ]);
  });
});

describe('a selection', () => {
  const rows = Array.from({ length: 6 }, (_, row) => event(`e${row}`, '2020-01-01T00:00:00Z'));
  const ids = (selection: Selection) => [...selection.events.keys()];

  it('extends with Shift from the last row to this one in displayed order', () => {
    const selection = new Selection();
    selection.through(rows[4]!, rows);
    selection.through(rows[2]!, rows);
    expect(ids(selection)).toEqual(['e4', 'e2', 'e3']);
    selection.through(rows[3]!, rows);
    expect(ids(selection)).toEqual(['e4']);
    // The last toggled event is not on this page.
    selection.toggle(event('gone', '2020-01-01T00:00:00Z'));
    selection.through(rows[0]!, rows);
    expect(ids(selection)).toEqual(['e4', 'gone', 'e0']);
  });

  it('is limited in size', () => {
    const selection = new Selection();
    selection.add(Array.from({ length: SELECTED_MAX + 1 }, (_, row) => event(`e${row}`, '2020-01-01T00:00:00Z')));
    expect([selection.events.size, selection.isFull]).toEqual([SELECTED_MAX, true]);
  });
});

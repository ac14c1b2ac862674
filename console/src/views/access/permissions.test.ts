import { describe, expect, it } from 'vitest';
import { changedLists, changes, effect, merge, people, roleOf, type Permissions } from './permissions';

const base: Permissions = { read: ['bob', 'alice'], write: ['alice'], admin: ['root'] };

describe('permissions', () => {
  it('let the highest role count', () => {
    expect(roleOf(base, 'alice')).toBe('write');
    expect(roleOf(base, 'carol')).toBeNull();
    expect(people(base)).toEqual([
      { user: 'root', role: 'admin', also: [] },
      { user: 'alice', role: 'write', also: ['read'] },
      { user: 'bob', role: 'read', also: [] },
    ]);
  });

  it('tell a change by what it does to somebody', () => {
    const told = (after: Permissions): string[] =>
      changes(base, after).map((change) => `${change.user} ${effect(change)}`);
    expect(told(base)).toEqual([]);
    expect(told({ ...base, read: ['bob'] })).toEqual(['alice still write, which includes read']);
    expect(told({ ...base, write: [], admin: ['root', 'bob'] })).toEqual([
      'alice write becomes read',
      'bob read becomes admin',
    ]);
    expect(told({ read: ['alice', 'carol'], write: ['alice'], admin: ['root'] })).toEqual([
      'bob loses read, and can no longer see the timeline',
      'carol gets read',
    ]);
    expect(told({ ...base, write: ['alice', 'root'] })).toEqual(['root still admin']);
    const [root] = changes(base, { ...base, admin: [] });
    expect(effect(root!, true)).toBe('loses admin, but as an operator can still do everything');
  });

  it('send only lists that differ, whatever their order', () => {
    expect(changedLists(base, { ...base, read: ['alice', 'bob'] })).toEqual({});
    expect(changedLists(base, { ...base, write: [] })).toEqual({ write: [] });
  });

  it('keep what others did when two change them at once', () => {
    const mine = { ...base, read: ['alice', 'dave'] };
    const theirs: Permissions = { read: ['bob', 'alice', 'erin'], write: [], admin: ['root'] };
    expect(merge(base, mine, theirs)).toEqual({ read: ['alice', 'erin', 'dave'], write: [], admin: ['root'] });
    expect(merge(base, base, theirs)).toEqual(theirs);
    expect(merge(base, { ...base, read: [...base.read, 'erin'] }, theirs).read).toEqual(['bob', 'alice', 'erin']);
  });
});

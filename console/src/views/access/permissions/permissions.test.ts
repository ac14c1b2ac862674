import { describe, expect, it } from 'vitest';
import {
  changed,
  changes,
  effect,
  lacksPermanentAdmin,
  merge,
  people,
  roleOf,
  timed,
  parsePermissions,
  withEnd,
  withList,
  type Permissions,
} from './permissions';

const base: Permissions = { read: ['bob', 'alice'], write: ['alice'], admin: ['root'] };
const AT = { at: '2030-01-01T00:00:00Z' };

describe('permissions', () => {
  it('use the highest role', () => {
    expect(roleOf(base, 'alice')).toBe('write');
    expect(roleOf(base, 'carol')).toBeNull();
    expect(people(base)).toEqual([
      { user: 'root', role: 'admin', also: [] },
      { user: 'alice', role: 'write', also: ['read'] },
      { user: 'bob', role: 'read', also: [] },
    ]);
  });

  it('offer only the end of the highest role while all are permanent', () => {
    const listsOf = (permissions: Permissions): string[] =>
      timed(
        permissions,
        people(permissions).find(({ user }) => user === 'alice')!,
      );
    expect(listsOf(base)).toEqual(['write']);
    expect(listsOf(withEnd(base, 'write', 'alice', AT))).toEqual(['write', 'read']);
    expect(listsOf(withEnd(base, 'read', 'alice', AT))).toEqual(['write', 'read']);
  });

  it('describe a change by its effect on a user', () => {
    const lossesOf = (after: Permissions): string[] =>
      changes(base, after).map((change) => `${change.user} ${effect(change)}`);
    expect(lossesOf(base)).toEqual([]);
    expect(lossesOf({ ...base, read: ['bob'] })).toEqual(['alice still write, which includes read']);
    expect(lossesOf({ ...base, write: [], admin: ['root', 'bob'] })).toEqual([
      'alice write becomes read',
      'bob read becomes admin',
    ]);
    expect(lossesOf({ read: ['alice', 'carol'], write: ['alice'], admin: ['root'] })).toEqual([
      'bob loses read, and can no longer see the timeline',
      'carol gets read',
    ]);
    expect(lossesOf({ ...base, write: ['alice', 'root'] })).toEqual(['root still admin']);
    expect(lossesOf(withEnd(base, 'read', 'bob', AT))).toEqual(['bob has read until another time']);
    const [root] = changes(base, { ...base, admin: [] });
    expect(effect(root!, true)).toBe('loses admin, but as an operator can still do everything');
  });

  it('send only differences, regardless of order', () => {
    expect(changed(base, { ...base, read: ['alice', 'bob'] })).toEqual({});
    expect(changed(base, { ...base, write: [] })).toEqual({ write: [] });
    const lent = withEnd(withList(base, 'read', [...base.read, 'carol']), 'read', 'carol', { in: 'P7D' });
    expect(changed(base, lent)).toEqual({ read: ['bob', 'alice', 'carol'], expires_in: { read: { carol: 'P7D' } } });
    const until = withEnd(base, 'read', 'bob', AT);
    expect(changed(base, until)).toEqual({ expires_at: { read: { bob: AT.at } } });
    expect(changed(until, base)).toEqual({ expires_at: { read: { bob: null } } });
    expect(changed(until, until)).toEqual({});
    // Removing and adding a user makes the permission permanent.
    expect(changed(until, withList(withList(until, 'read', ['alice']), 'read', ['alice', 'bob']))).toEqual({
      expires_at: { read: { bob: null } },
    });
  });

  it('parse the ends of the service', () => {
    expect(
      parsePermissions({ read: ['bob'], write: [], admin: ['root'], expires_at: { read: { bob: AT.at } } }).ends,
    ).toEqual({
      read: { bob: AT },
    });
    expect(parsePermissions({ read: [], write: [], admin: ['root'] }).ends).toEqual({});
  });

  it('require a permanent admin', () => {
    expect(lacksPermanentAdmin(base)).toBe(false);
    expect(lacksPermanentAdmin({ ...base, admin: [] })).toBe(true);
    const expiring = withEnd(base, 'admin', 'root', AT);
    expect(lacksPermanentAdmin(expiring)).toBe(true);
    expect(lacksPermanentAdmin(withList(expiring, 'admin', ['root', 'bob']))).toBe(false);
  });

  it('merge concurrent changes', () => {
    const mine = { ...base, read: ['alice', 'dave'] };
    const theirs: Permissions = { read: ['bob', 'alice', 'erin'], write: [], admin: ['root'] };
    const lists = (merged: Permissions): object => ({ ...merged, ends: undefined });
    expect(lists(merge(base, mine, theirs))).toEqual({ read: ['alice', 'erin', 'dave'], write: [], admin: ['root'] });
    expect(lists(merge(base, base, theirs))).toEqual(theirs);
    expect(merge(base, { ...base, read: [...base.read, 'erin'] }, theirs).read).toEqual(['bob', 'alice', 'erin']);
    const both = merge(base, withEnd(base, 'read', 'bob', { in: 'P1D' }), withEnd(base, 'write', 'alice', AT));
    expect(both.ends).toEqual({ read: { bob: { in: 'P1D' } }, write: { alice: AT } });
  });
});

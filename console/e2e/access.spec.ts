/** The access view: permissions, users, restrictions, keys, sessions and the log, with and without rights. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, REFUSED, expectNoSidewaysScroll, fresh, logIn, shared, expectFits, expectUsable } from './harness';

const on = shared();

/** More entries than the log reads at once. */
const EVENTS = Array.from({ length: 120 }, (_, index) => ({
  event_id: `e-${index}`,
  time: '2005-01-01T00:00:00Z',
  description: `Number ${index}`,
}));
beforeAll(async () => {
  await on.service.call('POST', 'timelines', { timeline_id: 'vault' });
  for (const event of EVENTS) await on.service.call('POST', 'v1/events?timeline_id=vault', event);
});

const restrictionOf = async (user: string): Promise<unknown> => {
  const { restrictions } = await on.service.call<{ restrictions: { user_id: string; restriction_level: string }[] }>(
    'GET',
    'v1/restrictions',
  );
  return restrictions.find(({ user_id }) => user_id === user)?.restriction_level;
};

interface Permissions {
  read: string[];
  write: string[];
  admin: string[];
}

async function permissions(): Promise<Permissions> {
  return (await on.service.call<{ permissions: Permissions }>('GET', 'v1/access-control?timeline_id=vault'))
    .permissions;
}

const tab = (name: string): string => `access?timeline=vault&tab=${name}`;

async function toast(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.toasts').getByText(text).waitFor();
}

/** Holds back a request of the page until the returned function is called. */
async function held(page: Page, path: string): Promise<() => void> {
  let release = (): void => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route(`**/${path}`, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

describe('permissions', () => {
  it('are granted and revoked, with the effect on each user', async () => {
    await on.service.user('xavier');
    const page = await on.loggedIn(tab('permissions'));
    const read = page.getByLabel('Read', { exact: true });
    await read.fill('xav');
    await page
      .getByRole('listbox', { name: 'Suggestions' })
      .getByRole('option', { name: 'xavier', exact: true })
      .waitFor();
    // Enter adds the typed text, unless a suggestion is selected.
    await page.keyboard.press('Enter');
    await page.getByText('xav gets read').waitFor();
    await page.keyboard.press('Backspace');
    await read.fill('xav');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByLabel('Write', { exact: true }).fill('not-yet');
    await page.keyboard.press('Enter');
    await page.getByText('xavier gets read').waitFor();
    await page.getByText('No user has this name yet').waitFor();
    await page.getByRole('button', { name: 'Save 2 changes' }).click();
    await toast(page, 'The permissions of vault were set.');
    expect(await permissions()).toEqual({ read: ['xavier'], write: ['not-yet'], admin: ['admin'] });
    await page.getByRole('list', { name: 'Write: users' }).getByRole('button', { name: 'Remove not-yet' }).click();
    await page.getByText('not-yet loses write').waitFor();
    await page.getByRole('button', { name: 'Save the change' }).click();
    await page.getByRole('button', { name: 'Nothing to save' }).waitFor();
    expect((await permissions()).write).toEqual([]);
  });

  it('offer to create a missing user, and save a name still being typed', async () => {
    const page = await on.loggedIn(tab('permissions'));
    await page.getByLabel('Read', { exact: true }).fill('apprentice');
    await page.getByRole('button', { name: 'Save the change' }).click();
    // The service's advice for API clients is not shown.
    await toast(page, 'The permissions of vault were set. There is no user apprentice yet.');
    await expect.poll(() => page.locator(':focus').getAttribute('class')).toContain('effects');
    await page.getByRole('link', { name: 'Create user apprentice' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('apprentice');
    await dialog.getByRole('button', { name: 'Create the user' }).click();
    await page.getByRole('heading', { name: 'apprentice was created' }).waitFor();
    await page.getByRole('button', { name: 'Later' }).click();
    expect(new URL(page.url()).hash).not.toContain('create');
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: 'vault', permissions: { read: [] } });
    await on.service.call('DELETE', 'v1/users/apprentice');
  });

  it('require an admin', async () => {
    const page = await on.loggedIn(tab('permissions'));
    await page.getByRole('list', { name: 'Admin: users' }).getByRole('button', { name: 'Remove admin' }).click();
    await page.getByText('A timeline must have an admin').waitFor();
    expect(await page.getByRole('button', { name: 'Save the change' }).isDisabled()).toBe(true);
    // Unsaved changes survive a switch to another tab.
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('this one').waitFor();
    await page.getByRole('link', { name: 'Permissions' }).click();
    await page.getByText('A timeline must have an admin').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Nothing to save' }).waitFor();
  });

  it('keep both of two concurrent changes', async () => {
    const page = await on.loggedIn(tab('permissions'), { expected: REFUSED });
    await page.getByLabel('Write', { exact: true }).fill('mine');
    await page.keyboard.press('Enter');
    const before = await permissions();
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: 'vault',
      permissions: { write: [...before.write, 'theirs'] },
    });
    await page.getByRole('button', { name: 'Save the change' }).click();
    await page.getByText('Another user changed the permissions in the meantime').waitFor();
    await page.getByText('theirs gets write').waitFor();
    await page.getByRole('button', { name: 'Save the change' }).click();
    await toast(page, 'The permissions of vault were set.');
    expect((await permissions()).write.sort()).toEqual([...before.write, 'mine', 'theirs'].sort());
  });
});

describe('an edit during saving', () => {
  it('of lists is based on the saved ones', async () => {
    const page = await on.loggedIn(tab('permissions'));
    const before = await permissions();
    const release = await held(page, 'v1/set-access-control');
    const write = page.getByLabel('Write', { exact: true });
    await write.fill('first');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save the change' }).click();
    await write.fill('second');
    await page.keyboard.press('Enter');
    release();
    await toast(page, 'The permissions of vault were set.');
    await page.getByText('second gets write').waitFor();
    expect((await permissions()).write.sort()).toEqual([...before.write, 'first'].sort());
    await page.getByRole('button', { name: 'Save the change' }).click();
    await page.getByRole('button', { name: 'Nothing to save' }).waitFor();
    expect((await permissions()).write.sort()).toEqual([...before.write, 'first', 'second'].sort());
  });

  it('of levels is based on the saved ones', async () => {
    await on.service.user('hasty');
    const page = await on.loggedIn(`${tab('restrictions')}&q=hasty`);
    const release = await held(page, 'v1/restrict-time-travel');
    const level = page.getByLabel('Level of hasty');
    await level.selectOption('read_only');
    await page.getByRole('button', { name: 'Restrict hasty' }).click();
    await level.selectOption('full_access');
    release();
    await toast(page, /hasty is now read_only/);
    await page.getByRole('button', { name: 'Lift the restriction' }).click();
    await expect.poll(() => restrictionOf('hasty')).toBeUndefined();
  });
});

describe('users', () => {
  it('are created, log in with the given password, and are deleted', async () => {
    const page = await on.loggedIn(tab('users'), { expected: REFUSED });
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Name').fill('new user');
    await page.getByText('A name can contain letters, digits').waitFor();
    await page.getByLabel('Name').fill('admin');
    await page.getByRole('button', { name: 'Create the user' }).click();
    await page.getByText('User admin already exists.').waitFor();
    await page.getByLabel('Name').fill('new-user');
    await page.getByRole('button', { name: 'Create the user' }).click();
    await page.getByRole('heading', { name: 'new-user was created' }).waitFor();
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect.poll(() => page.getByLabel('New password').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await toast(page, 'The password of new-user was set');

    // The user may not read any timeline yet, so requests for the clock are rejected.
    const theirs = await on.page({ expected: REFUSED });
    await theirs.goto(`${on.service.url}/#/access?tab=keys`);
    await logIn(theirs, 'new-user');

    await page.getByRole('button', { name: 'Remove new-user' }).click();
    const remove = page.getByRole('button', { name: 'Remove the user' });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel('Type new-user to continue').fill('new-user');
    await remove.click();
    await toast(page, /new-user was removed/);
    await expect.poll(() => page.getByRole('rowheader', { name: 'new-user' }).count()).toBe(0);
    await theirs.reload();
    await theirs.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
  });

  it('are virtualized in a long list', async () => {
    const users = Array.from({ length: 200 }, (_, index) => ({
      user_id: `crowd-${index}`,
      restriction_level: 'full_access' as const,
      operator: false,
      created_at: '2005-01-01T00:00:00Z',
    }));
    const page = await on.loggedIn(tab('settings'));
    await page.route('**/v1/users?*', (route) => route.fulfill({ json: { users, has_more: false } }));
    await page.goto(`${on.service.url}/#/${tab('users')}`);
    const table = page.getByRole('region', { name: 'Users' }).getByRole('table');
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('201');
    await expect.poll(() => table.getByRole('row').count()).toBeLessThan(100);
    await table.getByRole('row').nth(1).getByRole('link').first().focus();
    await page.keyboard.press('End');
    await table.getByRole('rowheader', { name: 'crowd-199' }).waitFor();
    await expectNoSidewaysScroll(page);
  });
});

describe('restrictions', () => {
  it('are set with an explanation, and lifted', async () => {
    await on.service.user('wanderer');
    const page = await on.loggedIn(`${tab('restrictions')}&q=wanderer`);
    const level = page.getByLabel('Level of wanderer');
    await level.selectOption('read_only');
    await page.getByRole('list').getByText('Reads clocks and events, changes nothing.').waitFor();
    await page.getByRole('button', { name: 'Restrict wanderer' }).click();
    await toast(page, /wanderer is now read_only/);
    expect(await restrictionOf('wanderer')).toBe('read_only');
    await level.selectOption('full_access');
    await page.getByRole('button', { name: 'Lift the restriction' }).click();
    await expect.poll(() => restrictionOf('wanderer')).toBeUndefined();
  });
});

describe('API keys', () => {
  it('are shown once, work, and stop working when revoked', async () => {
    await on.service.user('owner');
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: 'vault', permissions: { read: ['owner'] } });
    const page = await on.loggedIn(tab('keys'), { user: 'owner' });
    await page.getByText('You have no API key').waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('What is it for?').fill('nightly report');
    await page.getByRole('radio', { name: /^Read/ }).check();
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('It is shown only once.').waitFor();
    const key = await page.getByRole('dialog').locator('code').innerText();
    expect(key).toMatch(/^tnk_[0-9A-Za-z]{36}$/);
    await on.service.call('GET', 'v1/clock?timeline_id=vault', undefined, key);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'nightly report' });
    await expect.poll(() => row.innerText()).toMatch(/Read[\s\S]*in 30 days/);
    expect(await page.content()).not.toContain(key);

    await page.getByRole('button', { name: 'Revoke nightly report' }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('You have no API key').waitFor();
    await expect(on.service.call('GET', 'v1/clock?timeline_id=vault', undefined, key)).rejects.toThrow('401');
    await page.getByLabel('Show 1 that no longer works').check();
    await page.getByRole('row').filter({ hasText: 'revoked' }).waitFor();
  });

  it('of other users are visible to operators only', async () => {
    await on.service.user('program');
    const page = await on.loggedIn(tab('keys'));
    await page.getByLabel('Keys of').selectOption('program');
    await page.getByText('program has no API key').waitFor();
    expect(page.url()).toContain('user=program');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('What is it for?').fill('for a program');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('can act as program').waitFor();
  });
});

describe('sessions', () => {
  it('are listed, and ended from another one', async () => {
    await on.service.user('roamer');
    const here = await on.loggedIn(tab('sessions'), { user: 'roamer', expected: REFUSED, ownSession: true });
    const there = await on.loggedIn(tab('sessions'), { user: 'roamer', expected: REFUSED, ownSession: true });
    await here.reload();
    await here.getByText('this one').waitFor();
    await here.getByRole('button', { name: 'End the session of' }).click();
    await toast(here, 'The session has ended.');
    await there.reload();
    await there.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
    await here.getByRole('button', { name: 'Log out everywhere' }).first().click();
    await here.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
    await here.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
  });
});

describe('the access log', () => {
  it('shows new entries first, as they are recorded', async () => {
    const page = await on.loggedIn(tab('log'));
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('row').nth(1).waitFor();
    await on.service.call('POST', 'v1/travel', { timeline_id: 'vault', destination_time: '1969-07-20T20:17:40Z' });
    const row = page.getByRole('row').filter({ hasText: 'Travel' }).first();
    await row.waitFor();
    const link = await row.getByRole('link').getAttribute('href');
    expect(link).toContain('#/integrity?timeline=vault&position=');
  });

  it('highlights rejected requests, and filters by them', async () => {
    await on.service.user('stranger');
    const made = await on.service.call<{ api_key: string }>('POST', 'v1/api-keys', { user_id: 'stranger' });
    await expect(on.service.call('GET', 'v1/clock?timeline_id=vault', undefined, made.api_key)).rejects.toThrow('404');
    const page = await on.loggedIn(tab('log'));
    await page.getByLabel('Action').selectOption('unauthorized_access_attempt');
    await page.getByLabel('User').fill('stranger');
    await page.keyboard.press('Enter');
    await page.getByText('1 log entry', { exact: true }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Rejected' }).waitFor();
    expect(new URL(page.url()).hash).toContain('action=unauthorized_access_attempt');
    // All filters are in the URL.
    await page.reload();
    await page.getByText('1 log entry', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('row').filter({ hasText: 'Record event' }).first().waitFor();
  });

  it('pages to its first entry, without reads', async () => {
    const page = await on.loggedIn(`${tab('log')}&reads=hidden`);
    const older = page.getByRole('button', { name: 'Show older entries' });
    const first = page.getByRole('row').filter({ hasText: 'Create timeline' });
    const isAll = page.getByText(/^\s*[\d,]+\s+log entries\s*$/);
    await older.or(isAll).first().waitFor();
    // The button is hidden while older entries are read.
    for (let turn = 0; turn < 20 && (await isAll.count()) === 0; turn++) {
      await older.click();
      await older.or(isAll).first().waitFor();
    }
    while (await older.isVisible()) await older.click();
    // A long list is virtualized.
    await page.getByRole('row').nth(1).getByRole('button').focus();
    await page.keyboard.press('End');
    await first.waitFor();
    expect(
      await page
        .getByRole('row')
        .filter({ hasText: /Read\b/ })
        .count(),
    ).toBe(0);
  });

  it('is virtualized if it is long', async () => {
    const name = fresh('busy');
    await on.service.timeline(
      name,
      ...Array.from({ length: 220 }, (_, index) => ({ time: '2005-01-01T00:00:00Z', description: `Number ${index}` })),
    );
    const page = await on.loggedIn(`access?timeline=${name}&tab=log&reads=hidden`);
    const older = page.getByRole('button', { name: 'Show older entries' });
    const table = page.getByRole('region', { name: 'Entries of the log' }).getByRole('table');
    await older.click();
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('201');
    await expect.poll(() => table.getByRole('row').count()).toBeLessThan(100);
    await older.click();
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('222');
    // End focuses the oldest entry, which is rendered then.
    await table.getByRole('row').nth(1).getByRole('button').focus();
    await page.keyboard.press('End');
    await table.getByRole('row').filter({ hasText: 'Create timeline' }).waitFor();
    await expectFits(page, [320, 1280]);
  });

  it('is saved as CSV', async () => {
    const page = await on.loggedIn(`${tab('log')}&action=create_timeline`);
    await page.getByText('1 log entry', { exact: true }).waitFor();
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const file = await coming;
    expect(file.suggestedFilename()).toBe('vault-access-log.csv');
    const text = readFileSync(await file.path(), 'utf8');
    expect(text).toMatch(
      /^host_time,user_id,action,subject,clock_time,position\r\n\S+Z,admin,create_timeline,vault,\S+Z,0\r\n$/,
    );
  });
});

describe('a user without rights', () => {
  it('sees the purpose of each section and the reason, without rejected requests', async () => {
    await on.service.user('guest');
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: 'vault', permissions: { read: ['guest'] } });
    const page = await on.loggedIn(tab('permissions'), { user: 'guest' });
    await page.getByText('You have read on vault. Only its admins can see and change permissions').waitFor();
    await page.getByRole('link', { name: 'Access log' }).click();
    await page.getByText('You have read on vault. Only its admins can see the access log').waitFor();
    await page.getByRole('link', { name: 'Retention' }).click();
    await page.getByText('You have read on vault. Only its admins can set retention').waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('You have read on vault. Only its admins can see its settings').waitFor();
    for (const name of ['Users', 'Restrictions']) {
      await page.getByRole('link', { name }).click();
      await page.getByText('Only operators of the service can use this').waitFor();
    }
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('You have no API key').waitFor();
    const log = await on.service.call<{ logs: unknown[] }>(
      'GET',
      'v1/access-logs?timeline_id=vault&time_range=../..&user_id=guest&action=unauthorized_access_attempt',
    );
    expect(log.logs).toEqual([]);
  });
});

describe('every section', () => {
  const parts: [string, RegExp][] = [
    ['permissions', /Nothing to save/],
    ['log', /entries/],
    ['retention', /How long contents are kept/],
    ['settings', /Danger zone/],
    ['users', /New user/],
    ['restrictions', /restricted/],
    ['keys', /New key/],
    ['sessions', /this one/],
  ];
  it('is accessible and fits every width', async () => {
    const page = await on.loggedIn('access');
    for (const [name, content] of parts) {
      await page.goto(`${on.service.url}/#/${tab(name)}`);
      await page.locator('main').getByText(content).first().waitFor();
      await expectUsable(page, [320, 768, 1280]);
    }
  });
});

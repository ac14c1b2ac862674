/** A timeline that moves: its bundle is downloaded at one service and adopted at another, both through the console. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { REFUSED, expectAccessible, own, shared, expectFits } from './harness';

const there = own('--service-name', 'there.example');
const here = shared();

const folder = mkdtempSync(join(tmpdir(), 'timenav-e2e-bundles-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Makes a timeline at the first service, on which alice may write. */
async function timeline(timelineId: string): Promise<void> {
  await there.service.timeline(timelineId, { event_id: 'eagle', time: '1969-07-20T20:17:40Z', description: 'Landed' });
  const permissions = { read: ['bob'], write: ['alice'] };
  await there.service.call('POST', 'v1/set-access-control', { timeline_id: timelineId, permissions });
}

async function bundle(timelineId: string): Promise<string> {
  const answer = await fetch(`${there.service.url}/timeline/${timelineId}/bundle`, {
    headers: { Authorization: `Bearer ${there.service.adminKey}` },
  });
  const path = join(folder, `${timelineId}.timenav-bundle`);
  writeFileSync(path, await answer.text());
  return path;
}

async function keyOf(timelineId: string): Promise<string> {
  const answer = await fetch(`${there.service.url}/timeline/${timelineId}/checkpoint`, {
    headers: { Authorization: `Bearer ${there.service.adminKey}`, Accept: 'application/json' },
  });
  return ((await answer.json()) as { verifier_key: string }).verifier_key;
}

/** Opens the dialog at the second service. */
async function adopting(user = 'admin', timelineId = 'demo'): Promise<Page> {
  const page = await here.loggedIn(`clock?timeline=${timelineId}`, { expected: REFUSED, user });
  await page.getByRole('button', { name: `Timeline: ${timelineId}` }).click();
  await page.getByRole('button', { name: 'Adopt a bundle…' }).click();
  await page.getByRole('heading', { name: 'Adopt a bundle' }).waitFor();
  return page;
}

const file = (page: Page, path: string): Promise<void> =>
  page.getByRole('group', { name: 'Bundle' }).locator('input').setInputFiles(path);
const key = (page: Page): ReturnType<Page['getByLabel']> => page.getByLabel('Public key of its ledger');
const adopt = (page: Page): ReturnType<Page['getByRole']> => page.getByRole('button', { name: 'Adopt the timeline' });

describe('a timeline', () => {
  it('is handed over, downloaded, adopted elsewhere, and goes on there', async () => {
    await timeline('apollo');
    await here.service.user('robert');
    const from = await there.loggedIn('access?timeline=apollo&tab=settings');
    await from.getByRole('button', { name: 'Hand over…' }).click();
    await from.getByLabel('Type apollo to continue').fill('apollo');
    await from.getByRole('button', { name: 'Hand over the timeline' }).click();
    await from.getByRole('heading', { name: 'Handed over to another service' }).waitFor();
    await from.addInitScript(() => delete window.showSaveFilePicker);
    await from.reload();
    const coming = from.waitForEvent('download');
    await from.getByRole('button', { name: 'Download the bundle' }).click();
    const path = join(folder, 'apollo.timenav-bundle');
    await (await coming).saveAs(path);
    await from.getByRole('link', { name: 'the public key' }).click();
    const given = await from
      .getByText(/^there\.example\/apollo\+/)
      .first()
      .innerText();

    const page = await adopting();
    expect(await adopt(page).isDisabled()).toBe(true);
    await file(page, path);
    await page.getByText('The file says that it is apollo of there.example').waitFor();
    expect(await page.getByText('It was not handed over').count()).toBe(0);
    await key(page).fill(given);
    await page.getByLabel('alice, write there, is here').fill('robert');
    await expectAccessible(page);
    await adopt(page).click();
    await page.getByRole('heading', { name: 'apollo was adopted' }).waitFor();
    await page.getByRole('definition').getByText('there.example/apollo').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Open apollo' }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/timeline?timeline=apollo');
    await page.getByRole('button', { name: 'Timeline: apollo' }).waitFor();

    const { clock, permissions } = await here.service.call<{ clock: { state: string }; permissions: unknown }>(
      'GET',
      'timeline/apollo',
    );
    expect([clock.state, permissions]).toEqual(['paused', { read: [], write: ['robert'], admin: ['admin'] }]);
    const event = { event_id: 'splash', time: '1969-07-24T16:50:35Z', description: 'Splashed down' };
    await here.service.call('POST', 'v1/events?timeline_id=apollo', event);
    await page.goto(`${here.service.url}/#/access?timeline=apollo&tab=log`);
    await page.getByRole('row').filter({ hasText: 'Adopt timeline' }).waitFor();
    const before = page.getByRole('row').filter({ hasText: 'admin@there.example/apollo' }).first();
    await before.waitFor();
    // Nobody here has that name, so there is nothing to narrow the log to.
    expect(await before.getByRole('button').count()).toBe(0);
    // What was signed elsewhere is still what is here.
    await page.goto(`${here.service.url}/#/integrity?timeline=apollo`);
    await page.getByRole('button', { name: 'Compare all entries' }).click();
    await page.getByText('The contents match what was signed.').waitFor();

    // A second time there is one of that name: it is said before anything is sent.
    await page.goto(`${here.service.url}/#/clock?timeline=demo`);
    await page.getByRole('button', { name: 'Timeline: demo' }).click();
    await page.getByRole('button', { name: 'Adopt a bundle…' }).click();
    await file(page, path);
    await page.getByText('There is already a timeline apollo here.').waitFor();
    await key(page).fill(given);
    expect(await adopt(page).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('demo');
  });
});

describe('a fork', () => {
  it('is handed over and adopted with the history that it goes on from', async () => {
    await timeline('mir');
    await there.service.call('POST', 'timelines', { timeline_id: 'mir-2', fork_of: 'mir' });
    const from = await there.loggedIn('access?timeline=mir-2&tab=settings');
    await from.getByRole('button', { name: 'Hand over…' }).click();
    await from.getByText('shares with mir, which stays here').waitFor();
    await from.getByLabel('Type mir-2 to continue').fill('mir-2');
    await from.getByRole('button', { name: 'Hand over the timeline' }).click();
    await from.getByRole('heading', { name: 'Handed over to another service' }).waitFor();

    const page = await adopting();
    await file(page, await bundle('mir-2'));
    await page.getByText('It is a fork of mir, and brings the history that it goes on from.').waitFor();
    await key(page).fill(await keyOf('mir-2'));
    await adopt(page).click();
    await page.getByRole('heading', { name: 'mir-2 was adopted' }).waitFor();
    await here.service.call('GET', 'v1/events/eagle?timeline_id=mir-2');
  });
});

describe('what is wrong', () => {
  it('with a file is said before it is sent', async () => {
    await timeline('gemini');
    const whole = readFileSync(await bundle('gemini'), 'utf8');
    const cut = join(folder, 'cut.timenav-bundle');
    writeFileSync(cut, whole.slice(0, -30));
    const other = join(folder, 'notes.txt');
    writeFileSync(other, 'No bundle at all\n');
    const page = await adopting();
    for (const [path, told] of [
      [other, 'This file is not a timenav bundle.'],
      [cut, 'This bundle is cut off'],
    ] as const) {
      await file(page, path);
      await page.getByRole('status').getByText(told).waitFor();
      expect(await adopt(page).isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Choose another' }).click();
    }
  });

  it('with a key, a user or the contents stands at the field', async () => {
    await timeline('mercury');
    const path = await bundle('mercury');
    const given = await keyOf('mercury');
    const page = await adopting();
    await file(page, path);
    await page.getByText('It was not handed over.').waitFor();
    await key(page).fill('no key');
    await page.getByText('This is not a public key').waitFor();
    await key(page).fill(await keyOf('demo'));
    await page.getByText('This is a key of the timeline demo, but the file contains the timeline mercury.').waitFor();
    expect(await adopt(page).isDisabled()).toBe(true);
    // Whether a key is whole is for the service to say.
    await key(page).fill(`${given.slice(0, -6)}AAAAAA`);
    await adopt(page).click();
    await expect.poll(() => key(page).getAttribute('aria-invalid')).toBe('true');
    await key(page).fill(given);
    await page.getByLabel('alice, write there, is here').fill('nobody');
    await adopt(page).click();
    await page.getByText('There is no user nobody here.').waitFor();
    expect(await page.getByLabel('alice, write there, is here').getAttribute('aria-invalid')).toBe('true');

    const changed = join(folder, 'changed.timenav-bundle');
    writeFileSync(changed, readFileSync(path, 'utf8').replace('Landed', 'Missed'));
    await file(page, changed);
    await page.getByLabel('alice, write there, is here').fill('');
    await adopt(page).click();
    await page
      .getByRole('status')
      .getByText(/Line \d+/)
      .waitFor();
    await expect(here.service.call('GET', 'timeline/mercury')).rejects.toThrow('404');
  });

  it('with its size, too, whoever notices first', async () => {
    await timeline('soyuz');
    const page = await adopting();
    await page.route('**/timelines/adopt*', (route) =>
      route.fulfill({
        status: 413,
        json: { status: 'The request is too large.', code: 'content_too_large', detail: 'at most 64 bytes' },
      }),
    );
    await file(page, await bundle('soyuz'));
    await key(page).fill(await keyOf('soyuz'));
    await adopt(page).click();
    await page.getByRole('status').getByText('The request is too large. At most 64 bytes.').waitFor();
  });

  it('with the service is said by itself', async () => {
    await timeline('vostok');
    const page = await adopting();
    await page.route('**/timelines/adopt*', (route) =>
      route.fulfill({ status: 403, json: { status: 'You are not allowed to do this.', code: 'permission_denied' } }),
    );
    await file(page, await bundle('vostok'));
    await key(page).fill(await keyOf('vostok'));
    await adopt(page).click();
    await page.getByRole('alert').getByText('You are not allowed to do this.').waitFor();
  });
});

describe('an upload', () => {
  it('tells how far it is, and leaves nothing when it is given up', async () => {
    await timeline('voskhod');
    const page = await adopting();
    let release = (): void => {};
    const held = new Promise<void>((done) => (release = done));
    await page.route('**/timelines/adopt*', async (route) => {
      await held;
      await route.abort().catch(() => {});
    });
    await file(page, await bundle('voskhod'));
    await key(page).fill(await keyOf('voskhod'));
    await adopt(page).click();
    await page.getByRole('progressbar', { name: 'Sent' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('progressbar', { name: 'Sent' }).waitFor({ state: 'detached' });
    expect(await adopt(page).isEnabled()).toBe(true);
    expect(await page.getByRole('alert').count()).toBe(0);
    release();
    await expect(here.service.call('GET', 'timeline/voskhod')).rejects.toThrow('404');
  });
});

describe('the dialog', () => {
  it('fits a phone, and says who may not', async () => {
    await timeline('salyut');
    const page = await adopting();
    await file(page, await bundle('salyut'));
    await page.getByText('The file says').waitFor();
    await expectFits(page, [320, 390]);
    await adopt(page).scrollIntoViewIfNeeded();
    await here.service.user('held');
    await here.service.timeline('held-by');
    await here.service.call('POST', 'v1/set-access-control', {
      timeline_id: 'held-by',
      permissions: { read: ['held'] },
    });
    await here.service.call('POST', 'v1/restrict-time-travel', { user_id: 'held', restriction_level: 'read_only' });
    const theirs = await adopting('held', 'held-by');
    await theirs.getByText("so you can't create timelines").waitFor();
    expect(await adopt(theirs).count()).toBe(0);
  });
});

/** The settings of a timeline: its bundle, its deletion, and timelines that expire. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { REFUSED, expectAccessible, expectNoSidewaysScroll, shared } from './harness';

const on = shared();

const settings = (timeline: string): string => `access?timeline=${timeline}&tab=settings`;
const END = /\{"end":\{"data":\d+,"entries":\d+,"sha256":"[0-9a-f]{64}"\}\}\n$/;

/** Simulates the choice of a file in the page's save dialog; null cancels it. */
async function chooses(page: Page, name: string | null): Promise<void> {
  await page.addInitScript((chosen) => {
    window.showSaveFilePicker = async () => {
      if (chosen === null) throw new DOMException('The user aborted a request.', 'AbortError');
      return (await navigator.storage.getDirectory()).getFileHandle(chosen, { create: true });
    };
  }, name);
  await page.reload();
}

const written = (page: Page, name: string): Promise<string> =>
  page.evaluate(async (chosen) => {
    const file = await (await navigator.storage.getDirectory()).getFileHandle(chosen);
    return (await file.getFile()).text();
  }, name);

const download = (page: Page): Promise<void> => page.getByRole('button', { name: 'Download the bundle' }).click();

describe('a bundle', () => {
  it('is saved by browsers that cannot stream to a file', async () => {
    await on.service.timeline('saved', { event_id: 'a', time: '2000-01-01T00:00:00Z', description: 'A' });
    const page = await on.loggedIn(settings('saved'));
    await page.addInitScript(() => delete window.showSaveFilePicker);
    await page.reload();
    const coming = page.waitForEvent('download');
    await download(page);
    const file = await coming;
    expect(file.suggestedFilename()).toBe('saved.timenav-bundle');
    const text = readFileSync(await file.path(), 'utf8');
    expect(text).toMatch(/^\{"bundle":\{"created_at":/);
    expect(text).toMatch(END);
    await page
      .getByRole('status')
      .getByText(/^Saved, [\d,]+ kB$/)
      .waitFor();
  });

  it('is streamed to disk if the browser can', async () => {
    const page = await on.loggedIn(settings('demo'));
    await chooses(page, 'demo.timenav-bundle');
    await download(page);
    await page.getByText(/^Saved, [\d,]+ kB$/).waitFor();
    const text = await written(page, 'demo.timenav-bundle');
    expect(text).toMatch(END);
    expect(text.split('\n').filter((line) => line.startsWith('{"entry":')).length).toBeGreaterThan(493);
  });

  it('is not requested if the user cancels the file dialog', async () => {
    const page = await on.loggedIn(settings('demo'));
    await chooses(page, null);
    let requests = 0;
    page.on('request', (request) => (requests += Number(request.url().endsWith('/bundle'))));
    await download(page);
    await expect.poll(() => page.getByRole('button', { name: 'Download the bundle' }).isEnabled()).toBe(true);
    expect(requests).toBe(0);
  });

  it('leaves no file after an interruption or rejection, and shows the reason', async () => {
    const page = await on.loggedIn(settings('demo'), { expected: REFUSED });
    await chooses(page, 'broken.timenav-bundle');
    await page.route('**/timeline/demo/bundle', (route) =>
      route.fulfill({ contentType: 'application/x-ndjson', body: '{"bundle":{}}\n{"layer":{}}\n' }),
    );
    await download(page);
    await page.getByRole('alert').getByText('The download was interrupted.').waitFor();
    expect(await written(page, 'broken.timenav-bundle')).toBe('');
    await page.unroute('**/timeline/demo/bundle');
    await page.route('**/timeline/demo/bundle', (route) =>
      route.fulfill({ status: 403, json: { status: 'You are not allowed to do this.', code: 'permission_denied' } }),
    );
    await download(page);
    await page.getByRole('alert').getByText('You are not allowed to do this.').waitFor();
    expect(await written(page, 'broken.timenav-bundle')).toBe('');
  });

  it('links to the key that verifies it', async () => {
    const page = await on.loggedIn(settings('demo'));
    await page.getByRole('link', { name: 'the public key' }).click();
    await page
      .getByText(/^timenav\.local\/demo\+[0-9a-f]{8}\+/)
      .first()
      .waitFor();
  });
});

describe('deletion of a timeline', () => {
  it('requires its name, and is permanent', async () => {
    await on.service.timeline('over', { event_id: 'a', time: '2000-01-01T00:00:00Z', description: 'A' });
    await on.service.call('POST', 'timelines', { timeline_id: 'heir', fork_of: 'over' });
    const page = await on.loggedIn(settings('over'), { expected: REFUSED });
    await page.getByRole('button', { name: 'End timeline…' }).click();
    await page.getByText('for 7 days, and are then permanently deleted').waitFor();
    await expectAccessible(page);
    const confirm = page.getByRole('button', { name: 'End the timeline' });
    await page.getByLabel('Type over to continue').fill('Over');
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type over to continue').fill('over');
    await confirm.click();
    await page
      .locator('.toasts')
      .getByText(/^The timeline over has ended\. Its contents will be deleted after \d+ \w+ \d+/)
      .waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/clock?timeline=main');
    await expect(on.service.call('GET', 'timeline/over')).rejects.toThrow('timeline_ended');
    await on.service.call('GET', 'v1/events/a?timeline_id=heir');

    await page.getByRole('button', { name: 'Timeline: main' }).click();
    const all = page.getByRole('listbox', { name: 'Timelines' });
    await all.getByRole('option', { name: 'heir' }).waitFor();
    expect(await all.getByRole('option', { name: /^over/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'New timeline or fork' }).click();
    await page.getByLabel('Name', { exact: true }).fill('over');
    await page.getByRole('button', { name: 'Create the timeline' }).click();
    await page.locator('.field').getByText('names cannot be reused').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('main');

    // This page knows that the timeline was deleted. Another page can only list possible reasons.
    await page.goto(`${on.service.url}/#/clock?timeline=over`);
    await page.getByRole('heading', { name: 'The timeline over has ended' }).waitFor();
    await page.reload();
    await page
      .getByRole('heading', { name: "Timeline over does not exist or has ended, or you don't have access" })
      .waitFor();
    await page.goto(`${on.service.url}/#/access?timeline=system&tab=log&action=end_timeline`);
    await page.getByRole('row').filter({ hasText: 'End timeline' }).filter({ hasText: 'over' }).waitFor();
  });

  it('is rejected with the reason for main and system', async () => {
    await on.service.timeline('parent', { event_id: 'a', time: '2000-01-01T00:00:00Z', description: 'A' });
    await on.service.call('POST', 'timelines', { timeline_id: 'offshoot', fork_of: 'parent' });
    const page = await on.loggedIn(settings('main'));
    const end = page.getByRole('button', { name: 'End timeline…' });
    await page.getByText('Requests that name no timeline use main, so it cannot be ended.').waitFor();
    expect(await end.isDisabled()).toBe(true);

    await page.goto(`${on.service.url}/#/${settings('system')}`);
    await page.getByText('The service itself needs system, so it cannot be ended.').waitFor();
    expect(await end.isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Download the bundle' }).isDisabled()).toBe(true);

    await page.goto(`${on.service.url}/#/${settings('offshoot')}`);
    await page.getByText('It includes the history inherited from parent.').waitFor();
    expect(await end.isDisabled()).toBe(false);
    await page.getByRole('link', { name: 'parent', exact: true }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/timeline?timeline=parent');
  });

  it('is not offered to users restricted to reading', async () => {
    await on.service.user('settings-reader');
    await on.service.timeline('readers-own');
    const permissions = { admin: ['admin', 'settings-reader'] };
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: 'readers-own', permissions });
    await on.service.call('POST', 'v1/restrict-time-travel', {
      user_id: 'settings-reader',
      restriction_level: 'read_only',
    });
    const page = await on.loggedIn(settings('readers-own'), { user: 'settings-reader' });
    await page.getByText('Your access is read-only.').waitFor();
    expect(await page.getByRole('button', { name: 'End timeline…' }).isDisabled()).toBe(true);
  });
});

describe('an expiring timeline', () => {
  it('is created, shows its end, and a message when it has expired', async () => {
    const page = await on.loggedIn('clock?timeline=demo', { expected: REFUSED });
    await page.getByRole('button', { name: 'Timeline: demo' }).click();
    await page.getByRole('button', { name: 'New timeline or fork' }).click();
    await page.getByLabel('Name', { exact: true }).fill('job');
    await page.getByLabel('Expires', { exact: true }).selectOption({ label: 'In a day' });
    await page.getByRole('button', { name: 'Create the timeline' }).click();
    await page.getByRole('link', { name: 'ends in 1 day' }).click();
    await page.getByRole('definition').getByText('in 1 day').waitFor();
    const { expires_at: at } = await on.service.call<{ expires_at: string }>('GET', 'timeline/job');
    expect(Date.parse(at) - Date.now()).toBeGreaterThan(86_000_000);
    await page.getByRole('button', { name: 'Timeline: job' }).click();
    await page.getByRole('option', { name: 'job ends in 1 day' }).waitFor();

    await page.getByRole('button', { name: 'New timeline or fork' }).click();
    await page.getByLabel('Name', { exact: true }).fill('blink');
    await page.getByLabel('Expires', { exact: true }).selectOption('other');
    const typed = page.getByLabel('Expires: duration');
    await typed.fill('P1M');
    await page.getByText('Months and years differ in length').waitFor();
    await typed.fill('8s');
    await page.getByRole('button', { name: 'Create the timeline' }).click();
    await page.getByRole('link', { name: 'ends in a moment' }).waitFor();
    await page.getByRole('link', { name: 'Clock', exact: true }).click();
    await page.getByRole('heading', { name: 'The timeline blink has ended' }).waitFor();
  });
});

describe('timeline settings', () => {
  it('are reached from the list of timelines', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    await page.getByRole('button', { name: 'Timeline: demo' }).click();
    await page.getByRole('link', { name: 'Settings of demo' }).click();
    await page.getByRole('heading', { name: 'Danger zone' }).waitFor();
    await page.getByRole('link', { name: /^[\d,]+ entries$/ }).click();
    await page.getByRole('heading', { name: 'Integrity' }).waitFor();
  });

  it('fit a phone with their dialog, in forced colors too', async () => {
    const page = await on.loggedIn(settings('demo'), { forcedColors: 'active' });
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole('button', { name: 'End timeline…' }).click();
    await expectNoSidewaysScroll(page);
    // The last button is visible.
    await page.getByRole('button', { name: 'Cancel' }).click();
  });
});

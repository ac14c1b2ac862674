/** Logging out: what the browser stores, and the clocks of pages that were open or are opened afterwards. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { fresh, logIn, REFUSED, shared } from './harness';

const on = shared();

const chip = (page: Page, state: 'running' | 'paused'): ReturnType<Page['getByRole']> =>
  page.getByRole('link', { name: `The clock is ${state}.` });

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'admin', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Log out', exact: true }).click();
  await page.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
}

it('a tab opened after the next login follows the service’s clock', async () => {
  const timeline = fresh('followed');
  await on.service.timeline(timeline);
  // A request sent just before logging out may be rejected.
  const first = await on.loggedIn(`clock?timeline=${timeline}`, { ownSession: true, expected: REFUSED });
  await chip(first, 'running').waitFor();
  await logOut(first);
  await logIn(first);
  await chip(first, 'running').waitFor();
  const second = await first.context().newPage();
  await second.goto(`${on.service.url}/#/clock?timeline=${timeline}`);
  await chip(second, 'running').waitFor({ timeout: 20_000 });
  await on.service.call('POST', 'v1/pause-time', { timeline_id: timeline });
  for (const page of [first, second]) await chip(page, 'paused').waitFor({ timeout: 20_000 });
  // A reload restarts the shared worker if no other page uses it.
  await first.reload();
  await chip(first, 'paused').waitFor({ timeout: 20_000 });
  await on.service.call('POST', 'v1/resume-time', { timeline_id: timeline });
  for (const page of [first, second]) await chip(page, 'running').waitFor({ timeout: 20_000 });
});

it('logging out keeps saved views, theme and timeline, but no secrets', async () => {
  const page = await on.loggedIn('clock?timeline=demo', { ownSession: true, expected: REFUSED });
  const palette = page.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox');
  const storedItems = (): Promise<Record<string, string>> =>
    page.evaluate(() => Object.fromEntries(Object.entries<string>(localStorage)));
  await page.getByRole('button', { name: /^Colors: system/ }).click();
  await page.keyboard.press('Control+k');
  await palette.fill('save this view');
  await page.getByRole('option', { name: /^Save this view/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Saved views' });
  await dialog.getByLabel('Name of the view').fill('The clock of the demo');
  await dialog.getByRole('button', { name: 'Save this view' }).click();
  const before = await storedItems();
  expect(Object.keys(before).sort()).toEqual(['timenav-theme', 'timenav-timeline', 'timenav-views']);
  await logOut(page);
  expect(await storedItems()).toEqual(before);
  await page.reload();
  await logIn(page);
  expect(await page.locator('html').getAttribute('data-theme')).toBe(before['timenav-theme']);
  await page.keyboard.press('Control+k');
  await palette.fill('the clock of');
  await page.getByRole('option', { name: /^The clock of the demo/ }).waitFor();
});

it('a page detects a silent service without a logout', async () => {
  const timeline = fresh('silent');
  await on.service.timeline(timeline);
  const page = await on.page();
  // Only the page's time is faked. The service and the worker run normally.
  await page.clock.install();
  await page.goto(`${on.service.url}/#/clock?timeline=${timeline}`);
  await logIn(page);
  await chip(page, 'running').waitFor();
  await page.clock.fastForward(21_000);
  await page.getByText('Connection lost. Reconnecting…').first().waitFor({ timeout: 10_000 });
  // The service sends a message every 15 seconds.
  await chip(page, 'running').waitFor({ timeout: 20_000 });
});

/** Retention: how long payloads of reads and refusals are kept, and what was pruned. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { RETENTION_FLOOR_SECS } from './service';
import { REFUSED, UNREACHABLE, shared, expectUsable } from './harness';

const on = shared();

const tab = (timeline: string): string => `access?timeline=${timeline}&tab=retention`;

async function retention(timeline: string): Promise<unknown> {
  return (await on.service.call<{ retention: unknown }>('GET', `timeline/${timeline}`)).retention;
}

const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.textContent.trim() ?? '');

/** Waits until the last reads are past the retention period. */
const passed = (page: Page, seconds = RETENTION_FLOOR_SECS): Promise<void> =>
  page.waitForTimeout(seconds * 1_000 + 600);

describe('a retention', () => {
  it('is set, with the user who set it and its effect on existing entries', async () => {
    await on.service.timeline('kept');
    const page = await on.loggedIn(tab('kept'));
    await page.getByText('No retention is set on this timeline').waitFor();
    await page.getByText('This service keeps both for at least 2 seconds').waitFor();
    await page.getByRole('button', { name: 'Change…' }).click();
    const send = page.getByRole('button', { name: 'Set retention' });
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel('Keep contents of reads', { exact: true }).selectOption({ label: 'For 90 days' });
    await page.getByText('Existing entries are kept forever, as before.').waitFor();
    await page.getByLabel('Keep contents of rejected attempts', { exact: true }).selectOption('other');
    const typed = page.getByLabel('Keep contents of rejected attempts: duration');
    for (const [text, effect] of [
      ['1s', 'This service keeps them for at least 2 seconds.'],
      ['3 months', 'Months and years differ in length'],
    ] as const) {
      await typed.fill(text);
      await page.getByRole('dialog').getByText(effect).waitFor();
      expect(await typed.getAttribute('aria-invalid')).toBe('true');
      expect(await send.isDisabled()).toBe(true);
    }
    await typed.fill('36h');
    await send.click();
    await page.locator('.toasts').getByText('On kept, contents of reads are kept for P90D').waitFor();
    expect(await retention('kept')).toEqual({ reads: 'P90D', rejections: 'PT129600S' });
    await page.getByText('for 90 days', { exact: true }).waitFor();
    await page.getByText('for 1 day 12 hours', { exact: true }).waitFor();
    await page.getByText('Set by admin').waitFor();

    // A longer period also applies to existing entries. The other class is unchanged.
    await page.getByRole('button', { name: 'Change…' }).click();
    await page.getByLabel('Keep contents of reads', { exact: true }).selectOption({ label: 'Forever' });
    await page.getByText('Reads: the longer time also applies to existing entries.').waitFor();
    await send.click();
    await expect.poll(() => retention('kept')).toEqual({ reads: null, rejections: 'PT129600S' });

    await page.getByText('Set by admin').getByRole('link').click();
    await page.getByRole('heading', { name: /^Entry \d+/ }).waitFor();
    await page.getByRole('definition').getByText('set_retention').waitFor();
  });

  it('shows the service’s error next to the field', async () => {
    await on.service.timeline('short');
    const page = await on.page({ expected: new RegExp(`${REFUSED.source}|${UNREACHABLE.source}`) });
    // Without the limits, only the service validates the period.
    await page.route('**/v1/limits', (route) => route.abort());
    await page.goto(on.service.url);
    await page.context().addCookies(await (await on.loggedIn(tab('short'))).context().cookies());
    await page.goto(`${on.service.url}/#/${tab('short')}`);
    await page.reload();
    await page.getByRole('button', { name: 'Change…' }).click();
    const reads = page.getByLabel('Keep contents of reads', { exact: true });
    await reads.selectOption('other');
    await page.getByLabel('Keep contents of reads: duration').fill('1s');
    await page.getByRole('button', { name: 'Set retention' }).click();
    await expect.poll(() => reads.getAttribute('aria-invalid')).toBe('true');
    await page.locator('.field .error').waitFor();
    expect(await retention('short')).toBeUndefined();
  });

  it('restores the focus however its dialog is closed', async () => {
    const page = await on.loggedIn(tab('main'));
    const change = page.getByRole('button', { name: 'Change…' });
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => page.getByRole('button', { name: 'Cancel' }).click(),
      () => page.getByRole('button', { name: 'Close' }).click(),
    ]) {
      await change.press('Enter');
      await page.getByRole('dialog').waitFor();
      await close();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => focused(page)).toBe('Change…');
    }
  });
});

describe('due payloads', () => {
  it('are pruned at once, with entries in access log and ledger', async () => {
    await on.service.timeline('swept');
    // Longer than pruning takes. Otherwise the page's own reads become due, and pruning never ends.
    const seconds = 3 * RETENTION_FLOOR_SECS;
    await on.service.call('POST', 'v1/set-retention', { timeline_id: 'swept', reads: `${seconds}s` });
    for (let read = 0; read < 3; read += 1) await on.service.call('GET', 'v1/clock?timeline_id=swept');
    const page = await on.loggedIn(tab('swept'));
    await page.getByText('The service prunes expired contents every ten minutes').waitFor();
    await passed(page, seconds);
    await page.getByRole('button', { name: 'Prune now…' }).click();
    await page.getByText('This cannot be undone.').waitFor();
    await page.getByRole('button', { name: 'Prune now', exact: true }).click();
    await page.getByText(/^The contents of \d+ entries were pruned\.$/).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    const row = page.getByRole('row').filter({ hasText: 'entries of reads' }).first();
    await row.waitFor();
    await expect.poll(() => row.innerText()).toMatch(/admin/);

    await page.getByRole('link', { name: 'All in the access log' }).click();
    await page.getByRole('row').filter({ hasText: 'Prune contents' }).filter({ hasText: 'reads' }).first().waitFor();
    await page.goto(`${on.service.url}/#/access?timeline=swept&tab=log&action=reads`);
    await page.getByRole('row').filter({ hasText: 'Reads, pruned' }).first().waitFor();

    // An entry accounts for the missing payloads, so the contents still match what was signed.
    await page.goto(`${on.service.url}/#/integrity?timeline=swept`);
    await page.getByRole('button', { name: 'Compare all entries' }).click();
    await page.getByText('The contents match the signed tree.').waitFor();
    await page.getByText(/payloads? pruned, as the retention of the timeline allows/).waitFor();
  });

  it('are absent if everything is kept or too recent', async () => {
    await on.service.timeline('young');
    await on.service.call('POST', 'v1/set-retention', { timeline_id: 'young', reads: '90d' });
    const page = await on.loggedIn(tab('young'));
    await page.getByRole('button', { name: 'Prune now…' }).click();
    await page.getByRole('button', { name: 'Prune now', exact: true }).click();
    await page.getByText('There is nothing to prune.').waitFor();
    await page.goto(`${on.service.url}/#/${tab('main')}`);
    await page.getByText('Everything is kept. Set a retention').waitFor();
    expect(await page.getByRole('button', { name: 'Prune now…' }).isDisabled()).toBe(true);
  });

  it('stay until an operator confirms a doubtful host clock', async () => {
    await on.service.timeline('doubted');
    await on.service.call('POST', 'v1/set-retention', { timeline_id: 'doubted', reads: '90d' });
    const page = await on.loggedIn(tab('doubted'));
    const sent: unknown[] = [];
    await page.route('**/v1/prune', async (route) => {
      const body = route.request().postDataJSON() as { trust_host_clock?: boolean };
      sent.push(body);
      const isDoubted = body.trust_host_clock !== true;
      await route.fulfill({
        json: {
          status: '',
          retention: { reads: 'P90D', rejections: null },
          pruned: isDoubted ? 0 : 7,
          has_more: isDoubted,
          ...(isDoubted
            ? { blocked_by: "the host's clock says 2027; an operator says so with `trust_host_clock`" }
            : {}),
        },
      });
    });
    await page.getByRole('button', { name: 'Prune now…' }).click();
    await page.getByRole('button', { name: 'Prune now', exact: true }).click();
    await page.getByText("The host's clock says 2027.").waitFor();
    expect(await page.getByRole('dialog').innerText()).not.toContain('trust_host_clock');
    const confirm = page.getByRole('button', { name: 'Confirm the clock and prune' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('checkbox').check();
    await confirm.click();
    await page.getByText('The contents of 7 entries were pruned.').waitFor();
    expect(sent).toEqual([{ timeline_id: 'doubted' }, { timeline_id: 'doubted', trust_host_clock: true }]);
  });

  it('show an error if the service rejects pruning', async () => {
    await on.service.timeline('gone');
    await on.service.call('POST', 'v1/set-retention', { timeline_id: 'gone', reads: '90d' });
    const page = await on.loggedIn(tab('gone'), { expected: REFUSED });
    await page.route('**/v1/prune', (route) =>
      route.fulfill({
        status: 403,
        json: { status: 'You are not allowed to do this.', code: 'permission_denied', detail: '' },
      }),
    );
    await page.getByRole('button', { name: 'Prune now…' }).click();
    await page.getByRole('button', { name: 'Prune now', exact: true }).click();
    await page.getByRole('alert').getByText('You are not allowed to do this.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
  });
});

describe('retention dialogs', () => {
  it('are accessible and fit a phone', async () => {
    await on.service.timeline('dialogs');
    await on.service.call('POST', 'v1/set-retention', { timeline_id: 'dialogs', reads: '90d' });
    const page = await on.loggedIn(tab('dialogs'));
    for (const name of ['Change…', 'Prune now…']) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('dialog').waitFor();
      await expectUsable(page, [320, 1280]);
      await page.keyboard.press('Escape');
    }
  });
});

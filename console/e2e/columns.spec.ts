/** Table columns: shown, hidden, and kept in the URL. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll, shared } from './harness';

const on = shared();
beforeAll(async () => {
  await on.service.timeline('columns', { event_id: 'a', time: '2000-01-01T00:00:00Z', description: 'A' });
  await on.service.call('POST', 'v1/timers', {
    timeline_id: 'columns',
    timer_id: 'wake',
    at: '2990-01-01T00:00:00Z',
    deliver: { to: 'queue', queue: 'main' },
  });
});

const titles = (page: Page, label: string): Promise<string[]> =>
  page
    .getByRole('region', { name: label, exact: true })
    .getByRole('columnheader')
    .allInnerTexts()
    .then((texts) => texts.map((text) => text.trim()));

/** Hides one column, shows another one, and checks that the URL keeps both. */
async function choose(page: Page, label: string, hidden: string, added: string | null): Promise<void> {
  await expect.poll(() => titles(page, label)).toContain(hidden);
  const before = await titles(page, label);
  await page.getByRole('button', { name: 'Columns', exact: true }).last().click();
  for (const title of [hidden, ...(added === null ? [] : [added])])
    await page.getByRole('menuitemcheckbox', { name: title, exact: true }).click();
  await page.keyboard.press('Escape');
  const after = await titles(page, label);
  expect(after).not.toContain(hidden);
  if (added !== null) expect(after).toContain(added);
  expect(after).toHaveLength(before.length + (added === null ? -1 : 0));
}

for (const [view, label, hidden, added] of [
  ['access?timeline=columns&tab=users', 'Users', 'Created', 'Operator'],
  ['access?timeline=columns&tab=keys', 'API keys', 'Expires', 'User'],
  ['access?timeline=columns&tab=sessions', 'Sessions', 'Last seen', 'Session id'],
  ['access?timeline=columns&tab=permissions', 'Who may do what', 'How long', null],
  ['timers?timeline=columns', 'Timers', 'Queue', 'Order key'],
  ['integrity?timeline=columns', 'Entries', 'By', 'Clock time'],
] as const)
  it(`the columns of ${label} are selectable`, async () => {
    const page = await on.loggedIn(view);
    await choose(page, label, hidden, added);
    await expectAccessible(page);
    const chosen = await titles(page, label);
    await page.reload();
    await expect.poll(() => titles(page, label)).toEqual(chosen);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expectNoSidewaysScroll(page);
      await page.getByRole('button', { name: 'Columns', exact: true }).last().click();
      const list = (await page.getByRole('menuitemcheckbox', { name: hidden, exact: true }).boundingBox())!;
      expect(list.x).toBeGreaterThanOrEqual(0);
      expect(list.x + list.width).toBeLessThanOrEqual(width);
      await page.keyboard.press('Escape');
    }
  });

it('the columns of followers are selectable', async () => {
  const page = await on.loggedIn('clock?timeline=columns');
  await page.route('**/v1/followers*', (route) =>
    route.fulfill({
      json: {
        status: '',
        generation: 0,
        followers: [
          {
            follower_id: 'f1',
            name: 'ship',
            user_id: 'admin',
            state: 'current',
            since: '2026-01-01T00:00:00Z',
            generation: 0,
            confirmed_at: '2026-01-01T00:00:00Z',
            host: 'kite',
            process: 4711,
            steps: true,
          },
        ],
      },
    }),
  );
  await page
    .getByRole('region', { name: /^Followers/ })
    .getByRole('button', { name: 'Refresh' })
    .click();
  await choose(page, 'Followers', 'User', 'Process');
  await page.getByRole('cell', { name: '4711', exact: true }).waitFor();
});

it('the columns of findings are selectable', async () => {
  const page = await on.loggedIn('integrity?timeline=columns');
  const result = {
    status: 'Tampering was found on `columns`.',
    tampering_detected: true,
    details: 'Entry 3 is not what was signed.',
    findings: [{ kind: 'leaf-mismatch', position: 3, evidence: 'The leaf hash is `aa`.' }],
    findings_omitted: 0,
    checked: [],
    not_checked: [],
    checkpoint: null,
  };
  await page.route('**/v1/detect-tampering', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: `event: result\ndata: ${JSON.stringify(result)}\n\n` }),
  );
  const panel = page.getByRole('region', { name: 'Scan for tampering' });
  await panel.getByRole('button', { name: 'Scan columns' }).click();
  await panel.getByRole('button', { name: 'Columns', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Entry', exact: true }).click();
  await expect.poll(() => titles(page, 'Findings')).toEqual(['What', 'Evidence']);
});

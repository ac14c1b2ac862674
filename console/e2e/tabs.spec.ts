/** Many tabs of one browser share the few connections per host. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { shared } from './harness';

const on = shared();
const TABS = 8;

/** Opens further tabs with the same session. */
async function tabs(view: (index: number) => string): Promise<Page[]> {
  const first = await on.loggedIn(view(0));
  const others = Array.from({ length: TABS - 1 }, async (_, index) => {
    const page = await first.context().newPage();
    await page.goto(`${on.service.url}/#/${view(index + 1)}`);
    return page;
  });
  return [first, ...(await Promise.all(others))];
}

async function choose(page: Page): Promise<void> {
  await page.bringToFront();
  await page.getByRole('combobox', { name: 'Find events by name, text, id or place' }).fill('moon landing');
  await page.getByRole('listbox').getByRole('option').first().click();
  await page.getByRole('region', { name: 'Selected event' }).getByText('Recorded').first().waitFor();
}

describe('eight tabs at once', () => {
  it('all work on one timeline, and receive all changes', async () => {
    await on.service.timeline('tabs', { event_id: 'm', time: '1969-07-20T20:17:40Z', description: 'moon landing' });
    const pages = await tabs(() => 'timeline?timeline=tabs');
    for (const page of pages) await choose(page);
    await on.service.call('POST', 'v1/pause-time', { timeline_id: 'tabs' });
    for (const page of pages) await page.getByText('The clock is paused.').waitFor({ state: 'attached' });
    await on.service.call('POST', 'v1/resume-time', { timeline_id: 'tabs' });
    for (const page of pages) await page.getByText('The clock is running.').waitFor({ state: 'attached' });
  });

  it('all work on separate timelines, and the active one is live', async () => {
    for (let index = 0; index < TABS; index += 1)
      await on.service.timeline(`tab-${index}`, { event_id: 'one', time: '2020-01-01T00:00:00Z', description: 'one' });
    const pages = await tabs((index) => `timeline?timeline=tab-${index}`);
    await expect
      .poll(async () => {
        const counts = await Promise.all(pages.map((page) => page.getByText('Waiting for a connection…').count()));
        return counts.filter((count) => count > 0).length;
      })
      .toBe(TABS - 3);
    for (const [index, page] of pages.entries()) {
      await page.bringToFront();
      await page.getByRole('button', { name: 'List', exact: true }).click();
      await page.getByRole('button', { name: 'one', exact: true }).first().click();
      await page.getByRole('region', { name: 'Selected event' }).getByText('Recorded').first().waitFor();
      await on.service.call('POST', `v1/events?timeline_id=tab-${index}`, {
        event_id: 'two',
        time: '2020-01-01T00:00:00Z',
        description: 'this came later',
      });
      await page.getByRole('button', { name: 'this came later' }).waitFor();
    }
  });
});

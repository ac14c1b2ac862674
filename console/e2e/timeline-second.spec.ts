/** A second filter, whose events are counted below the axis for the same range. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, fresh, expectFits } from './harness';
import { counted, on, param, region, visibleTime, timeline } from './timeline-page';

/** Every fourth call, including the first and the last, so that the axis of these has the same extent. */
const isFailed = (index: number): boolean => (index < 56 && index % 4 === 0) || index === 59;

const second = (page: Page): Locator => region(page, 'Second filter');
/** The count of the second filter in view. */
const statusLine = (page: Page): Locator => second(page).getByRole('status');

describe('a second filter', () => {
  let name = '';
  beforeAll(async () => {
    name = fresh('calls');
    await timeline(
      name,
      ...Array.from({ length: 60 }, (_, index) => ({
        event_id: `call-${index}`,
        time: `2001-01-${String(1 + (index % 30)).padStart(2, '0')}T12:00:00Z`,
        name: `Call ${index}`,
        description: 'It is answered.',
        attributes: { status: isFailed(index) ? 'failed' : 'done' },
      })),
    );
  });

  // With individual events, and with counts from the service.
  for (const most of ['', '&most=5'])
    it(`is counted below the first${most && ', also with counts from the service'}`, async () => {
      const page = await on.loggedIn(`timeline?timeline=${name}${most}`);
      await counted(page, '60 events');
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Add a second filter' }).click();
      await second(page).getByText('every event').waitFor();
      await expect.poll(() => statusLine(page).innerText()).toBe('60 events in view · 100% of those above');
      await second(page).getByRole('button', { name: 'Filter', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Show only events with' });
      await dialog.getByLabel('An attribute').check();
      await dialog.getByRole('combobox', { name: 'Attribute' }).fill('status');
      await dialog.getByLabel('Value', { exact: true }).fill('failed');
      await dialog.getByRole('button', { name: 'Show only these' }).click();
      await expect.poll(() => statusLine(page).innerText()).toBe('15 events in view · 25% of those above');
      // The first filter is unchanged.
      await counted(page, '60 events');
      await expectAccessible(page);
      await second(page).getByRole('button', { name: 'Swap' }).click();
      await expect.poll(() => statusLine(page).innerText()).toBe('60 events in view · 400% of those above');
      expect(param(page, 'attribute.status')).toBe('failed');
      await page.goBack();
      await expect.poll(() => statusLine(page).innerText()).toBe('15 events in view · 25% of those above');
      await second(page)
        .getByRole('button', { name: /status = failed/ })
        .click();
      await expect.poll(() => statusLine(page).innerText()).toBe('60 events in view · 100% of those above');
      await second(page).getByRole('button', { name: 'Hide the second filter' }).click();
      await second(page).waitFor({ state: 'detached' });
    });

  it('pans with the axis, and a click on its bars zooms both', async () => {
    const page = await on.loggedIn(`timeline?timeline=${name}&second=attribute.status%3Dfailed`);
    await expect.poll(() => statusLine(page).innerText()).toContain('15 events in view');
    const whole = await visibleTime(page);
    const box = (await second(page).boundingBox())!;
    await expect
      .poll(async () => {
        for (let part = 0.3; part < 0.7; part += 0.02)
          if ((await visibleTime(page)) === whole) await page.mouse.click(box.x + box.width * part, box.y + 92);
        return visibleTime(page);
      })
      .not.toBe(whole);
    await expect.poll(() => statusLine(page).innerText()).toMatch(/^[12] events? in view/);
    // The URL is updated once the view has settled.
    await expect.poll(() => param(page, 'center')).not.toBeNull();
    await page.reload();
    await expect.poll(() => statusLine(page).innerText()).toMatch(/^[12] events? in view/);
  });

  it('counts events recorded meanwhile, and fits every width', async () => {
    const page = await on.loggedIn(`timeline?timeline=${name}&attribute.status=failed&second=text%3Dlate`);
    await expect.poll(() => statusLine(page).innerText()).toContain('0 events in view');
    const late = {
      event_id: 'late',
      time: '2001-01-15T18:00:00Z',
      name: 'Late call',
      description: 'It is answered.',
    };
    await on.service.call('POST', `v1/events?timeline_id=${name}`, late);
    await expect.poll(() => statusLine(page).innerText()).toContain('1 event in view');
    await expectFits(page);
  });
});

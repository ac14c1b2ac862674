/** Page layout: nothing is cut off, and areas scroll only if their content overflows. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { axis, card, on, open, region, visibleTime } from './timeline-page';

/** Returns whether an element is entirely within another. */
async function isWithin(inner: Locator, outer: Locator): Promise<boolean> {
  const [a, b] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  if (a === null || b === null) return false;
  return a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
}

const beyond = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight);

it('the page does not grow when an event with many details is selected', async () => {
  const page = await open('&event=battle-of-actium-31-bce', { viewport: { width: 1440, height: 1101 } });
  await card(page).getByRole('heading').first().waitFor();
  await expect.poll(() => card(page).innerText()).toContain('Causes');
  expect(await region(page, 'Selected event').evaluate((side) => side.scrollHeight > side.clientHeight)).toBe(true);
  expect(await beyond(page)).toBe(0);
});

it('a tooltip is fully visible, also at the lower end of the axis', async () => {
  const page = await open('&most=40', { viewport: { width: 1440, height: 900 } });
  await page.getByRole('button', { name: /^events per/ }).waitFor();
  const tip = axis(page).locator('.tip > div');
  const canvas = axis(page).locator('canvas').first();
  const { x: left, y: top, width, height } = (await canvas.boundingBox())!;
  // Scans upward from the baseline of the bars along the highest one.
  let y = height - 8;
  await expect
    .poll(async () => {
      for (let x = width * 0.8; x < width * 0.95 && (await tip.count()) === 0; x += 7)
        await page.mouse.move(left + x, top + y);
      y = y > height * 0.4 ? y - 8 : height - 8;
      return tip.count();
    })
    .toBe(1);
  await expect.poll(() => isWithin(tip, axis(page))).toBe(true);
});

it('tables do not scroll horizontally because of hidden headings', async () => {
  const page = await on.loggedIn('timers?timeline=demo', { viewport: { width: 1440, height: 900 } });
  const table = page.locator('.table-scroll').first();
  await table.getByText('weekly-report').waitFor();
  expect(await table.evaluate((scrolled) => scrolled.scrollWidth - scrolled.clientWidth)).toBe(0);
});

it('the list shows the same range as the axis', async () => {
  const viewport = { width: 1440, height: 900 };
  const page = await open('', { viewport });
  const before = await visibleTime(page);
  await page.close();
  const list = await open('&view=list', { viewport });
  await expect.poll(() => visibleTime(list)).toBe(before);
  // The count is at the left, where the pager is in other lists.
  const panel = list.getByRole('region', { name: 'Axis', exact: true });
  const count = panel.getByText(/^493 events in view/);
  const [own, around] = await Promise.all([count.boundingBox(), panel.boundingBox()]);
  expect(own!.x - around!.x).toBeLessThan(around!.width / 3);
});

it('the current view and the hovered one differ in the dark scheme', async () => {
  const page = await open('', { colorScheme: 'dark' });
  const link = (name: string): Locator => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
  const ground = (of: Locator): Promise<string> => of.evaluate((one) => getComputedStyle(one).backgroundColor);
  const before = await ground(link('Timers'));
  await link('Timers').hover();
  expect(await ground(link('Timers'))).toBe(before);
  expect(await ground(link('Timeline'))).not.toBe(before);
});

it('all charts use the console’s font once it is loaded', async () => {
  const page = await on.loggedIn('login');
  let give = (): void => {};
  const released = new Promise<void>((there) => (give = there));
  await page.route(/inter-latin.*woff2/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${on.service.url}/#/timeline?timeline=demo`);
  // The page is not complete while a font is missing.
  await page.reload({ waitUntil: 'commit' });
  const strip = page.locator('.overview canvas');
  const drawn = (): Promise<string> => strip.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  await strip.waitFor();
  await page.waitForTimeout(1_500);
  const before = await drawn();
  give();
  await expect.poll(drawn).not.toBe(before);
});

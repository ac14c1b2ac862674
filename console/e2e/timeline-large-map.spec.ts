/** The map in place of the axis, with the overview strip to select the time range. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll, WIDTHS } from './harness';
import { axis, on, open, param, region, visibleTime } from './timeline-page';

const map = (page: Page): Locator => page.getByRole('application', { name: /^World map with/ });
const height = async (page: Page): Promise<number> => (await map(page).boundingBox())!.height;

it('the large map takes the place of the axis, and returns it', async () => {
  const page = await open();
  await map(page).waitFor();
  const small = await height(page);
  await region(page, 'Map').getByRole('button', { name: 'Large map' }).click();
  await axis(page).waitFor({ state: 'detached' });
  expect(param(page, 'view')).toBe('map');
  await expect.poll(() => height(page)).toBeGreaterThan(1.4 * small);
  // The panel next to it shows the selection.
  await region(page, 'In view').waitFor();
  await expectAccessible(page);
  // The link shows the same.
  await page.reload();
  await map(page).waitFor();
  await expect.poll(() => height(page)).toBeGreaterThan(1.4 * small);
  expect(await axis(page).count()).toBe(0);
  await region(page, 'Map').getByRole('button', { name: 'Large map' }).click();
  await axis(page).waitFor();
  expect(param(page, 'view')).toBeNull();
  await expect.poll(() => height(page)).toBeLessThan(1.1 * small);
});

it('the large map selects and plays time on the overview strip', async () => {
  const page = await on.loggedIn('timeline?timeline=demo&view=map');
  await map(page).waitFor();
  await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
  const before = await visibleTime(page);
  const strip = (await page.locator('.overview').boundingBox())!;
  await page.mouse.click(strip.x + strip.width * 0.1, strip.y + strip.height / 2);
  await expect.poll(() => visibleTime(page)).not.toBe(before);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Play this time' }).click();
  expect(param(page, 'view')).toBe('map');
  await page.getByRole('button', { name: 'Pause playback' }).waitFor();
});

it('the large map fits every width', async () => {
  const page = await on.loggedIn('timeline?timeline=demo&view=map');
  await map(page).waitFor();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    await expectNoSidewaysScroll(page);
    // Below the strip, and using the full width.
    const [strip, box] = [await page.locator('.overview').boundingBox(), await map(page).boundingBox()];
    expect(box!.y).toBeGreaterThan(strip!.y + strip!.height);
    expect(box!.y).toBeLessThan(844);
    expect(box!.width).toBeGreaterThan(width * 0.5);
  }
});

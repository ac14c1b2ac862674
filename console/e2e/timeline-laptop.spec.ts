/** The timeline in a laptop window: the selected event is in view. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './harness';
import { axis, card, open } from './timeline-page';

/** Returns how many pixels of an element are above or below the window. */
const hidden = (element: Locator): Promise<number> =>
  element.evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return Math.max(0, 60 - top) + Math.max(0, bottom - innerHeight);
  });

it('the card is next to the axis, and keeps title and close button while it scrolls', async () => {
  const page: Page = await open('&event=moon-landing-1969', { viewport: { width: 1366, height: 657 } });
  const title = card(page).getByRole('heading', { level: 2 });
  const close = card(page).getByRole('button', { name: 'Close the card' });
  await card(page).getByText('Recorded').first().waitFor();
  await expect.poll(() => hidden(title)).toBe(0);
  const gap = async (): Promise<number> => {
    const [left, right] = [await axis(page).boundingBox(), await card(page).boundingBox()];
    return right!.x - left!.x - left!.width;
  };
  await expect.poll(gap).toBeGreaterThanOrEqual(0);
  const side = page.getByRole('region', { name: 'Selected event' });
  // No more space above the title than at its left.
  const [panel, words] = [(await side.boundingBox())!, (await title.boundingBox())!];
  expect(words.y - panel.y).toBeLessThan(words.x - panel.x);
  await side.evaluate((one) => one.scrollTo(0, one.scrollHeight));
  await expect.poll(() => side.evaluate((one) => one.scrollTop)).toBeGreaterThan(0);
  for (const one of [title, close]) expect(await hidden(one)).toBe(0);
  await page.evaluate(() => scrollTo(0, 300));
  for (const one of [title, close]) await expect.poll(() => hidden(one)).toBe(0);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await close.click();
  await card(page).waitFor({ state: 'detached' });
});

it('most of a card is visible at 1440 by 900 pixels, and no button is covered', async () => {
  const page: Page = await open('&event=moon-landing-1969', { viewport: { width: 1440, height: 900 } });
  await card(page).getByRole('heading', { name: 'Attributes' }).waitFor();
  const side = page.getByRole('region', { name: 'Selected event' });
  const visibleShare = (): Promise<number> => side.evaluate((one) => one.clientHeight / one.scrollHeight);
  await expect.poll(visibleShare).toBeGreaterThan(0.75);
  expect(await hidden(side)).toBe(0);
  const button = (await page.getByRole('button', { name: 'Record an event' }).boundingBox())!;
  expect(button.x + button.width).toBeLessThanOrEqual((await side.boundingBox())!.x);
});

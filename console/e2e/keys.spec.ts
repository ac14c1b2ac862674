/** Keys pressed before their handlers are loaded: on a slow connection, or by a quick user. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { fresh } from './harness';
import { axis, card, counted, on, open, param, timeline } from './timeline-page';

/** Opens an empty page and holds back the files of one part, until the returned function is called. */
async function without(part: string): Promise<{ page: Page; comes: () => void }> {
  let comes = (): void => {};
  const isThere = new Promise<void>((done) => (comes = done));
  const page = await on.loggedIn('clock?timeline=demo');
  await page.goto('about:blank');
  await page.route(`**/assets/${part}-*.js`, async (route) => {
    await isThere;
    await route.continue();
  });
  return { page, comes };
}

describe('an early key press', () => {
  it('steps to an event as soon as the axis is loaded', async () => {
    const { page, comes } = await without('axis-keys');
    await page.goto(`${on.service.url}/#/timeline?timeline=demo`);
    await counted(page, '493 events');
    await axis(page).focus();
    await page.keyboard.press(']');
    // Nothing has happened yet, and the key press is not lost.
    await page.waitForTimeout(300);
    expect(param(page, 'event')).toBeNull();
    comes();
    await card(page).getByRole('heading').first().waitFor();
    expect(param(page, 'event')).not.toBeNull();
  });

  it('opens the keyboard help once, as soon as it is loaded', async () => {
    const { page, comes } = await without('page');
    await page.goto(`${on.service.url}/#/timers?timeline=demo`);
    await page.getByRole('heading', { name: 'Timers' }).first().waitFor();
    await page.keyboard.press('?');
    await page.keyboard.press('?');
    comes();
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    expect(await help.count()).toBe(1);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
  });
});

it('a key pressed while the palette closes opens it again', async () => {
  const page = await on.loggedIn('timers?timeline=demo');
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search or run a command' });
  await palette.getByRole('option').first().waitFor();
  await page.evaluate(async () => {
    document.querySelector<HTMLElement>('dialog [role="option"]')!.click();
    // The page has been updated, but the browser has not sent the `close` event of the dialog.
    await Promise.resolve();
    dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, cancelable: true }));
    await new Promise((done) => setTimeout(done, 100));
  });
  expect(await palette.isVisible()).toBe(true);
});

describe('steps between events', () => {
  it('start at the edge of the view, and report the end', async () => {
    const page = await open('&center=1969-07-18T12:00:00Z&zoom=500000000');
    const width = async (): Promise<number | undefined> => (await axis(page).boundingBox())?.width;
    const whole = await width();
    await axis(page).focus();
    await page.keyboard.press(']');
    await card(page).getByRole('heading', { name: 'Launch of Apollo 11' }).waitFor();
    await page.keyboard.press('Escape');
    // Until the card has closed, a step starts from its event, and the axis is narrower.
    await card(page).waitFor({ state: 'detached' });
    await expect.poll(width).toBe(whole);
    await axis(page).focus();
    await page.keyboard.press('[');
    await card(page).getByRole('heading', { name: 'First people land on the Moon' }).waitFor();
  });

  it('report that there is no event after the last', async () => {
    const name = fresh('two');
    const at = (day: string, title: string): Record<string, unknown> => ({
      event_id: title.toLowerCase(),
      time: `2001-01-${day}T12:00:00Z`,
      name: title,
      description: 'It is read.',
    });
    await timeline(name, at('01', 'First'), at('02', 'Second'));
    const page = await on.loggedIn(`timeline?timeline=${name}`);
    await counted(page, '2 events');
    await axis(page).focus();
    for (const heading of ['First', 'Second']) {
      await page.keyboard.press(']');
      await card(page).getByRole('heading', { name: heading }).waitFor();
    }
    await page.keyboard.press(']');
    await page.getByText('No event after this one.').waitFor();
    expect(param(page, 'event')).toBe('second');
  });
});

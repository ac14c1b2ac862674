/** The unit of a numeric attribute, which events do not contain: entered by the user and kept in the URL. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, fresh, expectFits } from './harness';
import { axis, card, on, param, region, timeline } from './timeline-page';

async function winds(): Promise<string> {
  const name = fresh('winds');
  await timeline(
    name,
    ...Array.from({ length: 40 }, (_, index) => ({
      event_id: `fix-${index}`,
      time: `2001-01-01T00:${String(index).padStart(2, '0')}:00Z`,
      name: `Fix ${index}`,
      actors: ['storm'],
      geo: { lat: 20.5, lon: -60.5 },
      attributes: { wind: 40 + index },
    })),
  );
  return name;
}

const values = (page: Page): ReturnType<typeof region> => region(page, 'Values of wind');

// With individual events, and with counts from the service.
for (const most of ['', '&most=5'])
  it(`a unit is shown with all numbers${most && ', also counted'}`, async () => {
    const name = await winds();
    const page = await on.loggedIn(`timeline?timeline=${name}&value=wind${most}`);
    await values(page)
      .getByText(/40 to 79, 59.5 on average/)
      .waitFor();
    await values(page).getByRole('button', { name: 'Add a unit for wind' }).click();
    await page.keyboard.type('kt');
    await page.keyboard.press('Enter');
    expect(param(page, 'units')).toBe('wind=kt');
    await values(page)
      .getByText(/40 to 79\skt, 59.5\skt on average/)
      .waitFor();
    await expectAccessible(page);
    // The tooltip finds a value near the center.
    const box = (await values(page).boundingBox())!;
    await expect
      .poll(async () => {
        for (let y = 34; y < 106; y += 8) {
          await page.mouse.move(box.x + box.width / 2, box.y + y);
          if (
            await values(page)
              .getByText(/^wind \d+( to \d+)?\skt/)
              .count()
          )
            return true;
        }
        return false;
      })
      .toBe(true);
    await page.reload();
    await values(page).getByRole('button', { name: 'Unit: wind in kt' }).click();
    // Escape discards the change. An empty text removes the unit.
    await page.keyboard.type('mph');
    await page.keyboard.press('Escape');
    await values(page)
      .getByText(/40 to 79\skt,/)
      .waitFor();
    await expectFits(page);
    await values(page).getByRole('button', { name: 'Unit: wind in kt' }).click();
    await page.keyboard.press('Delete');
    await page.keyboard.press('Enter');
    await expect.poll(() => param(page, 'units')).toBeNull();
  });

it('a unit is shown in legends, card, map and column header', async () => {
  const name = await winds();
  const page = await on.loggedIn(`timeline?timeline=${name}&by=attribute.wind&event=fix-7`);
  const colors = page.getByRole('list', { name: 'Colors by wind, counted in view' });
  await colors.getByText('40 to 44', { exact: true }).waitFor();
  await colors.getByRole('button', { name: 'Add a unit for wind' }).click();
  await page.keyboard.type('m/s');
  // Moving the focus elsewhere applies it too.
  await axis(page).focus();
  await colors.getByText(/^40 to 44\sm\/s$/).waitFor();
  await card(page)
    .getByRole('button', { name: /^47\sm\/s$/ })
    .waitFor();
  await page.goto(`${on.service.url}/#/timeline?timeline=${name}&value=wind&heat=mean&units=wind%3Dm/s`);
  await region(page, 'Map')
    .getByRole('img', { name: /^mean wind \(m\/s\) per/ })
    .waitFor();
  await page.goto(`${on.service.url}/#/timeline?timeline=${name}&view=list&cols=attribute.wind&units=wind%3Dm/s`);
  await page.getByRole('columnheader', { name: 'wind (m/s)' }).waitFor();
});

/** The heat layer of the map: the density of events and the values at each place. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { expectNoSidewaysScroll, fresh, expectAccessibleLightAndDark, WIDTHS } from './harness';
import { coloredPixels, on, open, overlap, param, region, timeline } from './timeline-page';

const layer = (page: Page): Locator => page.getByLabel('Layer of the map');
const legend = (page: Page, name: RegExp): Locator => region(page, 'Map').getByRole('img', { name });
describe('heat', () => {
  let name = '';
  beforeAll(async () => {
    name = fresh('storms');
    await timeline(
      name,
      ...Array.from({ length: 40 }, (_, index) => ({
        event_id: `fix-${index}`,
        time: `2001-01-01T00:${String(index).padStart(2, '0')}:00Z`,
        geo: { lat: index < 30 ? 20.5 : 41, lon: index < 30 ? -60.5 : -30 },
        attributes: { wind: index < 30 ? 40 + index : 100 },
      })),
    );
  });

  it('is selected instead of dots, kept in the URL, and labeled with numbers', async () => {
    const page = await open();
    await expect.poll(() => coloredPixels(page)).toBeGreaterThan(100);
    const before = await coloredPixels(page);
    await layer(page).selectOption('Heat map');
    expect(param(page, 'heat')).toBe('events');
    await legend(page, /^events per [\d,]+ km² · logarithmic: (\d[\d.,]*, ){2,}\d+$/).waitFor();
    await expect.poll(() => coloredPixels(page)).toBeGreaterThan(before * 2);
    await page.getByRole('application', { name: /^World map with 4\d\d events/ }).waitFor();
    await page.reload();
    await legend(page, /^events per/).waitFor();
    await expect.poll(() => coloredPixels(page)).toBeGreaterThan(before * 2);
    await layer(page).selectOption('Dots');
    expect(param(page, 'heat')).toBeNull();
    await legend(page, /^events per/).waitFor({ state: 'detached' });
    await expect.poll(() => coloredPixels(page)).toBe(before);
  });

  it('shows the number of events at a place, according to the filter', async () => {
    const page = await on.loggedIn(`timeline?timeline=${name}&heat=events&map=20.5,-60.5,4`);
    await legend(page, /^events per/).waitFor();
    const map = region(page, 'Map').locator('.map canvas');
    const tip = region(page, 'Map').getByText('30 events');
    await expect
      .poll(async () => {
        const { width, height } = (await map.boundingBox())!;
        await map.hover({ position: { x: width / 2, y: height / 2 } });
        return tip.count();
      })
      .toBe(1);
    await page.getByText(/^in this cell of [\d.]+°$/).waitFor();
    const words = (await legend(page, /^events per/).getAttribute('aria-label'))!;
    await page.goto(page.url().replace('&map=', '&attribute.wind=41&map='));
    await expect.poll(() => legend(page, /^events per/).getAttribute('aria-label')).not.toBe(words);
  });

  it('shows a numeric attribute', async () => {
    const page = await on.loggedIn(`timeline?timeline=${name}&value=wind`);
    await layer(page).selectOption('Highest wind');
    expect(param(page, 'heat')).toBe('highest');
    // 69 at one place and 100 at the other.
    await legend(page, /^highest wind per [\d.]+°: 60, 80, 100$/).waitFor();
    await layer(page).selectOption('Mean wind');
    await legend(page, /^mean wind per [\d.]+°: 40, 70, 100$/).waitFor();
    await page.getByRole('button', { name: 'Hide the values' }).click();
    await page.getByText('Choose an attribute under “Values” to show it here.').waitFor();
  });

  it('reports an unknown layer in a link', async () => {
    const page = await on.loggedIn('timeline?timeline=demo&heat=most', { prefetch: true });
    await page.getByText('“heat” must be one of events, mean, highest.').waitFor();
  });

  it('is accessible and fits every width, light and dark', async () => {
    const page = await open('&heat=events');
    await legend(page, /^events per/).waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await expectNoSidewaysScroll(page);
      // Neither the tools nor the legend overlap the data.
      const map = region(page, 'Map').getByRole('application');
      for (const control of [region(page, 'Map').locator('.tools'), legend(page, /^events per/)])
        await expect.poll(() => overlap(map, control), { message: `at ${width}` }).toBeLessThanOrEqual(1);
      const [around, own] = await Promise.all([
        region(page, 'Map').boundingBox(),
        region(page, 'Map').locator('.tools').boundingBox(),
      ]);
      expect(own!.x, `the tools at ${width}`).toBeGreaterThanOrEqual(around!.x);
    }
    await expectAccessibleLightAndDark(page);
  });
});

it('connects the events of each actor if selected', async () => {
  const name = fresh('tracks');
  const places = [-80, -60, -40].map((lon, day) => ({
    event_id: `e${day}`,
    time: `2005-08-0${day + 1}T00:00:00Z`,
    actors: ['Katrina'],
    geo: { lat: 20, lon },
  }));
  await timeline(name, ...places);
  const page = await on.loggedIn(`timeline?timeline=${name}`);
  await expect.poll(() => layer(page).inputValue()).toBe('');
  await layer(page).selectOption('Tracks');
  expect(param(page, 'tracks')).toBe('1');
  await page.reload();
  await expect.poll(() => layer(page).inputValue()).toBe('tracks');
  await layer(page).selectOption('Dots');
  expect(param(page, 'tracks')).toBeNull();
  // By actor, tracks are joined by default, unless the user selects dots.
  await page.goto(`${on.service.url}/#/timeline?timeline=${name}&by=actor`);
  await expect.poll(() => layer(page).inputValue()).toBe('tracks');
  await layer(page).selectOption('Dots');
  expect(param(page, 'tracks')).toBe('0');
  await expect.poll(() => layer(page).inputValue()).toBe('');
});

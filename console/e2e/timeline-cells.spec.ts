/** Map cells with event counts: the scale of their shades. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll, fresh, WIDTHS } from './harness';
import { on, overlap, param, region, timeline } from './timeline-page';

const scale = (page: Page): Locator => region(page, 'Map').getByLabel('Color scale of the cells');
const classes = (page: Page): Promise<string[]> => region(page, 'Map').locator('.classes .class').allInnerTexts();

/** Creates places with these numbers of events. */
async function places(counts = [1, 2, 8, 40]): Promise<string> {
  const name = fresh('cells');
  await timeline(
    name,
    ...counts.flatMap((count, place) =>
      Array.from({ length: count }, (_, index) => ({
        event_id: `e${place}-${index}`,
        time: `2001-01-01T00:${String(index).padStart(2, '0')}:00Z`,
        source: 'test',
        geo: { lat: 10 + place * 12, lon: -100 + place * 50 },
      })),
    ),
  );
  return name;
}

it('the legend shows the classes in use, for the selected scale', async () => {
  const page = await on.loggedIn(`timeline?timeline=${await places()}&most=5`);
  await expect.poll(() => classes(page)).toEqual(['1', '2–4', '5–9', '20–40']);
  await scale(page).selectOption('Linear');
  expect(param(page, 'shades')).toBe('linear');
  await expect.poll(() => classes(page)).toEqual(['1–9', '40']);
  await scale(page).selectOption('Quantiles');
  await expect.poll(() => classes(page)).toEqual(['1', '2–7', '8–39', '40']);
  await page.reload();
  await expect.poll(() => classes(page)).toEqual(['1', '2–7', '8–39', '40']);
  await expectAccessible(page);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    await expectNoSidewaysScroll(page);
    // They do not overlap.
    const map = region(page, 'Map').getByRole('application');
    const legend = region(page, 'Map').locator('.classes');
    await expect.poll(() => overlap(map, legend), { message: `at ${width}` }).toBeLessThanOrEqual(1);
  }
  await scale(page).selectOption('Automatic');
  expect(param(page, 'shades')).toBeNull();
  await expect.poll(() => classes(page)).toEqual(['1', '2–4', '5–9', '20–40']);
});

it('the legend does not overlap the map tools, and shows all classes and their attribute', async () => {
  const name = await places([1, 3, 15, 45, 59]);
  const page = await on.loggedIn(`timeline?timeline=${name}&most=5&shades=quantiles&by=source&value=height`);
  await expect.poll(() => classes(page)).toHaveLength(5);
  const legend = region(page, 'Map').locator('.classes');
  await legend.getByText('source', { exact: false }).waitFor();
  for (const width of WIDTHS)
    for (const height of [640, 900]) {
      await page.setViewportSize({ width, height });
      for (const tool of await region(page, 'Map').getByRole('button').all())
        await expect
          .poll(() => overlap(legend, tool), { message: `${await tool.innerText()} at ${width}` })
          .toBeLessThanOrEqual(0);
    }
});

it('an unknown scale in a link is reported', async () => {
  const page = await on.loggedIn('timeline?timeline=demo&shades=best', { prefetch: true });
  await page.getByText('“shades” must be one of linear, sqrt, log, quantiles.').waitFor();
});

it('the number of events without coordinates is shown, also after zooming in', async () => {
  const name = fresh('placeless');
  await timeline(
    name,
    ...Array.from({ length: 12 }, (_, index) => ({
      event_id: `e${index}`,
      time: `2001-01-01T00:${String(index).padStart(2, '0')}:00Z`,
      ...(index < 5 ? { geo: { lat: 40.7, lon: -73.9 } } : { location: 'Nowhere that is known' }),
    })),
  );
  const page = await on.loggedIn(`timeline?timeline=${name}&most=5`);
  await region(page, 'Map').getByText('7 events without known coordinates').waitFor();
  await page.getByRole('application', { name: 'World map with 5 events' }).waitFor();
});

it('a selected event without coordinates is labeled', async () => {
  const name = fresh('chosen');
  await timeline(
    name,
    ...Array.from({ length: 12 }, (_, index) => ({
      event_id: `e${index}`,
      time: `2001-01-01T00:${String(index).padStart(2, '0')}:00Z`,
      name: `Flight ${index}`,
      ...(index < 5 ? { geo: { lat: 40.7, lon: -73.9 } } : { location: 'Nowhere that is known' }),
    })),
  );
  const page = await on.loggedIn(`timeline?timeline=${name}&most=5&event=e7`);
  await region(page, 'Map').getByText('Flight 7 has no coordinates of its own').waitFor();
  await page.goto(`${on.service.url}/#/timeline?timeline=${name}&most=5&event=e2`);
  await region(page, 'Map').getByText('7 events without known coordinates').waitFor();
});

/** The contents of a selection compared with the other events in view, and how they become a filter. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible, fresh, expectUsable } from './harness';
import { axis, card, counted, drag, landing, launch, on, param, region, timeline } from './timeline-page';

const inside = (page: Page): Locator => region(page, 'Differences');
const facets = (page: Page): Promise<string[]> => inside(page).locator('h3').allInnerTexts();

/** Creates eight observations of a storm, followed by four of a hurricane. */
async function storms(): Promise<string> {
  const name = fresh('storms');
  await timeline(
    name,
    ...Array.from({ length: 12 }, (_, index) => ({
      event_id: `o${index}`,
      time: `2005-08-${String(10 + index)}T00:00:00Z`,
      name: `Observation ${index}`,
      description: 'One of many.',
      source: 'best track',
      location: index < 8 ? 'Bahamas' : 'Gulf of Mexico',
      geo: index < 8 ? { lat: 25, lon: -77 } : { lat: 27, lon: -90 },
      attributes: { status: index < 8 ? 'TS' : 'HU', wind: 30 + index * 10 },
    })),
  );
  return name;
}
const HURRICANE = '2005-08-17T12:00:00Z/2005-08-22T00:00:00Z';
/** A view with more events than the box. */
const ALL_IN_VIEW = 'center=2005-08-15T12:00:00Z&zoom=1500000000';

describe('a selected range', () => {
  it('shows what distinguishes its events, and makes it a filter', async () => {
    const name = await storms();
    const page = await on.loggedIn(`timeline?timeline=${name}&range=${HURRICANE}`);
    await counted(page, '12 events');
    await page.getByRole('button', { name: 'Differences' }).click();
    await inside(page)
      .getByText('Compares all 4 events in the selected time with all 8 events in view that are not selected.')
      .waitFor();
    expect(param(page, 'inside')).toBe('1');
    const found = await facets(page);
    expect(found.at(-1)).toBe('source');
    expect(found.filter((text) => text.includes('stands out'))).toHaveLength(3);
    const wind = inside(page).getByRole('region', { name: 'wind' });
    await wind.getByRole('row', { name: 'Mean 125 65' }).waitFor();
    await wind.getByRole('row', { name: 'Sum 500 520' }).waitFor();
    const status = inside(page).getByRole('region', { name: 'status' });
    await status.getByRole('row', { name: 'HU 100% 0%' }).waitFor();
    await expectAccessible(page);
    await status.getByRole('button', { name: 'HU' }).click();
    await counted(page, '4 events');
    expect(param(page, 'attribute.status')).toBe('HU');
    await inside(page).getByText('Nothing else is in view to compare them with.').waitFor();
    await page.goBack();
    await counted(page, '12 events');
  });

  it('uses counts from the service for many events', async () => {
    const name = await storms();
    const page = await on.loggedIn(`timeline?timeline=${name}&most=5&inside=1&range=${HURRICANE}`);
    await inside(page)
      .getByText('Compares all 4 events in the selected time with all 8 events in view that are not selected.')
      .waitFor();
    const status = inside(page).getByRole('region', { name: 'status' });
    await status.getByRole('row', { name: 'HU 100% 0%' }).waitFor();
    await status.getByRole('row', { name: 'TS 0% 100%' }).waitFor();
    await inside(page).getByRole('region', { name: 'wind' }).getByRole('row', { name: 'Sum 500 520' }).waitFor();
    await status.getByRole('button', { name: 'TS' }).click();
    await counted(page, '8 events');
  });

  it('is counted exactly once it has settled, if bars extend beyond it', async () => {
    const name = await storms();
    // On a scale of more than a hundred years, a bar is longer than a day.
    await on.service.call('POST', `v1/events?timeline_id=${name}`, {
      event_id: 'galveston',
      time: '1900-09-08T00:00:00Z',
      name: 'Galveston',
      description: 'Long before.',
    });
    const bars = 'center=2005-08-15T12:00:00Z&zoom=20000000000';
    const page = await on.loggedIn(`timeline?timeline=${name}&most=5&range=${HURRICANE}&${bars}`);
    const facts = region(page, 'In view').locator('.facts');
    await facts.getByText('4 events', { exact: true }).waitFor();
    // From one bar into another, with none of the storm's other days.
    const part = '2005-08-09T00:00:00Z/2005-08-11T12:00:00Z';
    await page.goto(`${on.service.url}/#/timeline?timeline=${name}&most=5&range=${part}&${bars}`);
    await facts.getByText('2 events', { exact: true }).waitFor();
    // Events recorded later are counted.
    await on.service.call('POST', `v1/events?timeline_id=${name}`, {
      event_id: 'late',
      time: '2005-08-10T12:00:00Z',
      name: 'Late report',
      description: 'Told afterwards.',
    });
    await facts.getByText('3 events', { exact: true }).waitFor();
  });

  it('is requested once, and not while it changes', async () => {
    const name = await storms();
    await on.service.call('POST', `v1/events?timeline_id=${name}`, {
      event_id: 'galveston',
      time: '1900-09-08T00:00:00Z',
      name: 'Galveston',
      description: 'Long before.',
    });
    const bars = 'center=2005-08-15T12:00:00Z&zoom=20000000000';
    const page = await on.loggedIn(`timeline?timeline=${name}&most=5&${bars}`);
    await counted(page, '12 in view, 13 events');
    const requests: string[] = [];
    page.on('request', (request) => {
      const query = new URL(request.url()).searchParams;
      if (query.get('bucket') === '1') requests.push(query.get('time_range') ?? '');
    });
    await page.getByRole('button', { name: 'Select time', exact: true }).click();
    // Both ends are within days that have one event each.
    await drag(page, axis(page), { x: 40, y: 0 }, { x: -20, y: 0 });
    await region(page, 'In view').getByRole('heading', { name: 'In the selected time' }).waitFor();
    await region(page, 'In view')
      .locator('.facts')
      .getByText(/^\d+ events?$/)
      .waitFor();
    // Returning to the same range uses the cached counts.
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await region(page, 'In view')
      .locator('.facts')
      .getByText(/^\d+ events?$/)
      .waitFor();
    expect(requests).toHaveLength(1);
  });

  it('within a box on the map is compared with other places', async () => {
    const name = await storms();
    const page = await on.loggedIn(`timeline?timeline=${name}&box=-95,20,-85,30&${ALL_IN_VIEW}`);
    await counted(page, '4 events in the box');
    await page.getByRole('button', { name: 'Differences' }).click();
    await inside(page)
      .getByText('Compares all 4 events in the box with all 8 events elsewhere at the same time.')
      .waitFor();
    const status = inside(page).getByRole('region', { name: 'status' });
    await status.getByRole('row', { name: 'HU 100% 0%' }).waitFor();
    await inside(page)
      .getByRole('region', { name: 'source' })
      .getByRole('row', { name: 'best track 100% 100%' })
      .waitFor();
    await expectAccessible(page);
  });

  it('fits every width, light and dark', async () => {
    const name = await storms();
    const page = await on.loggedIn(`timeline?timeline=${name}&inside=1&range=${HURRICANE}`);
    await inside(page).getByText('Compares all 4 events').waitFor();
    await expectUsable(page);
  });
});

it('shows the same for events selected in the list', async () => {
  const name = await storms();
  await on.service.call('POST', `v1/events?timeline_id=${name}`, {
    event_id: 'warning',
    time: '2005-08-12T00:00:00Z',
    name: 'A warning',
    description: 'For the Gulf of Mexico, from an office far away.',
  });
  const page = await on.loggedIn(`timeline?timeline=${name}&view=list`);
  for (const index of [8, 9]) await page.getByRole('checkbox', { name: `Select Observation ${index}` }).check();
  await page.getByRole('button', { name: 'Differences' }).click();
  const dialog = page.getByRole('dialog', { name: 'Differences of 2 events' });
  await dialog.getByText('Compares all 2 events selected with all 11 events in view that are not selected.').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Gulf of Mexico' }).click();
  await dialog.waitFor({ state: 'detached' });
  // By the name of the place, not by text: events that only mention it are left out.
  expect([param(page, 'place'), param(page, 'text')]).toEqual(['Gulf of Mexico', null]);
  await counted(page, '4 events');
  await page.getByRole('button', { name: /^place: Gulf of Mexico/ }).click();
  await counted(page, '13 events');
});

it('clears the box on the map when a place is selected by name', async () => {
  await timeline('at-places', { ...launch }, { ...landing, location: 'Tranquility Base' });
  const page = await on.loggedIn('timeline?timeline=at-places&event=launch&box=-90,20,-70,40');
  await counted(page, '1 event in the box');
  await card(page).getByRole('button', { name: 'Cape Canaveral' }).click();
  await counted(page, '1 event');
  await expect.poll(() => [param(page, 'place'), param(page, 'box')]).toEqual(['Cape Canaveral', null]);
  await expectAccessible(page);
  await page.reload();
  await page.getByRole('button', { name: /^place: Cape Canaveral/ }).waitFor();
  await counted(page, '1 event');
  await page.getByRole('button', { name: /^place: Cape Canaveral/ }).click();
  await counted(page, '2 events');
  expect(param(page, 'place')).toBeNull();
});

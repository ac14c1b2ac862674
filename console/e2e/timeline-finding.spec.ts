/** Finding events of the timeline: map, search and list, for all users. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { REFUSED, expectAccessible, fresh, expectFits, expectAccessibleLightAndDark } from './harness';
import { on, region, axis, card, param, counted, open, timeline, launch, landing, drag } from './timeline-page';

describe('the map', () => {
  it('selects a box, and clears it', async () => {
    const page = await open();
    const map = page.getByRole('application', { name: /^World map with 4\d\d events/ });
    await map.waitFor();
    await page.getByRole('button', { name: 'Select area', exact: true }).click();
    await drag(page, map, { x: 110, y: 70 }, { x: -30, y: -90 });
    await region(page, 'Axis')
      .getByText(/^\d+ events in the box$/)
      .waitFor();
    await expect.poll(() => param(page, 'box')).toMatch(/^-?\d.*,.*,.*,.*\d$/);
    await page.reload();
    await region(page, 'Axis')
      .getByText(/^\d+ events in the box$/)
      .waitFor();
    await page.getByRole('button', { name: 'Remove the box' }).click();
    await counted(page, '493 events');
  });

  it('selects the clicked event, and the axis follows', async () => {
    await timeline('pole', launch, {
      ...landing,
      event_id: 'far',
      name: 'Far',
      time: '2020-01-01T00:00:00Z',
      geo: { lat: 0, lon: 0 },
    });
    const page = await on.loggedIn('timeline?timeline=pole');
    await counted(page, '2 events');
    const map = page.getByRole('application', {
      name: 'World map with 2 events; arrow keys move, plus and minus zoom',
    });
    // At the center of the world.
    await map.focus();
    await page.keyboard.press('Home');
    await map.click();
    await card(page).getByRole('heading', { name: 'Far' }).waitFor();
    await page.getByRole('button', { name: 'Zoom the map in' }).click();
    await map.focus();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Zoom the map out' }).and(page.locator(':disabled')).waitFor();
  });
});

describe('a dot of several events', () => {
  it('shows their number, and a click lists them all', async () => {
    const name = fresh('pile');
    const at = (event_id: string, year: number): Record<string, unknown> => ({
      ...landing,
      causes: undefined,
      event_id,
      name: `Visit ${event_id}`,
      time: `${year}-01-01T00:00:00Z`,
      geo: { lat: 0, lon: 0 },
    });
    const visits = Array.from({ length: 9 }, (_, index) => at(`no-${index + 1}`, 1990 + index));
    await timeline(name, launch, ...visits);
    const page = await on.loggedIn(`timeline?timeline=${name}`);
    const map = page.getByRole('application', { name: /^World map with 10 events/ });
    await map.waitFor();
    // Moving the pointer over it shows the tooltip too.
    await map.hover();
    await map.focus();
    await page.keyboard.press('Home');
    await region(page, 'Map').getByText('9 events here').waitFor();
    await map.click();
    const list = page.getByRole('menu', { name: '9 events here' });
    await list.waitFor();
    await expect.poll(() => list.getByRole('menuitem').count()).toBe(8);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await card(page).getByRole('heading', { name: 'Visit no-2' }).waitFor();
    await expect.poll(() => list.count()).toBe(0);
    // The others are listed for this place.
    await map.click();
    await list.getByRole('menuitem', { name: 'and 2 more, as a list' }).click();
    await region(page, 'Events on the axis').getByRole('button', { name: 'Visit no-9' }).waitFor();
    await expect.poll(() => region(page, 'Events on the axis').getByRole('row').count()).toBe(10);
    expect(param(page, 'box')).toBe('-0.02,-0.02,0.02,0.02');
  });
});

describe('the map position', () => {
  it('follows a drag in each frame', async () => {
    const page = await open();
    const map = page.getByRole('application', { name: /^World map with 4\d\d events/ });
    await map.waitFor();
    await map.focus();
    await page.keyboard.press('+');
    const { x, y, width, height } = (await map.boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    const painted = await map.locator('canvas').evaluate(async (canvas: HTMLCanvasElement) => {
      const context = canvas.getContext('2d')!;
      let count = 0;
      context.clearRect = (...part) => {
        count += 1;
        CanvasRenderingContext2D.prototype.clearRect.apply(context, part);
      };
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      for (let step = 1; step <= 20; step += 1) {
        canvas.dispatchEvent(
          new PointerEvent('pointermove', { pointerId: 1, clientX: x + 9 * (step % 2), clientY: y }),
        );
        // A pointer moves between frames.
        await new Promise((moved) => requestAnimationFrame(() => setTimeout(moved)));
      }
      return count;
    });
    await page.mouse.up();
    expect(painted).toBeGreaterThanOrEqual(19);
  });

  it('fits the events in view until the user moves the map', async () => {
    const name = fresh('parts');
    const at = (event_id: string, time: string, lat: number, lon: number): Record<string, unknown> => ({
      event_id,
      time,
      name: `Event ${event_id}`,
      description: 'It happens.',
      geo: { lat, lon },
    });
    await timeline(
      name,
      at('east', '2001-01-01T00:00:00Z', 35, 139),
      at('west', '2001-02-01T00:00:00Z', 47, -122),
      at('rome', '2005-01-01T00:00:00Z', 41.9, 12.5),
      at('milan', '2005-01-02T00:00:00Z', 45.5, 9.2),
    );
    const page = await on.loggedIn(`timeline?timeline=${name}&center=2005-01-01T12:00:00Z&zoom=300000000`);
    const map = page.getByRole('application', { name: /^World map with 2 events/ });
    await map.waitFor();
    // Zoomed in far enough to separate the two. The automatic position is not in the URL.
    await page.getByRole('button', { name: 'Zoom the map out' }).and(page.locator(':enabled')).waitFor();
    expect(param(page, 'map')).toBeNull();
    await axis(page).focus();
    await page.keyboard.press('Home');
    await page.getByRole('application', { name: /^World map with 4 events/ }).waitFor();
    await page.getByRole('button', { name: 'Zoom the map out' }).and(page.locator(':disabled')).waitFor();
    await page.getByRole('button', { name: 'Zoom the map in' }).click();
    await expect.poll(() => param(page, 'map')).toMatch(/,1[.]8$/);
    const chosen = param(page, 'map') ?? '';
    await page.goto(
      `${on.service.url}/#/timeline?timeline=${name}&center=2005-01-01T12:00:00Z&zoom=300000000&map=${chosen}`,
    );
    await map.waitFor();
    await page.getByRole('button', { name: 'Zoom the map out' }).click();
    await expect.poll(() => param(page, 'map')).toMatch(/,1$/);
  });

  it('is in the URL once the user has chosen it', async () => {
    const page = await open();
    await page.getByRole('application', { name: /^World map with 4\d\d events/ }).waitFor();
    expect(param(page, 'map')).toBeNull();
    await page.getByRole('button', { name: 'Zoom the map in' }).click();
    await expect.poll(() => param(page, 'map')).toMatch(/,1[.]8$/);
    await page.getByRole('button', { name: 'Zoom the map in' }).click();
    await expect.poll(() => param(page, 'map')).toMatch(/,3[.]24$/);
    const there = param(page, 'map')!;
    await page.reload();
    await counted(page, '493 events');
    await page.getByRole('button', { name: 'Zoom the map out' }).click();
    await expect.poll(() => param(page, 'map')).toBe(there.replace(/,3[.]24$/, ',1.8'));
  });
});

describe('the search', () => {
  it('opens with its key even before it is loaded', async () => {
    const page = await open();
    const search = page.getByRole('combobox', { name: /^Find events/ });
    await search.waitFor();
    await page.route('**/assets/Bar-*.js', async (file) => {
      await sleep(1_000);
      await file.continue();
    });
    await page.reload();
    await axis(page).waitFor();
    await page.keyboard.press('/');
    expect(await search.count()).toBe(0);
    await expect.poll(() => search.evaluate((field) => field === document.activeElement)).toBe(true);
  });

  it('finds events while typing, by keyboard only, and keeps the query in the URL', async () => {
    const page = await open();
    await page.keyboard.press('/');
    // The search loads after the axis, and receives only what is typed from then on.
    await page.getByRole('combobox', { name: /^Find events/ }).waitFor();
    await page.keyboard.type('land moon');
    const list = page.getByRole('listbox', { name: 'Events found' });
    await list.getByRole('option', { name: /First people land on the Moon/ }).waitFor();
    expect(param(page, 'q')).toBe('land moon');
    while (!(await list.getByRole('option', { selected: true }).innerText()).startsWith('First people'))
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await card(page).getByRole('heading', { name: 'First people land on the Moon' }).waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    expect(param(page, 'q')).toBeNull();
  });

  it('finds events by place, even if no text contains its name', async () => {
    const page = await open();
    const field = page.getByRole('combobox', { name: /^Find events/ });
    await field.fill('Normandy');
    await page.getByRole('option', { name: /D-Day/ }).waitFor();
    await page.getByText('In or near Normandy, France').waitFor();
    await page.getByRole('option', { name: /Execution of Joan of Arc/ }).waitFor();
    // A typo that does not match any text.
    await field.fill('Istambul');
    await page.getByText('No text matches. Events at this place:').waitFor();
    await page
      .getByRole('option', { name: /Hagia Sophia/ })
      .first()
      .waitFor();
    await field.fill('no such thing anywhere');
    await page.getByText('No event has all of these words').waitFor();
  });

  it('finds a place without events, and moves the map there', async () => {
    const name = fresh('no-cold');
    await timeline(name, launch);
    const page = await on.loggedIn(`timeline?timeline=${name}`);
    const field = page.getByRole('combobox', { name: /^Find events/ });
    await field.fill('Reykjavik');
    const place = page.getByRole('option', { name: /^Reykjavík.*No events there; show it on the map/ });
    await place.waitFor();
    await field.press('Enter');
    await expect.poll(() => param(page, 'map')).toMatch(/^64[.]1\d*,-21[.]9?\d*,14$/);
    await page.getByRole('button', { name: 'Zoom the map out' }).and(page.locator(':enabled')).waitFor();
    // Cape Canaveral is in Florida. The event is found by its place, so the place has no entry of its own.
    await field.fill('Cape Canaveral');
    await page.getByRole('option', { name: /Launch/ }).waitFor();
    await expect.poll(() => page.getByRole('option', { name: /show it on the map/ }).count()).toBe(0);
  });
});

describe('the list', () => {
  it('contains all events of the canvas, and is virtualized', async () => {
    const page = await open('&view=list');
    const list = region(page, 'Events on the axis');
    await list.getByRole('button', { name: 'Gonghe regency begins' }).waitFor();
    await expect.poll(() => list.getByRole('table').getAttribute('aria-rowcount')).toBe('494');
    await expect.poll(() => list.getByRole('row').count()).toBeLessThan(120);
    await list.getByRole('button', { name: 'Gonghe regency begins' }).focus();
    await page.keyboard.press('End');
    const last = list.locator('tr[data-row="492"]').getByRole('button');
    const name = await last.innerText();
    await last.click();
    await card(page).getByRole('heading', { name }).waitFor();
  });
});

describe('every user', () => {
  it('gets a timeline without serious axe violations', async () => {
    const page = await open('&event=destruction-of-carthage-146-bce');
    await card(page).getByRole('list', { name: 'Causes' }).waitFor();
    await expectAccessibleLightAndDark(page);
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByRole('button', { name: 'Close the card' }).click();
    await page.getByRole('button', { name: 'Gonghe regency begins' }).waitFor();
    await expectAccessibleLightAndDark(page);
    await page.getByRole('button', { name: 'Record an event' }).click();
    await page.getByRole('dialog', { name: 'Record an event' }).waitFor();
    await expectAccessibleLightAndDark(page);
  });

  it('gets a timeline that fits every width, with and without a card', async () => {
    const page = await open();
    await expectFits(page);
    await axis(page).focus();
    await page.keyboard.press(']');
    await card(page).getByRole('heading').first().waitFor();
    await expectFits(page);
  });
});

it('changes many events at once, sees which were rejected and why, and can undo it', async () => {
  const at = (minute: number): string => `2020-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
  await on.service.timeline(
    'bulk',
    { event_id: 'cause', time: at(0), name: 'Cause', description: 'x' },
    { event_id: 'effect', time: at(1), name: 'Effect', description: 'x', causes: ['cause'] },
    { event_id: 'lone', time: at(2), name: 'Lone', description: 'x', attributes: { wind: 7 } },
    { event_id: 'kept', time: at(3), name: 'Kept', description: 'x' },
  );
  await on.service.call('POST', 'v1/pause-time', { timeline_id: 'bulk' });
  const page = await on.loggedIn('timeline?timeline=bulk&view=list', { expected: REFUSED });
  const bar = page.getByRole('toolbar', { name: 'Selected events' });
  await page.getByRole('checkbox', { name: 'Select Lone' }).check();
  await bar.getByText('1 event selected').waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    bar.getByRole('button', { name: 'Save as NDJSON' }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe('bulk-selected.ndjson');
  expect(JSON.parse(readFileSync(await saved.path(), 'utf8'))).toMatchObject({
    event_id: 'lone',
    attributes: { wind: 7 },
  });
  // From Lone to Cause, in the order of the table.
  await page.getByRole('checkbox', { name: 'Select Cause' }).click({ modifiers: ['Shift'] });
  await bar.getByText('3 events selected').waitFor();
  await page.getByRole('checkbox', { name: 'Select Effect' }).uncheck();
  await expectAccessible(page);
  await bar.getByRole('button', { name: 'Change…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change 2 events' });
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel 2 events' }).click();
  await dialog.getByText('1 of 2 events canceled, 1 rejected.').waitFor();
  await dialog.getByRole('list', { name: 'Rejected' }).getByText('Cause', { exact: true }).waitFor();
  await expectAccessible(page);
  await counted(page, '3 events');
  // Events with errors are still selected, and the successful changes can be undone.
  await dialog.getByRole('button', { name: 'Undo…' }).click();
  const anchor = page.getByRole('dialog', { name: 'Before: Cancel 2 events' });
  await anchor.getByRole('radio', { name: /the clock, events and timers/ }).check();
  await anchor.getByRole('button', { name: 'Return with all events' }).click();
  await counted(page, '4 events');
  await bar.getByText('1 event selected').waitFor();
  await bar.getByRole('button', { name: 'Clear' }).click();
  await bar.waitFor({ state: 'detached' });
});

it('postpones many events on a what-if fork, without changing the timeline', async () => {
  const events = Array.from({ length: 60 }, (_, day) => ({
    event_id: `run-${day}`,
    time: new Date(Date.UTC(2021, 0, 1 + day, 9, 30)).toISOString(),
    name: `Run ${day}`,
    description: 'x',
    ...(day > 0 && day < 40 ? { causes: [`run-${day - 1}`] } : {}),
  }));
  await on.service.timeline('runs', ...events);
  // More events than are drawn individually, so that the list has pages.
  const page = await on.loggedIn('timeline?timeline=runs&view=list&most=55');
  await page.getByText('1 to 50 of 60 events in view').waitFor();
  const bar = page.getByRole('toolbar', { name: 'Selected events' });
  await page.getByRole('checkbox', { name: 'Select Run 0' }).check();
  await bar.getByRole('button', { name: 'Select all 60 that match' }).click();
  await bar.getByText('60 events selected').waitFor();
  await bar.getByRole('button', { name: 'Change…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change 60 events' });
  await dialog.getByText('Postpone', { exact: true }).click();
  await dialog.getByLabel('By how much').fill('2');
  await dialog.getByText(/unit/).waitFor();
  await dialog.getByLabel('By how much').fill('12h');
  await dialog.getByRole('radio', { name: /As a What-if/ }).check();
  await dialog.getByRole('button', { name: 'Postpone 60 events by 12h' }).click();
  // Events are processed after those they require, in reverse order, so no paradox occurs in between.
  await dialog.getByText('60 of 60 events postponed on runs-what-if.').waitFor();
  await dialog.getByRole('button', { name: 'Compare with runs' }).click();
  await page.getByRole('button', { name: '60 changed' }).waitFor();
  await page.goto(`${on.service.url}/#/timeline?timeline=runs&view=list`);
  await page.getByRole('row', { name: /09:30.* Run 0/ }).waitFor();
});

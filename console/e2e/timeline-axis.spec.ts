/** The axis of the timeline and its requests. */
import { describe, expect, it } from 'vitest';
import { parse } from '../src/lib/time/instant';
import { REFUSED, expectAccessible, expectNoSidewaysScroll } from './harness';
import {
  on,
  LANDING,
  region,
  axis,
  card,
  param,
  counted,
  visibleTime,
  open,
  timeline,
  launch,
  drag,
  touch,
} from './timeline-page';

describe('the axis', () => {
  it('is drawn from its counts while the console is loading', async () => {
    const page = await open();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/assets/*.js', async (route) => {
      if (!/\/first-[^/]*$/.test(route.request().url())) await held;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    const picture = page.locator('#first-picture');
    await picture.getByText('493 events', { exact: true }).waitFor();
    await picture.getByText('841 BCE', { exact: true }).waitFor();
    await expect.poll(() => picture.locator('rect').count()).toBeGreaterThan(20);
    release();
    await counted(page, '493 events');
    await expect.poll(() => picture.count()).toBe(0);
  });

  it('is drawn from partial counts of many events, and from those that follow', async () => {
    const page = await open();
    const requests: string[] = [];
    let next = (): void => {};
    const held = new Promise<void>((resolve) => (next = resolve));
    // A response counts up to a million events. This one is partial.
    const group = (year: string, until: string, count: number) => ({
      key: `${year}-01-01T00:00:00Z`,
      end: `${until}-01-01T00:00:00Z`,
      count,
    });
    await page.route('**/v1/aggregate-events?*bucket=100*', async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      requests.push(cursor ?? 'none');
      if (cursor !== null) await held;
      await route.fulfill({
        json:
          cursor === null
            ? { groups: [group('-000840', '-000830', 90), group('0900', '0910', 10)], count: 100, next_cursor: 'more' }
            : { groups: [group('1500', '1510', 300), group('2020', '2030', 93)], count: 393 },
      });
    });
    await page.route('**/assets/*.js', async (route) => {
      if (/\/first-[^/]*$/.test(route.request().url())) await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    const picture = page.locator('#first-picture');
    await picture.getByText('100 events so far', { exact: true }).waitFor();
    await picture.getByText('841 BCE', { exact: true }).waitFor();
    // The time of the last event, whether counted or not.
    await picture.getByText(/^20\d\d$/).waitFor();
    // Two bars and the part that is not counted.
    expect(await picture.locator('rect').count()).toBe(3);
    next();
    await picture.getByText('493 events', { exact: true }).waitFor();
    expect(await picture.locator('rect').count()).toBe(4);
    expect(requests).toEqual(['none', 'more']);
  });

  it('shows all events, and moves by dragging, wheel, buttons and keys', async () => {
    const page = await open();
    const whole = await visibleTime(page);
    expect(whole).toMatch(/BCE – 2\d\d\d$/);
    await drag(page, axis(page), { x: -200, y: 0 });
    const dragged = await visibleTime(page);
    expect(dragged).not.toBe(whole);
    await expect.poll(() => param(page, 'center')).not.toBeNull();

    await page.mouse.wheel(0, -1_200);
    await expect.poll(() => visibleTime(page)).not.toBe(dragged);
    const near = await visibleTime(page);
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
    expect(await visibleTime(page)).not.toBe(near);
    await page.getByRole('button', { name: 'Zoom out', exact: true }).click();
    expect(await visibleTime(page)).toBe(near);

    await axis(page).focus();
    await page.keyboard.press('ArrowRight');
    expect(await visibleTime(page)).not.toBe(near);
    // The keys of Perfetto do the same.
    await page.keyboard.press('a');
    expect(await visibleTime(page)).toBe(near);
    await page.keyboard.press('w');
    expect(await visibleTime(page)).not.toBe(near);
    await page.keyboard.press('s');
    expect(await visibleTime(page)).toBe(near);
    await page.keyboard.press('Home');
    expect(await visibleTime(page)).toBe(whole);
  });

  it('handles letter keys everywhere except in fields and on the map', async () => {
    const page = await open();
    const whole = await visibleTime(page);
    await expect
      .poll(async () => {
        await page.keyboard.press('w');
        return visibleTime(page);
      })
      .not.toBe(whole);
    await page.keyboard.press('Home');
    expect(await visibleTime(page)).toBe(whole);
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
    const near = await visibleTime(page);
    await page.keyboard.press('d');
    expect(await visibleTime(page)).not.toBe(near);
    await page.keyboard.press('a');
    expect(await visibleTime(page)).toBe(near);
    await page.keyboard.press('/');
    await page.keyboard.type('wasd');
    expect(await visibleTime(page)).toBe(near);
    await region(page, 'Map').getByRole('application').focus();
    await page.keyboard.press('w');
    expect(await visibleTime(page)).toBe(near);
  });

  it('zooms from the whole calendar to microseconds, and returns to the clock', async () => {
    await timeline('whole', launch);
    await on.service.call('POST', 'v1/travel', { timeline_id: 'whole', destination_time: '1969-07-16T00:00:00Z' });
    const page = await on.loggedIn(`timeline?timeline=whole&center=${LANDING}&zoom=0.05`);
    await counted(page, '1 event');
    expect(await visibleTime(page)).toMatch(/^20 July 1969, 20:17:39\.9999\d\d – 20:17:40\.0000\d\d$/);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    expect(await visibleTime(page)).toMatch(/^16 July 1969/);
    await axis(page).focus();
    for (let press = 0; press < 90; press += 1) await page.keyboard.press('-');
    expect(await visibleTime(page)).toMatch(/^10000 BCE – 9999$/);
  });

  it('follows two fingers and keeps the times below them', async () => {
    const hour = 3_600_000_000;
    const page = await open(`&center=1969-07-20T00:00:00Z&zoom=${8 * hour}`, { hasTouch: true });
    const box = (await axis(page).boundingBox())!;
    const y = box.y + box.height / 3;
    const left = box.x + box.width / 4;
    const places = (...xs: number[]): { x: number; y: number }[] => xs.map((x) => ({ x: left + x, y }));
    const pixel = (): number => Number(param(page, 'zoom'));
    /** Returns the time at this many pixels right of the first quarter, in microseconds. */
    const timeAt = (x: number): number =>
      Number(parse(param(page, 'center')!)! - parse('1969-07-20T00:00:00Z')!) + (x - box.width / 4) * pixel();
    const between = timeAt(0);
    // The URL contains the center with pixel precision.
    const expectBetween = (x: number): void => expect(Math.abs(timeAt(x) - between) / pixel()).toBeLessThan(1.1);

    await touch(page, places(-40, -60, -80), places(40, 60, 80));
    await expect.poll(() => pixel() / hour).toBeCloseTo(4, 3);
    expectBetween(0);

    // First both to the right, then closer together.
    await touch(page, places(-80, 0, 60, 80), places(80, 160, 220, 120));
    await expect.poll(() => pixel() / hour).toBeCloseTo(16, 3);
    expectBetween(100);
    expect(param(page, 'event')).toBeNull();
  });

  it('selects the clicked event, and steps between events with keys', async () => {
    const page = await open(`&center=${LANDING}&zoom=100000000`);
    const box = (await axis(page).boundingBox())!;
    // A click updates the URL at once, and the card later.
    const isChosen = (): Promise<boolean> => page.evaluate(() => location.hash.includes('event='));
    // The label is to the right of its moment, below the line, whose position depends on the height.
    await expect
      .poll(async () => {
        for (let y = box.height * 0.3; y < box.height && !(await isChosen()); y += 10)
          await page.mouse.click(box.x + box.width / 2 + 30, box.y + y);
        return isChosen();
      })
      .toBe(true);
    await card(page).getByRole('heading', { name: 'First people land on the Moon' }).waitFor();

    await axis(page).focus();
    await page.keyboard.press('[');
    await card(page).getByRole('heading', { name: 'Launch of Apollo 11' }).waitFor();
    await page.keyboard.press(']');
    const heading = card(page).getByRole('heading', { name: 'First people land on the Moon' });
    await heading.waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => heading.evaluate((element) => element === document.activeElement)).toBe(true);
    // The focus returns to the axis.
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'In view' }).waitFor();
    expect(param(page, 'event')).toBeNull();
    await expect.poll(() => axis(page).evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('lists the events under a click if there are several, by mouse, keys and touch', async () => {
    const times = (count: number, year: number): Record<string, unknown>[] =>
      Array.from({ length: count }, (_, index) => ({
        event_id: `y${year}-${index + 1}`,
        time: `${year}-01-01T12:00:00Z`,
        name: `Reading ${index + 1} of ${year}`,
        description: 'Measured.',
      }));
    await timeline('crowd', ...times(11, 2001), ...times(40, 2002));
    const at = (year: number): string => `timeline?timeline=crowd&center=${year}-01-01T12:00:00Z&zoom=60000000`;
    // In a window of this height, the card does not take space from the axis.
    const page = await on.loggedIn(at(2001), { hasTouch: true, viewport: { width: 1280, height: 1101 } });
    await counted(page, '51 events');
    const menu = page.getByRole('menu', { name: '11 events here' });
    const LISTED_MAX_MS = 700;
    /** Finds the stack of events on the line, whose position depends on the height. */
    const find = async (list = menu): Promise<{ x: number; y: number }> => {
      const box = (await axis(page).boundingBox())!;
      const x = box.x + box.width / 2;
      const top = box.y + box.height * 0.3;
      let y = top;
      // The list opens with a delay after the click.
      const isListed = async (): Promise<boolean> => {
        await page.mouse.click(x, y);
        return list.waitFor({ timeout: LISTED_MAX_MS }).then(
          () => true,
          () => false,
        );
      };
      await expect
        .poll(async () => {
          const isFound = await isListed();
          if (!isFound) y = y + 8 < box.y + box.height ? y + 8 : top;
          return isFound;
        })
        .toBe(true);
      return { x, y };
    };
    const { x, y } = await find();
    expect(param(page, 'event')).toBeNull();
    const items = menu.getByRole('menuitem');
    await expect.poll(() => items.count()).toBe(8);
    await expectAccessible(page);
    const isFocused = (index: number): Promise<boolean> =>
      items.nth(index).evaluate((element) => element === document.activeElement);
    await expect.poll(() => isFocused(0)).toBe(true);

    // With keys: the second event.
    await page.keyboard.press('ArrowDown');
    expect(await isFocused(1)).toBe(true);
    const name = /^Reading \d+ of 2001/.exec(await items.nth(1).innerText())![0];
    await page.keyboard.press('Enter');
    await menu.waitFor({ state: 'detached' });
    await card(page).getByRole('heading', { name, exact: true }).waitFor();
    // Escape closes only the list, and the focus returns to the axis.
    const chosen = param(page, 'event');
    await page.mouse.click(x, y);
    await menu.waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    expect(param(page, 'event')).toBe(chosen);
    await expect.poll(() => axis(page).evaluate((element) => element === document.activeElement)).toBe(true);

    // By touch, the list stays open until an event is chosen.
    await page.touchscreen.tap(x, y);
    await expect.poll(() => isFocused(0)).toBe(true);
    const third = /^Reading \d+ of 2001/.exec(await items.nth(2).innerText())![0];
    await items.nth(2).tap();
    await card(page).getByRole('heading', { name: third, exact: true }).waitFor();

    // The remaining events are in the full list.
    await page.touchscreen.tap(x, y);
    await menu.getByRole('menuitem', { name: 'and 4 more, as a list' }).click();
    const rows = page.getByRole('region', { name: 'Events on the axis' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(11);
    await region(page, 'In view').or(card(page)).first().waitFor();

    // A bar of a single instant cannot be zoomed further.
    await page.goto(`${on.service.url}/#/${at(2002)}`);
    await find(page.getByRole('menu', { name: '40 events here' }));
  });

  it('selects a range by dragging, and filters the map', async () => {
    const page = await open();
    await page.keyboard.down('Shift');
    await drag(page, axis(page), { x: 150, y: 10 }, { x: -300, y: 0 });
    await page.keyboard.up('Shift');
    await page.getByRole('heading', { name: 'In the selected time' }).waitFor();
    await expect.poll(() => param(page, 'range')).toMatch(/Z\/.*Z$/);
    const placed = (): Promise<number> =>
      page
        .getByRole('application', { name: /^World map/ })
        .getAttribute('aria-label')
        .then((label) => Number(/([\d,]+) events?/.exec(label ?? '')![1]!.replace(',', '')));
    await expect.poll(placed).toBeLessThan(60);

    await page.reload();
    await page.getByRole('heading', { name: 'In the selected time' }).waitFor();
    await page.getByRole('button', { name: 'Remove the range' }).click();
    await page.getByRole('heading', { name: 'In view' }).waitFor();
    await expect.poll(() => param(page, 'range')).toBeNull();
    await expect.poll(placed).toBeGreaterThan(400);

    await page.getByRole('button', { name: 'Select time', exact: true }).click();
    await drag(page, axis(page), { x: 150, y: 0 });
    await page.getByRole('heading', { name: 'In the selected time' }).waitFor();
  });

  it('shows a typed range, and reports errors next to the field', async () => {
    const page = await open();
    await page.getByTitle('Enter a time range').click();
    const dialog = page.getByRole('dialog', { name: 'Time range' });
    await dialog.getByLabel('From').fill('1939-09-01T00:00:00Z');
    await dialog.getByLabel('To').fill('soon');
    await dialog.getByRole('button', { name: 'Show range' }).click();
    await dialog.getByText('Enter a time such as').waitFor();
    await dialog.getByLabel('To').fill('1945-09-02T00:00:00Z');
    await dialog.getByRole('button', { name: 'Show range' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await visibleTime(page)).toBe('1939 – 1945');

    await page.getByTitle('Enter a time range').click();
    await dialog.getByLabel('From').fill('-007000-01-01T00:00:00Z');
    await dialog.getByLabel('To').fill('-006000-01-01T00:00:00Z');
    await dialog.getByRole('button', { name: 'Show range' }).click();
    await axis(page).getByRole('button', { name: 'Show everything' }).click();
    expect(await visibleTime(page)).toMatch(/BCE – 2\d\d\d$/);
  });

  it('shows forks and their parent as lanes with links', async () => {
    await timeline('stem', launch);
    await on.service.call('POST', 'timelines', { timeline_id: 'branch', fork_of: 'stem' });
    const page = await on.loggedIn('timeline?timeline=stem');
    await axis(page).getByRole('link', { name: 'branch' }).click();
    await page.getByRole('application', { name: 'Time axis of branch' }).waitFor();
    await axis(page).getByRole('link', { name: 'stem' }).click();
    await page.getByRole('application', { name: 'Time axis of stem' }).waitFor();
  });
});

describe('reading', () => {
  it('can be stopped and resumed', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    let isHeld = true;
    await page.route('**/v1/monitor-events*', (route) => (isHeld ? undefined : route.continue()));
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('0 events counted, then stopped').waitFor();
    isHeld = false;
    await page.getByRole('button', { name: 'Count all', exact: true }).click();
    await counted(page, '493 events');
  });

  it('counts events until the view has few enough to draw', async () => {
    const requests: string[] = [];
    const page = await on.page();
    page.on('request', (sent) => requests.push(new URL(sent.url()).pathname));
    await page.context().addCookies(await (await open()).context().cookies());
    await page.goto(`${on.service.url}/#/timeline?timeline=demo&most=40`);
    await counted(page, '493 events');
    const unit = page.getByRole('button', { name: /^events per \d+ years · linear$/ });
    await unit.waitFor();
    expect(await visibleTime(page)).toMatch(/BCE – 2\d\d\d$/);
    expect(requests.filter((path) => path.endsWith('/export-events'))).toEqual([]);
    await page.getByText(/^Shows .+, 493 events$/).waitFor({ state: 'attached' });

    await unit.click();
    await page.getByRole('button', { name: /^events per \d+ years · logarithmic$/ }).waitFor();
    expect(param(page, 'scale')).toBe('log');

    // Between two bars, the tooltip is approximate. With few events, it lists each one.
    await page.goto(`${on.service.url}/#/timeline?timeline=demo&most=40&center=${LANDING}&zoom=1e12`);
    await region(page, 'Axis')
      .getByText(/^(about )?[\d,]+ in view, 493 events$/)
      .first()
      .waitFor();
    await page.goto(`${on.service.url}/#/timeline?timeline=demo&most=40&center=${LANDING}&zoom=1e9`);
    await region(page, 'Axis')
      .getByText(/^\d in view, 493 events$/)
      .waitFor();
    // From there to the next event outside the view.
    await axis(page).focus();
    await page.keyboard.press('End');
    for (let press = 0; press < 8; press += 1) await page.keyboard.press(']');
    await card(page).getByRole('heading').first().waitFor();
  });

  it('zooms into the clicked bar', async () => {
    const page = await open('&most=40');
    await page.getByRole('button', { name: /^events per/ }).waitFor();
    const whole = await visibleTime(page);
    const box = (await axis(page).boundingBox())!;
    // The last centuries have the highest bars. The lanes of the fork and of timers are below them.
    await expect
      .poll(async () => {
        for (let x = 0.9; x > 0.8 && (await visibleTime(page)) === whole; x -= 0.01)
          await page.mouse.click(box.x + box.width * x, box.y + box.height - 90);
        return visibleTime(page);
      })
      .not.toBe(whole);
    expect(param(page, 'event')).toBeNull();
  });

  it('reports a missing timeline, and offers no actions', async () => {
    const page = await on.loggedIn('timeline?timeline=nowhere', { expected: REFUSED });
    await page.getByRole('heading', { name: 'Timeline nowhere does not exist or has ended' }).waitFor();
    expect(await page.getByRole('button', { name: 'Record an event' }).count()).toBe(0);
  });

  it('reports an error, and retries on request', async () => {
    const page = await on.loggedIn('clock?timeline=demo', { expected: REFUSED });
    let isRefused = true;
    await page.route('**/v1/monitor-events*', (route) =>
      isRefused
        ? route.fulfill({
            status: 429,
            json: { status: 'Too many requests.', code: 'too_many_requests', detail: 'try again in a moment' },
          })
        : route.continue(),
    );
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('alert').getByText('Too many requests. Try again in a moment.').waitFor();
    const again = page.getByRole('button', { name: 'Try again', exact: true });
    await again.waitFor();
    isRefused = false;
    await again.click();
    await counted(page, '493 events');
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

it('shows a tooltip within its width, also on a phone', async () => {
  const page = await open('&most=40', { viewport: { width: 390, height: 844 } });
  await page.getByRole('button', { name: /^events per/ }).waitFor();
  const tip = region(page, 'Axis').getByText('click to zoom in');
  const canvas = axis(page).locator('canvas').first();
  const { width, height } = (await canvas.boundingBox())!;
  let x = width * 0.42;
  // Finds the position of a bar.
  await expect
    .poll(async () => {
      x = x > width * 0.32 ? x - 6 : width * 0.42;
      await canvas.hover({ position: { x, y: height * 0.55 }, force: true });
      return tip.count();
    })
    .toBe(1);
  const [around, own] = await Promise.all([axis(page).boundingBox(), tip.locator('..').boundingBox()]);
  expect(own!.x).toBeGreaterThanOrEqual(around!.x);
  expect(own!.x + own!.width).toBeLessThanOrEqual(around!.x + around!.width);
  // The tooltip of a bar that has disappeared is hidden, even if the pointer does not move.
  const before = await tip.innerText();
  await page.mouse.wheel(0, -2_400);
  await expect.poll(async () => (await tip.allInnerTexts()).includes(before)).toBe(false);
});

it('keeps its scale when an event has its name below the counts', async () => {
  const page = await on.loggedIn('timeline?timeline=demo', { viewport: { width: 1280, height: 1101 } });
  const unit = page.getByRole('button', { name: /^events per/ });
  await unit.waitFor();
  const { x } = (await unit.boundingBox())!;
  await page.goto(`${on.service.url}/#/timeline?timeline=demo&event=fall-of-constantinople-1453`);
  await page.getByRole('heading', { name: 'Ottomans capture Constantinople' }).waitFor();
  await expect.poll(async () => Math.abs((await unit.boundingBox())!.x - x)).toBeLessThan(2);
});

it('leaves space for events above forks, also with the bar of earlier knowledge', async () => {
  const page = await open('&do=as-of');
  await page.getByText('As known at').waitFor();
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    const fork = region(page, 'Axis').getByText('demo-no-sarajevo').first();
    // Ruler and flags take 70 pixels, and bars with a label need as much again.
    const room = async (): Promise<number> =>
      (await fork.boundingBox())!.y - (await axis(page).locator('canvas').first().boundingBox())!.y;
    await expect.poll(room, { message: `at ${width}` }).toBeGreaterThan(140);
    await expectNoSidewaysScroll(page);
  }
});

it('shows more than a few rows as a list', async () => {
  const page = await open('&view=list', { viewport: { width: 1440, height: 900 } });
  const rows = region(page, 'Events on the axis').getByRole('row');
  await expect.poll(() => rows.count()).toBeGreaterThan(12);
  const stage = (await region(page, 'Events on the axis').boundingBox())!;
  const row = (await rows.nth(2).boundingBox())!;
  expect(Math.floor(stage.height / row.height)).toBeGreaterThanOrEqual(9);
});

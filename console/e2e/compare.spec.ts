/** Two timelines side by side. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { REFUSED, expectAccessible, expectNoSidewaysScroll, expectUsable } from './harness';
import { on, param, region, timeline } from './timeline-page';

const fix = (id: string, time: string): Record<string, unknown> => ({
  event_id: id,
  time,
  name: `Event ${id}`,
  description: 'It happens.',
});

beforeAll(async () => {
  const { service } = on;
  await timeline('before', fix('kept', '2005-08-01T00:00:00Z'), fix('late', '2005-08-02T00:00:00Z'));
  await service.call('POST', 'v1/events?timeline_id=before', fix('gone', '2005-08-03T00:00:00Z'));
  await service.call('POST', 'timelines', { timeline_id: 'after', fork_of: 'before' });
  const intervene = (event_id: string, action: string): Promise<unknown> =>
    service.call('POST', 'v1/manipulate-event', {
      timeline_id: 'after',
      event_id,
      action,
      time: '2005-08-01T12:00:00Z',
    });
  await intervene('late', 'delay by 2d');
  await intervene('gone', 'cancel');
  await service.call('POST', 'v1/events?timeline_id=after', fix('new', '2005-08-05T00:00:00Z'));
});

const table = (page: Page): Promise<string[]> =>
  region(page, 'Differences as a table')
    .getByRole('row')
    .allInnerTexts()
    .then((rows) => rows.slice(1).map((row) => row.replace(/\s+/g, ' ').trim()));

describe('a fork and its parent', () => {
  it('are gray with an explanation where they are not counted yet', async () => {
    const page = await on.loggedIn('clock?timeline=after', { expected: REFUSED });
    let release: () => void = () => {};
    const released = new Promise<void>((done) => (release = done));
    let isWell = true;
    await page.route('**/v1/aggregate-events*', async (route) => {
      await released;
      return isWell
        ? route.continue()
        : route.fulfill({ status: 400, json: { title: 'Bad request', status: 400, detail: 'no' } });
    });
    await page.goto(`${on.service.url}/#/compare?timeline=after&with=before`);
    const pending = page.getByText('Counting gray bars');
    await pending.waitFor();
    release();
    await pending.waitFor({ state: 'hidden' });
    expect(await page.getByText('Gray bars could not be counted').isVisible()).toBe(false);
    isWell = false;
    // Beyond the range that is counted around the view.
    for (let press = 0; press < 3; press += 1)
      await page.getByRole('application', { name: /^Both timelines on one axis/ }).press('-');
    const failed = page.getByText('Gray bars could not be counted');
    await failed.waitFor();
    // The new view has no counts yet, and the page says so at once.
    const texts = await page
      .getByRole('application', { name: /^Both timelines on one axis/ })
      .evaluate(async (both) => {
        both.dispatchEvent(new KeyboardEvent('keydown', { key: '-', bubbles: true, cancelable: true }));
        for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
        return both.textContent;
      });
    expect(texts).toContain('Counting gray bars');
    await failed.waitFor();
  });

  it('are counted for the full width after the page is resized', async () => {
    const page = await on.loggedIn('compare?timeline=after&with=before&center=2005-08-03T00:00:00Z&zoom=600000000', {
      viewport: { width: 390, height: 844 },
    });
    const gray = page.getByText(/^Gray /);
    await page.getByText(/^events per/).waitFor();
    await gray.waitFor({ state: 'hidden' });
    // The first count may be repeated once the stream is open; the second one is for the new width.
    for (const width of [900, 2560]) {
      const counted = page.waitForRequest(/aggregate-events/);
      await page.setViewportSize({ width, height: 900 });
      await counted;
      await gray.waitFor({ state: 'hidden' });
    }
  });

  it('are compared from the fork’s page: missing and changed events', async () => {
    const page = await on.loggedIn('timeline?timeline=after');
    await page.getByRole('link', { name: 'Compare with before' }).click();
    await page.getByText('Both share 4 entries of before').waitFor();
    await expect
      .poll(() => table(page))
      .toEqual([
        'Event gone does not occur 3 August 2005, 00:00 only in before',
        'Event late 4 August 2005, 00:00 2 August 2005, 00:00 From 2 August 2005, 00:00 to 4 August 2005, 00:00',
        'Event new 5 August 2005, 00:00 does not occur only in after',
      ]);
    await page.getByRole('application', { name: /^Both timelines on one axis: 3 differences/ }).waitFor();
    await page.getByRole('button', { name: '1 changed' }).click();
    expect((await table(page)).map((row) => row.split(' ')[1])).toEqual(['late']);
    await page.getByRole('button', { name: 'Event late' }).click();
    expect([param(page, 'with'), param(page, 'change'), param(page, 'event')]).toEqual(['before', 'differs', 'late']);
    await page.reload();
    await page.getByRole('button', { name: 'Event late', pressed: true }).waitFor();
    expect(await table(page)).toHaveLength(1);
    const days = page.getByLabel('Show the time before now, by the clock of after');
    await days.selectOption('Last 7 days');
    await expect
      .poll(() => [param(page, 'period'), param(page, 'center'), param(page, 'zoom')])
      .toEqual(['7d', null, null]);
    // The link is relative to the clock of whoever opens it.
    await page.reload();
    const both = page.getByRole('application', { name: /^Both timelines on one axis/ });
    await expect.poll(() => days.inputValue()).toBe('7d');
    // Before the clock is loaded, the axis shows all differences, which are of 2005.
    await expect.poll(() => both.getAttribute('aria-label')).toMatch(/20[2-9]\d/);
    // Moving the axis fixes the time range.
    await both.press('-');
    await expect.poll(() => param(page, 'period')).toBeNull();
    await expect.poll(() => param(page, 'center')).toMatch(/^20[2-9]\d-/);
    expect(await days.inputValue()).toBe('');
    await page.getByRole('link', { name: 'Swap' }).click();
    await page.getByRole('button', { name: '1 only in before' }).waitFor();
    expect([param(page, 'timeline'), param(page, 'with')]).toEqual(['before', 'after']);
  });

  it('list overlapping differences, and select one', async () => {
    const { service } = on;
    const time = '2005-08-01T00:00:00Z';
    await timeline('same-a');
    await service.call('POST', 'timelines', { timeline_id: 'same-b', fork_of: 'same-a' });
    for (const id of ['x', 'y', 'z']) await service.call('POST', 'v1/events?timeline_id=same-b', fix(id, time));
    const page = await on.loggedIn(`compare?timeline=same-b&with=same-a&center=${time}&zoom=60000000`);
    const axis = page.getByRole('application', { name: /^Both timelines on one axis: 3 differences/ });
    await axis.waitFor();
    const { width, height } = (await axis.boundingBox())!;
    await axis.click({ position: { x: width / 2, y: height / 2 - 31 } });
    const list = page.getByRole('menu', { name: '3 differences here' });
    await list.getByRole('menuitem', { name: /^Event y/ }).click();
    await page.getByRole('button', { name: 'Event y', pressed: true }).waitFor();
  });

  it('report that there are more differences than were read', async () => {
    const { service } = on;
    await timeline('much-a');
    await service.call('POST', 'timelines', { timeline_id: 'much-b', fork_of: 'much-a' });
    const events = Array.from({ length: 2_100 }, (_, index) =>
      fix(`n-${index}`, new Date(Date.UTC(2005, 0, 1, index)).toISOString()),
    );
    for (const part of [0, 700, 1_400])
      await service.call('POST', 'v1/events?timeline_id=much-b', events.slice(part, part + 700));
    const page = await on.loggedIn('compare?timeline=much-b&with=much-a');
    await page.getByRole('button', { name: 'at least 2,000 only in much-b' }).waitFor();
    await page.getByRole('application', { name: /at least 2,000 differences/ }).waitFor();
    await page.getByRole('button', { name: '0 so far changed' }).click();
    await page.getByText('None among the first 2,000 differences.').waitFor();
    // Request more differences during a renewal.
    let requests = 0;
    const renewed = new Promise<void>((resolve) => {
      void page.route('**/timelines/diff?*', async (route) => {
        requests += 1;
        if (requests !== 2) return route.continue();
        resolve();
      });
    });
    await service.call('POST', 'v1/events?timeline_id=much-b', [fix('late', '2006-01-01T00:00:00Z')]);
    await renewed;
    await page.getByRole('button', { name: 'Load more differences' }).click();
    await page.getByRole('button', { name: '2,101 only in much-b', exact: true }).waitFor();
    await page.getByRole('button', { name: '0 changed', exact: true }).waitFor();
  });

  it('are compared from the picker, which only offers related timelines', async () => {
    const page = await on.loggedIn('timeline?timeline=before', { expected: REFUSED });
    await page.getByRole('button', { name: 'Timeline: before' }).click();
    await page.getByRole('link', { name: 'Compare before…' }).click();
    await page.getByRole('button', { name: '1 only in after' }).waitFor();
    await page.goto(`${on.service.url}/#/compare?timeline=main`);
    await page.getByText('No timeline to compare with main').waitFor();
    await page.goto(`${on.service.url}/#/compare?timeline=main&with=before`);
    await page.getByRole('heading', { name: 'main and before share no history' }).waitFor();
  });

  it('show timers with different schedules, and outcomes of firings', async () => {
    const { service } = on;
    const post = (path: string, body: Record<string, unknown>): Promise<unknown> => service.call('POST', path, body);
    const set = (timeline_id: string, timer_id: string, at: string): Promise<unknown> =>
      post('v1/timers', { timeline_id, timer_id, at, deliver: { to: 'queue', queue: 'billing' } });
    await post('timelines', { timeline_id: 'plan' });
    await post('v1/pause-time', { timeline_id: 'plan' });
    await post('v1/travel', { timeline_id: 'plan', destination_time: '2027-01-01T08:00:00Z' });
    for (const [name, day] of [
      ['both', '09'],
      ['renew', '10'],
      ['moved', '20'],
    ] as const) {
      await set('plan', name, `2027-01-${day}T09:00:00Z`);
    }
    await post('timelines', { timeline_id: 'plan-b', fork_of: 'plan' });
    await set('plan-b', 'extra', '2027-01-30T09:00:00Z');
    await service.call('DELETE', 'v1/timers/both?timeline_id=plan-b');
    await service.call('PATCH', 'v1/timers/moved?timeline_id=plan-b', { at: '2027-01-21T09:00:00Z' });
    await post('v1/travel', {
      timeline_id: 'plan-b',
      destination_time: '2027-01-11T00:00:00Z',
      wait_for_timers: false,
    });
    const page = await on.loggedIn('compare?timeline=plan-b&with=plan');
    const rows = async (label: string): Promise<string[]> =>
      (await region(page, label).getByRole('row').allInnerTexts())
        .slice(1)
        .map((row) => row.replace(/\s+/g, ' ').trim());
    await expect
      .poll(() => rows('Timers that differ as a table'))
      .toEqual([
        'both cancelled 9 January 2027, 09:00 state',
        'extra 30 January 2027, 09:00 not set only in plan-b',
        'moved 21 January 2027, 09:00 20 January 2027, 09:00 next firing, schedule',
        'renew done 10 January 2027, 09:00 state',
      ]);
    expect(await rows('Firings that differ as a table')).toEqual(['renew 10 January 2027, 09:00 waiting not due']);
    await expectUsable(page);
    await page.getByRole('link', { name: 'extra' }).click();
    await page.getByRole('region', { name: 'Armed timers' }).getByText('extra').waitFor();
    expect(new URL(page.url()).hash).toContain('timer=extra');
  });

  it('are accessible and fit every width', async () => {
    const page = await on.loggedIn('compare?timeline=after');
    await page.getByRole('button', { name: '1 changed' }).waitFor();
    await expectUsable(page);
  });
});

it('unrelated timelines show an error without a retry', async () => {
  await on.service.timeline('stranger');
  const page = await on.loggedIn('compare?timeline=stranger&with=demo', { expected: REFUSED });
  await page.getByRole('heading', { name: 'stranger and demo share no history' }).waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
});

it('a kind without differences shows that there are other kinds', async () => {
  await timeline('kinds', fix('one', '2005-08-01T00:00:00Z'));
  await on.service.call('POST', 'timelines', { timeline_id: 'kinds-b', fork_of: 'kinds' });
  await on.service.call('POST', 'v1/events?timeline_id=kinds-b', fix('two', '2005-08-02T00:00:00Z'));
  const page = await on.loggedIn('compare?timeline=kinds-b&with=kinds');
  await page.getByRole('button', { name: '0 changed' }).click();
  await page.getByText('kinds-b and kinds differ in other ways: 1 difference.').waitFor();
  await page.getByRole('button', { name: 'Show all', exact: true }).click();
  await page.getByRole('button', { name: 'Event two' }).waitFor();
  expect(param(page, 'change')).toBeNull();
});

it('a bar shows its count, and zooms in on a click', async () => {
  await timeline('barred', fix('one', '2005-08-01T00:00:00Z'), fix('two', '2005-08-01T06:00:00Z'));
  await on.service.call('POST', 'timelines', { timeline_id: 'barred-b', fork_of: 'barred' });
  const page = await on.loggedIn('compare?timeline=barred-b&with=barred&center=2005-08-01T03:00:00Z&zoom=86400000000');
  const axis = page.getByRole('application', { name: /^Both timelines on one axis: 0 differences/ });
  await page.getByText(/^events per/).waitFor();
  const { width } = (await axis.boundingBox())!;
  const tip = page.getByText('2 events on each');
  await expect
    .poll(async () => {
      for (const x of [width / 2 - 3, width / 2 + 3]) {
        await axis.hover({ position: { x, y: 60 } });
        if (await tip.isVisible()) return true;
      }
      return false;
    })
    .toBe(true);
  await page.getByText(/^barred-b and barred, .* click to zoom in$/).waitFor();
  const before = param(page, 'zoom');
  await page.mouse.down();
  await page.mouse.up();
  await expect.poll(() => param(page, 'zoom')).not.toBe(before);
});

it('the page is filled with one difference and with many', async () => {
  await timeline('few', fix('one', '2005-08-01T00:00:00Z'), fix('two', '2005-08-02T00:00:00Z'));
  await on.service.call('POST', 'timelines', { timeline_id: 'few-b', fork_of: 'few' });
  const more = Array.from({ length: 60 }, (_, day) =>
    fix(`n-${day}`, new Date(Date.UTC(2005, 7, 1 + day)).toISOString()),
  );
  for (const events of [more.slice(0, 1), more.slice(1)]) {
    await on.service.call('POST', 'v1/events?timeline_id=few-b', events);
    const page = await on.loggedIn('compare?timeline=few-b&with=few', { viewport: { width: 2560, height: 1440 } });
    await page.getByRole('button', { name: `${events.length === 1 ? 1 : 60} only in few-b` }).waitFor();
    const differences = page.getByRole('region', { name: 'Differences', exact: true });
    await expect.poll(() => differences.boundingBox().then((box) => box!.y + box!.height)).toBeGreaterThan(1_390);
    expect(await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBe(0);
    // A table with one row is not taller than that row.
    if (events.length === 1) expect((await differences.boundingBox())!.height).toBeLessThan(240);
  }
});

it('one difference is shown with events around it', async () => {
  const days = Array.from({ length: 20 }, (_, day) =>
    fix(`d-${day}`, new Date(Date.UTC(2005, 7, 1 + day)).toISOString()),
  );
  await timeline('amid-hurricanes', ...days);
  await on.service.call('POST', 'timelines', { timeline_id: 'amid-hurricanes-fork', fork_of: 'amid-hurricanes' });
  await on.service.call('POST', 'v1/manipulate-event', {
    timeline_id: 'amid-hurricanes-fork',
    event_id: 'd-9',
    action: 'cancel',
    time: '2005-08-01T00:00:00Z',
  });
  const page = await on.loggedIn('compare?timeline=amid-hurricanes-fork&with=amid-hurricanes');
  await page
    .getByText(/^events per \d+ (hours?|days?)/)
    .first()
    .waitFor();
  // Names that differ only at their ends are distinguishable on a narrow page.
  await page.setViewportSize({ width: 390, height: 844 });
  const fields = await region(page, 'Differences as a table')
    .getByRole('cell')
    .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content));
  expect(fields).toEqual(['"On amid-hurricanes-fork"', '"On amid-hurricanes"', '"Difference"']);
});

it('a narrow page has a card for each difference, with full names and times', async () => {
  const page = await on.loggedIn('compare?timeline=after&with=before', { viewport: { width: 390, height: 844 } });
  const differences = region(page, 'Differences as a table');
  const name = differences.getByRole('button', { name: 'Event late' });
  await name.waitFor();
  const times = differences.getByRole('link', { name: '4 August 2005, 00:00', exact: true });
  const cards = await Promise.all([name, times].map(async (part) => (await part.boundingBox())!));
  // Each field has its own line, below the previous one.
  expect(cards[1]!.y).toBeGreaterThan(cards[0]!.y + cards[0]!.height);
  for (const { height } of cards) expect(height).toBeLessThan(28);
  // Nothing is truncated, and the page scrolls instead of the table.
  const isCut = (box: Element): boolean =>
    box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
  expect(await differences.evaluate(isCut)).toBe(false);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
});

/** The clock: its display, all ways to move it, anchors, keyboard shortcuts, and missing rights. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fresh,
  REFUSED,
  shared,
  expectFits,
  expectUsable,
  expectAccessibleLightAndDark,
} from './harness';

const on = shared();

interface Clock {
  generation: number;
  current_time: string;
  state: string;
  rate: number;
  location: string | null;
}

const clockOf = (timeline: string): Promise<Clock> => on.service.call<Clock>('GET', `v1/clock?timeline_id=${timeline}`);

/** Creates a timeline whose clock is paused at a known moment, so that the display is predictable. */
async function timelineAt(name: string, at = '2028-02-29T07:30:00Z', location = 'Paris'): Promise<string> {
  const timeline = fresh(name);
  await on.service.call('POST', 'timelines', { timeline_id: timeline });
  await on.service.call('POST', 'v1/pause-time', { timeline_id: timeline });
  await on.service.call('POST', 'v1/travel', { timeline_id: timeline, destination_time: at, location });
  return timeline;
}

const face = (page: Page): ReturnType<Page['getByRole']> => page.getByRole('region', { name: 'The clock of' });

describe('the face', () => {
  it('shows time, date, place and state, in UTC and local time', async () => {
    const timeline = await timelineAt('face');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('heading', { name: 'Tuesday, 29 February 2028' }).waitFor();
    await face(page).getByText('07:30:00', { exact: false }).first().waitFor();
    await face(page).getByText('Paused').waitFor();
    // The sun follows the time of the place, although the large digits show another zone.
    await face(page).getByText('The sun over Paris, local time').waitFor();
    await face(page).getByText('It is 08:30 there.').waitFor();
    await page.getByRole('button', { name: 'Paris · UTC+1' }).click();
    await face(page).getByText('UTC 29 February 2028, 07:30').waitFor();
    await face(page).getByText('The sun over Paris', { exact: true }).waitFor();
    expect(await face(page).getByText('there.').count()).toBe(0);
    expect(new URL(page.url()).hash).toContain('tz=place');
    await page.reload();
    await face(page).getByText('UTC 29 February 2028, 07:30').waitFor();
  });

  it('is at the top of every page with its date, on a phone too', async () => {
    const timeline = await timelineAt('chip', '1805-10-21T11:45:30Z');
    const page = await on.loggedIn(`timers?timeline=${timeline}`, { viewport: { width: 390, height: 844 } });
    const chip = page.getByRole('link', { name: 'The clock is paused.' });
    await expect.poll(async () => (await chip.innerText()).replace(/\s+/g, ' ')).toContain('1805-10-21 11:45:30');
    expect(await chip.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await expectNoSidewaysScroll(page);
  });

  it('runs from the state in the stream', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    const time = page.getByRole('timer');
    await expect.poll(() => time.innerText()).toMatch(/\d\d:\d\d:\d\d/);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const before = await time.innerText();
    await expect.poll(() => time.innerText()).not.toBe(before);
    await expect.poll(() => time.getAttribute('datetime')).not.toBeNull();
    expect(requests.filter((url) => url.includes('/v1/clock'))).toEqual([]);
  });

  it('updates host time at the end of the calendar', async () => {
    const timeline = await timelineAt('end', '9999-12-31T23:59:59Z');
    await on.service.call('POST', 'v1/resume-time', { timeline_id: timeline });
    // At the end of the calendar, the clock no longer determines host time.
    await expect.poll(async () => (await clockOf(timeline)).current_time).toBe('9999-12-31T23:59:59.999999Z');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    const host = face(page).getByRole('definition').first();
    await expect.poll(() => host.innerText()).toMatch(/\d\d:\d\d:\d\d/);
    const seen = new Set<string>();
    await expect.poll(async () => seen.add(await host.innerText()).size).toBeGreaterThan(2);
  });

  it('recognizes an unmoved clock as host time, however late it is opened', async () => {
    const timeline = fresh('untouched');
    await on.service.call('POST', 'timelines', { timeline_id: timeline });
    const page = await on.loggedIn(`timers?timeline=${timeline}`);
    await page.getByRole('heading', { name: 'Timers', level: 1 }).waitFor();
    // By then the clock state that the page has received is older than that.
    await page.waitForTimeout(3_000);
    await page.getByRole('link', { name: 'Clock', exact: true }).first().click();
    const hostTime = face(page).getByRole('definition').nth(1);
    await expect.poll(() => hostTime.innerText()).toMatch(/host/);
    const seen = new Set<string>();
    for (let look = 0; look < 15; look += 1) {
      seen.add(await hostTime.innerText());
      await page.waitForTimeout(200);
    }
    expect([...seen]).toEqual(['at host time']);
  });

  it('shows changes by others at once', async () => {
    const timeline = await timelineAt('shared');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await face(page).getByText('Paused').waitFor();
    await on.service.call('POST', 'v1/travel', {
      timeline_id: timeline,
      destination_time: '-000043-03-15T10:00:00Z',
      location: 'Rome',
    });
    await page.getByRole('heading', { name: 'Friday, 15 March 44 BCE' }).waitFor();
  });
});

describe('moving the clock', () => {
  it('has one key for each move, which is ignored while the user types', async () => {
    const timeline = await timelineAt('keys');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await face(page).getByText('Paused').waitFor();
    await page.keyboard.press('3');
    await page.keyboard.press('f');
    await page.getByRole('heading', { name: 'Wednesday, 1 March 2028' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('heading', { name: 'Tuesday, 29 February 2028' }).waitFor();
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'Wednesday, 1 March 2028' }).waitFor();
    await page.getByLabel('Duration').fill('2h');
    await page.getByLabel('Duration').press(' ');
    await page.keyboard.press('Escape');
    expect((await clockOf(timeline)).state).toBe('paused');
    await page.getByLabel('Duration').fill('2h');
    await page.keyboard.press('Escape');
    await page.keyboard.press(' ');
    await face(page).getByText('Running').waitFor();
    expect((await clockOf(timeline)).state).toBe('running');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('Zoom in, zoom out').waitFor();
    await help.getByLabel('Single keys work anywhere').uncheck();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    // Speech input types letters, so with single keys off only the arrow key moves the clock.
    const { generation } = await clockOf(timeline);
    for (const key of ['f', 'r', ' ', '?', 'ArrowRight']) await page.keyboard.press(key);
    await expect.poll(async () => (await clockOf(timeline)).generation).toBe(generation + 1);
    expect(await help.count()).toBe(0);
    await page.getByRole('button', { name: 'Show them' }).click();
    await help.getByLabel('Single keys work anywhere').check();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('r');
    await expect.poll(async () => (await clockOf(timeline)).generation).toBe(generation + 2);
  });

  it('queues quick key presses, and undoes the last move', async () => {
    const timeline = await timelineAt('quick');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await face(page).getByText('Paused').waitFor();
    const { generation } = await clockOf(timeline);
    for (const key of ['3', 'f', 'f', 'f', 'r', 'f', 'u']) await page.keyboard.press(key);
    await expect.poll(async () => (await clockOf(timeline)).generation).toBe(generation + 6);
    expect((await clockOf(timeline)).current_time).toBe('2028-03-02T07:30:00Z');
    await page.getByRole('heading', { name: 'Thursday, 2 March 2028' }).waitFor();
  });

  it('pauses, resumes, advances, rewinds and undoes with buttons', async () => {
    const timeline = await timelineAt('buttons');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await face(page).getByText('Paused').waitFor();
    await page.getByRole('button', { name: '1 year' }).click();
    await page.getByText('28 February 2027').waitFor();
    await page.getByRole('button', { name: 'Rewind' }).click();
    await page.getByRole('heading', { name: 'Sunday, 28 February 2027' }).waitFor();
    await page.getByRole('button', { name: /^Go back to 29 February 2028/ }).click();
    await page.getByRole('heading', { name: 'Tuesday, 29 February 2028' }).waitFor();
  });

  it('reports an invalid duration while it is typed', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    await page.getByLabel('Duration').fill('2 fortnights');
    await page.getByText('Unknown unit').waitFor();
    expect(await page.getByRole('button', { name: 'Fast-forward' }).isDisabled()).toBe(true);
  });

  it('sets a rate by name, by number and on the slider', async () => {
    const timeline = await timelineAt('paced');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('button', { name: 'a minute a second' }).click();
    await face(page).getByText('60×').waitFor();
    await page.getByLabel('Rate as a number').fill('0');
    await page.getByText('A rate of 0 would be a pause').waitFor();
    await page.getByLabel('Rate as a number').fill('0.5');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await face(page).getByText('0.5×').waitFor();
    await page.getByRole('slider', { name: 'Rate' }).press('End');
    await face(page).getByText('1,000,000×').waitFor();
    expect((await clockOf(timeline)).rate).toBe(1_000_000);
  });
});

describe('the preview of a move', () => {
  it('shows its target, and what it passes', async () => {
    const timeline = await timelineAt('passing');
    const event = (event_id: string, time: string): Promise<unknown> =>
      on.service.call('POST', `v1/events?timeline_id=${timeline}`, {
        event_id,
        time,
        name: event_id,
        description: 'x',
      });
    await event('Earlier', '2028-02-28T12:00:00Z');
    await event('Next', '2028-02-29T08:00:00Z');
    await event('After', '2028-03-01T07:30:00Z');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('button', { name: '1 day' }).click();
    await page.getByText('28 February 2028, 07:30, passes 1 event', { exact: false }).waitFor();
    await page.getByText('1 March 2028, 07:30, passes 2 events', { exact: false }).waitFor();
    const next = page.getByRole('region', { name: 'Next' });
    const entries = (): Promise<string[]> =>
      next
        .getByRole('listitem')
        .allInnerTexts()
        .then((texts) => texts.map((text) => text.split('\n')[0] ?? ''));
    await next.getByRole('link', { name: 'Next' }).waitFor();
    expect(await entries()).toEqual(['in 30 minutes', 'in 1 day']);
    // Live updates: recorded events appear and passed ones disappear.
    await event('Sooner', '2028-02-29T07:45:00Z');
    await next.getByRole('link', { name: 'Sooner' }).waitFor();
    expect(await entries()).toEqual(['in 15 minutes', 'in 30 minutes', 'in 1 day']);
    await page.getByRole('button', { name: '1 hour' }).click();
    await page.getByRole('button', { name: 'Fast-forward' }).click();
    await expect.poll(entries).toEqual(['in 23 hours']);
    await next.getByRole('button', { name: 'Travel to After' }).click();
    await page.getByRole('dialog', { name: 'Travel' }).getByText('The move passes 1 event.').waitFor();
    await page.getByRole('button', { name: 'Travel', exact: true }).click();
    await next.getByText('No upcoming events or timers').waitFor();
  });

  it('is above the fold, on a phone too', async () => {
    const timeline = await timelineAt('fold');
    for (const [width, height, hidden] of [
      [1440, 900, 0],
      [390, 844, 62],
    ] as const) {
      const page = await on.loggedIn(`clock?timeline=${timeline}`, { viewport: { width, height } });
      await page.getByText('passes no events').first().waitFor();
      for (const name of ['Rewind', 'Resume', 'Fast-forward', 'Travel…', '1 year']) {
        const box = await page.getByRole('button', { name }).first().boundingBox();
        expect(box!.y + box!.height).toBeLessThan(height - hidden);
      }
    }
  });
});

describe('the changes of a move', () => {
  it('are firings, events and anchors, and stay in the list of moves', async () => {
    const timeline = await timelineAt('moved');
    const query = `timeline_id=${timeline}`;
    for (const [day, name] of [
      ['2028-03-01', 'First of March'],
      ['2028-03-02', 'Second of March'],
      ['2028-04-02', 'A month later'],
    ] as const)
      await on.service.call('POST', `v1/events?${query}`, {
        event_id: day,
        time: `${day}T00:00:00Z`,
        name,
        description: '',
      });
    await on.service.call('POST', 'v1/timers', {
      timeline_id: timeline,
      timer_id: 'backup',
      at: '2028-03-01T12:00:00Z',
      deliver: { to: 'queue', queue: 'jobs' },
    });
    await on.service.call('POST', 'v1/set-anchor', {
      timeline_id: timeline,
      timestamp: '2028-03-02T12:00:00Z',
      description: 'Before the release',
    });
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    const changed = page.getByRole('region', { name: 'What changed' });
    await page.getByRole('button', { name: '1 week', exact: true }).click();
    await page.getByRole('button', { name: /^Fast-forward/ }).click();
    await changed.getByText('7 days forward').waitFor();
    await page.getByRole('button', { name: 'What changed', exact: true }).click();
    await expect
      .poll(() => changed.getByRole('heading').evaluate((title) => title === document.activeElement))
      .toBe(true);
    await changed.getByText('Settled').waitFor();
    await changed.getByText('1 firing at 1 instant: 1 not acknowledged yet.').waitFor();
    await changed.getByRole('link', { name: 'backup' }).waitFor();
    await changed.getByText('2 events passed.').waitFor();
    await changed.getByRole('link', { name: 'Before the release' }).waitFor();
    expect(await changed.getByRole('link', { name: /of March/ }).allInnerTexts()).toEqual([
      'First of March',
      'Second of March',
    ]);
    await expectAccessible(page);
    // The link and a reload show the same.
    await page.reload();
    await changed.getByText('1 firing at 1 instant: 1 not acknowledged yet.').waitFor();
    await changed.getByText('2 events passed.').waitFor();
    await page.getByRole('button', { name: '1 day', exact: true }).click();
    await page.getByRole('button', { name: /^Rewind/ }).click();
    await changed.getByText('1 day back', { exact: true }).waitFor();
    await changed.getByText('Moving back fires no timers.').waitFor();
    await changed.getByText('None passed.').waitFor();
    await changed.getByLabel('Which move').selectOption({ index: 1 });
    await changed.getByText('2 events passed.').waitFor();
    await changed.getByRole('link', { name: 'Show on the axis' }).click();
    const glance = page.getByRole('region', { name: 'In view' });
    await glance.getByText('In the selected time').waitFor();
    await glance.getByText('2 events', { exact: true }).waitFor();
    await page.goBack();
    await changed.getByRole('button', { name: 'Close what changed' }).click();
    await changed.waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).not.toContain('passed');
  });

  it('fit every width', async () => {
    const page = await on.loggedIn('clock?timeline=demo&passed=1969-07-01T00:00:00Z/1969-08-01T00:00:00Z');
    await page.getByText(/events? passed[.]$/).waitFor();
    await expectFits(page);
  });
});

describe('travel', () => {
  it('shows its interpretation of the text before the move', async () => {
    const timeline = await timelineAt('typed');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('button', { name: /^Travel/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Travel' });
    await dialog.getByLabel('Moment').fill('yesterday');
    await dialog.getByText('Write a timestamp such as').waitFor();
    await dialog.getByLabel('Moment').fill('-000043-03-15T10:00:00Z');
    await dialog.getByRole('textbox', { name: 'Place' }).fill('Rome');
    await dialog.getByText('Friday, 15 March 44 BCE, 10:49:56 in Rome').waitFor();
    await dialog.getByText('Rome, Lazio, Italy · Europe/Rome').waitFor();
    expect((await clockOf(timeline)).location).toBe('Paris');
    await dialog.getByRole('button', { name: 'Travel', exact: true }).click();
    await page.getByRole('heading', { name: 'Friday, 15 March 44 BCE' }).waitFor();
    expect(await clockOf(timeline)).toMatchObject({ current_time: '-000043-03-15T10:00:00Z', location: 'Rome' });
  });

  it('uses the display zone, unless the text names another in brackets', async () => {
    const timeline = await timelineAt('zoned');
    const page = await on.loggedIn(`clock?timeline=${timeline}&tz=Asia/Tokyo&do=travel&to=2028-02-29`);
    const dialog = page.getByRole('dialog', { name: 'Travel' });
    const moment = dialog.getByLabel('Moment');
    await dialog.getByRole('group', { name: 'Time of day in Asia/Tokyo' }).getByLabel('hour').fill('9');
    expect(await moment.inputValue()).toBe('2028-02-29T09:00:00+09:00');
    await dialog.getByRole('button', { name: 'Wednesday, 1 March 2028' }).click();
    expect(await moment.inputValue()).toBe('2028-03-01T09:00:00+09:00');
    await moment.fill('2028-02-29T09:00[America/New_York]');
    await dialog.getByRole('button', { name: 'Travel', exact: true }).click();
    await expect.poll(async () => (await clockOf(timeline)).current_time).toBe('2028-02-29T14:00:00Z');
  });

  it('uses the zone of a selected place, and names it', async () => {
    const timeline = await timelineAt('leap', '2028-02-28T12:00:00Z', 'UTC');
    const page = await on.loggedIn(`clock?timeline=${timeline}&do=travel`);
    const dialog = page.getByRole('dialog', { name: 'Travel' });
    await dialog.getByText('Time of day in UTC', { exact: true }).click();
    await dialog.getByRole('textbox', { name: 'Place' }).fill('Paris');
    await dialog.getByText('Time of day in Paris', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Tuesday, 29 February 2028' }).click();
    for (const [field, value] of Object.entries({ hour: '23', minute: '59', second: '30' }))
      await dialog.getByLabel(field).fill(value);
    await dialog.getByText('Tuesday, 29 February 2028, 23:59:30 in Paris').waitFor();
    const moment = dialog.getByLabel('Moment');
    expect(await moment.inputValue()).toBe('2028-02-29T23:59:30+01:00');
    await dialog.getByText('In UTC', { exact: true }).click();
    expect(await dialog.getByLabel('hour').inputValue()).toBe('22');
    await moment.fill('2028-02-29T23:00');
    await dialog.getByText('Wednesday, 1 March 2028, 00:00:00 in Paris').waitFor();
    await dialog.getByRole('radiogroup', { name: 'Times are' }).getByText('In Paris').click();
    await dialog.getByText('Tuesday, 29 February 2028, 23:00:00 in Paris').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Travel', exact: true }).click();
    await expect.poll(async () => (await clockOf(timeline)).current_time).toBe('2028-02-29T22:00:00Z');
  });

  it('selects the day on a calendar by keyboard, the time in fields and the place on the map', async () => {
    const timeline = await timelineAt('picked');
    const page = await on.loggedIn(`clock?timeline=${timeline}&do=travel`);
    const dialog = page.getByRole('dialog', { name: 'Travel' });
    await dialog
      .getByRole('gridcell', { name: '29' })
      .getByRole('button', { name: 'Tuesday, 29 February 2028' })
      .focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('Enter');
    await dialog.getByText('Friday, 7 April 2028').waitFor();
    await dialog.getByLabel('hour').fill('12');
    await dialog.getByLabel('minute').fill('5');
    const map = dialog.getByRole('application');
    await map.focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
    const place = await dialog.getByRole('textbox', { name: 'Place' }).inputValue();
    expect(place).toMatch(/^-?\d+\.\d\d,-?\d+\.\d\d$/);
    await dialog.getByRole('button', { name: 'Travel', exact: true }).click();
    await page.getByRole('heading', { name: 'Friday, 7 April 2028' }).waitFor();
    expect(await clockOf(timeline)).toMatchObject({ current_time: '2028-04-07T12:05:00Z', location: place });
  });
});

describe('anchors', () => {
  it('are set, listed, returned to and forked from', async () => {
    const timeline = await timelineAt('marked');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByText('No anchors yet').waitFor();
    await page.keyboard.press('a');
    await page.getByLabel('Description').fill('Before the release');
    await page.getByRole('dialog').getByRole('button', { name: 'Set the anchor' }).click();
    const row = page.getByRole('row', { name: /Before the release/ });
    await row.getByText('29 February 2028, 07:30').waitFor();
    await on.service.call('POST', 'v1/fast-forward', { timeline_id: timeline, duration: '10d' });
    await row.getByText('10 days ago').waitFor();
    await row.getByRole('button', { name: 'Return' }).click();
    await page.getByRole('radio', { name: /Clock only/ }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Return', exact: true }).click();
    await page.getByRole('heading', { name: 'Tuesday, 29 February 2028' }).waitFor();
    await row.getByRole('button', { name: 'Fork' }).click();
    await page.getByLabel('Name').fill(`${timeline}-fork`);
    await page.getByRole('button', { name: 'Fork the timeline' }).click();
    await page.getByRole('button', { name: `Timeline: ${timeline}-fork` }).waitFor();
  });
});

describe('a user who may not move the clock', () => {
  it('sees disabled controls and the reason', async () => {
    const reader = fresh('reader');
    await on.service.user(reader);
    const timeline = await timelineAt('readable');
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: timeline,
      permissions: { read: [reader] },
    });
    const page = await on.loggedIn(`clock?timeline=${timeline}`, { user: reader, expected: REFUSED });
    await page.getByText(`Your access to ${timeline} is read-only.`).first().waitFor();
    for (const name of [/^Resume/, /^Rewind/, /^Fast-forward/, /^Travel/])
      expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
    await page.keyboard.press('t');
    await page.keyboard.press(' ');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect((await clockOf(timeline)).state).toBe('paused');
  });

  it('sees the limits of limited access', async () => {
    const limited = fresh('limited');
    await on.service.user(limited);
    const timeline = await timelineAt('near', '2028-02-29T07:30:00Z');
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: timeline,
      permissions: { write: [limited] },
    });
    await on.service.call('POST', 'v1/restrict-time-travel', {
      user_id: limited,
      restriction_level: 'limited_access',
    });
    const page = await on.loggedIn(`clock?timeline=${timeline}`, { user: limited, expected: REFUSED });
    await page.getByText(/Your access is limited: you can move the clock only within \d+ days of host time/).waitFor();
    await page.getByText('With limited access, the rate of a clock stays as it is.').waitFor();
    await page.getByRole('button', { name: 'Fast-forward' }).click();
    await page.getByRole('alert').waitFor();
  });
});

it('gets a page that is accessible and fits every width', async () => {
  const timeline = await timelineAt('wide');
  await on.service.call('POST', 'v1/set-anchor', {
    timeline_id: timeline,
    description: 'A description that goes on for longer than a table likes, as descriptions do',
  });
  const page = await on.loggedIn(`clock?timeline=${timeline}`);
  await page.getByRole('row', { name: /A description/ }).waitFor();
  await expectUsable(page);
  await page.keyboard.press('t');
  await page.getByRole('application').waitFor();
  await expectAccessibleLightAndDark(page);
});

describe('followers', () => {
  it('shows named followers, and whether each has confirmed the last change', async () => {
    const timeline = await timelineAt('followed');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    const panel = page.getByRole('region', { name: 'Followers' });
    await panel.getByText('No followers').waitFor();

    const leaving = new AbortController();
    const url = `${on.service.url}/v1/clock/stream?timeline_id=${timeline}&follow=web-1&faults=true`;
    const headers = {
      Authorization: `Bearer ${on.service.adminKey}`,
      'Timenav-Host': 'web.example',
      'Timenav-Process': '4711',
    };
    const stream = await fetch(url, { headers, signal: leaving.signal });
    const reader = stream.body!.getReader();
    const { value } = await reader.read();
    const data = /^data: ?(.*)$/m.exec(new TextDecoder().decode(value))![1]!;
    const confirmation = JSON.parse(data) as { follower_id: string; generation: number };
    await panel.getByRole('button', { name: 'Refresh' }).click();
    const row = panel.getByRole('row').filter({ hasText: 'web-1' });
    await row.getByText('Lagging').waitFor();
    await row.getByText('web.example, process 4711').waitFor();

    const confirm = (generation: number): Promise<unknown> =>
      on.service.call('POST', 'v1/followers/confirm', {
        timeline_id: timeline,
        follower_id: confirmation.follower_id,
        generation,
      });
    await confirm(confirmation.generation);
    await panel.getByRole('button', { name: 'Refresh' }).click();
    await row.getByText('Up to date').waitFor();
    await row.getByText(/, took [\d.]+ (ms|s)/).waitFor();
    // A follower with a clock fault.
    await on.service.call('POST', `v1/followers/${confirmation.follower_id}/fault`, {
      timeline_id: timeline,
      fault: { offset: '-2s', drift_ppm: 200 },
    });
    await panel.getByRole('button', { name: 'Refresh' }).click();
    await row.getByText('Clock error: 2s behind, 200 ppm too fast').waitFor();
    // A change of the clock triggers a new read.
    await on.service.call('POST', 'v1/fast-forward', { timeline_id: timeline, duration: '1h' });
    await row.getByText('Lagging').waitFor();
    await expectAccessible(page);

    leaving.abort();
    await expect
      .poll(async () => {
        await panel.getByRole('button', { name: 'Refresh' }).click();
        return row.innerText();
      })
      .toContain('Disconnected');
  });
});

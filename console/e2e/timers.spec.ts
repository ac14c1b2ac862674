/** Timers: setting, listing, canceling; previews of moves; advances in progress, and receipts. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible, fresh, REFUSED, shared, expectUsable, expectAccessibleLightAndDark } from './harness';
import { axis, param } from './timeline-page';

const on = shared();

const NOW = '2027-01-01T08:00:00Z';

/** Creates a timeline whose clock is paused at a known moment. */
async function timelineOf(name: string): Promise<string> {
  const timeline = fresh(name);
  await on.service.call('POST', 'timelines', { timeline_id: timeline });
  await on.service.call('POST', 'v1/pause-time', { timeline_id: timeline });
  await on.service.call('POST', 'v1/travel', { timeline_id: timeline, destination_time: NOW });
  return timeline;
}

const set = (timeline_id: string, timer_id: string, more: Record<string, unknown>): Promise<unknown> =>
  on.service.call('POST', 'v1/timers', {
    timeline_id,
    timer_id,
    deliver: { to: 'queue', queue: 'billing' },
    ...more,
  });

/** Claims firings as a worker does and returns their ids. The queue counts as attended from this call on. */
async function claim(timeline: string, wait = '30s'): Promise<string[]> {
  const body = { timeline_id: timeline, wait, max: 10 };
  const { firings } = await on.service.call<{ firings: { firing_id: string }[] }>(
    'POST',
    'v1/queues/billing/claim',
    body,
  );
  return firings.map(({ firing_id }) => firing_id);
}
const acknowledge = (timeline_id: string, firing_ids: string[]): Promise<unknown> =>
  on.service.call('POST', 'v1/firings/ack', { timeline_id, firing_ids });

const list = (page: Page): ReturnType<Page['getByRole']> => page.getByRole('region', { name: 'Armed timers' });
const card = (page: Page, name: string): ReturnType<Page['getByRole']> =>
  page.getByRole('article', { name: `Timer ${name}` });
const receipt = (page: Page): ReturnType<Page['getByRole']> => page.getByRole('region', { name: 'Receipt' });

describe('the list of timers', () => {
  it('explains its purpose without timers, and sets one at a moment', async () => {
    const timeline = await timelineOf('first');
    const page = await on.loggedIn(`timers?timeline=${timeline}`);
    await page.getByRole('heading', { name: 'No armed timers' }).waitFor();
    await page.getByText(`timenav timer listen --queue default --timeline ${timeline}`).waitFor();
    await list(page).getByRole('button', { name: 'Set a timer…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set a timer' });
    await dialog.getByLabel('Moment').fill('soon');
    await dialog.getByRole('button', { name: 'Set the timer' }).click();
    await dialog.getByText('Write a timestamp such as').waitFor();
    await dialog.getByLabel('Moment').fill('2027-01-31T09:00:00Z');
    await dialog.getByText('Sunday, 31 January 2027, 09:00:00 UTC: in ').waitFor();
    await dialog.getByLabel('Name').fill('renew-42');
    await dialog.getByLabel('Queue', { exact: true }).fill('billing');
    await dialog.getByText('Payload and more').click();
    await dialog.getByLabel('Payload').fill('{"invoice": 42}');
    await dialog.getByRole('button', { name: 'Set the timer' }).click();
    await page.getByText('The timer fires at 2027-01-31T09:00:00Z.').waitFor();
    await list(page)
      .getByRole('row', { name: /renew-42.*31 January 2027, 09:00.*once.*billing/ })
      .waitFor();
    await card(page, 'renew-42').getByText('"invoice": 42').waitFor();
    expect(await on.service.call('GET', `v1/timers/renew-42?timeline_id=${timeline}`)).toMatchObject({
      timer: { state: 'armed', payload: { invoice: 42 }, deliver: { queue: 'billing' } },
    });
  });

  it('sets one by rule or cron, shows errors next to fields, and previews firings', async () => {
    const timeline = await timelineOf('rules');
    const page = await on.loggedIn(`timers?timeline=${timeline}&do=set`, { expected: REFUSED });
    const dialog = page.getByRole('dialog', { name: 'Set a timer' });
    await dialog.getByText('By cron', { exact: true }).click();
    await dialog.getByLabel('Cron expression').fill('0 9 * * MON-FRI 7');
    const why = dialog.getByText('a cron expression has five fields', { exact: false });
    await why.waitFor();
    await dialog.getByRole('button', { name: 'Set the timer' }).click();
    await expect.poll(() => dialog.getByLabel('Cron expression').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByText('By a rule', { exact: true }).click();
    await dialog.getByRole('button', { name: 'the last day of each month' }).click();
    await dialog.getByText('Every month on the last day.').waitFor();
    await dialog.getByLabel('Time zone').fill('Europe/Paris');
    await dialog.getByLabel('Starts').fill('2027-01-31T08:00:00Z');
    // The preview: nine in the morning in Paris, in winter and in summer.
    const before = dialog.getByRole('region', { name: 'Moments' });
    await before.getByText('Sunday, 31 January 2027, 08:00 UTC').waitFor();
    expect((await before.getByRole('listitem').allInnerTexts()).slice(1, 3)).toEqual([
      'Sunday, 28 February 2027, 08:00 UTC',
      'Wednesday, 31 March 2027, 07:00 UTC',
    ]);
    // A rule typed while a response is pending does not get that response.
    await page.route('**/v1/timer-preview*', async (sent) => {
      await new Promise((late) => setTimeout(late, 1_500));
      await sent.continue();
    });
    await dialog.getByRole('button', { name: 'every year' }).click();
    await page.waitForRequest('**/v1/timer-preview*');
    await dialog.getByRole('button', { name: 'the last day of each month' }).click();
    await before.getByText('Calculating the next moments…').waitFor();
    await before.getByText('Sunday, 31 January 2027, 08:00 UTC').waitFor();
    expect(await before.getByRole('listitem').nth(1).innerText()).toContain('28 February 2027');
    await page.unroute('**/v1/timer-preview*');
    await dialog.getByLabel('Name').fill('monthly');
    await dialog.getByRole('button', { name: 'Set the timer' }).click();
    const monthly = card(page, 'monthly');
    await monthly.getByText('every month on the last day · Europe/Paris').waitFor();
    await monthly.getByRole('button', { name: 'Show one year' }).click();
    const moments = monthly.getByRole('region', { name: 'Next moments' }).getByRole('listitem');
    await moments.first().waitFor();
    // Nine in the morning in Paris, in winter and in summer.
    expect((await moments.allInnerTexts()).slice(0, 4)).toEqual([
      '31 January 2027, 08:00',
      '28 February 2027, 08:00',
      '31 March 2027, 07:00',
      '30 April 2027, 07:00',
    ]);
  });

  it('sets one that records an event, and shows that event', async () => {
    const timeline = await timelineOf('recording');
    const page = await on.loggedIn(`timers?timeline=${timeline}&do=set`);
    const dialog = page.getByRole('dialog', { name: 'Set a timer' });
    await dialog.getByLabel('Moment').fill('2027-01-31T09:00:00Z');
    await dialog.getByText('Records an event', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Set the timer' }).click();
    await dialog.getByText('Describe the event in a few words.').waitFor();
    await dialog.getByLabel('Name').fill('trial');
    await dialog.getByLabel('Event', { exact: true }).fill('Trial ends');
    await dialog.getByText('Place, actors and attributes').click();
    await dialog.getByLabel('Actors').fill('customer-7');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Attributes', { exact: true }).fill('{"plan": "yearly"}');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Set the timer' }).click();
    await list(page)
      .getByRole('row', { name: /trial.*31 January 2027, 09:00.*once.*records an event/ })
      .waitFor();
    await card(page, 'trial').getByText('Trial ends').waitFor();
    await card(page, 'trial').getByText('customer-7').waitFor();
    await card(page, 'trial').getByText('"plan": "yearly"').waitFor();
    await page.getByRole('link', { name: 'Show on the axis' }).click();
    await axis(page).getByRole('link', { name: 'Timers' }).waitFor();
    const box = (await axis(page).boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height - 15);
    await page.getByText('Fires next: 31 January 2027, 09:00 · records an event').waitFor();
    // The event is recorded without a worker.
    await on.service.call('POST', 'v1/fast-forward', { timeline_id: timeline, duration: 'P1M' });
    await page.goto(`${on.service.url}/#/timers?timeline=${timeline}&timer=trial`);
    await card(page, 'trial').getByText('1 acknowledged').waitFor();
    await card(page, 'trial').getByRole('link', { name: 'Trial ends' }).click();
    await page.getByRole('article', { name: 'Event' }).getByRole('heading', { name: 'Trial ends' }).waitFor();
  });

  it('cancels one, keeps it among the canceled ones, and has pages', async () => {
    const timeline = await timelineOf('many-timers');
    for (let day = 1; day <= 60; day += 1) {
      const at = new Date(Date.UTC(2027, 1, day)).toISOString();
      await set(timeline, `t-${String(day).padStart(2, '0')}`, { at });
    }
    const page = await on.loggedIn(`timers?timeline=${timeline}`);
    await list(page).getByText('1 to 50').waitFor();
    await list(page).getByRole('button', { name: 'Next page' }).click();
    await list(page).getByText('51 to 60').waitFor();
    await list(page).getByRole('button', { name: 'Cancel t-60' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the timer' }).click();
    await list(page).getByText('51 to 59').waitFor();
    await page.getByRole('link', { name: 'Canceled' }).click();
    await page.getByRole('region', { name: 'Canceled timers' }).getByRole('row', { name: /t-60/ }).waitFor();
  });
});

describe('an existing timer', () => {
  it('is changed: its moment, payload and destination', async () => {
    const timeline = await timelineOf('changed');
    await set(timeline, 'renew', { at: '2027-01-31T09:00:00Z', payload: { invoice: 42 } });
    const page = await on.loggedIn(`timers?timeline=${timeline}&timer=renew`);
    await card(page, 'renew').getByRole('button', { name: 'Change…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change renew' });
    await dialog.getByText('Past firings do not change.').waitFor();
    expect(await dialog.getByLabel('Name').count()).toBe(0);
    expect(await dialog.getByLabel('Queue', { exact: true }).inputValue()).toBe('billing');
    await dialog.getByText('Payload and more').click();
    await dialog.getByLabel('Payload').fill('');
    await dialog.getByRole('button', { name: 'Change the timer' }).click();
    await dialog.getByText('A payload can be changed, but not removed.').waitFor();
    await dialog.getByLabel('Payload').fill('{"invoice": 43}');
    await dialog.getByText('By cron', { exact: true }).click();
    await dialog.getByLabel('Cron expression').fill('0 9 * * *');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Change the timer' }).click();
    await page.getByText('The timer was changed. It fires at 2027-01-01T09:00:00Z.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await list(page)
      .getByRole('row', { name: /renew.*1 January 2027, 09:00.*billing/ })
      .waitFor();
    await card(page, 'renew').getByText('"invoice": 43').waitFor();
    expect(await on.service.call('GET', `v1/timers/renew?timeline_id=${timeline}`)).toMatchObject({
      timer: { cron: { expression: '0 9 * * *' }, payload: { invoice: 43 }, deliver: { queue: 'billing' } },
    });
  });

  it('keeps its webhook when other fields are changed', async () => {
    const timeline = await timelineOf('hooked');
    const deliver = { to: 'webhook', url: 'https://hooks.example.com/timenav' };
    await set(timeline, 'renew', { at: '2027-01-31T09:00:00Z', deliver });
    const page = await on.loggedIn(`timers?timeline=${timeline}&timer=renew`);
    await card(page, 'renew').getByRole('button', { name: 'Change…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change renew' });
    await dialog.getByText('Each firing is still sent to https://hooks.example.com/timenav.').waitFor();
    expect(await dialog.getByLabel('Queue', { exact: true }).count()).toBe(0);
    await dialog.getByLabel('Moment').fill('2027-02-28T09:00:00Z');
    await dialog.getByRole('button', { name: 'Change the timer' }).click();
    await page.getByText('The timer was changed. It fires at 2027-02-28T09:00:00Z.').waitFor();
    expect(await on.service.call('GET', `v1/timers/renew?timeline_id=${timeline}`)).toMatchObject({
      timer: { at: '2027-02-28T09:00:00Z', deliver: { url: deliver.url } },
    });
  });

  it('redelivers a failed firing', async () => {
    const timeline = await timelineOf('redelivered');
    await set(timeline, 'renew', { at: '2027-01-31T09:00:00Z' });
    // The queue had a worker, so the clock waits until the firing has failed permanently, after three attempts.
    expect(await claim(timeline, '0s')).toEqual([]);
    const moved = on.service.call('POST', 'v1/fast-forward', { timeline_id: timeline, duration: 'P1M' });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const firing_ids = await claim(timeline);
      await on.service.call('POST', 'v1/firings/fail', { timeline_id: timeline, firing_ids, reason: 'card declined' });
    }
    await moved;
    const page = await on.loggedIn(`timers?timeline=${timeline}&state=done&timer=renew`);
    await card(page, 'renew').getByText('1 failed').waitFor();
    await card(page, 'renew').getByText('card declined').waitFor();
    await expectAccessible(page);
    await card(page, 'renew').getByRole('button', { name: 'Deliver again' }).click();
    await card(page, 'renew').getByText('1 waiting').waitFor();
    await card(page, 'renew').getByText('1 failed').waitFor();
    expect(await card(page, 'renew').getByRole('button', { name: 'Deliver again' }).count()).toBe(0);
    await acknowledge(timeline, await claim(timeline));
    await page.reload();
    await card(page, 'renew').getByText('1 acknowledged').waitFor();
  });
});

describe('a move over timers', () => {
  it('previews its firings, and shows their results afterwards', async () => {
    const timeline = await timelineOf('before');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    const next = page.getByRole('region', { name: 'Next' });
    await next.getByText('No upcoming events or timers').waitFor();
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    await set(timeline, 'daily', { cron: { expression: '0 12 * * *' } });
    await page.reload();
    await next.getByRole('link', { name: 'daily' }).waitFor();
    await next.getByRole('listitem').filter({ hasText: 'renew' }).getByText('billing').waitFor();
    await next.getByRole('listitem').filter({ hasText: 'renew' }).getByText('3 January 2027, 09:00').waitFor();
    await page.getByText('1 January 2027, 09:00, passes no events, fires no timers').waitFor();
    await page.getByRole('button', { name: '1 week' }).click();
    await page.getByText('8 January 2027, 08:00, passes no events, fires 8 times, 2 timers').waitFor();
    await page.getByText('Timers that would fire').click();
    await page.getByRole('listitem').filter({ hasText: 'daily' }).getByText('7 times').waitFor();
    // The preview does not move the clock.
    expect(await on.service.call('GET', `v1/clock?timeline_id=${timeline}`)).toMatchObject({ current_time: NOW });
    await page.getByRole('button', { name: 'Fast-forward' }).click();
    await receipt(page).getByText('8 firings at 8 instants: 8 not acknowledged yet.').waitFor();
    await receipt(page).getByText('Firings', { exact: true }).click();
    await receipt(page).getByRole('link', { name: 'renew' }).click();
    await card(page, 'renew').getByText('1 waiting').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: /^Go back to 1 January 2027/ }).waitFor({ state: 'detached' });
  });

  it('goes to the next timer and no further, by button and key', async () => {
    const timeline = await timelineOf('next');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    const button = page.getByRole('button', { name: 'Next timer' });
    await page.getByRole('region', { name: 'Next' }).getByText('No upcoming events or timers').waitFor();
    expect(await button.isDisabled()).toBe(true);
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    await set(timeline, 'ends', { at: '2027-02-28T12:00:00Z' });
    await page.reload();
    await button.click();
    await receipt(page).getByText('1 firing at 1 instant: 1 not acknowledged yet.').waitFor();
    await page.getByRole('heading', { name: 'Sunday, 3 January 2027' }).waitFor();
    await expect.poll(() => button.isDisabled()).toBe(false);
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: 'Sunday, 28 February 2027' }).waitFor();
    const clock = await on.service.call('GET', `v1/clock?timeline_id=${timeline}`);
    expect(clock).toMatchObject({ current_time: '2027-02-28T12:00:00Z', state: 'paused' });
    await expect.poll(() => button.isDisabled()).toBe(true);
  });

  it('is previewed in the travel dialog too', async () => {
    const timeline = await timelineOf('traveling');
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    const page = await on.loggedIn(`clock?timeline=${timeline}&do=travel&to=2027-02-01T00:00:00Z`);
    const dialog = page.getByRole('dialog', { name: 'Travel' });
    await dialog.getByText('The move passes no events and fires 1 timer.').waitFor();
    await dialog.getByRole('button', { name: 'Travel', exact: true }).click();
    await receipt(page).getByText('1 firing at 1 instant: 1 not acknowledged yet.').waitFor();
    await receipt(page).getByRole('button', { name: 'Dismiss' }).click();
    await receipt(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Go back to 1 January 2027/ }).click();
    await page.getByRole('heading', { name: 'Friday, 1 January 2027' }).waitFor();
  });

  it('goes back, and rearms timers on request', async () => {
    const timeline = await timelineOf('again');
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    const again = page.getByRole('checkbox', { name: 'Re-arm timers when rewinding' });
    const next = page.getByRole('region', { name: 'Next' });
    await next.getByText('No upcoming events or timers').waitFor();
    expect(await again.count()).toBe(0);
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    const forward = { timeline_id: timeline, duration: '1w' };
    await on.service.call('POST', 'v1/fast-forward', forward);
    await page.getByRole('button', { name: '1 week' }).click();
    // The option is available although no timer is armed any more.
    await again.waitFor();
    await page.getByRole('button', { name: 'Rewind' }).click();
    await page.getByRole('heading', { name: 'Friday, 1 January 2027' }).waitFor();
    const renew = (): Promise<unknown> => on.service.call('GET', `v1/timers/renew?timeline_id=${timeline}`);
    expect(await renew()).toMatchObject({ timer: { state: 'done' } });
    await on.service.call('POST', 'v1/fast-forward', forward);
    await page.getByRole('heading', { name: 'Friday, 8 January 2027' }).waitFor();
    await again.check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Rewind' }).click();
    await next.getByRole('link', { name: 'renew' }).waitFor();
    expect(await renew()).toMatchObject({ timer: { state: 'armed' }, firings: [{ state: 'superseded', round: 0 }] });
    // The keyboard shortcut behaves like the button.
    await on.service.call('POST', 'v1/fast-forward', forward);
    await page.getByRole('heading', { name: 'Friday, 8 January 2027' }).waitFor();
    await page.keyboard.press('r');
    await next.getByRole('link', { name: 'renew' }).waitFor();
    // So does traveling back. Traveling forward does not have the option.
    await on.service.call('POST', 'v1/fast-forward', forward);
    await page.getByRole('heading', { name: 'Friday, 8 January 2027' }).waitFor();
    await page.keyboard.press('t');
    const dialog = page.getByRole('dialog', { name: 'Travel' });
    const there = dialog.getByRole('checkbox', { name: 'Re-arm timers' });
    await dialog.getByLabel('Moment').fill('2027-02-01T00:00:00Z');
    await there.waitFor({ state: 'detached' });
    await dialog.getByLabel('Moment').fill('2027-01-02T00:00:00Z');
    await there.check();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Travel', exact: true }).click();
    await page.getByRole('heading', { name: 'Saturday, 2 January 2027' }).waitFor();
    await next.getByRole('link', { name: 'renew' }).waitFor();
  });

  it('returns to an anchor, and explains the effect on timers', async () => {
    const timeline = await timelineOf('returned');
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    await on.service.call('POST', 'v1/set-anchor', { timeline_id: timeline, description: 'before' });
    await on.service.call('POST', 'v1/fast-forward', { timeline_id: timeline, duration: '1w' });
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('button', { name: /^Return/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Return to “before”' });
    await dialog.getByText('Timers that have fired since fire again at their moments').waitFor();
    await dialog.getByText('fired timers do not fire again').waitFor();
    await dialog.getByRole('button', { name: 'Return', exact: true }).click();
    await page.getByRole('region', { name: 'Next' }).getByRole('link', { name: 'renew' }).waitFor();
  });

  it('waits until the worker is done, on every open page', async () => {
    const timeline = await timelineOf('held');
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    const [page, other] = [
      await on.loggedIn(`clock?timeline=${timeline}`),
      await on.loggedIn(`timers?timeline=${timeline}`),
    ];
    await page.getByRole('button', { name: '1 week' }).click();
    await page.getByText('fires 1 timer').first().waitFor();
    const claimed = claim(timeline);
    await page.getByRole('button', { name: 'Fast-forward' }).click();
    const firings = await claimed;
    expect(firings).toHaveLength(1);
    for (const one of [page, other]) {
      const running = one.getByRole('region', { name: 'Advance in progress' });
      await running.getByText('to 8 January 2027, 08:00').waitFor();
      await running.getByText('Waiting for renew in queue billing').waitFor();
      await running.getByText('At 3 January 2027, 09:00, instant 1.').waitFor();
    }
    expect(await page.getByRole('button', { name: 'Fast-forward' }).isDisabled()).toBe(true);
    await other.goto(`${on.service.url}/#/timers?timeline=${timeline}&timer=renew`);
    await other.getByText(`timenav timer listen --queue billing --timeline ${timeline}`).waitFor();
    await acknowledge(timeline, firings);
    for (const one of [page, other]) await receipt(one).getByText('1 firing at 1 instant: 1 acknowledged.').waitFor();
    await page.getByRole('heading', { name: 'Friday, 8 January 2027' }).waitFor();
    await page.getByRole('button', { name: /^Go back to 1 January 2027/ }).waitFor();
  });

  it('is stopped on the way', async () => {
    const timeline = await timelineOf('stopped');
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('button', { name: '1 week' }).click();
    await page.getByText('fires 1 timer').first().waitFor();
    const claimed = claim(timeline);
    await page.getByRole('button', { name: 'Fast-forward' }).click();
    await claimed;
    await page.getByRole('button', { name: 'Stop here' }).click();
    await receipt(page).getByText('at 3 January 2027, 09:00, before 8 January 2027, 08:00').waitFor();
    await page.getByRole('heading', { name: 'Sunday, 3 January 2027' }).waitFor();
    expect(await on.service.call('GET', `v1/clock?timeline_id=${timeline}`)).toMatchObject({
      current_time: '2027-01-03T09:00:00Z',
      state: 'paused',
    });
  });
});

describe('the axis', () => {
  it('has a lane of timers that links to them', async () => {
    const timeline = await timelineOf('lane');
    await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
    const at = `timeline?timeline=${timeline}&center=2027-01-03T09:00:00Z&zoom=60000000`;
    const page = await on.loggedIn(at);
    await page.getByRole('link', { name: 'Timers', exact: true }).last().waitFor();
    await axis(page).getByRole('link', { name: 'Timers' }).waitFor();
    const box = (await axis(page).boundingBox())!;
    const mark = { x: box.x + box.width / 2, y: box.y + box.height - 15 };
    // The lane appears before the mark is drawn.
    const tipCount = async (there: Page, text: string): Promise<number> => {
      await there.mouse.move(mark.x, mark.y - 40);
      await there.mouse.move(mark.x, mark.y);
      return there.getByText(text).count();
    };
    await expect.poll(() => tipCount(page, 'Fires next: 3 January 2027, 09:00 · queue billing')).toBe(1);
    await page.mouse.click(mark.x, mark.y);
    await card(page, 'renew').waitFor();
    expect(param(page, 'timer')).toBe('renew');
    // Past firings stay listed with their outcome.
    await on.service.call('POST', 'v1/fast-forward', { timeline_id: timeline, duration: '1w' });
    const after = await on.loggedIn(at);
    await axis(after).getByRole('link', { name: 'Timers' }).waitFor();
    await expect.poll(() => tipCount(after, 'Fired: 3 January 2027, 09:00 · waiting · queue billing')).toBe(1);
  });

  it('has no such lane without timers', async () => {
    const timeline = await timelineOf('laneless');
    const page = await on.loggedIn(`timeline?timeline=${timeline}`);
    await axis(page).waitFor();
    const answered = page.waitForResponse((answer) => answer.url().includes('/v1/timers'));
    await page.reload();
    await answered;
    await axis(page).waitFor();
    expect(await axis(page).getByRole('link', { name: 'Timers' }).count()).toBe(0);
  });
});

it('offers no changes to a read-only user', async () => {
  const reader = fresh('reader');
  await on.service.user(reader);
  const timeline = await timelineOf('looked-at');
  await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
  await on.service.call('POST', 'v1/set-access-control', {
    timeline_id: timeline,
    permissions: { read: [reader] },
  });
  const page = await on.loggedIn(`timers?timeline=${timeline}&timer=renew`, { user: reader });
  await page.getByText(`Your access to ${timeline} is read-only.`).first().waitFor();
  expect(await page.getByRole('button', { name: 'Set a timer…' }).isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Cancel renew' }).isDisabled()).toBe(true);
  await card(page, 'renew').getByText('3 January 2027, 09:00').first().waitFor();
});

it('is accessible and fits every width', async () => {
  const timeline = await timelineOf('wide');
  await set(timeline, 'a-timer-with-a-name-that-goes-on-for-longer-than-a-table-likes-as-names-do', {
    every: { rule: 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', zone: 'America/Argentina/Buenos_Aires' },
    payload: { note: 'a text that is long enough to leave the page if it were let '.repeat(4) },
  });
  await set(timeline, 'renew', { at: '2027-01-03T09:00:00Z' });
  await on.service.call('POST', 'v1/fast-forward', { timeline_id: timeline, duration: '1w' });
  const page = await on.loggedIn(`timers?timeline=${timeline}`);
  await list(page)
    .getByRole('link', { name: /^a-timer/ })
    .click();
  await page.getByRole('heading', { name: 'Next moments' }).waitFor();
  await expectUsable(page);
  await page.getByRole('button', { name: 'Set a timer…' }).click();
  await page.getByText('By a rule', { exact: true }).click();
  await expectAccessibleLightAndDark(page);
});

it('sends webhooks from a fork on request', async () => {
  const timeline = await timelineOf('forked');
  const deliver = { to: 'webhook', url: 'https://hooks.example.com/timenav' };
  await set(timeline, 'renew', { at: '2027-01-31T09:00:00Z', deliver });
  for (const sends of [false, true]) {
    const page = await on.loggedIn(`clock?timeline=${timeline}`);
    await page.getByRole('button', { name: `Timeline: ${timeline}` }).click();
    await page.getByRole('button', { name: 'New timeline or fork' }).click();
    const dialog = page.getByRole('dialog', { name: 'New timeline' });
    const choice = dialog.getByRole('checkbox', { name: 'Send webhooks of inherited timers' });
    expect(await choice.count()).toBe(0);
    await dialog.getByRole('radio', { name: `as a fork of ${timeline}` }).check();
    await choice.setChecked(sends);
    const fork = fresh(sends ? 'sending' : 'silent');
    await dialog.getByLabel('Name').fill(fork);
    await dialog.getByRole('button', { name: 'Fork the timeline' }).click();
    await page.getByRole('button', { name: `Timeline: ${fork}` }).waitFor();
    const { fork: made } = await on.service.call<{ fork: Record<string, unknown> }>('GET', `timeline/${fork}`);
    expect([made.parent, made.deliver_webhooks]).toEqual([timeline, sends ? true : undefined]);
  }
});

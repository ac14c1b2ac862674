/** Holds: holder, reason and remaining time; placing a hold, and releasing one's own. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, fresh, shared, expectUsable } from './harness';

const on = shared();

type Locator = ReturnType<Page['getByRole']>;
const panel = (page: Page): Locator => page.getByRole('region', { name: 'Holds' });
const running = (page: Page): Locator => page.getByRole('region', { name: 'Advance in progress' });

/** Creates a timeline whose clock is paused before a timer that records an event. Returns its name. */
async function timelineOf(name: string): Promise<string> {
  const timeline_id = fresh(name);
  await on.service.call('POST', 'timelines', { timeline_id });
  await on.service.call('POST', 'v1/pause-time', { timeline_id });
  await on.service.call('POST', 'v1/travel', { timeline_id, destination_time: '2027-01-01T08:00:00Z' });
  const deliver = { to: 'timeline', event: { description: 'Trial ends' } };
  await on.service.call('POST', 'v1/timers', { timeline_id, timer_id: 'trial', at: '2027-01-03T09:00:00Z', deliver });
  return timeline_id;
}

const hold = (timeline_id: string, reason: string, key?: string): Promise<unknown> =>
  on.service.call('POST', 'v1/holds', { timeline_id, reason, ttl: '10m' }, key);
const forward = (timeline_id: string): Promise<unknown> =>
  on.service.call('POST', 'v1/fast-forward', { timeline_id, duration: '1w', wait: '0s' });

it('an empty list is explained, and a hold is placed, confirmed and released', async () => {
  const timeline = await timelineOf('holding');
  const page = await on.loggedIn(`clock?timeline=${timeline}`);
  await panel(page).getByRole('heading', { name: 'No holds' }).waitFor();
  await panel(page).getByRole('button', { name: 'Hold…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hold the clock' });
  await dialog.getByLabel('Duration').fill('P1M');
  await dialog.getByText('Months and years differ in length').waitFor();
  await dialog.getByLabel('Duration').fill('5m');
  await dialog.getByRole('button', { name: 'Hold the clock' }).click();
  await dialog.getByText('Enter a reason').waitFor();
  await dialog.getByLabel('Reason').fill('checking the invoices');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Hold the clock' }).click();
  const hold = panel(page).getByRole('listitem').filter({ hasText: 'checking the invoices' });
  await hold.getByText(/^admin \(you\) · (5 minutes|4 minutes \d+ seconds?) left$/).waitFor();
  await panel(page).getByRole('button', { name: 'Release checking the invoices' }).click();
  const confirmation = page.getByRole('dialog', { name: 'Release the hold?' });
  await confirmation.getByText('The next advance will not wait for it.').waitFor();
  await confirmation.getByRole('button', { name: 'Cancel' }).click();
  expect(await on.service.call('GET', `v1/holds?timeline_id=${timeline}`)).toMatchObject({ holds: [{}] });
  await panel(page).getByRole('button', { name: 'Release checking the invoices' }).click();
  await confirmation.getByRole('button', { name: 'Release it' }).click();
  await panel(page).getByRole('heading', { name: 'No holds' }).waitFor();
  expect(await on.service.call('GET', `v1/holds?timeline_id=${timeline}`)).toMatchObject({ holds: [] });
});

it('every page shows the holder and reason of a waiting advance, and can continue it', async () => {
  const timeline = await timelineOf('held');
  await hold(timeline, 'a look at the trial');
  await forward(timeline);
  const [page, other] = [
    await on.loggedIn(`clock?timeline=${timeline}`),
    await on.loggedIn(`timers?timeline=${timeline}`),
  ];
  for (const one of [page, other]) {
    await running(one).getByText('Held by you').waitFor();
    await running(one).getByText('a look at the trial').waitFor();
    await running(one)
      .getByText(/^admin \(you\) · (10|9) minutes/)
      .waitFor();
  }
  // The hold is not listed twice.
  expect(await panel(page).count()).toBe(0);
  await running(other).getByRole('button', { name: 'Release a look at the trial' }).click();
  await other.getByText('The advance continues at once, unless another hold remains.').waitFor();
  await other.getByRole('dialog').getByRole('button', { name: 'Release it' }).click();
  for (const one of [page, other])
    await one.getByRole('region', { name: 'Receipt' }).getByText('1 firing at 1 instant: 1 acknowledged.').waitFor();
  await panel(page).getByRole('heading', { name: 'No holds' }).waitFor();
});

it('a hold keeps a running advance waiting, also after another one takes over', async () => {
  const timeline = await timelineOf('taken-over');
  await hold(timeline, 'the first look');
  await forward(timeline);
  const page = await on.loggedIn(`clock?timeline=${timeline}`);
  await running(page).getByText('the first look').waitFor();
  await running(page).getByRole('button', { name: 'Hold…' }).click();
  await page.getByLabel('Reason').fill('a second look');
  await page.getByRole('dialog').getByRole('button', { name: 'Hold the clock' }).click();
  await running(page).getByText('a second look').waitFor();
  await running(page).getByRole('button', { name: 'Release the first look' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Release it' }).click();
  await running(page).getByText('the first look', { exact: true }).waitFor({ state: 'detached' });
  await running(page).getByText('Held by you').waitFor();
  await running(page).getByRole('button', { name: 'Stop here' }).click();
  await page.getByRole('region', { name: 'Receipt' }).waitFor();
  // The hold remains, and the next advance would wait for it.
  await panel(page).getByText('a second look').waitFor();
});

it('users can release their own holds only, and read-only users none', async () => {
  const [writer, reader] = [fresh('writer'), fresh('reader')];
  const timeline = await timelineOf('others');
  await on.service.user(writer);
  await on.service.user(reader);
  await on.service.call('POST', 'v1/set-access-control', {
    timeline_id: timeline,
    permissions: { write: [writer], read: [reader] },
  });
  await hold(timeline, 'of the admin');
  const page = await on.loggedIn(`clock?timeline=${timeline}`, { user: writer });
  await panel(page).getByText('of the admin').waitFor();
  await panel(page).getByText('A hold is released by its owner alone').waitFor();
  expect(
    await panel(page)
      .getByRole('button', { name: /^Release/ })
      .count(),
  ).toBe(0);
  await panel(page).getByRole('button', { name: 'Hold…' }).click();
  await page.getByLabel('Reason').fill('of the writer');
  await page.getByRole('dialog').getByRole('button', { name: 'Hold the clock' }).click();
  await panel(page).getByRole('button', { name: 'Release of the writer' }).waitFor();
  expect(
    await panel(page)
      .getByRole('button', { name: /^Release/ })
      .count(),
  ).toBe(1);
  const looking = await on.loggedIn(`clock?timeline=${timeline}`, { user: reader });
  await panel(looking).getByText('of the writer').waitFor();
  expect(await panel(looking).getByRole('button', { name: 'Hold…' }).isDisabled()).toBe(true);
  expect(
    await panel(looking)
      .getByRole('button', { name: /^Release/ })
      .count(),
  ).toBe(0);
});

it('an expired hold disappears without a request', async () => {
  const timeline = await timelineOf('short');
  await on.service.call('POST', 'v1/holds', { timeline_id: timeline, reason: 'a short look', ttl: '5s' });
  const page = await on.loggedIn(`clock?timeline=${timeline}`);
  let questions = 0;
  await panel(page)
    .getByText('a short look')
    .or(panel(page).getByRole('heading', { name: 'No holds' }))
    .waitFor();
  page.on('request', (sent) => (questions += Number(sent.url().includes('/v1/holds'))));
  await panel(page).getByRole('heading', { name: 'No holds' }).waitFor();
  expect(questions).toBe(0);
});

it('the panel is accessible and fits every width', async () => {
  const timeline = await timelineOf('wide');
  await hold(timeline, 'a reason that goes on for longer than a narrow page likes: '.repeat(4).trim());
  await hold(timeline, 'unbroken'.repeat(30));
  await forward(timeline);
  const page = await on.loggedIn(`clock?timeline=${timeline}`);
  await running(page).getByText('Held by you').waitFor();
  await expectUsable(page);
});

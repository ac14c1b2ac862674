/**
 * Tasks that a new user should complete without help. Each one starts at the start page and uses only visible links,
 * buttons and fields.
 */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { REFUSED, fresh } from './harness';
import { card, chooseKey, counted, on, param, region } from './timeline-page';

/** Six-hourly positions and wind speeds of storms, as in hurricane archives. */
const STORMS: [name: string, from: string, winds: number[], lat: number, lon: number][] = [
  ['Ivan 2004', '2004-09-10T00:00:00Z', [100, 145, 120], 18, -75],
  ['Dennis 2005', '2005-07-07T00:00:00Z', [60, 110, 130], 19, -77],
  ['Katrina 2005', '2005-08-27T00:00:00Z', [95, 150, 125, 60], 25, -86],
  ['Wilma 2005', '2005-10-18T18:00:00Z', [70, 160, 150, 130], 17, -82],
  ['Dean 2007', '2007-08-20T00:00:00Z', [120, 150], 18, -85],
];
const STEP_MS = 6 * 3_600_000;

beforeAll(async () => {
  await on.service.call('POST', 'timelines', { timeline_id: 'hurricanes' });
  await on.service.call(
    'POST',
    'v1/events?timeline_id=hurricanes',
    STORMS.flatMap(([name, from, winds, lat, lon]) =>
      winds.map((wind, index) => ({
        event_id: `${name.replace(' ', '-').toLowerCase()}-${index}`,
        time: new Date(Date.parse(from) + index * STEP_MS).toISOString().replace('.000', ''),
        name: `${name}, ${wind} kt`,
        description: 'Position and wind of a storm.',
        actors: [name],
        geo: { lat: lat + index, lon: lon - index },
        attributes: { wind, storm_id: name.replace(' ', '-').toUpperCase() },
      })),
    ),
  );
});

const button = (page: Page, name: string): ReturnType<Page['getByRole']> =>
  page.getByRole('button', { name, exact: true });
const goTo = (page: Page, view: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();

async function chooseTimeline(page: Page, from: string, to: string): Promise<void> {
  await button(page, `Timeline: ${from}`).click();
  await page.getByRole('combobox', { name: 'Find a timeline' }).fill(to);
  await page.getByRole('option', { name: new RegExp(`^${to}`) }).click();
  await button(page, `Timeline: ${to}`).waitFor();
}

describe('a new user can', () => {
  it('give a colleague read access to one timeline for a week', async () => {
    const [colleague, shared] = [fresh('colleague'), fresh('shared')];
    await on.service.user(colleague);
    await on.service.call('POST', 'timelines', { timeline_id: shared });
    const page = await on.loggedIn(`clock?timeline=${shared}`);
    await goTo(page, 'Access');
    await page.getByRole('heading', { name: 'Who may do what' }).waitFor();
    await page.getByLabel('Read', { exact: true }).fill(colleague);
    await page.keyboard.press('Enter');
    await page.getByText(`${colleague} gets read`).waitFor();
    await page.getByLabel(`How long ${colleague} has read`).selectOption('for a week');
    await button(page, 'Save the change').click();
    await page.locator('.toasts').getByText(`The permissions of ${shared} were set.`).waitFor();
    // The saved end is selected.
    const end = page.getByLabel(`How long ${colleague} has read`).locator('option:checked');
    await expect.poll(() => end.textContent()).toMatch(/^until \d+ \w{3}( \d{4})?, \d\d:\d\d$/);

    const theirs = await on.loggedIn(`access?timeline=${shared}`, { user: colleague, expected: REFUSED });
    await theirs.getByText(new RegExp(`You have read on ${shared} until .* UTC`)).waitFor();
    await goTo(theirs, 'Clock');
    await button(theirs, `Timeline: ${shared}`).waitFor();

    // To avoid waiting a week, the rest of the test uses an end a few seconds away.
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: shared,
      permissions: { expires_in: { read: { [colleague]: '1s' } } },
    });
    const statusOf = async (): Promise<number> =>
      theirs.evaluate(async (name) => (await fetch(`/v1/clock?timeline_id=${name}`)).status, shared);
    await expect.poll(statusOf).toBe(404);
    await goTo(theirs, 'Access');
    await theirs.reload();
    await theirs.getByText(`Timeline ${shared} does not exist, or you don't have access to it`).waitFor();
    await page.reload();
    await page.getByText('expired', { exact: true }).waitFor();
  });

  it('find the strongest storm of 2005 and its track', async () => {
    const page = await on.loggedIn('timeline?timeline=demo');
    await chooseTimeline(page, 'demo', 'hurricanes');
    await counted(page, '16 events');
    await page.getByTitle('Enter a time range').click();
    await page.getByLabel('From', { exact: true }).fill('2005-01-01');
    await page.getByLabel('To', { exact: true }).fill('2006-01-01');
    await button(page, 'Select range').click();
    await chooseKey(page, 'Values', 'wind');
    const values = region(page, 'Values of wind');
    await values.getByText(/60 to 160.* 11 values in view/).waitFor();
    await button(page, 'List').click();
    await button(page, 'Columns').click();
    await page.getByRole('menuitemcheckbox', { name: 'wind' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'wind', checked: true }).waitFor();
    await page.keyboard.press('Escape');
    const list = region(page, 'Events on the axis');
    await list.getByRole('button', { name: 'wind', exact: true }).click();
    await list.getByRole('button', { name: 'wind', exact: true }).click();
    await list.getByRole('button', { name: /^Wilma 2005, 160 kt/ }).click();
    await expect.poll(() => list.getByRole('row').nth(1).innerText()).toContain('Wilma 2005, 160 kt');
    await card(page).getByRole('button', { name: 'Wilma 2005', exact: true }).click();
    await counted(page, '4 events');
    await page.getByText('actor: Wilma 2005').waitFor();
    await page.getByRole('application', { name: /^World map with 4 events/ }).waitFor();
    // The same applies to the attribute that identifies storms without an actor.
    await page.goBack();
    await card(page).getByRole('button', { name: 'WILMA-2005', exact: true }).click();
    await page.getByText('storm_id = WILMA-2005').waitFor();
    await counted(page, '4 events');
    await card(page).getByRole('link', { name: 'Open in the Explorer' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('"WILMA-2005"').first().waitFor();
  });

  it('preview what would happen if an event were canceled', async () => {
    const page = await on.loggedIn('timeline?timeline=demo');
    await page.getByRole('combobox', { name: /^Find events/ }).fill('Sputnik');
    await page.getByRole('listbox', { name: 'Events found' }).getByRole('option').first().click();
    await card(page).getByRole('link', { name: 'Intervene' }).click();
    await page.getByRole('group', { name: 'Examples' }).getByRole('button', { name: 'cancel', exact: true }).click();
    await page.getByText(/It creates (a paradox|\d+ paradoxes)/).waitFor();
    await page
      .getByText(/\d+ events? depends? on it/)
      .first()
      .waitFor();
    await page.getByText('Orphaned effect').first().waitFor();
    // With names, not ids.
    const explanation = /^“.+” requires “.*Sputnik.*”, which would be canceled by the intervention/;
    await page.getByText(explanation).first().waitFor();
  });

  it('let a colleague’s program read one timeline with a key that expires in a week', async () => {
    const colleague = fresh('colleague');
    const page = await on.loggedIn('timeline?timeline=demo');
    await goTo(page, 'Access');
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await button(page, 'New user').click();
    await page.getByLabel('Name').fill(colleague);
    await button(page, 'Create the user').click();
    await page.getByRole('heading', { name: `${colleague} was created` }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Permissions', exact: true }).click();
    await page.getByLabel('Read', { exact: true }).fill(colleague);
    await page.keyboard.press('Enter');
    await button(page, 'Save the change').click();
    await button(page, 'Nothing to save').waitFor();
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.getByRole('link', { name: `Keys of ${colleague}` }).click();
    await button(page, 'New key').click();
    await page.getByLabel('What is it for?').fill('a look at the demo');
    await page.getByRole('radio', { name: /^Read/ }).check();
    await page.getByLabel('Timeline', { exact: true }).selectOption('demo');
    await page.getByLabel('Expires').selectOption('in 7 days');
    await button(page, 'Create the key').click();
    const key = await page.getByRole('dialog').locator('code').innerText();
    await button(page, 'I have saved it').click();
    await page.getByRole('row', { name: /a look at the demo.*Read.*demo.*in 7 days/ }).waitFor();
    // The key can read that timeline, but cannot change anything or read another one.
    const call = (path: string, method = 'GET', body?: unknown): Promise<unknown> =>
      on.service.call(method, path, body, key);
    await call('v1/clock?timeline_id=demo');
    await expect(call('v1/pause-time', 'POST', { timeline_id: 'demo' })).rejects.toThrow('403');
    await expect(call('v1/clock?timeline_id=hurricanes')).rejects.toThrow('404');
    const rights = await on.service.call('GET', 'v1/access-control?timeline_id=demo');
    expect(JSON.stringify(rights)).toContain(colleague);
  });

  it('prove that an event was not changed since yesterday', async () => {
    // A checkpoint that was saved yesterday. The ledger has more entries since, because each read adds one.
    const before = await on.loggedIn('integrity?timeline=demo');
    const [download] = await Promise.all([
      before.waitForEvent('download'),
      before.getByRole('region', { name: 'Checkpoint' }).getByRole('button', { name: 'Download' }).click(),
    ]);
    const note = await download.path();
    await on.service.call('GET', 'v1/clock?timeline_id=demo');

    const page = await on.loggedIn('timeline?timeline=demo');
    await goTo(page, 'Integrity');
    const compare = region(page, 'Compare with a saved checkpoint');
    await compare.getByLabel('File with the note').setInputFiles(note);
    await compare.getByText('History matches the saved checkpoint.').waitFor();
    const comparison = await compare.getByText(/^All [\d,]+ entries are unchanged/).innerText();
    const size = Number(/[\d,]+/.exec(comparison)![0].replaceAll(',', ''));

    await goTo(page, 'Timeline');
    await page.getByRole('combobox', { name: /^Find events/ }).fill('Sputnik');
    await page.getByRole('listbox', { name: 'Events found' }).getByRole('option').first().click();
    // One version and no intervention, so its entry is among the unchanged ones.
    const entries = card(page).getByRole('button', { name: /^Entry [\d,]+$/ });
    await entries.first().waitFor();
    await expect.poll(() => entries.count()).toBe(1);
    await entries.click();
    await card(page).getByRole('link', { name: 'Verify it in this browser' }).click();
    await page.getByText('This browser verified it.').waitFor();
    expect(Number(param(page, 'position'))).toBeLessThan(size);
  });
});

describe('a new user with a billing system', () => {
  it('can run it for a year, and see what was billed and when', async () => {
    const page = await on.loggedIn('timeline?timeline=demo');
    await button(page, 'Timeline: demo').click();
    await page.getByRole('button', { name: /^New timeline/ }).click();
    const created = page.getByRole('dialog', { name: 'New timeline' });
    await created.getByLabel('Name').fill('billing');
    await created.getByRole('button', { name: 'Create the timeline' }).click();
    await button(page, 'Timeline: billing').waitFor();
    await goTo(page, 'Timers');
    await page.getByRole('button', { name: 'Set a timer…' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Set a timer' });
    await dialog.getByText('By a rule', { exact: true }).click();
    await dialog.getByRole('button', { name: 'the last day of each month' }).click();
    await dialog.getByText('Records an event', { exact: true }).click();
    await dialog.getByLabel('Name').fill('monthly-bill');
    await dialog.getByLabel('Event', { exact: true }).fill('The customer is billed');
    await dialog.getByRole('button', { name: 'Set the timer' }).click();
    await page.getByRole('row', { name: /monthly-bill/ }).waitFor();
    await goTo(page, 'Clock');
    await button(page, '1 year').click();
    await page.getByText(/fires 12 times, 1 timer/).waitFor();
    await page.getByRole('button', { name: 'Fast-forward' }).click();
    await page.getByText(/^12 firings at 12 instants/).waitFor();
    await goTo(page, 'Timeline');
    await counted(page, '12 events');
    await button(page, 'List').click();
    const list = region(page, 'Events on the axis');
    await expect.poll(() => list.getByRole('button', { name: 'The customer is billed' }).count()).toBe(12);
  });
});

describe('the time zone', () => {
  it('is selected in the header, kept in the URL, and used everywhere', async () => {
    const page = await on.loggedIn('timeline?timeline=hurricanes&event=wilma-2005-1&view=list', {
      prefetch: true,
    });
    await card(page).getByText('19 October 2005', { exact: false }).first().waitFor();
    await button(page, 'Time zone: UTC').click();
    await page.getByRole('combobox', { name: 'Find a time zone' }).fill('kolkata');
    await page.getByRole('option', { name: /Kolkata/ }).waitFor();
    await page.keyboard.press('Enter');
    await button(page, 'Time zone: Asia/Kolkata').waitFor();
    expect(param(page, 'tz')).toBe('Asia/Kolkata');
    await card(page).getByText('19 October 2005, 05:30').waitFor();
    await region(page, 'Events on the axis')
      .getByRole('row', { name: /Wilma 2005, 160 kt/ })
      .getByText('19 October 2005, 05:30')
      .waitFor();
    await goTo(page, 'Clock');
    expect(param(page, 'tz')).toBe('Asia/Kolkata');
    await page.getByText('Asia/Kolkata · UTC+5:30').waitFor();
    await page.goto(`${on.service.url}/#/timeline?timeline=hurricanes&tz=Mars/Olympus`);
    await page.getByText('“tz” must be a time zone').waitFor();
  });
});

describe('a list', () => {
  it('is navigated with arrow keys, and sorted by its headers', async () => {
    const page = await on.loggedIn('timeline?timeline=hurricanes&view=list');
    const list = region(page, 'Events on the axis');
    await list.getByRole('button', { name: /^Ivan 2004, 100 kt/ }).focus();
    await page.keyboard.press('End');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent.trim())).toMatch(/^Dean 2007/);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(param(page, 'event')).toBe('dean-2007-0');
    await list.getByRole('button', { name: 'Event', exact: true }).click();
    expect(param(page, 'sort')).toBe('title');
    await expect.poll(() => list.getByRole('row').nth(1).innerText()).toContain('Dean 2007, 120 kt');
    await page.reload();
    await expect.poll(() => list.getByRole('row').nth(1).innerText()).toContain('Dean 2007, 120 kt');
    expect(await list.getByRole('columnheader', { name: 'Event' }).getAttribute('aria-sort')).toBe('ascending');
  });

  it('shows all timelines with their clocks', async () => {
    const page = await on.loggedIn('timeline?timeline=demo');
    await button(page, 'Timeline: demo').click();
    await page.getByRole('link', { name: 'All timelines and their clocks' }).click();
    const list = region(page, 'Timelines');
    await list.getByRole('rowheader', { name: 'hurricanes', exact: true }).waitFor();
    await list.getByRole('button', { name: 'Events', exact: true }).click();
    await list.getByRole('button', { name: 'Events', exact: true }).click();
    // Other tests create timelines too. These are in the order of their number of events.
    const order = async (): Promise<string[]> =>
      (await list.getByRole('rowheader').allInnerTexts())
        .map((name) => /^\S+/.exec(name)?.[0] ?? '')
        .filter((name) => name === 'demo' || name === 'hurricanes');
    await expect.poll(order).toEqual(['demo', 'hurricanes']);
    // Clocks advance without requests.
    const requests: string[] = [];
    page.on('request', (sent) => requests.push(new URL(sent.url()).pathname));
    const row = list.getByRole('row').filter({ has: page.getByRole('link', { name: 'hurricanes', exact: true }) });
    const ageText = (): Promise<string> => row.getByRole('link').nth(1).innerText();
    const before = await ageText();
    await expect.poll(ageText).not.toBe(before);
    expect(requests.filter((path) => path === '/timelines')).toEqual([]);
    // Changes by others appear after a reload of the list, whose age is shown.
    await on.service.call('POST', 'v1/pause-time', { timeline_id: 'hurricanes' });
    await page.getByText(/from the values loaded/).waitFor();
    await button(page, 'Refresh').click();
    await row.getByText('paused', { exact: true }).waitFor();
    await page.getByText(/from the values loaded just now/).waitFor();
    const paused = await ageText();
    await on.service.call('POST', 'v1/resume-time', { timeline_id: 'hurricanes' });
    expect(await ageText()).toBe(paused);
    await list.getByRole('link', { name: 'hurricanes', exact: true }).click();
    await counted(page, '16 events');
  });
});

describe('playback', () => {
  it('runs over the view to its end', async () => {
    const page = await on.loggedIn(
      'timeline?timeline=hurricanes&play=3600&range=2005-10-18T18:00:00Z/2005-10-18T20:00:00Z',
    );
    const bar = region(page, 'Playback');
    await bar.getByRole('button', { name: 'Play', exact: true }).click();
    await expect.poll(() => bar.getByRole('slider').inputValue()).toBe('1000');
    await bar.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await bar.getByText('18 October 2005, 20:00 UTC').waitFor();
    await bar.getByRole('button', { name: 'Close playback' }).click();
    expect(param(page, 'play')).toBeNull();
  });

  it('starts as soon as it is selected, and its button has the focus', async () => {
    const page = await on.loggedIn('timeline?timeline=hurricanes&range=2005-10-18T18:00:00Z/2005-10-18T20:00:00Z');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Play this time' }).click();
    const bar = region(page, 'Playback');
    const pause = bar.getByRole('button', { name: 'Pause playback' });
    await pause.waitFor();
    await expect.poll(() => bar.getByRole('slider').inputValue()).not.toBe('0');
    await expect.poll(() => pause.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it('also works with counts: the cells of the map fill', async () => {
    const page = await on.loggedIn('timeline?timeline=hurricanes&most=4&play=all');
    const map = page.getByRole('application', { name: /^World map/ });
    const placed = async (): Promise<number> =>
      Number(/with (\d+) event/.exec((await map.getAttribute('aria-label')) ?? '')?.[1] ?? NaN);
    await expect.poll(placed).toBe(16);
    const slider = region(page, 'Playback').getByRole('slider');
    // Ivan, and then all of 2005.
    for (const [place, count] of [
      ['0', 0],
      ['250', 3],
      ['500', 14],
      ['1000', 16],
    ] as const) {
      await slider.fill(place);
      await expect.poll(placed).toBe(count);
    }
  });

  it('follows the clock until the user moves the axis', async () => {
    const page = await on.loggedIn('timeline?timeline=hurricanes&zoom=1000000&center=2005-10-18T18:00:00Z');
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Follow the clock' }).click();
    await page.getByRole('button', { name: /^Following the clock/ }).waitFor();
    const year = String(new Date().getUTCFullYear());
    await expect.poll(() => page.getByTitle('Enter a time range').innerText()).toContain(year);
    await page.getByRole('application', { name: /^Time axis/ }).press('Home');
    await page.getByRole('button', { name: /^Following the clock/ }).waitFor({ state: 'detached' });
    expect(param(page, 'follow')).toBeNull();
  });
});

describe('a comparison', () => {
  it('is updated after changes on either side', async () => {
    await on.service.call('POST', 'timelines', { timeline_id: 'hurricanes-b', fork_of: 'hurricanes' });
    const page = await on.loggedIn('compare?timeline=hurricanes-b&with=hurricanes');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('No differences', { exact: true }).waitFor();
    await on.service.call('POST', 'v1/events?timeline_id=hurricanes-b', {
      event_id: 'rita',
      time: '2005-09-21T00:00:00Z',
      name: 'Rita 2005',
      description: 'Only here.',
    });
    await page.getByRole('button', { name: '1 only in hurricanes-b' }).waitFor();
    await on.service.call('POST', 'v1/events?timeline_id=hurricanes', {
      event_id: 'ophelia',
      time: '2005-09-14T00:00:00Z',
      name: 'Ophelia 2005',
      description: 'Only there.',
    });
    await page.getByRole('button', { name: '1 only in hurricanes', exact: true }).waitFor();
  });
});

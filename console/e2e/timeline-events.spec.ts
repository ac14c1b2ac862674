/** The events of the timeline: cards, recording and correcting, anchors. */
import { describe, expect, it } from 'vitest';
import { expectAccessible, logIn, underPrefix, UNREACHABLE } from './harness';
import { on, card, param, counted, region, visibleTime, timeline, launch, landing } from './timeline-page';

describe('the card', () => {
  it('shows time, place and reason, and navigates causes and effects', async () => {
    await timeline('why', launch, landing);
    const page = await on.loggedIn('timeline?timeline=why&event=landing');
    await card(page).getByText('20 July 1969, 20:17:40').first().waitFor();
    await card(page)
      .getByRole('list', { name: 'Causes' })
      .getByRole('button', { name: /^Launch.*4\.\d days before/ })
      .click();
    await card(page).getByRole('heading', { name: 'Launch' }).waitFor();
    await card(page).getByText('Cape Canaveral').waitFor();
    await card(page)
      .getByRole('list', { name: 'Effects' })
      .getByRole('button', { name: /^Landing/ })
      .click();
    await card(page).getByRole('heading', { name: 'Landing' }).waitFor();
    await page.goBack();
    await card(page).getByRole('heading', { name: 'Launch' }).waitFor();
  });

  it('uses the id of an event without name and description as its title', async () => {
    await timeline('nameless', { event_id: 'span:server', time: launch.time, description: '' });
    const page = await on.loggedIn('timeline?timeline=nameless&event=span:server');
    await card(page).getByText('16 July 1969, 13:32').first().waitFor();
    expect(await card(page).getByRole('heading').first().innerText()).toBe('span:server');
  });

  it('moves the axis to a cause that was not read', async () => {
    await timeline('far-causes', launch, landing);
    const page = await on.loggedIn(
      'timeline?timeline=far-causes&most=1&event=landing&center=1969-07-20T20:17:40Z&zoom=1000000',
    );
    await card(page)
      .getByRole('list', { name: 'Causes' })
      .getByRole('button', { name: /^launch/i })
      .click();
    await card(page).getByRole('heading', { name: 'Launch' }).waitFor();
    await expect.poll(() => param(page, 'center')).toMatch(/^1969-07-16T/);
  });

  it('shows the names of causes and effects out of view', async () => {
    await timeline('far-names', launch, landing);
    const page = await on.loggedIn(
      'timeline?timeline=far-names&most=1&event=landing&center=1969-07-20T20:17:40Z&zoom=1000000',
    );
    const cause = card(page)
      .getByRole('list', { name: 'Causes' })
      .getByRole('button', { name: /^Launch not in view/ });
    await cause.waitFor();
    expect(await cause.getAttribute('title')).toBe('launch');
  });

  it('shows the critical path of an event with the duration of each step', async () => {
    const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
    const span = (id: string, from: number, to: number, ...causes: string[]): Record<string, unknown> => ({
      event_id: id,
      time: at(from),
      end_time: at(to),
      name: `Call ${id}`,
      description: '',
      causes,
    });
    await timeline(
      'trace',
      span('root', 0, 20),
      span('auth', 1, 5, 'root'),
      span('cache', 2, 4, 'root'),
      span('query', 6, 18, 'root'),
      span('mail', 30, 40, 'query'),
    );
    const page = await on.loggedIn('timeline?timeline=trace&event=root');
    await card(page).getByRole('button', { name: 'Critical path' }).click();
    const path = card(page).getByRole('region', { name: 'Critical path' });
    const steps = path.getByRole('list', { name: 'Steps of the critical path' }).getByRole('listitem');
    await path
      .getByText('20 seconds in total: 20 seconds in 3 events. Longest: Call query, 12 seconds (60%).')
      .waitFor();
    expect((await steps.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
      'Call root 1 second 5%',
      'Call auth 4 seconds 20%',
      'Call root 1 second 5%',
      'Call query 12 seconds 60%',
      'Call root 2 seconds 10%',
    ]);
    expect(param(page, 'path')).toBe('to');
    const effects = card(page).getByRole('list', { name: 'Effects' });
    await effects.getByRole('button', { name: /^Call auth .* · critical path$/ }).waitFor();
    expect(await effects.getByRole('button', { name: /Call cache .*critical path/ }).count()).toBe(0);
    // The pending key presses ran after the query.
    await card(page).getByRole('button', { name: 'To the last effect' }).click();
    await path
      .getByText('40 seconds in total: 28 seconds in 4 events, 12 seconds between them.', { exact: false })
      .waitFor();
    await expectAccessible(page);
    await page.reload();
    await path.getByText('40 seconds in total', { exact: false }).waitFor();
    await steps.getByRole('button', { name: 'Call mail' }).click();
    await card(page).getByRole('heading', { name: 'Call mail' }).waitFor();
  });

  it('shows versions and interventions with their entries and proofs', async () => {
    await timeline('versions', launch, landing);
    await on.service.call('POST', 'v1/correct-event', {
      timeline_id: 'versions',
      event: { ...landing, name: 'Touchdown' },
    });
    await on.service.call('POST', 'v1/manipulate-event', {
      timeline_id: 'versions',
      event_id: 'launch',
      action: 'delay by 1 day',
      time: '1969-07-15T00:00:00Z',
    });
    const page = await on.loggedIn('timeline?timeline=versions&event=landing');
    await card(page).getByText('Name changed from “Landing” to “Touchdown”').waitFor();
    await card(page)
      .getByRole('button', { name: /^Entry \d+$/ })
      .first()
      .click();
    await card(page)
      .getByText(/is one of the \d+ entries under the signed root/)
      .waitFor();
    const verify = card(page).getByRole('link', { name: 'Verify it in this browser' });
    expect(await verify.getAttribute('href')).toMatch(/^#\/integrity\?timeline=versions&position=\d+$/);

    await card(page)
      .getByRole('button', { name: /^Launch/ })
      .click();
    await card(page).getByText('“delay by 1 day”').waitFor();
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page
      .getByRole('row', { name: /Launch/ })
      .getByText('intervention')
      .waitFor();
  });

  it('moves the clock to the event', async () => {
    await timeline('journey', launch);
    const page = await on.loggedIn('timeline?timeline=journey&event=launch');
    await card(page).getByRole('button', { name: 'Travel here' }).click();
    await card(page).getByText('the clock’s time').waitFor();
    await page.getByRole('link', { name: /1969-07-16 13:32/ }).waitFor();
  });

  it('offers actions of other views', async () => {
    await timeline('elsewhere', launch);
    const page = await on.loggedIn('timeline?timeline=elsewhere&event=launch');
    await card(page).getByRole('link', { name: 'Intervene' }).click();
    await page.getByRole('heading', { name: 'What if…' }).waitFor();
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('launch');
  });
});

describe('recording', () => {
  it('shows what others record, correct and prevent at once', async () => {
    await timeline('live', launch);
    const page = await on.loggedIn('timeline?timeline=live&view=list');
    await page.getByRole('row', { name: /Launch/ }).waitFor();
    await on.service.call('POST', 'v1/events?timeline_id=live', landing);
    await counted(page, '2 events');
    await page.getByRole('button', { name: '1 change out of sight' }).click();
    await card(page).getByRole('heading', { name: 'Landing' }).waitFor();
    await page.getByRole('button', { name: 'Close the card' }).click();
    await page.getByRole('button', { name: 'Fit', exact: true }).click();
    await page.getByRole('row', { name: /Landing/ }).waitFor();
    await on.service.call('POST', 'v1/correct-event', {
      timeline_id: 'live',
      event: { ...landing, name: 'Touchdown' },
    });
    await page.getByRole('row', { name: /Touchdown/ }).waitFor();
    await on.service.call('POST', 'v1/manipulate-event', {
      timeline_id: 'live',
      event_id: 'landing',
      action: 'cancel',
      time: '1969-07-17T00:00:00Z',
    });
    await page.getByRole('row', { name: /Touchdown/ }).waitFor({ state: 'detached' });
    await counted(page, '1 event');
  });

  it('misses no event before the stream is open', async () => {
    await timeline('slow', launch);
    const { url, server } = await underPrefix(on.service, '/', (path) => (path.startsWith('/v1/stream') ? 3_000 : 0));
    try {
      const page = await on.page({ expected: UNREACHABLE });
      await page.goto(`${url}#/timeline?timeline=slow&view=list`);
      await logIn(page);
      await page.getByRole('row', { name: /Launch/ }).waitFor();
      await on.service.call('POST', 'v1/events?timeline_id=slow', landing);
      await counted(page, '2 events');
      await page.goto('about:blank');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('starts on an empty timeline, reports missing fields, and opens the recorded event', async () => {
    await timeline('blank');
    const page = await on.loggedIn('timeline?timeline=blank');
    const title = page.getByRole('heading', { name: 'No events on blank yet' });
    await title.waitFor();
    // The button is below the fields, even if the axis is lower.
    const fields = await page.getByRole('combobox', { name: 'Values' }).boundingBox();
    expect((await title.locator('..').boundingBox())!.y).toBeGreaterThanOrEqual(fields!.y + fields!.height);
    // The command to run a program with this clock, ready to copy.
    await page.getByText('timenav exec --timeline blank -- date', { exact: true }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('region', { name: 'Axis' }).getByRole('button', { name: 'Copy the command' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe('timenav exec --timeline blank -- date');
    await page.getByRole('button', { name: 'Import a file…' }).click();
    await page.getByRole('dialog', { name: 'Import into blank' }).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('region', { name: 'Axis' }).getByRole('button', { name: 'Record an event' }).click();
    const dialog = page.getByRole('dialog', { name: 'Record an event' });
    await expect.poll(() => dialog.getByLabel('Name').evaluate((field) => field === document.activeElement)).toBe(true);
    await dialog.getByLabel('Latitude, longitude').fill('north');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await dialog.getByText('Describe in a few words what happened').waitFor();
    await dialog.getByText('Enter latitude and longitude in degrees').waitFor();
    await expect
      .poll(() => dialog.getByLabel('What happened').evaluate((field) => field === document.activeElement))
      .toBe(true);
    await dialog.getByLabel('Name').fill('First light');
    await dialog.getByLabel('Latitude, longitude').fill('-24.63, -70.40');
    // A typed date has day precision until more is typed.
    await dialog.getByLabel('When').fill('1998-05-25');
    const precision = dialog.getByLabel('Precision');
    expect(await precision.inputValue()).toBe('day');
    await dialog.getByLabel('When').fill('31 BCE');
    expect(await precision.inputValue()).toBe('year');
    await dialog.getByLabel('When').fill('1998-05-25T23:00:00Z');
    expect(await precision.inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await card(page).getByRole('heading', { name: 'First light' }).waitFor();
    await counted(page, '1 event');
    expect(await visibleTime(page)).toContain('25 May 1998');
  });

  it('corrects an event, and keeps what the form does not show', async () => {
    await timeline('mistake', launch, { ...landing, source: 'diary', kind: 'scheduled' });
    const page = await on.loggedIn('timeline?timeline=mistake&event=landing');
    await card(page).getByRole('button', { name: 'Correct', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Correct the event' });
    await dialog.getByLabel('Name').fill('Landing in the Sea of Tranquility');
    await dialog.getByRole('button', { name: 'Correct it' }).click();
    await card(page).getByText('Name changed from “Landing” to “Landing in the Sea of Tranquility”').waitFor();
    await card(page).getByText('scheduled', { exact: true }).waitFor();
  });
});

describe('anchors', () => {
  it('are returned to, and forked from', async () => {
    await timeline('base', launch);
    await on.service.call('POST', 'v1/set-anchor', {
      timeline_id: 'base',
      description: 'Start',
      timestamp: '1969-07-15T00:00:00Z',
    });
    const page = await on.loggedIn('timeline?timeline=base&view=list');
    await page.getByRole('row', { name: /Launch/ }).waitFor();
    await page.getByTitle('Enter a time range').click();
    await page.getByRole('textbox', { name: 'From' }).fill('1969-07-14T00:00:00Z');
    await page.getByRole('textbox', { name: 'To' }).fill('1969-07-18T00:00:00Z');
    await page.getByRole('button', { name: 'Show range' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Start' });
    await dialog.getByRole('button', { name: 'Return the clock' }).click();
    await dialog.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await dialog.getByRole('button', { name: 'Fork from here' }).click();
    const made = page.getByRole('dialog', { name: 'New timeline' });
    expect(await made.getByRole('combobox', { name: 'From' }).inputValue()).toMatch(/^anchor_/);
    await made.getByLabel('Name').fill('from-start');
    await made.getByRole('button', { name: 'Fork the timeline' }).click();
    await page.getByRole('heading', { name: 'Timeline of from-start' }).waitFor();
    expect(param(page, 'timeline')).toBe('from-start');
  });
});

it('recording from a link starts at the current view, even if the clock is loaded first', async () => {
  await timeline('far-past', launch, landing);
  const page = await on.loggedIn('clock?timeline=far-past');
  let release: () => void = () => {};
  const released = new Promise<void>((done) => (release = done));
  for (const slow of ['**/v1/monitor-events*', '**/v1/aggregate-events*'])
    await page.route(slow, async (route) => {
      await released;
      await route.continue();
    });
  await page.goto(`${on.service.url}/#/timeline?timeline=far-past&do=record`);
  // The clock shows today, far from all events.
  await page.getByTitle('Enter a time range').waitFor();
  await page.waitForFunction(() => document.fonts.status === 'loaded');
  release();
  const dialog = page.getByRole('dialog', { name: 'Record an event' });
  await expect.poll(() => dialog.getByLabel('When').inputValue()).toMatch(/^1969-07-/);
});

it('an event of a fork lists changes before the fork first, although positions start again', async () => {
  await timeline('aware', launch, landing);
  const act = { event_id: 'launch', time: '1969-07-15T00:00:00Z' };
  await on.service.call('POST', 'v1/manipulate-event', { ...act, timeline_id: 'aware', action: 'delay by 2h' });
  await on.service.call('POST', 'v1/timelines', { timeline_id: 'warned', fork_of: 'aware' });
  await on.service.call('POST', 'v1/manipulate-event', { ...act, timeline_id: 'warned', action: 'warn the crew' });
  const page = await on.loggedIn('timeline?timeline=warned&event=launch');
  const notes = card(page)
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name: /^Entry/ }) });
  await expect
    .poll(async () => Promise.all((await notes.all()).map((one) => one.getByRole('strong').innerText())))
    .toEqual(['Recorded', '“delay by 2h”', '“warn the crew”']);
  const note = notes.nth(2);
  expect(await note.getByText('from which this timeline was forked').count()).toBe(0);
  await note.getByRole('button', { name: /^Entry/ }).click();
  await note.getByText(/is one of the/).waitFor();
});

it('a card fades at its edge if it continues, but not at its end', async () => {
  const page = await on.loggedIn('timeline?timeline=demo&event=fall-of-constantinople-1453', {
    viewport: { width: 1440, height: 900 },
  });
  await card(page).getByRole('heading', { name: 'History' }).waitFor();
  const side = region(page, 'Selected event');
  const { x, y, width, height } = (await side.boundingBox())!;
  // The last pixel rows of the panel, above its border.
  const edge = { x: x + 20, y: y + height - 9, width: width - 60, height: 7 };
  const edgePicture = (): Promise<Buffer> => page.screenshot({ clip: edge });
  const atTop = await edgePicture();
  // At no scroll position is a line cut off at the edge.
  for (const top of [7, 19, 31, 100_000]) {
    await side.evaluate((panel, to) => (panel.scrollTop = to), top);
    await expect.poll(() => edgePicture().then((now) => now.equals(atTop)), { message: `at ${top}` }).toBe(true);
  }
  // At the end, the last line is entirely above the fade.
  const last = card(page).locator('> section').last();
  const box = (await last.boundingBox())!;
  expect(box.y + box.height).toBeLessThanOrEqual(y + height - 16);
});

/** The timeline: axis, map, card, list, search, forms; what is looked at is in the address. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { parse } from '../src/lib/instant';
import { REFUSED, expectAccessible, expectNoSidewaysScroll, stage } from './harness';

const on = stage();
const WIDTHS = [320, 390, 768, 1280, 2560];
const LANDING = '1969-07-20T20:17:40Z';

type Options = Parameters<typeof on.loggedIn>[1];
const region = (page: Page, name: string): Locator => page.getByRole('region', { name });
const axis = (page: Page): Locator => page.getByRole('application', { name: /^Time axis of/ });
const card = (page: Page): Locator => page.getByRole('article', { name: 'Event' });
const param = (page: Page, name: string): string | null =>
  new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get(name);
const counted = (page: Page, text: string): Promise<void> =>
  region(page, 'Axis').getByText(text, { exact: true }).first().waitFor();
const shownTime = (page: Page): Promise<string> => page.getByTitle('Type which time is shown').innerText();

async function open(params = '', options?: Options): Promise<Page> {
  const page = await on.loggedIn(`timeline?timeline=demo${params}`, options);
  await counted(page, '491 events');
  return page;
}

const timeline: typeof on.service.timeline = (name, ...events) => on.service.timeline(name, ...events);
const launch = {
  event_id: 'launch',
  time: '1969-07-16T13:32:00Z',
  name: 'Launch',
  description: 'It lifts off.',
  location: 'Cape Canaveral',
  geo: { lat: 28.6, lon: -80.6 },
};
const landing = { event_id: 'landing', time: LANDING, name: 'Landing', description: 'They land.', causes: ['launch'] };

/** Presses in the middle of something, moves by some pixels, and lets go. */
async function drag(page: Page, what: Locator, by: { x: number; y: number }, from = { x: 0, y: 0 }): Promise<void> {
  const box = (await what.boundingBox())!;
  const start = { x: box.x + box.width / 2 + from.x, y: box.y + box.height / 2 + from.y };
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + by.x / 2, start.y + by.y / 2);
  await page.mouse.move(start.x + by.x, start.y + by.y);
  await page.mouse.up();
}

/** Puts fingers on the screen, takes them through some places each, and lifts them. A finger is a list of places. */
async function touch(page: Page, ...fingers: { x: number; y: number }[][]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const at = (step: number): { x: number; y: number; id: number }[] =>
    fingers.map((places, id) => ({ ...places[step]!, id }));
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
  for (let step = 1; step < fingers[0]!.length; step += 1)
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(step) });
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

describe('the axis', () => {
  it('shows everything, and moves by dragging, wheel, buttons and keys', async () => {
    const page = await open();
    const whole = await shownTime(page);
    expect(whole).toMatch(/BCE – 2\d\d\d$/);
    await drag(page, axis(page), { x: -200, y: 0 });
    const dragged = await shownTime(page);
    expect(dragged).not.toBe(whole);
    await expect.poll(() => param(page, 'center')).not.toBeNull();

    await page.mouse.wheel(0, -1_200);
    await expect.poll(() => shownTime(page)).not.toBe(dragged);
    const near = await shownTime(page);
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
    expect(await shownTime(page)).not.toBe(near);
    await page.getByRole('button', { name: 'Zoom out', exact: true }).click();
    expect(await shownTime(page)).toBe(near);

    await axis(page).focus();
    await page.keyboard.press('ArrowRight');
    expect(await shownTime(page)).not.toBe(near);
    await page.keyboard.press('Home');
    expect(await shownTime(page)).toBe(whole);
  });

  it('zooms from the whole calendar to microseconds, and finds the clock again', async () => {
    await on.service.call('POST', 'v1/travel', { timeline_id: 'demo', destination_time: '1969-07-16T00:00:00Z' });
    const page = await open(`&center=${LANDING}&zoom=0.05`);
    expect(await shownTime(page)).toMatch(/^20 July 1969, 20:17:39\.9999\d\d – 20:17:40\.0000\d\d$/);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    expect(await shownTime(page)).toMatch(/^16 July 1969/);
    await axis(page).focus();
    for (let press = 0; press < 90; press += 1) await page.keyboard.press('-');
    expect(await shownTime(page)).toMatch(/^10000 BCE – 9999$/);
  });

  it('follows two fingers: what is between them stays between them', async () => {
    const hour = 3_600_000_000;
    const page = await open(`&center=1969-07-20T00:00:00Z&zoom=${8 * hour}`, { hasTouch: true });
    const box = (await axis(page).boundingBox())!;
    const y = box.y + box.height / 3;
    const left = box.x + box.width / 4;
    const places = (...xs: number[]): { x: number; y: number }[] => xs.map((x) => ({ x: left + x, y }));
    const pixel = (): number => Number(param(page, 'zoom'));
    /** What is drawn so many pixels right of the first quarter, in microseconds. */
    const timeAt = (x: number): number =>
      Number(parse(param(page, 'center')!)! - parse('1969-07-20T00:00:00Z')!) + (x - box.width / 4) * pixel();
    const between = timeAt(0);
    // The address tells the middle to the pixel.
    const expectBetween = (x: number): void => expect(Math.abs(timeAt(x) - between) / pixel()).toBeLessThan(1.1);

    await touch(page, places(-40, -60, -80), places(40, 60, 80));
    await expect.poll(() => pixel() / hour).toBeCloseTo(4, 3);
    expectBetween(0);

    // Both to the right, then nearer to each other.
    await touch(page, places(-80, 0, 60, 80), places(80, 160, 220, 120));
    await expect.poll(() => pixel() / hour).toBeCloseTo(16, 3);
    expectBetween(100);
    expect(param(page, 'event')).toBeNull();
  });

  it('chooses what is clicked, and steps from event to event with keys', async () => {
    const page = await open(`&center=${LANDING}&zoom=100000000`);
    const box = (await axis(page).boundingBox())!;
    // The label is right of its moment, under the line; where the line is depends on the height.
    for (let y = box.height * 0.3; y < box.height && (await card(page).count()) === 0; y += 10)
      await page.mouse.click(box.x + box.width / 2 + 30, box.y + y);
    await card(page).getByRole('heading', { name: 'First people land on the Moon' }).waitFor();
    expect(param(page, 'event')).not.toBeNull();

    await axis(page).focus();
    await page.keyboard.press('[');
    await card(page).getByRole('heading', { name: 'Launch of Apollo 11' }).waitFor();
    await page.keyboard.press(']');
    const heading = card(page).getByRole('heading', { name: 'First people land on the Moon' });
    await heading.waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => heading.evaluate((element) => element === document.activeElement)).toBe(true);
    // Keys go on where they were before the card was opened.
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'In view' }).waitFor();
    expect(param(page, 'event')).toBeNull();
    await expect.poll(() => axis(page).evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('keeps a time that is brushed, and tells the map', async () => {
    const page = await open();
    await page.keyboard.down('Shift');
    await drag(page, axis(page), { x: 150, y: 10 }, { x: -300, y: 0 });
    await page.keyboard.up('Shift');
    await page.getByRole('heading', { name: 'In the brushed time' }).waitFor();
    await expect.poll(() => param(page, 'range')).toMatch(/Z\/.*Z$/);
    const placed = (): Promise<number> =>
      page
        .getByRole('application', { name: /^World map/ })
        .getAttribute('aria-label')
        .then((label) => Number(/([\d,]+) events?/.exec(label ?? '')![1]!.replace(',', '')));
    await expect.poll(placed).toBeLessThan(60);

    await page.reload();
    await page.getByRole('heading', { name: 'In the brushed time' }).waitFor();
    await page.getByRole('button', { name: 'Take the range away' }).click();
    await page.getByRole('heading', { name: 'In view' }).waitFor();
    await expect.poll(() => param(page, 'range')).toBeNull();
    await expect.poll(placed).toBeGreaterThan(400);

    await page.getByRole('button', { name: 'Select time', exact: true }).click();
    await drag(page, axis(page), { x: 150, y: 0 });
    await page.getByRole('heading', { name: 'In the brushed time' }).waitFor();
  });

  it('shows a time that is typed, and says beside the field what is wrong', async () => {
    const page = await open();
    await page.getByTitle('Type which time is shown').click();
    const dialog = page.getByRole('dialog', { name: 'Which time' });
    await dialog.getByLabel('From').fill('1939-09-01T00:00:00Z');
    await dialog.getByLabel('To').fill('soon');
    await dialog.getByRole('button', { name: 'Show it' }).click();
    await dialog.getByText('Write it like').waitFor();
    await dialog.getByLabel('To').fill('1945-09-02T00:00:00Z');
    await dialog.getByRole('button', { name: 'Show it' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await shownTime(page)).toBe('1939 – 1945');

    await page.getByTitle('Type which time is shown').click();
    await dialog.getByLabel('From').fill('-007000-01-01T00:00:00Z');
    await dialog.getByLabel('To').fill('-006000-01-01T00:00:00Z');
    await dialog.getByRole('button', { name: 'Show it' }).click();
    await axis(page).getByRole('button', { name: 'Show everything' }).click();
    expect(await shownTime(page)).toMatch(/BCE – 2\d\d\d$/);
  });

  it('shows forks and their parent as lanes that can be followed', async () => {
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
  it('can be stopped and taken up again', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    let isHeld = true;
    await page.route('**/v1/export-events*', (route) => (isHeld ? undefined : route.continue()));
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('0 events read, then stopped').waitFor();
    isHeld = false;
    await page.getByRole('button', { name: 'Read all', exact: true }).click();
    await counted(page, '491 events');
  });

  it('counts where there is too much to read, until one is near enough', async () => {
    const list = await on.service.call<{ timelines: { events: number }[] }>('GET', 'timelines?limit=1000');
    const scanned = await on.service.call<{ summary: { count: number } }>('POST', 'v1/scan-events', {
      timeline_id: 'demo',
      location: '*',
      time_range: '../..',
      limit: 1,
    });
    for (const one of list.timelines) one.events = 5_000_000;
    scanned.summary.count = 5_000_000;
    const page = await open();
    // The timeline says it is larger than it is, until one looks closer.
    await page.route('**/timelines?*', (route) => route.fulfill({ json: list }));
    await page.route('**/v1/scan-events', (route) => route.fulfill({ json: scanned }));
    await page.reload();
    await region(page, 'Axis')
      .getByText(/^about [\d,]+ events? here: zoom in to see each$/)
      .waitFor();
    expect(await shownTime(page)).toMatch(/BCE – 2\d\d\d$/);
    await page.unroute('**/v1/scan-events');
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
    await region(page, 'Axis')
      .getByText(/^[\d,]+ events$/)
      .waitFor();
  });

  it('says what is missing, and offers nothing there', async () => {
    const page = await on.loggedIn('timeline?timeline=nowhere', { expected: REFUSED });
    await page.getByRole('heading', { name: 'There is no timeline nowhere, it has ended' }).waitFor();
    expect(await page.getByRole('button', { name: 'Record an event' }).count()).toBe(0);
  });

  it('says what went wrong, and reads again when asked', async () => {
    const page = await on.loggedIn('clock?timeline=demo', { expected: REFUSED });
    await page.route('**/v1/export-events*', (route) =>
      route.fulfill({
        status: 429,
        json: { status: 'Too many requests.', code: 'too_many_requests', detail: 'try again in a moment' },
      }),
    );
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await page.getByRole('alert').getByText('Too many requests. Try again in a moment.').waitFor();
    await page.unroute('**/v1/export-events*');
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await counted(page, '491 events');
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

describe('the map', () => {
  it('keeps a box that is brushed, and gives it back', async () => {
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
    await page.getByRole('button', { name: 'Take the box away' }).click();
    await counted(page, '491 events');
  });

  it('chooses the event that is clicked, and the axis follows', async () => {
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
    await map.waitFor();
    await map.click();
    await card(page).getByRole('heading', { name: 'Far' }).waitFor();
    await page.getByRole('button', { name: 'Zoom the map in' }).click();
    await map.focus();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Zoom the map out' }).and(page.locator(':disabled')).waitFor();
  });
});

describe('the search', () => {
  it('finds as one types, by keys alone, and keeps what was wanted in the address', async () => {
    const page = await open();
    await page.keyboard.press('/');
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

  it('finds by place, also where no text has its name', async () => {
    const page = await open();
    const field = page.getByRole('combobox', { name: /^Find events/ });
    await field.fill('Normandy');
    await page.getByRole('option', { name: /D-Day/ }).waitFor();
    await page.getByText('In or near Normandy, France').waitFor();
    await page.getByRole('option', { name: /Execution of Joan of Arc/ }).waitFor();
    // Nearly written right, and in no text.
    await field.fill('Istambul');
    await page.getByText('No event says so, but these happened there').waitFor();
    await page
      .getByRole('option', { name: /Hagia Sophia/ })
      .first()
      .waitFor();
    await field.fill('no such thing anywhere');
    await page.getByText('No event has all of these words').waitFor();
  });
});

describe('the card', () => {
  it('tells when, where and why, and walks along causes and effects', async () => {
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

  it('shows versions and interventions with the entry of each, and its proof', async () => {
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
      .getByText(/is one of the \d+ under the signed root/)
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

  it('lets the clock travel to the event', async () => {
    await timeline('journey', launch);
    const page = await on.loggedIn('timeline?timeline=journey&event=launch');
    await card(page).getByRole('button', { name: 'Travel here' }).click();
    await card(page).getByText('the clock’s now').waitFor();
    await page.getByRole('link', { name: /1969-07-16 13:32/ }).waitFor();
  });

  it('offers what happens to it elsewhere', async () => {
    await timeline('elsewhere', launch);
    const page = await on.loggedIn('timeline?timeline=elsewhere&event=launch');
    await card(page).getByRole('link', { name: 'Intervene' }).click();
    await page.getByRole('heading', { name: 'What if…' }).waitFor();
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('launch');
  });
});

describe('recording', () => {
  it('shows at once what others record, correct and prevent', async () => {
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

  it('begins on an empty timeline, says what a field lacks, and opens what was recorded', async () => {
    await timeline('blank');
    const page = await on.loggedIn('timeline?timeline=blank');
    await page.getByRole('heading', { name: 'Nothing has happened on blank yet' }).waitFor();
    expect(await page.getByRole('link', { name: 'Import a file' }).getAttribute('href')).toBe(
      '#/explorer?timeline=blank&operation=import_events',
    );
    await page.getByRole('region', { name: 'Axis' }).getByRole('button', { name: 'Record an event' }).click();
    const dialog = page.getByRole('dialog', { name: 'Record an event' });
    await dialog.getByLabel('Latitude, longitude').fill('north');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await dialog.getByText('Say in a few words what happened').waitFor();
    await dialog.getByText('Write latitude and longitude in degrees').waitFor();
    await expect
      .poll(() => dialog.getByLabel('What happened').evaluate((field) => field === document.activeElement))
      .toBe(true);
    await dialog.getByLabel('Name').fill('First light');
    await dialog.getByLabel('Latitude, longitude').fill('-24.63, -70.40');
    await dialog.getByLabel('When').fill('1998-05-25T23:00:00Z');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await card(page).getByRole('heading', { name: 'First light' }).waitFor();
    await counted(page, '1 event');
    expect(await shownTime(page)).toContain('25 May 1998');
  });

  it('corrects what was recorded, and keeps what the form does not show', async () => {
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
    await page.getByTitle('Type which time is shown').click();
    await page.getByRole('textbox', { name: 'From' }).fill('1969-07-14T00:00:00Z');
    await page.getByRole('textbox', { name: 'To' }).fill('1969-07-18T00:00:00Z');
    await page.getByRole('button', { name: 'Show it' }).click();
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

describe('the list', () => {
  it('has the same events as the canvas, page after page', async () => {
    const page = await open('&view=list');
    await page.getByRole('button', { name: 'Gonghe regency begins' }).waitFor();
    expect(await page.getByRole('button', { name: 'Page before' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('Page 2 of 10').waitFor();
    const first = page.getByRole('row').nth(1).getByRole('button');
    const name = await first.innerText();
    await first.click();
    await card(page).getByRole('heading', { name }).waitFor();
  });
});

describe('everybody', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    it(`gets a timeline that axe has nothing serious against, in ${colorScheme}`, async () => {
      const page = await open('&event=destruction-of-carthage-146-bce', { colorScheme });
      await card(page).getByRole('list', { name: 'Causes' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'List', exact: true }).click();
      await page.getByRole('button', { name: 'Close the card' }).click();
      await page.getByRole('button', { name: 'Gonghe regency begins' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Record an event' }).click();
      await page.getByRole('dialog', { name: 'Record an event' }).waitFor();
      await expectAccessible(page);
    });
  }

  it('gets a timeline that fits every width, with and without a card', async () => {
    const page = await open();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await expectNoSidewaysScroll(page);
    }
    await axis(page).focus();
    await page.keyboard.press(']');
    await card(page).getByRole('heading').first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await expectNoSidewaysScroll(page);
    }
  });
});

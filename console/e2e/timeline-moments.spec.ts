/** Earlier states of knowledge, forks and anchors as a tree, and the palette entries that open them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible } from './harness';
import { card, counted, landing, launch, on, param, region, timeline } from './timeline-page';

let between = '';

beforeAll(async () => {
  await timeline('known', launch);
  await on.service.call('POST', 'v1/set-anchor', {
    timeline_id: 'known',
    timestamp: '1969-07-17T00:00:00Z',
    description: 'On the way',
  });
  // A full second apart, because the URL has second precision.
  await new Promise((later) => setTimeout(later, 1_100));
  between = new Date().toISOString().replace(/[.]\d+Z$/, 'Z');
  await new Promise((later) => setTimeout(later, 1_100));
  await on.service.call('POST', 'v1/events?timeline_id=known', landing);
  await on.service.call('POST', 'timelines', { timeline_id: 'known-branch', fork_of: 'known' });
});

describe('an earlier state of knowledge', () => {
  it('is selected with a slider, linked, and does not change', async () => {
    const page = await on.loggedIn('timeline?timeline=known');
    await counted(page, '2 events');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'View as of…' }).click();
    const slider = page.getByRole('slider', { name: 'As known at' });
    await slider.press('Home');
    await expect.poll(() => param(page, 'as_of')).toMatch(/^\d{4}-.*Z$/);
    await expectAccessible(page);
    await slider.press('End');
    await counted(page, '2 events');
    expect(param(page, 'as_of')).toBeNull();
    await page.goto(`${on.service.url}/#/timeline?timeline=known&as_of=${between}`);
    await counted(page, '1 event');
    // An event recorded now was not known then.
    await on.service.call('POST', 'v1/events?timeline_id=known', {
      event_id: 'splash',
      time: '1969-07-24T16:50:35Z',
      name: 'Splashdown',
      description: 'They are back.',
    });
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await expect.poll(() => region(page, 'Events on the axis').getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: 'Back to now' }).click();
    await counted(page, '3 events');
  });

  it('is typed, and stepped through with the arrow keys', async () => {
    const page = await on.loggedIn(`timeline?timeline=known&do=as-of`);
    const moment = page.getByRole('textbox', { name: 'Known at this moment' });
    await moment.fill('someday');
    await moment.press('Enter');
    expect(await moment.getAttribute('aria-invalid')).toBe('true');
    await moment.fill(between);
    await moment.press('Enter');
    await counted(page, '1 event');
    expect(param(page, 'as_of')).toBe(between);
    const slider = page.getByRole('slider', { name: 'As known at' });
    await slider.press('ArrowRight');
    await counted(page, '2 events');
    await slider.press('ArrowLeft');
    await counted(page, '1 event');
    const before = param(page, 'as_of')!;
    expect(Date.parse(before)).toBeLessThan(Date.parse(between));
    await moment.fill('');
    await moment.press('Enter');
    await expect.poll(() => param(page, 'as_of')).toBeNull();
  });

  it('may be an entry or an anchor, in links and in the field, and invalid values are reported', async () => {
    const [first] = (await on.service.call('GET', 'v1/anchors?timeline_id=known')).anchors as { anchor_id: string }[];
    const page = await on.loggedIn(`timeline?timeline=known&as_of=${first!.anchor_id}`, { prefetch: true });
    const bar = page.getByRole('group', { name: 'View as of' });
    await bar.getByText(/^Anchor “On the way”: .* ago in host time$/).waitFor();
    await counted(page, '1 event');
    const moment = page.getByRole('textbox', { name: 'Known at this moment' });
    await moment.fill('yesterday');
    await moment.press('Enter');
    await bar.getByText(/^Enter a date, a timestamp .* an entry such as 100, or the id of an anchor\.$/).waitFor();
    await moment.fill('entry 1');
    await moment.press('Enter');
    await bar.getByText(/^As of entry 1: /).waitFor();
    expect(param(page, 'as_of')).toBe('1');
    await moment.fill('1900-01-01T00:00:00Z');
    await moment.press('Enter');
    await bar.getByText(/^Nothing was recorded before .* UTC\.$/).waitFor();
    // A parameter reported as ignored has no effect.
    await page.goto(`${on.service.url}/#/timeline?timeline=known&as_of=first`);
    await page.getByText('Part of this link was ignored. “as_of” must be a time').waitFor();
    await counted(page, '3 events');
  });
});

describe('forks and anchors', () => {
  it('are in a tree with links to each', async () => {
    const page = await on.loggedIn('timeline?timeline=known-branch');
    await page.getByRole('button', { name: 'More', exact: true }).press('ArrowDown');
    // Letters go to the menu once one of its items has the focus.
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('menuitem');
    await page.keyboard.press('f');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Forks and anchors' });
    await dialog.getByRole('button', { name: 'On the way' }).waitFor();
    await expectAccessible(page);
    expect(param(page, 'do')).toBe('tree');
    await dialog.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByText(/^Both share \d+ entries of known$/).waitFor();
  });
});

describe('the palette', () => {
  it('opens views, timelines, anchors and times, and starts actions', async () => {
    const page = await on.loggedIn('clock?timeline=known');
    const field = page.getByRole('combobox', { name: 'View, timeline, event, anchor, time or action' });
    await page.getByRole('timer').waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('known-branch');
    // Enter selects the entry offered at that moment, and timelines may still be loading.
    await page
      .getByRole('option', { name: /known-branch/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => param(page, 'timeline')).toBe('known-branch');
    await page.keyboard.press('Control+k');
    await field.fill('1969-07-20T20:17:40Z');
    await page.getByRole('option', { name: /Show on the axis/ }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const travel = page.getByRole('dialog', { name: 'Travel' });
    await travel.getByLabel('Moment').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await field.fill('on the way');
    await page.getByRole('option', { name: /On the way/ }).click();
    await expect.poll(() => param(page, 'anchor')).toMatch(/^anchor_/);
    await page.getByRole('button', { name: 'Search or run a command' }).click();
    await field.fill('no such thing');
    await page.getByText('No matches.').waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  });
});

describe('the palette', () => {
  it('finds events, pauses the clock, sets its rate and changes the appearance', async () => {
    const page = await on.loggedIn('integrity?timeline=known');
    const field = page.getByRole('combobox', { name: 'View, timeline, event, anchor, time or action' });
    const find = async (text: string): Promise<void> => {
      await page.getByRole('button', { name: 'Search or run a command' }).click();
      await field.fill(text);
    };
    await on.service.call('POST', 'v1/resume-time', { timeline_id: 'known' });
    await find('pause');
    await page.getByRole('option', { name: /^Pause the clock/ }).click();
    await page.getByText(/^Time is paused at/).waitFor();
    await find('60x');
    await page.getByRole('option', { name: /^Run at 60×/ }).click();
    await field.waitFor({ state: 'detached' });
    expect((await on.service.call('GET', 'v1/clock?timeline_id=known')).rate).toBe(60);
    await on.service.call('POST', 'v1/set-rate', { timeline_id: 'known', rate: 1 });
    await find('colors dark');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await find('time zone');
    await page.getByRole('option', { name: /^Change the time zone/ }).click();
    await page.getByRole('dialog', { name: /zone/i }).waitFor();
    await page.keyboard.press('Escape');
    await find('lifts off');
    await page.getByRole('option', { name: /^Launch/ }).click();
    await card(page).getByRole('heading', { name: 'Launch' }).waitFor();
    await find('set the rate');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id.endsWith('-rate') ?? false)).toBe(true);
    expect(param(page, 'do')).toBeNull();
  });
});

describe('everyday tasks', () => {
  it('create a fork, follow the clock and play', async () => {
    const page = await on.loggedIn('timeline?timeline=known');
    const palette = page.getByRole('dialog', { name: 'Search or run a command' });
    const run = async (words: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await palette.getByRole('combobox').fill(words);
      await palette.getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
    };
    await run('play this');
    await expect.poll(() => param(page, 'play')).toBe('all');
    await run('follow the');
    await expect.poll(() => param(page, 'follow')).toBe('1');
    await run('fork known');
    await page.getByRole('dialog', { name: /timeline|fork/i }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await palette.waitFor();
  });

  it('use saved views, and ranges relative to the clock', async () => {
    const page = await on.loggedIn('timeline?timeline=known&text=launch&scale=log');
    await counted(page, '1 event');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Saved views…' }).click();
    await page.getByLabel('Name of the view').fill('Launches');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByText('Saved as “Launches”. Find it with Ctrl-K.').waitFor();
    await page.goto(`${on.service.url}/#/integrity?timeline=known-branch`);
    await page.reload();
    await page.getByRole('button', { name: 'Search or run a command' }).click();
    await page.getByRole('combobox', { name: 'View, timeline, event, anchor, time or action' }).fill('launches');
    await page.keyboard.press('Enter');
    await counted(page, '1 event');
    expect([param(page, 'text'), param(page, 'scale'), param(page, 'do')]).toEqual(['launch', 'log', null]);

    await on.service.call('POST', 'v1/pause-time', { timeline_id: 'known' });
    await on.service.call('POST', 'v1/travel', { timeline_id: 'known', destination_time: '1969-07-20T00:00:00Z' });
    await page.getByText('1969-07-20').first().waitFor();
    await page.getByTitle('Enter a time range').click();
    await page.getByRole('button', { name: 'Last week' }).click();
    await expect.poll(() => page.getByTitle('Enter a time range').innerText()).toBe('13 July 1969 – 20 July 1969');
    // The URL contains a relative week. With another clock, it is another week.
    expect([param(page, 'period'), param(page, 'center'), param(page, 'zoom')]).toEqual(['7d', null, null]);
    await on.service.call('POST', 'v1/travel', { timeline_id: 'known', destination_time: '1971-02-08T00:00:00Z' });
    await expect
      .poll(() => page.getByTitle('Enter a time range').innerText())
      .toBe('1 February 1971 – 8 February 1971');
    await page.reload();
    await expect
      .poll(() => page.getByTitle('Enter a time range').innerText())
      .toBe('1 February 1971 – 8 February 1971');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Last 7 days, by the clock' }).click();
    await expect.poll(() => param(page, 'center')).toMatch(/^1971-02-04T(11:59:59|12:00:00)/);
    expect(param(page, 'period')).toBeNull();
    await on.service.call('POST', 'v1/travel', { timeline_id: 'known', destination_time: '1980-01-01T00:00:00Z' });
    await page.reload();
    await expect
      .poll(() => page.getByTitle('Enter a time range').innerText())
      .toMatch(/^(31 January|1 February) 1971 – 8 February 1971$/);
    // Panning the axis fixes the range too.
    await page.goto(`${on.service.url}/#/timeline?timeline=known&period=next-24h`);
    await page.getByRole('button', { name: 'Next 24 hours, by the clock' }).waitFor();
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await expect.poll(() => [param(page, 'period'), param(page, 'zoom') !== null]).toEqual([null, true]);
  });
});

it('create a fork from an earlier state of knowledge', async () => {
  await on.service.timeline('gone-wrong', launch);
  await new Promise((later) => setTimeout(later, 1_100));
  const then = new Date().toISOString().replace(/[.]\d+Z$/, 'Z');
  await new Promise((later) => setTimeout(later, 1_100));
  await on.service.call('POST', 'v1/events?timeline_id=gone-wrong', landing);
  const page = await on.loggedIn(`timeline?timeline=gone-wrong&as_of=${then}`);
  await counted(page, '1 event');
  await page.getByRole('button', { name: 'Fork from here…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New timeline' });
  expect(await dialog.getByLabel('From', { exact: true }).inputValue()).toBe(then);
  await dialog.getByLabel('Name', { exact: true }).fill('again');
  await dialog.getByRole('button', { name: 'Fork the timeline' }).click();
  await expect.poll(() => param(page, 'timeline')).toBe('again');
  // Events recorded after the anchor are not on the fork.
  await counted(page, '1 event');
  expect(param(page, 'as_of')).toBeNull();
});

it('copy a link to the current knowledge, which does not change', async () => {
  await on.service.timeline('lasting', launch);
  // The link has second precision.
  await new Promise((later) => setTimeout(later, 1_100));
  const page = await on.loggedIn('timeline?timeline=lasting');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await counted(page, '1 event');
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Copy a permanent link' }).click();
  await page.getByText('Copied. The link always shows the current state').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/#\/timeline\?.*as_of=\d{4}-/);
  // The service's knowledge does not change within that second.
  await new Promise((later) => setTimeout(later, 1_100));
  await on.service.call('POST', 'v1/events?timeline_id=lasting', landing);
  await counted(page, '2 events');
  await page.goto(link);
  await counted(page, '1 event');
});

describe('the tour', () => {
  it('steps through the views of the demo and its fork, back and forth, and can be left', async () => {
    const page = await on.loggedIn('timeline?timeline=demo');
    await page.getByRole('link', { name: 'Take the tour' }).click();
    const tour = page.getByRole('complementary', { name: 'Tour' });
    /** The target of each step, which must be visible, not just its explanation. */
    const shows = [
      () => counted(page, '493 events'),
      () => page.getByRole('heading', { name: 'First people land on the Moon' }).first().waitFor(),
      () => page.getByRole('article').getByRole('heading', { name: 'Effect before cause' }).waitFor(),
      () => page.getByRole('link', { name: 'demo-no-sarajevo' }).first().waitFor(),
      () => page.getByRole('button', { name: '1 only in demo-no-sarajevo' }).waitFor(),
      () => page.getByRole('article').getByRole('heading', { name: 'Orphaned effect' }).waitFor(),
      () => page.getByRole('button', { name: 'Apply…' }).waitFor(),
      () => page.getByText('The clock is running.').waitFor({ state: 'attached' }),
      () => page.getByRole('article', { name: 'Timer moon-landing-anniversary' }).waitFor(),
      () => page.getByRole('button', { name: 'Scan demo' }).waitFor(),
    ];
    const titles: string[] = [];
    for (const [index, expectVisible] of shows.entries()) {
      await tour.getByText(`${index + 1} of ${shows.length}`).waitFor();
      titles.push(await tour.getByRole('heading').innerText());
      await expectVisible();
      if (index % 2 === 0) await expectAccessible(page);
      if (index < shows.length - 1) await tour.getByRole('link', { name: 'Next' }).click();
    }
    expect(new Set(titles).size).toBe(shows.length);
    expect(param(page, 'tour')).toBe('10');
    await page.goBack();
    await tour.getByText('9 of 10').waitFor();
    await tour.getByRole('link', { name: 'Back' }).click();
    await tour.getByText('8 of 10').waitFor();
    await tour.getByRole('button', { name: 'Leave the tour' }).click();
    await tour.waitFor({ state: 'detached' });
    expect(param(page, 'tour')).toBeNull();
  });
});

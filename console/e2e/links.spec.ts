/** Every link opens its target, and an invalid URL is reported. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { REFUSED, expectAccessible, shared } from './harness';

const on = shared();

beforeAll(async () => {
  await on.service.timeline('empty');
  await on.service.timeline(
    'story',
    { event_id: 'cause', time: '2020-01-02T00:00:00Z', description: 'the cause' },
    { event_id: 'effect', time: '2020-01-01T00:00:00Z', description: 'the effect', causes: ['cause'] },
  );
  await on.service.call('POST', 'v1/set-anchor', { timeline_id: 'story', description: 'a mark' });
  await on.service.call('POST', 'timelines', { timeline_id: 'fork', fork_of: 'story' });
  await on.service.user('story-reader');
});

const STARTS = [
  'clock?timeline=story',
  'timeline?timeline=story&event=effect',
  'timeline?timeline=fork',
  'timeline?timeline=empty',
  'paradoxes?timeline=story',
  'paradoxes?timeline=story&tab=lab&event=cause',
  'integrity?timeline=story&position=1',
  'access?timeline=story',
  'access?timeline=story&tab=log',
  'access?timeline=fork&tab=settings',
  'access?timeline=story&tab=users',
  'access?timeline=story&tab=retention',
  'explorer?timeline=story',
  'timers?timeline=story',
  'nothing-of-the-kind?timeline=story',
  'clock?timeline=not-there',
];
const TITLES: Record<string, string> = {
  clock: 'Clock',
  timeline: 'Timeline',
  timers: 'Timers',
  paradoxes: 'Paradoxes',
  integrity: 'Integrity',
  access: 'Access',
  explorer: 'Explorer',
  compare: 'Compare',
};

/** Number of links followed that differ only in an id, such as links to ledger entries. */
const ALIKE_MAX = 3;
/** Parameters that distinguish link targets. Values of other parameters are ids and times. */
const PARTS = ['timeline', 'with', 'tab', 'do', 'view', 'state', 'action'];

function alike(link: string): (other: string) => boolean {
  const shape = (text: string): string => {
    const [view = '', query = ''] = text.split('?');
    const named = [...new URLSearchParams(query)].map(([name, value]) => (PARTS.includes(name) ? name + value : name));
    return [view, ...named.sort()].join(' ');
  };
  return (other) => shape(other) === shape(link);
}

/** Returns the links of a page after it has settled. */
async function links(page: Page): Promise<string[]> {
  await page.getByRole('main').locator('h1, h2').first().waitFor();
  await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => {});
  return page.locator('a[href]').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
}

describe('links', () => {
  it('of every view open their targets', async () => {
    const page = await on.loggedIn('clock?timeline=story', { expected: REFUSED });
    const found = new Set<string>();
    for (const start of STARTS) {
      await page.goto(`${on.service.url}/#/${start}`);
      for (const link of await links(page)) found.add(link);
    }
    const inside = [...found].filter((link) => link !== '#content');
    // All links are internal, and none leads to a timeline with an invalid name.
    expect(inside.filter((link) => !link.startsWith('#/'))).toEqual([]);
    const followed = inside.filter((link, index) => inside.slice(0, index).filter(alike(link)).length < ALIKE_MAX);
    expect(followed.length).toBeGreaterThan(30);
    const wrong = page
      .getByText('Part of this link was ignored')
      .or(page.getByRole('heading', { name: /^Unknown (view|operation)/ }));
    const lost: string[] = [];
    for (const link of followed) {
      const [view = '', query = ''] = link.slice(2).split('?');
      const title = `${TITLES[view] ?? 'no view'} · ${new URLSearchParams(query).get('timeline') ?? ''}`;
      await page.goto(`${on.service.url}/${link}`);
      await page
        .waitForFunction((begins) => document.title.startsWith(begins), title)
        .catch(() => lost.push(`${link} does not open ${view}`));
      if ((await wrong.count()) > 0) lost.push(`${link}: ${await wrong.first().innerText()}`);
    }
    expect(lost).toEqual([]);
  });

  it('“Import a file” opens the import of the current timeline', async () => {
    const page = await on.loggedIn('timeline?timeline=empty');
    await page.getByRole('button', { name: 'Import a file…' }).click();
    await page.getByRole('dialog', { name: 'Import into empty' }).waitFor();
  });
});

describe('an invalid URL', () => {
  it('is reported: view, operation, parameters and values', async () => {
    const page = await on.loggedIn('clok?timeline=story', { prefetch: true });
    await page.getByRole('heading', { name: 'Unknown view “clok”' }).waitFor();
    await page.goto(`${on.service.url}/#/explorer?timeline=story&op=nothing`);
    await page.getByRole('heading', { name: 'Unknown operation “nothing”' }).waitFor();
    await page.goto(`${on.service.url}/#/timeline?timeline=story&center=yesterday&zoom=-1`);
    await page.getByText('“center” must be a time').waitFor();
    await page.getByText('“zoom” must be a number above 0').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => page.getByText('“center” must be a time').count()).toBe(0);
    await page.goto(`${on.service.url}/#/timeline?timeline=story&range=foo&box=1,2&attribute.wind=abc/..`);
    await page.getByText('“range” must be two times').waitFor();
    await page.getByText('“box” must be west,south,east,north').waitFor();
    await page.getByText('“attribute.wind” is searched as the text “abc/..”').waitFor();
    await page.goto(`${on.service.url}/#/explorer?timeline=story&operation=import_events`);
    await page.getByText('This operation has no such parameter, so it was ignored: operation').waitFor();
  });

  it('never directs a change at another timeline', async () => {
    const page = await on.loggedIn('explorer?timeline=story&op=pause_time&unknown=1');
    await page.getByRole('button', { name: 'Send to story' }).click();
    await page.getByText('Time is paused').first().waitFor();
    const { state } = await on.service.call<{ state: string }>('GET', 'v1/clock?timeline_id=main');
    expect(state).toBe('running');
    // The request that the Explorer opens with changes nothing.
    await page.reload();
    await page.goto(`${on.service.url}/#/explorer?timeline=story`);
    await page.reload();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: '/v1/clock' }).waitFor();
  });
});

describe('the first minute', () => {
  it('opens the demo, the last timeline, or the only one', async () => {
    const page = await on.loggedIn('', { ownSession: true });
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/timeline\?timeline=demo/);
    await page.goto(`${on.service.url}/#/clock?timeline=story`);
    await page.getByText('The clock is').first().waitFor({ state: 'attached' });
    await page.goto(`${on.service.url}/`);
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/timeline\?timeline=story/);
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: 'story',
      permissions: { read: ['story-reader'], admin: ['admin'] },
    });
    const theirs = await on.loggedIn('', { user: 'story-reader', ownSession: true });
    await expect.poll(() => new URL(theirs.url()).hash).toMatch(/^#\/timeline\?timeline=story/);
  });

  it('asks if there are several, and closes menus with Escape', async () => {
    const page = await on.loggedIn('clock?timeline=story');
    const account = page.getByRole('button', { name: 'admin', exact: true });
    await account.press('ArrowDown');
    const focused = page.locator(':focus');
    await expect.poll(() => focused.innerText()).toBe('Sessions and API keys');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => focused.innerText()).toBe('Log out everywhere');
    await page.keyboard.press('t');
    await expect.poll(() => focused.innerText()).toMatch(/^Time zone/);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await expect.poll(() => focused.getAttribute('aria-label')).toBe('admin');
    await account.click();
    await page.getByRole('menuitem', { name: 'Sessions and API keys' }).press('Space');
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/access.*tab=sessions/);
    await page.goBack();
    await page.getByRole('button', { name: 'Timeline: story' }).click();
    await page.getByRole('button', { name: 'New timeline or fork' }).focus();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('listbox').count()).toBe(0);
  });
});

it('navigation moves the focus to the new view', async () => {
  const page = await on.loggedIn('timeline?timeline=story&event=cause');
  const focused = page.locator(':focus');
  const label = (): Promise<string> =>
    focused.evaluate((one) => (one as HTMLInputElement).labels?.[0]?.textContent.trim() ?? one.id);
  await page.getByRole('link', { name: 'Intervene' }).click();
  await expect.poll(label).toBe('What to do');
  await page.goto(`${on.service.url}/#/timeline?timeline=story`);
  const search = page.getByRole('combobox', { name: 'Find events by name, text, id or place' });
  await search.fill('the');
  await page.getByRole('button', { name: 'Show only these' }).click();
  await expect.poll(() => search.evaluate((one) => document.activeElement === one)).toBe(true);
  expect(await search.getAttribute('aria-expanded')).toBe('false');
  // The element that had the focus was removed with its view.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'View, timeline, event, anchor, time or action' }).fill('integrity');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Integrity', level: 1 }).waitFor();
  await expect.poll(() => focused.getAttribute('id')).toBe('content');
});

it('a view opens at its top, and going back restores the position', async () => {
  const page = await on.loggedIn('clock?timeline=story', { viewport: { width: 390, height: 700 }, prefetch: true });
  await page.getByRole('timer').waitFor();
  const scrolled = (): Promise<number> => page.evaluate(() => Math.round(scrollY));
  // The scroll position of a history entry is stored once its handler is loaded.
  await expect.poll(() => page.evaluate(() => (history.state as { step?: string } | null)?.step)).toBeTruthy();
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(1_400);
  await page.evaluate(() => scrollTo(0, 600));
  await expect.poll(scrolled).toBe(600);
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: 'Access' }).click();
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await expect.poll(scrolled).toBe(0);
  await page.goBack();
  await page.getByRole('timer').waitFor();
  await expect.poll(scrolled).toBe(600);
  // A link to the previous view is a new history entry, not a step back.
  await views.getByRole('link', { name: 'Access' }).click();
  await views.getByRole('link', { name: 'Clock' }).click();
  await page.getByRole('timer').waitFor();
  await expect.poll(scrolled).toBe(0);
});

it('a new timeline opens without the parameters of the previous one', async () => {
  const passed = 'passed=2028-02-29T00:00:00Z/2028-03-29T00:00:00Z';
  const starts = {
    [`clock?timeline=story&${passed}&anchor=1`]: 'clock',
    'compare?timeline=story&with=fork': 'timeline',
  };
  for (const [start, view] of Object.entries(starts)) {
    const page = await on.loggedIn(start);
    await page.getByRole('button', { name: 'Timeline: story' }).click();
    await page.getByRole('button', { name: 'New timeline or fork' }).click();
    const dialog = page.getByRole('dialog', { name: 'New timeline' });
    await dialog.getByLabel('Name').fill(`after-${view}`);
    await dialog.getByRole('button', { name: 'Create the timeline' }).click();
    await page.getByRole('button', { name: `Timeline: after-${view}` }).waitFor();
    expect(new URL(page.url()).hash).toBe(`#/${view}?timeline=after-${view}`);
    await page.close();
  }
});

it('commands to copy contain the timeline', async () => {
  const page = await on.loggedIn('clock?timeline=story');
  for (const command of ['timer hold "checking the invoices"', 'exec --follow NAME'])
    await page.getByText(`timenav ${command} --timeline story`).waitFor({ timeout: 15_000 });
});

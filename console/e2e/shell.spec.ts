/** The shell: first run, login and logout, expired sessions, restarts, path prefixes, widths, and policies. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  expectAccessible,
  fresh,
  logIn,
  PASSWORD,
  REFUSED,
  Service,
  own,
  shared,
  underPrefix,
  UNREACHABLE,
  expectUsable,
} from './harness';

const on = shared();
/** A service that tests stop and restart. */
const restarted = own();

describe('the first run', () => {
  it('sets the password of admin with the generated key, and logs in', async () => {
    const service = await Service.start();
    try {
      const page = await on.page({ expected: UNREACHABLE });
      await page.goto(service.url);
      await page.getByRole('heading', { name: 'Set your first password' }).waitFor();
      await page.getByLabel('User', { exact: true }).fill('admin');
      await page.getByLabel('API key').fill(service.adminKey);
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Set the password and log in' }).click();
      await page.getByRole('button', { name: 'admin', exact: true }).waitFor();
      // From now on, the console asks for the password.
      const later = await on.page({ expected: UNREACHABLE });
      await later.goto(service.url);
      await later.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
      // The service ends before the pages, which may still be loading parts of the console.
      for (const one of [page, later]) await one.goto('about:blank');
    } finally {
      await service.remove();
    }
  });

  it('shows password errors next to the field', async () => {
    const page = await on.page({ expected: REFUSED });
    await page.goto(`${on.service.url}/#/login`);
    await page.getByRole('button', { name: 'use one of your API keys' }).click();
    await page.getByLabel('User', { exact: true }).fill('admin');
    await page.getByLabel('API key').fill(on.service.adminKey);
    await page.getByLabel('New password').fill('password');
    await page.getByRole('button', { name: 'Set the password and log in' }).click();
    const field = page.getByLabel('New password');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
  });
});

describe('logging in', () => {
  it('does not reveal whether user or password is wrong', async () => {
    const page = await on.page({ expected: REFUSED });
    await page.goto(on.service.url);
    // The form is the only thing on the page, so it has the focus.
    await expect.poll(() => page.locator(':focus').getAttribute('autocomplete')).toBe('username');
    const alerts: string[] = [];
    for (const user of ['admin', 'nobody-at-all']) {
      await page.getByLabel('User', { exact: true }).fill(user);
      await page.getByLabel('Password', { exact: true }).fill('not the password');
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      const alert = page.getByRole('alert');
      await alert.waitFor();
      alerts.push((await alert.innerText()).replace(/Request .*/, '').trim());
      await page.reload();
    }
    expect(alerts[0]).toBe(alerts[1]);
  });

  it('returns to the requested view and selection', async () => {
    const page = await on.loggedIn('timeline?timeline=demo&x=1');
    expect(new URL(page.url()).hash).toBe('#/timeline?timeline=demo&x=1');
    await page.getByRole('link', { name: 'Timeline' }).and(page.locator('[aria-current=page]')).waitFor();
  });

  it('survives a visit to the login page', async () => {
    await on.loggedIn('clock');
    const page = await on.loggedIn('login');
    await page.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
    await page.getByRole('button', { name: 'admin', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Clock', exact: true }).click();
    await page.getByRole('link', { name: 'Clock', exact: true }).and(page.locator('[aria-current=page]')).waitFor();
  });

  it('hides its secret from scripts, and records the user in the access log', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    expect(await page.evaluate(() => document.cookie)).toBe('');
    // The last timeline is stored for the next visit, but no secrets are.
    await expect.poll(() => page.evaluate(() => Object.keys(localStorage))).toEqual(['timenav-timeline']);
    const log = await on.service.call<{ logs: { user_id: string; action: string }[] }>(
      'GET',
      'v1/access-logs?timeline_id=system&time_range=../..&action=log_in',
    );
    expect(log.logs.some((entry) => entry.user_id === 'admin')).toBe(true);
  });

  it('ends on logout, everywhere on request', async () => {
    // A request sent just before may be rejected.
    const user = fresh('leaver');
    await on.service.user(user);
    const here = await on.loggedIn('access', { user, ownSession: true, expected: REFUSED });
    const there = await on.loggedIn('access', { user, ownSession: true, expected: REFUSED });
    await here.getByRole('button', { name: user, exact: true }).click();
    await here.getByRole('menuitem', { name: 'Log out everywhere' }).click();
    await here.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
    await there.reload();
    await there.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
  });
});

describe('an expired session', () => {
  it('asks for the login, and resumes where the user was', async () => {
    await on.service.user('traveler');
    await on.service.timeline('traveled');
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: 'traveled',
      permissions: { read: ['traveler'] },
    });
    const page = await on.loggedIn('clock?timeline=traveled', {
      user: 'traveler',
      expected: REFUSED,
      ownSession: true,
    });
    const { sessions } = await on.service.call<{ sessions: { session_id: string }[] }>(
      'GET',
      'v1/sessions?user_id=traveler',
    );
    for (const session of sessions) await on.service.call('DELETE', `v1/sessions/${session.session_id}`);
    // No click is needed: the stream of the clock ends with the session.
    await page.getByText('Your session has ended').waitFor();
    await logIn(page, 'traveler');
    expect(new URL(page.url()).hash).toBe('#/clock?timeline=traveled');
  });
});

describe('a restarted service', () => {
  it('is reconnected with the session and without a reload', async () => {
    const page = await restarted.loggedIn('clock?timeline=demo', { expected: UNREACHABLE });
    await page.getByText('The clock is running.').waitFor({ state: 'attached' });
    await restarted.service.end();
    await page.getByText('Connection lost. Reconnecting…').first().waitFor({ state: 'attached' });
    await restarted.service.again();
    await page.getByText('The clock is running.').waitFor({ state: 'attached' });
  });

  it('shows no raw errors while it is down, and views recover afterwards', async () => {
    const page = await restarted.loggedIn('clock?timeline=demo', { expected: UNREACHABLE, prefetch: true });
    await page.getByText('The clock is running.').waitFor({ state: 'attached' });
    // The views are prefetched in idle time.
    await expect
      .poll(() =>
        page.evaluate(() =>
          ['ParadoxesView', 'IntegrityView', 'AccessView', 'ExplorerView', 'timeline', 'TreeDialog'].every((name) =>
            performance
              .getEntriesByType('resource')
              .some((file) => new RegExp(`/${name}-[\\w-]{8}\\.js$`).test(file.name)),
          ),
        ),
      )
      .toBe(true);
    await restarted.service.end();
    await page.getByText('Connection lost. Reconnecting…').first().waitFor({ state: 'attached' });
    const views = page.getByRole('navigation', { name: 'Views' });
    for (const name of ['Paradoxes', 'Integrity', 'Access', 'Timeline']) {
      await views.getByRole('link', { name }).click();
      await page.getByText('The service cannot be reached.').first().waitFor();
    }
    await restarted.service.again();
    await page.getByText('493 events').first().waitFor();
    expect(await page.getByText('The service cannot be reached.').count()).toBe(0);
    for (const name of ['Integrity', 'Paradoxes', 'Clock']) {
      await views.getByRole('link', { name }).click();
      await page.getByRole('main').locator('h1, h2').first().waitFor();
    }
    expect(await page.getByText(/cannot be reached|preload|import/).count()).toBe(0);
  });
});

describe('a part of the page that fails to load', () => {
  const TREE = /\/assets\/TreeDialog-[\w-]{8}\.js$/;
  const notice = (page: Page): Locator => page.getByText('Part of this page could not be loaded.');

  /** Opens the timeline with one file of the console blocked, and then the dialog that needs it. */
  async function withoutTree(expected: RegExp): Promise<Page> {
    const page = await restarted.loggedIn('timeline?timeline=demo', { expected });
    await page.route(TREE, (route) => route.abort());
    await page.getByText('493 events').first().waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Forks and anchors…' }).click();
    await notice(page).waitFor();
    return page;
  }

  it('is reported, and loads after a reload', async () => {
    const page = await withoutTree(UNREACHABLE);
    await expectAccessible(page);
    await page.unroute(TREE);
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await page.getByRole('dialog', { name: 'Forks and anchors' }).waitFor();
    expect(await notice(page).count()).toBe(0);
  });

  it('is reported after the service was updated, also for a whole view', async () => {
    const page = await restarted.loggedIn('clock?timeline=demo', { expected: REFUSED });
    const view = /\/assets\/IntegrityView-[\w-]{8}\.js$/;
    await page.route(view, (route) => route.fulfill({ status: 404, body: 'not found' }));
    await page.getByRole('link', { name: 'Integrity' }).click();
    await notice(page).waitFor();
    await page.getByRole('main').getByText('This part could not be loaded.').waitFor();
    // The rest of the page still works.
    await page.getByRole('link', { name: 'Timers' }).click();
    await page.getByRole('heading', { name: 'Timers', level: 1 }).waitFor();
    expect(await notice(page).count()).toBe(0);
    await page.getByRole('link', { name: 'Integrity' }).click();
    await notice(page).waitFor();
    await page.unroute(view);
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await page.getByRole('heading', { name: 'Integrity', level: 1 }).waitFor();
  });

  it('loads automatically once the service is back', async () => {
    const page = await withoutTree(UNREACHABLE);
    await page.unroute(TREE);
    await restarted.service.end();
    await page.getByText('Connection lost. Reconnecting…').first().waitFor({ state: 'attached' });
    await restarted.service.again();
    await page.getByRole('dialog', { name: 'Forks and anchors' }).waitFor();
  });

  it('waits while the user fills in a form', async () => {
    const page = await withoutTree(UNREACHABLE);
    await page.getByRole('button', { name: 'Record an event' }).click();
    const form = page.getByRole('dialog', { name: 'Record an event' });
    await form.getByLabel('What happened').fill('What nobody has saved');
    await restarted.service.end();
    await page.getByText('Connection lost. Reconnecting…').first().waitFor({ state: 'attached' });
    await restarted.service.again();
    await page.getByText('The clock is running.').waitFor({ state: 'attached' });
    expect(await form.getByLabel('What happened').inputValue()).toBe('What nobody has saved');
    await page.keyboard.press('Escape');
    await page.unroute(TREE);
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await page.getByText('493 events').first().waitFor();
    expect(await notice(page).count()).toBe(0);
  });
});

describe('timelines', () => {
  it('are found by name, created, and forked', async () => {
    await on.service.timeline('as-is');
    const page = await on.loggedIn('clock?timeline=as-is');
    await page.getByRole('button', { name: 'Timeline: as-is' }).click();
    await page.getByRole('button', { name: 'New timeline or fork' }).click();
    await page.getByLabel('Name').fill('what if');
    await page.getByLabel('Name').fill('what-if');
    await page.getByRole('radio', { name: /as a fork of as-is/ }).check();
    await page.getByRole('button', { name: 'Fork the timeline' }).click();
    await page.getByRole('button', { name: 'Timeline: what-if' }).waitFor();
    const made = await on.service.call<{ fork: { parent: string } }>('GET', 'timeline/what-if');
    expect(made.fork.parent).toBe('as-is');
    await page.getByRole('button', { name: 'Timeline: what-if' }).click();
    await page.getByRole('combobox', { name: 'Find a timeline' }).fill('dem');
    await page.getByRole('option', { name: /^demo / }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Timeline: demo' }).waitFor();
  });

  it('align the headers of numbers with their right edge', async () => {
    const page = await on.loggedIn('timelines?timeline=demo');
    const table = page.getByRole('region', { name: 'Timelines' });
    await table.getByRole('row').getByRole('link').first().waitFor();
    const ends = await table.locator('thead th.end').evaluateAll((titles) =>
      titles.map((title) => {
        const place = [...title.parentElement!.children].indexOf(title);
        const cell = title.closest('table')!.querySelector('tbody tr:has(a)')!.children[place]!;
        return [title, cell].map((of) => {
          const text = document.createTreeWalker(of, NodeFilter.SHOW_TEXT).nextNode()!;
          const range = document.createRange();
          range.selectNodeContents(text);
          return Math.round(range.getBoundingClientRect().right);
        });
      }),
    );
    expect(ends.length).toBeGreaterThan(1);
    for (const [title, figure] of ends) expect(Math.abs(title! - figure!)).toBeLessThanOrEqual(1);
  });

  it('show untruncated clocks on a phone too', async () => {
    const name = fresh('a-timeline-with-a-name-that-is-longer-than-a-phone-is-wide');
    await on.service.timeline(name, { event_id: 'a', time: '2000-01-01T00:00:00Z', description: 'A' });
    await on.service.call('POST', 'v1/pause-time', { timeline_id: name });
    await on.service.call('POST', 'v1/travel', { timeline_id: name, destination_time: '2028-09-30T23:59:59Z' });
    const page = await on.loggedIn('timelines', { viewport: { width: 390, height: 844 } });
    const list = page.getByRole('region', { name: 'Timelines', exact: true });
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      const row = list.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
      const clock = row.getByText('30 September 2028, 23:59:59').filter({ visible: true });
      await clock.waitFor();
      const [clockBox, around] = [(await clock.boundingBox())!, (await list.boundingBox())!];
      expect(clockBox.x + clockBox.width).toBeLessThanOrEqual(around.x + around.width);
      const over = await list.evaluate((element) => element.scrollWidth - element.clientWidth);
      if (width < 700) expect(over).toBeLessThanOrEqual(0);
    }
  });
});

describe('a user', () => {
  it('without timelines sees a message, and creates one', async () => {
    await on.service.user('newcomer');
    const page = await on.loggedIn('clock', { user: 'newcomer', expected: REFUSED });
    await page.getByRole('heading', { name: 'Choose a timeline' }).waitFor();
    await page.getByRole('button', { name: 'New timeline' }).click();
    expect(await page.getByRole('radio').count()).toBe(0);
    await page.getByLabel('Name').fill('newcomers-own');
    await page.getByRole('button', { name: 'Create the timeline' }).click();
    await page.getByText('The clock is running.').waitFor({ state: 'attached' });
    // A timeline created elsewhere while this page is open is found by its link.
    await on.service.call('POST', 'timelines', { timeline_id: 'made-since' });
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: 'made-since',
      permissions: { read: ['newcomer'] },
    });
    await page.goto(`${on.service.url}/#/clock?timeline=made-since`);
    await page.getByRole('button', { name: 'Timeline: made-since' }).waitFor();
    await page.getByText('The clock is running.').waitFor({ state: 'attached' });
  });

  it('without clock access sees a message, and no request is sent', async () => {
    await on.service.user('blind');
    await on.service.timeline('unseen');
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: 'unseen', permissions: { read: ['blind'] } });
    await on.service.call('POST', 'v1/restrict-time-travel', { user_id: 'blind', restriction_level: 'no_access' });
    const page = await on.loggedIn('clock?timeline=unseen', { user: 'blind' });
    await page.getByRole('heading', { name: "You don't have access to clocks and events" }).waitFor();
  });
});

describe('the page', () => {
  it('works behind a path prefix', async () => {
    const { url, server } = await underPrefix(on.service, '/time/');
    try {
      const page = await on.page({ expected: UNREACHABLE });
      await page.goto(`${url}#/clock?timeline=demo`);
      await logIn(page);
      await page.getByText('The clock is running.').waitFor({ state: 'attached' });
      await page.goto('about:blank');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('runs no scripts but its own', async () => {
    const page = await on.page({ expected: /Content Security Policy|Trusted(HTML|Script)|Trusted Type/i });
    await page.goto(on.service.url);
    await page.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
    const ran = await page.evaluate(() => {
      const script = document.createElement('script');
      script.append('window.hasRun = true');
      try {
        document.body.append(script);
        document.body.innerHTML += '<img src="x" onerror="window.hasRun = true">';
      } catch {
        // Trusted Types throw.
      }
      return 'hasRun' in window;
    });
    expect(ran).toBe(false);
  });

  it('remembers the selected color scheme', async () => {
    const page = await on.page();
    await page.goto(on.service.url);
    const button = page.getByRole('button', { name: /^Colors/ });
    const ground = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await button.click();
    const light = await ground();
    await button.click();
    expect(await ground()).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Colors: dark' }).waitFor();
  });

  it('is accessible and fits every width at the login', async () => {
    const page = await on.loggedIn('login');
    await page.getByRole('heading').first().waitFor();
    await expectUsable(page);
  });
});

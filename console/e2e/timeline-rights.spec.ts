/** The timeline for users with limited rights: which actions are missing, and why. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { REFUSED, shared } from './harness';

const on = shared();
const card = (page: Page): Locator => page.getByRole('article', { name: 'Event' });
const launch = { event_id: 'launch', time: '1969-07-16T13:32:00Z', name: 'Launch', description: 'It lifts off.' };

describe('a read-only user', () => {
  it('sees a note, and no action that would be rejected', async () => {
    await on.service.timeline('glass', launch);
    await on.service.user('glass-reader');
    await on.service.call('POST', 'v1/set-access-control', {
      timeline_id: 'glass',
      permissions: { read: ['glass-reader'] },
    });
    const page = await on.loggedIn('timeline?timeline=glass&event=launch', { user: 'glass-reader' });
    await card(page).getByText('Your access to glass is read-only. Ask one of its admins for write access.').waitFor();
    for (const name of ['Travel here', 'Correct', 'Record an event'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Intervene' }).count()).toBe(0);
  });
});

describe('a user with restricted time travel', () => {
  const OFFERED = ['Travel here', 'Correct', 'Record an event', 'Intervene'];
  /** Returns the actions that are offered for an event. */
  async function offered(page: Page): Promise<string[]> {
    const names = await page
      .getByRole('button')
      .or(page.getByRole('link'))
      .evaluateAll((found) => found.map((one) => one.textContent.trim()));
    return OFFERED.filter((name) => names.includes(name));
  }

  /** The list of some days, including the anchor. */
  const LIST = '&view=list&center=1969-07-16T00:00:00Z&zoom=600000000';

  /** Opens a timeline with write access and a restriction level. */
  async function restricted(level: string, view = '', options: Parameters<typeof on.loggedIn>[1] = {}): Promise<Page> {
    const [name, user] = [`for-${level}`, `user-${level}`];
    await on.service.timeline(name, launch);
    await on.service.call('POST', 'v1/set-anchor', {
      timeline_id: name,
      description: 'Start',
      timestamp: '1969-07-15T00:00:00Z',
    });
    await on.service.user(user);
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: name, permissions: { write: [user] } });
    await on.service.call('POST', 'v1/restrict-time-travel', { user_id: user, restriction_level: level });
    return on.loggedIn(`timeline?timeline=${name}&event=launch${view}`, { ...options, user });
  }

  it('and limited access records and travels nearby, and changes no history', async () => {
    const page = await restricted('limited_access', LIST, { expected: REFUSED });
    await card(page).getByText('With limited access, history stays as it is: no interventions.').waitFor();
    // The toolbar above the axis may appear after the card.
    await expect.poll(() => offered(page)).toEqual(['Travel here', 'Correct', 'Record an event']);
    // The service decides how far the clock may go.
    await page.getByRole('button', { name: 'Travel here' }).click();
    await card(page).getByRole('alert').waitFor();

    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Start' });
    await dialog.getByText('history stays as it is').waitFor();
    await expect.poll(() => dialog.getByRole('radio').count()).toBe(1);
    await dialog.getByRole('button', { name: 'Fork from here' }).waitFor();
  });

  it('and view-only access has no other actions', async () => {
    const page = await restricted('read_only', LIST);
    await card(page).getByText('Your access is read-only. An operator can change that.').waitFor();
    expect(await offered(page)).toEqual([]);
    await page.getByText(/^Read-only: Your access is read-only/).waitFor();

    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Start' });
    await dialog.getByText('Your access is read-only').waitFor();
    for (const name of ['Return the clock', 'Fork from here'])
      expect(await dialog.getByRole('button', { name }).count()).toBe(0);
  });

  it('and no access sees a message, and no events are requested', async () => {
    const requests: string[] = [];
    const page = await restricted('no_access');
    await page.getByRole('heading', { name: "You don't have access to clocks and events" }).waitFor();
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByRole('heading', { name: "You don't have access to clocks and events" }).waitFor();
    expect(requests).toContain('/v1/session');
    const answers = requests.filter((path) => !path.startsWith('/assets/'));
    expect(answers.filter((path) => /events|stream|clock|anchors|timeline\//.test(path))).toEqual([]);
    expect(await offered(page)).toEqual([]);
  });
});

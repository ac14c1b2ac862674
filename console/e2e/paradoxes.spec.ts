/** Paradoxes: list, diagrams, filters and live updates; previews of interventions. */
import { beforeAll, describe, expect, it } from 'vitest';
import { REFUSED, expectAccessible, shared, expectUsable } from './harness';

const on = shared();

const EVENTS = [
  { event_id: 'grandfather-born', time: '1910-03-02T08:00:00Z' },
  { event_id: 'father-born', time: '1938-05-11T08:00:00Z', causes: ['grandfather-born'] },
  { event_id: 'traveler-born', time: '1969-05-11T08:00:00Z', causes: ['father-born'] },
  { event_id: 'journey', time: '2028-01-01T00:00:00Z', causes: ['traveler-born'] },
  { event_id: 'invoice-sent', time: '2028-02-03T08:30:00Z', name: 'The invoice is sent' },
  { event_id: 'invoice-paid', time: '2028-02-01T10:00:00Z', causes: ['invoice-sent'] },
  { event_id: 'found', time: '2028-04-01T10:00:00Z', causes: ['written'] },
  { event_id: 'written', time: '2028-05-01T10:00:00Z', causes: ['posted'] },
  { event_id: 'posted', time: '2028-04-11T10:00:00Z', causes: ['found'] },
  { event_id: 'ada-in-paris', time: '2028-08-01T10:00:00Z', actors: ['ada'], geo: { lat: 48.86, lon: 2.35 } },
  { event_id: 'ada-in-new-york', time: '2028-08-01T12:00:00Z', actors: ['ada'], geo: { lat: 40.71, lon: -74.01 } },
  { event_id: 'meeting', time: '2028-10-01T12:00:00Z', end_time: '2028-10-01T10:00:00Z' },
  { event_id: 'harvest', time: '2029-01-01T00:00:00Z', causes: ['rain-that-nobody-saw'] },
];

async function record(timeline: string, events: unknown[]): Promise<void> {
  await on.service.call('POST', 'timelines', { timeline_id: timeline });
  await on.service.call(
    'POST',
    `v1/events?timeline_id=${timeline}`,
    events.map((event) => ({ description: 'told', ...(event as object) })),
  );
}

beforeAll(async () => {
  await record('odd', EVENTS);
  await on.service.call('POST', 'v1/manipulate-event', {
    timeline_id: 'odd',
    event_id: 'grandfather-born',
    action: 'prevent',
    time: '1909-01-01T00:00:00Z',
    causes: ['journey'],
  });
});

describe('the list of paradoxes', () => {
  it('shows each paradox with a diagram of its events', async () => {
    const page = await on.loggedIn('paradoxes?timeline=odd');
    const list = page.getByRole('region', { name: 'Paradoxes', exact: true });
    const detail = page.getByRole('article');
    for (const [title, drawn] of [
      ['Grandfather', 'canceled'],
      ['Orphaned effect', 'is required by'],
      ['Effect before cause', 'causes,'],
      ['Two places at once', 'km/h'],
      ['Bootstrap', 'requires, '],
      ['Interval inverted', 'begins'],
    ] as const) {
      await list.getByRole('link', { name: title }).first().click();
      await detail.getByRole('heading', { name: title }).waitFor();
      await detail.getByText(drawn).first().waitFor();
      expect(new URL(page.url()).hash).toContain('paradox=');
    }
    await list.getByRole('link', { name: 'Causal cycle' }).click();
    await detail.getByRole('link', { name: 'written' }).first().click();
    expect(new URL(page.url()).hash).toBe('#/timeline?timeline=odd&event=written');
  });

  it('shows event names in rows far down once they are visible', async () => {
    const day = (at: number): string => new Date(Date.UTC(2030, 0, 1 + at)).toISOString();
    const pairs = Array.from({ length: 45 }, (_, at) => [
      { event_id: `cause-${at}`, name: `Cause ${at}`, time: day(at * 3 + 1) },
      { event_id: `effect-${at}`, name: `Effect ${at}`, time: day(at * 3), causes: [`cause-${at}`] },
    ]);
    await record('many-pairs', pairs.flat());
    const page = await on.loggedIn('paradoxes?timeline=many-pairs');
    const rows = page.getByRole('region', { name: 'Paradoxes', exact: true }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(45);
    expect(await rows.last().textContent()).not.toContain('“Effect');
    await rows.last().scrollIntoViewIfNeeded();
    await expect.poll(() => rows.last().textContent()).toMatch(/“Effect \d+”.*“Cause \d+”/);
  });

  it('links to each paradox', async () => {
    const page = await on.loggedIn('paradoxes?timeline=odd');
    await page.getByRole('link', { name: /Two places at once/ }).click();
    await page.getByRole('article').getByRole('heading', { name: 'Two places at once' }).waitFor();
    await page.reload();
    await page.getByRole('article').getByRole('heading', { name: 'Two places at once' }).waitFor();
  });

  it('links to the ledger entry that created a paradox', async () => {
    await on.service.call('POST', 'timelines', { timeline_id: 'odd-fork', fork_of: 'odd' });
    const late = { event_id: 'too-late', time: '2028-01-01T00:00:00Z', causes: ['invoice-sent'], description: 'told' };
    await on.service.call('POST', 'v1/events?timeline_id=odd-fork', [late]);
    const page = await on.loggedIn('paradoxes?timeline=odd-fork&kinds=P01');
    const [list, detail] = [page.getByRole('region', { name: 'Paradoxes', exact: true }), page.getByRole('article')];
    await list.getByRole('link', { name: /too-late/ }).click();
    await detail.getByText(/It has existed since entry \d+, and its first record is entry \d+ of odd\./).waitFor();
    await detail
      .getByRole('link', { name: /^entry/ })
      .first()
      .click();
    await page.getByText('This browser verified it').waitFor();
    expect(new URL(page.url()).hash).toContain('timeline=odd-fork');
    await page.goBack();
    await detail
      .getByRole('link', { name: /^entry/ })
      .last()
      .click();
    await page.getByText('This browser verified it').waitFor();
    expect(new URL(page.url()).hash).toMatch(/timeline=odd(&|$)/);
  });

  it('filters by kind, and includes observations on request', async () => {
    const page = await on.loggedIn('paradoxes?timeline=odd');
    const list = page.getByRole('region', { name: 'Paradoxes', exact: true });
    await list.getByRole('button', { name: /^Grandfather/ }).click();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await list.getByRole('button', { name: /^Grandfather/ }).click();
    await list.getByRole('link', { name: 'Causal cycle' }).waitFor();
    expect(await list.getByRole('link', { name: 'Dangling cause' }).count()).toBe(0);
    await list.getByRole('checkbox', { name: /data-quality findings/ }).check();
    await list.getByRole('link', { name: 'Dangling cause' }).click();
    await page.getByRole('article').getByText('rain-that-nobody-saw').first().waitFor();
  });

  it('filters by the last days of the clock or by a typed range', async () => {
    await on.service.call('POST', 'v1/travel', { timeline_id: 'odd', destination_time: '2028-02-05T00:00:00Z' });
    const page = await on.loggedIn('paradoxes?timeline=odd');
    const list = page.getByRole('region', { name: 'Paradoxes', exact: true });
    await list.getByRole('link', { name: 'Two places at once' }).waitFor();
    const period = list.getByLabel('Virtual time, by the clock');
    await period.selectOption('Last 7 days');
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await list.getByRole('link', { name: /Effect before cause/ }).waitFor();
    expect(new URL(page.url()).hash).toContain('period=7d');
    // A fixed range starts as the days that were shown.
    await period.selectOption('From – to');
    await expect.poll(() => list.getByLabel('From', { exact: true }).inputValue()).toMatch(/^2028-01-29/);
    expect(await list.getByLabel('To', { exact: true }).inputValue()).toMatch(/^2028-02-05/);
    expect(new URL(page.url()).hash).toMatch(/period=custom.*from=2028-01-29T00/);
    await period.selectOption('Last hour');
    await list.getByRole('heading', { name: 'No paradoxes in this range' }).waitFor();
    await list.getByRole('link', { name: 'Show paradoxes of all time' }).click();
    await list.getByRole('link', { name: 'Two places at once' }).waitFor();
    await period.selectOption('From – to');
    await list.getByLabel('From', { exact: true }).fill('2028-07-01T00:00:00Z');
    await list.getByLabel('From', { exact: true }).press('Enter');
    await list.getByLabel('To', { exact: true }).fill('2028-09');
    await list.getByLabel('To', { exact: true }).press('Enter');
    await list.getByText('Write a date, a time and a zone').waitFor();
    await list.getByLabel('To', { exact: true }).fill('2028-09-01T00:00:00Z');
    await list.getByLabel('To', { exact: true }).press('Enter');
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await list.getByRole('link', { name: 'Two places at once' }).waitFor();
    await expectAccessible(page);
  });

  it('applies the maximum speed', async () => {
    const page = await on.loggedIn('paradoxes?timeline=odd');
    const list = page.getByRole('region', { name: 'Paradoxes', exact: true });
    await list.getByRole('link', { name: 'Two places at once' }).waitFor();
    await page.getByText('Speed and tolerance').click();
    await page.getByLabel('Top speed').fill('fast');
    await page.getByText('Enter a speed in km/h').waitFor();
    await page.getByLabel('Top speed').fill('3000');
    await page.getByLabel('Top speed').press('Enter');
    await list.getByRole('link', { name: 'Two places at once' }).waitFor({ state: 'detached' });
    await page.getByLabel('Tolerance').fill('3d');
    await page.getByLabel('Tolerance').press('Enter');
    await expect.poll(() => list.getByRole('link', { name: /invoice-paid/ }).count()).toBe(0);
  });

  it('is updated from the stream', async () => {
    await record('unfolding', [{ event_id: 'sent', time: '2028-02-03T08:30:00Z' }]);
    const page = await on.loggedIn('paradoxes?timeline=unfolding');
    await page.getByRole('heading', { name: 'No paradoxes' }).waitFor();
    await on.service.call('POST', 'v1/events?timeline_id=unfolding', {
      event_id: 'paid',
      time: '2028-02-01T10:00:00Z',
      description: 'told',
      causes: ['sent'],
    });
    await page.getByRole('article').getByRole('heading', { name: 'Effect before cause' }).waitFor();
    const looks: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('monitor-paradox')) looks.push(request.url());
    });
    const move = (action: string): Promise<unknown> =>
      on.service.call('POST', 'v1/manipulate-event', {
        timeline_id: 'unfolding',
        event_id: 'paid',
        time: '2028-02-01T10:00:00Z',
        action,
      });
    // If the stream opens late, the list is read once more. From then on the stream reports all changes.
    await expect
      .poll(async () => {
        looks.length = 0;
        await move('delay 10d');
        await page.getByRole('heading', { name: 'No paradoxes' }).waitFor();
        await move('move to 2028-02-01T10:00:00Z');
        await page.getByRole('article').getByRole('heading', { name: 'Effect before cause' }).waitFor();
        return looks;
      })
      .toEqual([]);
  });

  it('shows a success message without paradoxes', async () => {
    await record('sound', [{ event_id: 'only', time: '2028-02-03T08:30:00Z' }]);
    const page = await on.loggedIn('paradoxes?timeline=sound');
    await page.getByRole('heading', { name: 'No paradoxes' }).waitFor();
    await page.getByText(/events? of sound (was|were) checked/).waitFor();
  });
});

describe('an intervention', () => {
  it('is previewed while it is typed, without changing anything', async () => {
    await record('trial', EVENTS.slice(4, 6));
    const page = await on.loggedIn('paradoxes?timeline=trial&tab=lab');
    await page.getByRole('heading', { name: 'Choose an event' }).waitFor();
    await page.getByLabel('Event', { exact: true }).fill('invoice-sen');
    await page.getByRole('option', { name: /invoice-sent/ }).click();
    await page.getByText('1 event depends on it').waitFor();
    await page.getByLabel('What to do').fill('advance 3d');
    const result = page.getByRole('region', { name: 'Preview' });
    await result.getByText('31 January 2028, 08:30 UTC').waitFor();
    await result.getByText('It resolves a paradox').waitFor();
    await page.getByRole('button', { name: 'cancel', exact: true }).click();
    await result.getByText('canceled', { exact: true }).first().waitFor();
    await result.getByText(/which would be canceled by the intervention/).waitFor();
    await result.getByText('Orphaned effect').waitFor();
    await page.getByLabel('What to do').fill('fly away');
    await result.getByText('A note, which changes nothing').waitFor();
    const { event } = await on.service.call<{ event: { time: string } }>(
      'GET',
      'v1/check-timeline?timeline_id=trial&significant_event=invoice-sent',
    );
    expect(event.time).toBe('2028-02-03T08:30:00Z');
  });

  it('shows an imprecise time with its precision', async () => {
    await record('old', [
      { event_id: 'actium', time: '-000030-01-01T00:00:00Z', precision: 'year', name: 'Battle of Actium' },
    ]);
    const page = await on.loggedIn('paradoxes?timeline=old&tab=lab&event=actium');
    await page.getByText('31 BCE, known to the year').waitFor();
  });

  it('is applied to this timeline, or rejected if it creates a paradox', async () => {
    await record('deed', EVENTS.slice(4, 6));
    const page = await on.loggedIn('paradoxes?timeline=deed&tab=lab&event=invoice-sent&action=cancel', {
      expected: REFUSED,
    });
    const dialog = page.getByRole('dialog', { name: 'Intervene' });
    await page.getByRole('button', { name: 'Apply…' }).click();
    await dialog.getByRole('checkbox', { name: /Reject it/ }).check();
    await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('checkbox', { name: /Reject it/ }).uncheck();
    await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('canceled', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'restore' }).click();
    await page.getByRole('region', { name: 'Preview' }).getByText('It resolves a paradox').waitFor();
  });

  it('shows its effects, with links to continue or restore', async () => {
    await record('told-after', EVENTS.slice(4, 6));
    const page = await on.loggedIn('paradoxes?timeline=told-after&tab=lab&event=invoice-sent&action=cancel');
    await page.getByRole('button', { name: 'Apply…' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const result = page.getByRole('region', { name: 'Applied' });
    await result.getByText('It creates a paradox').waitFor();
    const focused = (): Promise<string | undefined> => page.evaluate(() => document.activeElement?.id);
    await expect.poll(focused).toBe('result-title');
    // The event keeps its name, and its cancellation is described in the console's own words.
    await page.getByText('The invoice is sent', { exact: true }).first().waitFor();
    await page.getByText(/^Canceled by admin, \d+ \w+ \d+, \d\d:\d\d(:\d\d)? UTC host time$/).waitFor();
    await result.getByRole('button', { name: 'Undo' }).click();
    await result.getByText('It resolves a paradox').waitFor();
    await expect.poll(focused).toBe('result-title');
    await page.getByLabel('What to do').fill('cancel');
    await page.getByRole('button', { name: 'Apply…' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await result.getByRole('link', { name: 'See the paradox' }).click();
    await page.getByRole('article').getByRole('heading', { name: 'Orphaned effect' }).waitFor();
  });

  it('is applied to a fork and leaves the timeline unchanged', async () => {
    await record('bough', EVENTS.slice(4, 6));
    const page = await on.loggedIn('paradoxes?timeline=bough&tab=lab&event=invoice-sent&action=cancel');
    await page.getByRole('button', { name: 'Apply…' }).click();
    await page.getByRole('radio', { name: /On a fork\./ }).check();
    await page.getByLabel('Name of the fork').fill('bough-without');
    await page.getByRole('button', { name: 'Fork and apply' }).click();
    await page.getByRole('button', { name: 'Timeline: bough-without' }).waitFor();
    await page.getByText('canceled', { exact: true }).first().waitFor();
    const result = page.getByRole('region', { name: 'Applied' });
    await result.getByText('It creates a paradox').waitFor();
    const compare = await result.getByRole('link', { name: 'Compare with bough' }).getAttribute('href');
    expect(compare).toMatch(/^#\/compare\?timeline=bough-without&with=bough$/);
    const { active } = await on.service.call<{ active: boolean }>(
      'GET',
      'v1/check-timeline?timeline_id=bough&significant_event=invoice-sent',
    );
    expect(active).toBe(true);
  });

  it('is not offered to a read-only user', async () => {
    await on.service.user('onlooker');
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: 'odd', permissions: { read: ['onlooker'] } });
    const page = await on.loggedIn('paradoxes?timeline=odd&tab=lab&event=journey', {
      user: 'onlooker',
      expected: REFUSED,
    });
    await page.getByText('Your access to odd is read-only.').waitFor();
    expect(await page.getByLabel('What to do').isDisabled()).toBe(true);
  });
});

it('is accessible and fits every width', async () => {
  const page = await on.loggedIn('paradoxes?timeline=odd');
  for (const name of ['Grandfather', 'Causal cycle', 'Effect before cause', 'Two places at once']) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(page.url().replace(/#.*/, '#/paradoxes?timeline=odd'));
    await page.getByRole('link', { name }).first().click();
    await page.getByRole('article').getByRole('heading', { name }).waitFor();
    await expectUsable(page, [320, 768, 2560]);
  }
  await page.goto(page.url().replace(/#.*/, '#/paradoxes?timeline=odd&tab=lab&event=invoice-sent&action=cancel'));
  await page
    .getByText('It creates no paradox')
    .or(page.getByText(/It creates .*paradox/))
    .first()
    .waitFor();
  await expectUsable(page, [320, 768]);
});

/** More timelines and events than are read at once. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { fresh, own, shared } from './harness';

const on = shared();
const TIMELINES = 5_000;

describe('five thousand timelines', () => {
  const on = own('--requests-per-minute', '1000000');
  beforeAll(async () => {
    let next = 0;
    const make = async (): Promise<void> => {
      for (let index = next++; index < TIMELINES; index = next++)
        await on.service.call('POST', 'timelines', { timeline_id: `tl-${String(index).padStart(4, '0')}` });
    };
    await Promise.all(Array.from({ length: 16 }, make));
  }, 300_000);

  it('are all found by name, with the list read once', async () => {
    const page = await on.page();
    const requests: string[] = [];
    page.on('request', (sent) => {
      const { pathname, search } = new URL(sent.url());
      if (pathname === '/timelines') requests.push(search);
    });
    await page.context().addCookies(await (await on.loggedIn('timeline?timeline=tl-4999')).context().cookies());
    await page.goto(`${on.service.url}/#/timeline?timeline=tl-4999`);
    await page.getByText('No events on tl-4999 yet').waitFor();
    expect(requests).toHaveLength(1);
    await page.getByRole('button', { name: 'Timeline: tl-4999' }).click();
    await page.getByText('Type to search all').waitFor();
    const search = page.getByRole('combobox', { name: 'Find a timeline' });
    await search.fill('tl-4998');
    await page.getByRole('option', { name: /^tl-4998/ }).waitFor();
    // In the middle of the name, on the last page.
    await search.fill('l-4997');
    await page.getByRole('option', { name: /^tl-4997/ }).waitFor();
    await search.fill('no such name');
    await page.getByText('No timeline name contains this.').waitFor();
    await search.fill('tl-4996');
    await page.getByRole('option', { name: /^tl-4996/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('No events on tl-4996 yet').waitFor();
  });

  it('are all available in the palette, the tree and the comparison', async () => {
    await on.service.call('POST', 'timelines', { timeline_id: 'zz-fork', fork_of: 'tl-0000' });
    const page = await on.loggedIn('clock?timeline=demo');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox');
    // In the middle of the name, on the last page.
    await field.fill('l-4995');
    await page.getByRole('option', { name: /^tl-4995/ }).waitFor();
    await field.fill('zz-fork');
    await page.getByRole('option', { name: /^zz-fork/ }).waitFor();
    await page.reload();
    await page.goto(`${on.service.url}/#/timelines?timeline=demo&q=l-4994`);
    await page.getByRole('row').filter({ hasText: 'tl-4994' }).waitFor();
    await page.reload();
    await page.getByRole('searchbox', { name: 'Find a timeline by name' }).fill('l-4993');
    await page.getByRole('row').filter({ hasText: 'tl-4993' }).waitFor();
    await page.getByRole('searchbox', { name: 'Find a timeline by name' }).fill('no such name');
    await page.getByText('No timeline name contains “no such name”.').waitFor();
    await page.reload();
    await page.goto(`${on.service.url}/#/timeline?timeline=tl-0000&do=tree`);
    await page.getByRole('dialog').getByRole('link', { name: 'zz-fork' }).waitFor();
    await page.reload();
    await page.goto(`${on.service.url}/#/compare?timeline=tl-0000`);
    await expect.poll(() => page.getByRole('combobox', { name: 'Compare with' }).inputValue()).toBe('zz-fork');
  });

  it('may have unloaded forks, which the axis mentions and finds', async () => {
    await on.service.call('POST', 'timelines', { timeline_id: 'zz-demo', fork_of: 'demo' });
    const page = await on.loggedIn('timeline?timeline=demo');
    const lane = (name: string) => page.getByRole('region', { name: 'Axis' }).getByRole('link', { name, exact: true });
    const find = page.getByRole('button', { name: 'Find all forks' });
    await find.waitFor();
    expect(await lane('zz-demo').count()).toBe(0);
    await find.click();
    const tree = page.getByRole('dialog', { name: 'Forks and anchors' });
    await tree.getByRole('link', { name: 'zz-demo' }).waitFor();
    await page.keyboard.press('Escape');
    await lane('zz-demo').waitFor();
    await expect.poll(() => find.count()).toBe(0);
    // A fork that is not on the pages read so far still shows its parent.
    await page.goto(`${on.service.url}/#/timeline?timeline=zz-demo`);
    await page.reload();
    await lane('demo').waitFor();
    await find.waitFor();
  });
});

/** Counts the pixels of the map with the color of the selection. */
const chosenOn = (page: Page): Promise<number> =>
  page
    .getByRole('region', { name: 'Map' })
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--ink)';
      const [red, green, blue] = getComputedStyle(probe).color.match(/\d+/g)!.map(Number);
      probe.remove();
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        count += Number(data[at] === red && data[at + 1] === green && data[at + 2] === blue);
      return count;
    });

describe('more events than are drawn individually', () => {
  it('are listed, searched and mapped by the service', async () => {
    // The demo has more than sixty events in a year.
    const page = await on.loggedIn('timeline?timeline=demo&most=60');
    await page.getByRole('application', { name: /^World map with 4\d\d events/ }).waitFor();
    await page
      .getByText(/^events per \d+° cell$/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByText(/^1 to 50 of 493 events in view/).waitFor();
    const events = page.getByRole('region', { name: 'Events in view' }).locator('tbody').getByRole('button');
    const first = await events.first().innerText();
    expect(await chosenOn(page)).toBe(0);
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^51 to 100 of 493 events in view/).waitFor();
    await expect.poll(() => events.first().innerText()).not.toBe(first);
    await page.getByRole('button', { name: 'Previous page' }).click();
    await page.getByRole('region', { name: 'Events in view' }).getByRole('button', { name: first }).first().click();
    await page.getByRole('region', { name: 'Selected event' }).getByText('Recorded').first().waitFor();
    // The event is only counted, not drawn, but the map marks it all the same.
    await expect.poll(() => chosenOn(page)).toBeGreaterThan(40);
    const search = page.getByRole('combobox', { name: 'Find events by name, text, id or place' });
    await search.fill('land moon');
    await page.getByRole('option', { name: /First people land on the Moon/ }).waitFor();
    await search.fill('Rome');
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    expect(await page.getByText('Nothing happens').count()).toBe(0);
  });

  it('are mapped individually once zoomed in far enough', async () => {
    const flight = (index: number): Record<string, unknown> => ({
      event_id: `flight-${index}`,
      time: `2013-01-${String(1 + index).padStart(2, '0')}T00:00:00Z`,
      description: '',
      geo: [
        { lat: 40.64, lon: -73.78 },
        { lat: 40.69, lon: -74.17 },
        { lat: 40.78, lon: -73.87 },
      ][index % 3],
    });
    const name = fresh('departures');
    await on.service.timeline(name, ...Array.from({ length: 12 }, (_, index) => flight(index)));
    const page = await on.loggedIn(`timeline?timeline=${name}&most=5`);
    const map = page.getByRole('region', { name: 'Map' });
    // One cell of ten degrees or more, and then its contents, which are in a corner of it, at the center of the map.
    const middle = (): Promise<number> =>
      map.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        let [sum, count] = [0, 0];
        for (let at = 0; at < data.length; at += 4) {
          const parts = [data[at]!, data[at + 1]!, data[at + 2]!];
          if (Math.max(...parts) - Math.min(...parts) < 60) continue;
          sum += Math.floor(at / 4 / canvas.width) / canvas.height;
          count += 1;
        }
        return count === 0 ? 1 : sum / count;
      });
    await map.getByText(/^events per (0\.\d+|1)° cell$/).waitFor();
    await expect.poll(() => middle().then((part) => Math.abs(part - 0.5))).toBeLessThan(0.15);
    // The legend does not overlap the attribution.
    const [legend, credit] = await Promise.all([
      map.getByText(/^events per/).boundingBox(),
      page.getByText(/^Map: Natural Earth/).boundingBox(),
    ]);
    const isAbove = legend!.y + legend!.height <= credit!.y + 1;
    expect(isAbove || legend!.x >= credit!.x + credit!.width).toBe(true);
  });

  it('are requested once if the list starts with them', async () => {
    // No client writes to this timeline, so nothing is read again.
    const name = fresh('once');
    const event = (index: number): Record<string, unknown> => ({
      event_id: `e-${index}`,
      time: new Date(Date.UTC(2001, index)).toISOString(),
      description: '',
      geo: { lat: index % 60, lon: index },
    });
    await on.service.timeline(name, ...Array.from({ length: 130 }, (_, index) => event(index)));
    // Its stream opens before the list is read, so the first message is not a reason to read again.
    const page = await on.loggedIn(`clock?timeline=${name}`);
    await page.getByRole('timer').waitFor();
    const requests: string[] = [];
    page.on('request', (sent) => {
      const url = new URL(sent.url());
      if (url.pathname === '/v1/monitor-events' && url.searchParams.get('limit') === '50') requests.push(url.search);
    });
    await page.goto(`${on.service.url}/#/timeline?timeline=${name}&most=60&view=list`);
    await page.getByText(/^1 to 50 of 130 events in view/).waitFor();
    await page.getByRole('application', { name: 'World map with 130 events' }).waitFor();
    expect(requests).toEqual([requests[0]]);
  });

  it('do not move the page being read when others are recorded, and are read again on request', async () => {
    const event = (index: number): Record<string, unknown> => ({
      event_id: `e-${String(index).padStart(3, '0')}`,
      time: `2013-01-01T00:${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}Z`,
      description: '',
    });
    const name = fresh('pages');
    await on.service.timeline(name, ...Array.from({ length: 130 }, (_, index) => event(index)));
    const record = (recorded: unknown): Promise<unknown> =>
      on.service.call('POST', `v1/events?timeline_id=${name}`, recorded);
    // More than a page: the list may start with the events read for the axis.
    const page = await on.loggedIn(`timeline?timeline=${name}&most=60&view=list`);
    await page.getByText(/^1 to 50 of 130 events in view/).waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^51 to 100 of 130 events in view/).waitFor();
    // At another place, once within the view and once beyond it.
    await record({ ...event(0), event_id: 'late' });
    await record({ ...event(0), event_id: 'beyond', time: '2014-01-01T00:00:00Z' });
    await page.getByText('Changed since').waitFor();
    await page.getByText(/^51 to 100 of 130 events in view/).waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^101 to 130 of 130 events in view/).waitFor();
    await page.getByRole('button', { name: 'Update' }).click();
    await page.getByText(/^1 to 50 of 132 events in view/).waitFor();
    expect(await page.getByText('Changed since').count()).toBe(0);
    // The first page always has the newest events.
    await record({ ...event(1), event_id: 'later' });
    await page.getByText(/^1 to 50 of 133 events in view/).waitFor();
  });

  it('are listed while the view follows the clock, without a request per pixel', async () => {
    const name = fresh('followed');
    const { current_time: now } = await on.service.call<{ current_time: string }>('GET', 'v1/clock');
    // Far beyond now, so that the view has the same number of events however long the test takes.
    const event = (index: number): Record<string, unknown> => ({
      event_id: `e-${index}`,
      time: new Date(Date.parse(now) + 1_000 * (index - 130)).toISOString(),
      description: '',
    });
    await on.service.timeline(name, ...Array.from({ length: 700 }, (_, index) => event(index)));
    const page = await on.loggedIn('clock?timeline=demo');
    const requests: number[] = [];
    page.on('request', (sent) => {
      const url = new URL(sent.url());
      if (url.pathname === '/v1/monitor-events' && url.searchParams.get('limit') === '50')
        requests.push(performance.now());
    });
    // A pixel is a fifth of a second.
    const view = `center=${now}&zoom=200000&follow=1`;
    await page.goto(`${on.service.url}/#/timeline?timeline=${name}&most=40&view=list&${view}`);
    await page.getByText(/^1 to \d+ of \d+ events in view/).waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^51 to 1\d\d of/).waitFor();
    const before = requests.length;
    await page.waitForTimeout(5_000);
    expect(requests.length - before).toBeLessThanOrEqual(1);
    await page.getByText(/^51 to 1\d\d of/).waitFor();
  });

  it('explain that they are sorted by time only, and are sortable in a range with few of them', async () => {
    const page = await on.loggedIn('timeline?timeline=demo&most=40&view=list');
    const list = page.getByRole('region', { name: 'Events in view' });
    await list.getByRole('columnheader', { name: /^Event ?, not sortable: only one page/ }).waitFor();
    expect(await list.getByRole('button', { name: 'Event', exact: true }).count()).toBe(0);
    await page.goto(
      `${on.service.url}/#/timeline?timeline=demo&most=40&view=list&range=1969-01-01T00:00:00Z/1972-01-01T00:00:00Z`,
    );
    await list.getByRole('button', { name: 'Event', exact: true }).click();
    await expect
      .poll(() => list.getByRole('columnheader', { name: 'Event' }).getAttribute('aria-sort'))
      .toBe('ascending');
    const names = (await list.locator('tbody td.name').allInnerTexts()).map((name) => name.trim());
    expect(names.length).toBeGreaterThan(2);
    expect(names).toEqual([...names].sort(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare));
  });

  it('are counted beyond the limit of one response', async () => {
    // Sixty thousand in each of four years. The service would count a hundred thousand per request.
    const [first, last, each, most] = [2001, 2004, 60_000, 100_000];
    // No client writes to this timeline, so nothing is counted again.
    const name = 'counted-in-parts';
    const event = (index: number): Record<string, unknown> => ({
      event_id: `e-${index}`,
      time: new Date(Date.UTC(first, index)).toISOString(),
      description: '',
    });
    await on.service.timeline(name, ...Array.from({ length: 12 * (last + 1 - first) }, (_, index) => event(index)));
    const page = await on.loggedIn('clock?timeline=demo');
    const cursors: (string | null)[] = [];
    let goOn = (): void => {};
    const continued = new Promise<void>((done) => (goOn = done));
    await page.route('**/v1/aggregate-events?*', async (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.get('group_by') !== 'time' || url.searchParams.get('timeline_id') !== name)
        return route.continue();
      const cursor = url.searchParams.get('cursor');
      cursors.push(cursor);
      const group = (year: number, count: number) => ({
        key: `${year}-01-01T00:00:00Z`,
        end: `${year + 1}-01-01T00:00:00Z`,
        count,
      });
      // Each response ends within a period. Its count and that of the next response add up.
      if (cursor === '1') await continued;
      const answers = [
        { groups: [group(first, each), group(first + 1, most - each)], to: first + 1, next_cursor: '1' },
        {
          groups: [group(first + 1, 2 * each - most), group(last - 1, each), group(last, 20_000)],
          to: last,
          next_cursor: '2',
        },
        { groups: [group(last, each - 20_000)], to: null },
      ];
      const { groups, to, ...rest } = answers[Number(cursor ?? 0)]!;
      return route.fulfill({
        json: {
          ...rest,
          groups,
          groups_count: groups.length,
          groups_truncated: false,
          count: groups.reduce((sum, { count }) => sum + count, 0),
          ungrouped_count: 0,
          ...(to === null ? {} : { counted_until: `${to}-08-31T00:00:00Z` }),
        },
      });
    });
    await page.goto(`${on.service.url}/#/timeline?timeline=${name}&most=40`);
    // A partial count is labeled as such.
    await page.getByText('about 100,000 events so far', { exact: true }).waitFor();
    goOn();
    await page.getByText('240,000 events', { exact: true }).first().waitFor();
    expect(await page.getByText('so far').count()).toBe(0);
    expect(cursors).toEqual([null, '1', '2']);
  });

  it('are not shown as zero in the overview strip while being counted', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    await page.route('**/v1/aggregate-events?*', async (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.get('group_by') !== 'time') return route.continue();
      // The rest never arrives.
      if (url.searchParams.has('cursor')) return;
      const group = { key: '0900-01-01T00:00:00Z', end: '1000-01-01T00:00:00Z', count: 100 };
      await route.fulfill({
        json: {
          groups: [group],
          groups_count: 1,
          groups_truncated: false,
          count: 100,
          ungrouped_count: 0,
          counted_until: '0999-12-31T00:00:00Z',
          next_cursor: '1',
        },
      });
    });
    await page.goto(`${on.service.url}/#/timeline?timeline=demo&most=40`);
    await page.getByText('about 100 events so far', { exact: true }).waitFor();
    /** Whether something is drawn at the top of the strip, at this fraction of its width. */
    const isDrawn = (part: number): Promise<boolean> =>
      page.locator('.overview canvas').evaluate((canvas: HTMLCanvasElement, at) => {
        const { data } = canvas.getContext('2d')!.getImageData(Math.floor(canvas.width * at), 20, 1, 1);
        return data[3]! > 0;
      }, part);
    await expect.poll(() => isDrawn(0.9)).toBe(true);
    expect(await isDrawn(0.2)).toBe(false);
  });

  it('are listed next to search, filters and map before they are counted', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    await page.route('**/v1/aggregate-events?*', () => {});
    await page.goto(`${on.service.url}/#/timeline?timeline=demo&most=40&view=list`);
    await page.getByText(/^1 to 50 events in view/).waitFor();
    await page.getByRole('combobox', { name: 'Find events by name, text, id or place' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).waitFor();
    await page.getByRole('application', { name: /^World map/ }).waitFor();
  });

  it('are searched, filtered, mapped and exported even if the first count takes long', async () => {
    const page = await on.loggedIn('clock?timeline=demo');
    await page.route('**/v1/aggregate-events?*', () => {});
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${on.service.url}/#/timeline?timeline=demo&most=40&do=export`);
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByText('All 493 events of demo.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('combobox', { name: 'Find events by name, text, id or place' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).waitFor();
    await page.getByRole('application', { name: /^World map/ }).waitFor();
  });

  it('are listed with their marks and anchors', async () => {
    const event = (event_id: string, day: number) => ({
      event_id,
      time: `1969-07-${day}T20:00:00Z`,
      name: event_id === 'landing' ? 'First people land on the Moon' : event_id,
      description: '',
    });
    await on.service.timeline('marked', event('launch', 16), event('landing', 20), event('return', 24));
    await on.service.call('POST', 'v1/manipulate-event', {
      timeline_id: 'marked',
      event_id: 'landing',
      action: 'rename to First people land on the Moon, on television',
      time: '1969-07-20T00:00:00Z',
    });
    await on.service.call('POST', 'v1/set-anchor', {
      timeline_id: 'marked',
      timestamp: '1969-07-18T00:00:00Z',
      description: 'On the way',
    });
    const page = await on.loggedIn(
      'timeline?timeline=marked&most=1&view=list&center=1969-07-19T00:00:00Z&zoom=1000000000',
    );
    const row = page.getByRole('row', { name: /First people land on the Moon/ });
    await row.getByText('intervention').waitFor();
    await page.getByRole('list', { name: 'Anchors in this range' }).getByRole('button', { name: 'On the way' }).click();
    await page.getByRole('dialog').getByText('On the way').first().waitFor();
  });
});

/** Lanes of the timeline: rows of events with a duration, lanes of groups, and lanes of forks. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, REFUSED, expectUsable } from './harness';
import { axis, card, chooseKey, coloredPixels, counted, on, param, region, timeline } from './timeline-page';

const day = (number: number): string => new Date(Date.UTC(2020, 0, 1 + number)).toISOString();
const lasting = (event_id: string, from: number, to: number, source: string): Record<string, unknown> => ({
  event_id,
  time: day(from),
  end_time: day(to),
  name: event_id,
  description: '',
  source,
});
const legend = (page: Page): Promise<string[]> =>
  page
    .locator('.legend li button[aria-pressed] .truncate')
    .allInnerTexts()
    .then((texts) => texts.map((text) => text.trim()));
/** Returns the lanes from top to bottom. */
const laneNames = async (page: Page): Promise<string[]> => {
  const buttons = await axis(page)
    .getByRole('button', { name: /^Lane of / })
    .all();
  const placed = await Promise.all(
    buttons.map(async (button) => [(await button.innerText()).trim(), (await button.boundingBox())!.y] as const),
  );
  return placed.sort((a, b) => a[1] - b[1]).map(([name]) => name);
};
const OWN = ['G01', 'G02', 'G03', 'G04', 'G05', 'G06', 'G07', 'G08'];
const scroller = (page: Page): Locator => page.getByRole('region', { name: /^Lanes/ });

beforeAll(async () => {
  const long = Array.from({ length: 40 }, (_, index) => lasting(`long-${index}`, index, 60, 'Long'));
  await timeline('shifts', ...long, lasting('brief', 10, 20, 'Brief'), lasting('later', 15, 30, 'Brief'));
  await timeline('nested', lasting('whole', 0, 60, 'S'), lasting('part', 10, 40, 'S'));
  const many = Array.from({ length: 12 }, (_, group) =>
    Array.from({ length: 13 - group }, (_, copy) =>
      lasting(`${group}-${copy}`, copy, copy + 2, `G${String(group + 1).padStart(2, '0')}`),
    ),
  );
  await timeline('sources', ...many.flat());
});

describe('lanes of events with a duration', () => {
  it('show their rows, and all of them on request, also by key', async () => {
    const page = await on.loggedIn('timeline?timeline=shifts&by=source&lanes=1');
    await counted(page, '42 events');
    const more = axis(page).getByRole('button', { name: /^\d+ more rows of Long$/ });
    await more.waitFor();
    // All rows of the other lane fit.
    expect(
      await axis(page)
        .getByRole('button', { name: /of Brief$/ })
        .count(),
    ).toBe(0);
    await expectAccessible(page);
    await more.focus();
    await page.keyboard.press('Enter');
    const fewer = axis(page).getByRole('button', { name: 'Fewer rows of Long' });
    await fewer.waitFor();
    expect(param(page, 'open')).toBe('Long');
    await page.reload();
    await fewer.waitFor();
    await axis(page).focus();
    await page.keyboard.press('PageDown');
    await expect.poll(() => scroller(page).evaluate((element) => element.scrollTop)).toBeGreaterThan(100);
    await expectUsable(page);
    await page.goBack();
    await more.waitFor();
  });

  it('scroll the selected event into view', async () => {
    const page = await on.loggedIn('timeline?timeline=shifts&by=source&lanes=1&event=long-39');
    await card(page).getByRole('heading', { name: 'long-39' }).waitFor();
    await expect.poll(() => param(page, 'open')).toBe('Long');
    await expect.poll(() => scroller(page).evaluate((element) => element.scrollTop)).toBeGreaterThan(100);
  });

  it('keep overlapping events clickable, also without groups', async () => {
    const page = await on.loggedIn('timeline?timeline=nested');
    await counted(page, '2 events');
    await page.getByRole('button', { name: 'Lanes', exact: true }).click();
    expect(param(page, 'lanes')).toBe('1');
    const box = (await axis(page).boundingBox())!;
    for (const [row, name] of ['whole', 'part'].entries()) {
      // Rows are 20 pixels high, below the ruler and the flags.
      await expect
        .poll(async () => {
          await page.mouse.click(box.x + box.width * 0.4, box.y + 89 + row * 20);
          return card(page).getByRole('heading', { name, exact: true }).count();
        })
        .toBe(1);
    }
  });

  it('draw events that began before the view, also with more events than are read', async () => {
    const calls = Array.from({ length: 40 }, (_, index) => lasting(`call-${index}`, 20 * index, 20 * index + 1, 'S'));
    await timeline('strait', lasting('ferry', 0, 800, 'S'), ...calls);
    // Two months in view, a year after the ferry's departure.
    const sight = 'center=2021-02-09T00:00:00Z&zoom=4300000000';
    const page = await on.loggedIn(`timeline?timeline=strait&most=20&lanes=1&${sight}`);
    await counted(page, '3 in view, 41 events');
    const box = (await axis(page).boundingBox())!;
    await expect
      .poll(async () => {
        await page.mouse.click(box.x + box.width * 0.47, box.y + 89);
        return card(page).getByRole('heading', { name: 'ferry', exact: true }).count();
      })
      .toBe(1);
  });

  it('are offered if some do not fit', async () => {
    const page = await on.loggedIn('timeline?timeline=shifts');
    await axis(page).getByRole('button', { name: 'Not all fit · show rows' }).click();
    await axis(page)
      .getByRole('button', { name: /more rows of all events$/ })
      .waitFor();
    expect(param(page, 'lanes')).toBe('1');
  });
});

describe('lanes of groups', () => {
  // With individual events, and with counts from the service.
  for (const most of ['', '&most=1'])
    it(`are the largest groups, the next ones, or the pinned ones${most && ', also counted'}`, async () => {
      const page = await on.loggedIn(`timeline?timeline=sources&by=source&lanes=1${most}`);
      await expect.poll(() => legend(page)).toEqual(OWN);
      await page.getByRole('button', { name: 'Next 8', exact: true }).click();
      // Eight groups keep their color, although only four more have events.
      await expect.poll(() => legend(page)).toEqual(['G05', 'G06', 'G07', 'G08', 'G09', 'G10', 'G11', 'G12']);
      expect(param(page, 'skip')).toBe('8');
      await page.getByRole('button', { name: 'Choose…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Colored groups' });
      await dialog.getByRole('button', { name: 'The largest 8 again' }).click();
      await dialog.getByLabel('Find a group').fill('g11');
      await dialog.getByRole('checkbox', { name: /^G11/ }).check();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Done' }).click();
      expect([param(page, 'pin'), param(page, 'skip')]).toEqual(['G11', null]);
      const pinned = ['G01', 'G02', 'G03', 'G04', 'G05', 'G06', 'G07', 'G11'];
      await expect.poll(() => legend(page)).toEqual(pinned);
      await page.reload();
      await expect.poll(() => legend(page)).toEqual(pinned);
      // Another attribute has other groups.
      await chooseKey(page, 'Color by', 'nothing');
      expect(param(page, 'pin')).toBeNull();
    });
});

describe('lanes of groups counted by the service', () => {
  it('share one request with the legend', async () => {
    const page = await on.loggedIn('timelines');
    const requests: (string | null)[] = [];
    page.on('request', (sent) => {
      const { pathname, searchParams } = new URL(sent.url());
      const group_by = searchParams.get('group_by');
      if (pathname.endsWith('aggregate-events') && group_by?.includes('source')) requests.push(group_by);
    });
    await page.goto(`${on.service.url}/#/timeline?timeline=sources&by=source&lanes=1&most=1`);
    /** Counts the pixels to the right of the names with a hue. */
    const count = (hue: number): Promise<number> =>
      axis(page)
        .locator('canvas')
        .first()
        .evaluate((canvas: HTMLCanvasElement, name) => {
          const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
          probe.fillStyle = getComputedStyle(canvas).getPropertyValue(name);
          probe.fillRect(0, 0, 1, 1);
          const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
          const left = Math.round(canvas.width / 4);
          const { data } = canvas.getContext('2d')!.getImageData(left, 0, canvas.width - left, canvas.height);
          let count = 0;
          for (let at = 0; at < data.length; at += 4)
            if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count += 1;
          return count;
        }, `--hue-${hue}`);
    await expect.poll(() => count(1)).toBeGreaterThan(200);
    await expect.poll(() => count(2)).toBeGreaterThan(200);
    expect(requests.filter((group_by) => !group_by?.startsWith('cell'))).toEqual(['time,source']);
  });
});

describe('moved lanes', () => {
  const lane = (page: Page, key: string): Locator => axis(page).getByRole('button', { name: `Lane of ${key},` });

  // With rows of events with a duration, and with counts from the service.
  for (const most of ['', '&most=1'])
    it(`keep their position, by key or by dragging${most && ', also counted'}`, async () => {
      const page = await on.loggedIn(`timeline?timeline=sources&by=source&lanes=1${most}`, {
        viewport: { width: 1440, height: 1200 },
      });
      await lane(page, 'G08').waitFor();
      await expect.poll(() => laneNames(page)).toEqual(OWN);
      await lane(page, 'G03').focus();
      await page.keyboard.press('Alt+ArrowUp');
      await expect.poll(() => laneNames(page)).toEqual(['G01', 'G03', 'G02', ...OWN.slice(3)]);
      expect(param(page, 'order')).toBe('G01,G03,G02,G04,G05,G06,G07,G08');
      // The same lane is moved again, and stops at the top.
      for (let press = 0; press < 3; press += 1) await page.keyboard.press('Alt+ArrowUp');
      await expect.poll(() => laneNames(page)).toEqual(['G03', 'G01', 'G02', ...OWN.slice(3)]);
      await axis(page).getByText('G03 is lane 1 of 8').waitFor({ state: 'attached' });
      await expectAccessible(page);
      const [from, to] = [(await lane(page, 'G07').boundingBox())!, (await lane(page, 'G01').boundingBox())!];
      await page.mouse.move(from.x + 12, from.y + 9);
      await page.mouse.down();
      await page.mouse.move(from.x + 12, from.y - 20);
      await page.mouse.move(to.x + 12, to.y + 2, { steps: 4 });
      await page.mouse.up();
      const moved = ['G03', 'G07', 'G01', 'G02', 'G04', 'G05', 'G06', 'G08'];
      await expect.poll(() => laneNames(page)).toEqual(moved);
      await page.reload();
      await expect.poll(() => laneNames(page)).toEqual(moved);
      // Groups keep their colors, and another attribute has other lanes.
      await expect.poll(() => legend(page)).toEqual(OWN);
      await chooseKey(page, 'Color by', 'nothing');
      expect(param(page, 'order')).toBeNull();
    });
});

describe('pinned lanes', () => {
  const pin = (page: Page, key: string): Locator => axis(page).getByRole('button', { name: `Pin ${key}`, exact: true });

  for (const most of ['', '&most=1'])
    it(`stay on top while others are moved, and in links${most && ', also counted'}`, async () => {
      const page = await on.loggedIn(`timeline?timeline=sources&by=source&lanes=1${most}`, {
        viewport: { width: 1440, height: 1200 },
      });
      await expect.poll(() => laneNames(page)).toEqual(OWN);
      await pin(page, 'G05').click();
      await expect.poll(() => laneNames(page)).toEqual(['G05', 'G01', 'G02', 'G03', 'G04', 'G06', 'G07', 'G08']);
      await axis(page).getByText('G05 is pinned to the top').waitFor({ state: 'attached' });
      // With keys.
      await pin(page, 'G07').focus();
      await page.keyboard.press('Enter');
      const both = ['G05', 'G07', 'G01', 'G02', 'G03', 'G04', 'G06', 'G08'];
      await expect.poll(() => laneNames(page)).toEqual(both);
      // Pinned lanes stay above the others. Lanes can be moved within their part.
      const move = async (key: string, keys: string): Promise<void> => {
        await axis(page)
          .getByRole('button', { name: `Lane of ${key},` })
          .focus();
        await page.keyboard.press(keys);
      };
      await move('G01', 'Alt+ArrowUp');
      await move('G02', 'Alt+ArrowUp');
      const moved = ['G05', 'G07', 'G02', 'G01', 'G03', 'G04', 'G06', 'G08'];
      await expect.poll(() => laneNames(page)).toEqual(moved);
      await move('G07', 'Alt+ArrowUp');
      const last = ['G07', 'G05', ...moved.slice(2)];
      await expect.poll(() => laneNames(page)).toEqual(last);
      await expectAccessible(page);
      await page.reload();
      await expect.poll(() => laneNames(page)).toEqual(last);
      await pin(page, 'G07').click();
      await pin(page, 'G05').click();
      await expect.poll(() => laneNames(page)).toEqual(['G02', 'G01', ...OWN.slice(2)]);
      // Another attribute has other lanes.
      await pin(page, 'G05').click();
      await chooseKey(page, 'Color by', 'nothing');
      expect(param(page, 'top')).toBeNull();
    });

  it('stay visible while others scroll, also on a phone', async () => {
    const page = await on.loggedIn('timeline?timeline=shifts&by=source&lanes=1&open=Long', {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    const names = (key: string): Locator => axis(page).getByRole('button', { name: `Lane of ${key},` });
    await names('Long').waitFor();
    const start = (await names('Long').boundingBox())!.y;
    await axis(page).focus();
    for (let press = 0; press < 12 && !(await names('Brief').isVisible()); press += 1)
      await page.keyboard.press('PageDown');
    await pin(page, 'Brief').tap();
    await expect
      .poll(() =>
        names('Brief')
          .boundingBox()
          .then((box) => box?.y),
      )
      .toBe(start);
    // From the top to the end and back: the pinned lane stays in place, and the others scroll below it.
    for (let press = 0; press < 12; press += 1) await page.keyboard.press('PageDown');
    await names('Long').waitFor({ state: 'hidden' });
    expect((await names('Brief').boundingBox())!.y).toBe(start);
    expect(await pin(page, 'Brief').getAttribute('aria-pressed')).toBe('true');
  });
});

describe('more forks than fit', () => {
  it('are listed in the tree', async () => {
    await timeline('trunk', lasting('whole', 0, 60, 'S'));
    for (let fork = 1; fork <= 6; fork += 1)
      await on.service.call('POST', 'timelines', { timeline_id: `limb-${fork}`, fork_of: 'trunk' });
    const page = await on.loggedIn('timeline?timeline=trunk');
    await axis(page).getByRole('button', { name: 'and 2 more forks' }).click();
    const tree = page.getByRole('dialog', { name: 'Forks and anchors' });
    for (let fork = 1; fork <= 6; fork += 1)
      await tree.getByRole('link', { name: `limb-${fork}`, exact: true }).waitFor();
  });
});

describe('events grouped by actor', () => {
  const fix = (index: number, actor: string, lat: number): Record<string, unknown> => ({
    event_id: `${actor}-${index}`,
    time: day(index),
    description: '',
    actors: [actor],
    source: actor,
    geo: { lat, lon: -60 + index * 40 },
  });
  /** Counts the distinct hues of the map, in sectors of the color wheel, ignoring grays. */
  const hues = (page: Page): Promise<number> =>
    region(page, 'Map')
      .locator('canvas')
      .evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        const counts = new Map<number, number>();
        for (let at = 0; at < data.length; at += 4) {
          const [red, green, blue] = [data[at]!, data[at + 1]!, data[at + 2]!];
          const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
          // The faintest cells have little saturation, and land has less.
          if (most - least < 18) continue;
          const [a, b, turn] =
            most === red ? [green, blue, 0] : most === green ? [blue, red, 2] : ([red, green, 4] as const);
          const hue = Math.round(turn + (a - b) / (most - least) + 6) % 6;
          counts.set(hue, (counts.get(hue) ?? 0) + 1);
        }
        return [...counts.values()].filter((count) => count > 40).length;
      });

  it('have a track per actor on the map, and cells in the most frequent color', async () => {
    await timeline('ways', ...[0, 1, 2].flatMap((index) => [fix(index, 'A', 10), fix(index, 'B', -20)]));
    const page = await on.loggedIn('timeline?timeline=ways&by=source');
    await counted(page, '6 events');
    await expect.poll(() => coloredPixels(page)).toBeGreaterThan(50);
    const dots = await coloredPixels(page);
    await chooseKey(page, 'Color by', 'actor');
    await expect.poll(() => coloredPixels(page)).toBeGreaterThan(dots * 2);
    await page.goto(`${on.service.url}/#/timeline?timeline=ways&most=1`);
    await page.reload();
    await region(page, 'Map')
      .getByText(/^events per/)
      .waitFor();
    await expect.poll(() => hues(page)).toBe(1);
    await page.goto(`${on.service.url}/#/timeline?timeline=ways&by=actor&most=1`);
    await page.reload();
    await region(page, 'Map').getByText('colored by the most frequent actor').waitFor();
    await expect.poll(() => hues(page)).toBeGreaterThan(1);
  });

  it('have gray cells with a note if groups cannot be counted', async () => {
    await timeline('ways-apart', ...[0, 1, 2].flatMap((index) => [fix(index, 'A', 10), fix(index, 'B', -20)]));
    const page = await on.loggedIn('clock?timeline=ways-apart', { expected: REFUSED });
    await page.route(/aggregate-events\?.*group_by=cell/, (sent) =>
      /group_by=cell(,|%2C)source/.test(sent.request().url())
        ? sent.fulfill({ status: 403, json: { title: 'Not allowed', status: 403 } })
        : sent.continue(),
    );
    await page.goto(`${on.service.url}/#/timeline?timeline=ways-apart&by=source&most=1`);
    await region(page, 'Map').getByText('not colored by source: it could not be counted').waitFor();
    await expect.poll(() => hues(page)).toBe(0);
  });
});

it('show the scale of a lane next to its name, away from most bars', async () => {
  const page = await on.loggedIn('clock?timeline=sources', { viewport: { width: 390, height: 844 } });
  // Records the texts drawn on the axis, and their position.
  await page.addInitScript(() => {
    const written: [string, number, string][] = [];
    Object.assign(window, { written });
    const fillText = Reflect.get(CanvasRenderingContext2D.prototype, 'fillText') as (
      this: CanvasRenderingContext2D,
      ...rest: unknown[]
    ) => void;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
      written.push([text, x, this.textAlign]);
      fillText.call(this, text, x, ...rest);
    };
  });
  await page.goto(`${on.service.url}/#/timeline?timeline=demo&by=attribute.topic&lanes=1`);
  await page.reload();
  const scales = (): Promise<[string, number, string][]> =>
    page.evaluate(() => {
      const { written } = window as unknown as { written: [string, number, string][] };
      return written.filter(([text]) => /^0–[1-9]0$/.test(text));
    });
  // Lanes with a common scale label it once.
  await expect.poll(() => scales().then((found) => found.length)).toBeGreaterThan(0);
  for (const [text, x, align] of (await scales()).slice(-8)) {
    expect([text, align]).toEqual([text, 'left']);
    expect(x).toBeLessThan(390 / 2);
  }
});

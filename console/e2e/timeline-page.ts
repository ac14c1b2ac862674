/** Helpers of the timeline tests. */
import type { Locator, Page } from 'playwright-core';
import { shared } from './harness';

export const on = shared();
export const LANDING = '1969-07-20T20:17:40Z';

export type Options = Parameters<typeof on.loggedIn>[1];
export const region = (page: Page, name: string): Locator => page.getByRole('region', { name });
export const axis = (page: Page): Locator => page.getByRole('application', { name: /^Time axis of/ });
export const card = (page: Page): Locator => page.getByRole('article', { name: 'Event' });
export const param = (page: Page, name: string): string | null =>
  new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get(name);
export const counted = (page: Page, text: string): Promise<void> =>
  region(page, 'Axis').getByText(text, { exact: true }).first().waitFor();
export const visibleTime = (page: Page): Promise<string> =>
  page.getByTitle('Enter a time range').filter({ hasNotText: /^…$/ }).innerText();

export async function open(params = '', options?: Options): Promise<Page> {
  const page = await on.loggedIn(`timeline?timeline=demo${params}`, options);
  await counted(page, '493 events');
  return page;
}

export const timeline: typeof on.service.timeline = (name, ...events) => on.service.timeline(name, ...events);
export const launch = {
  event_id: 'launch',
  time: '1969-07-16T13:32:00Z',
  name: 'Launch',
  description: 'It lifts off.',
  location: 'Cape Canaveral',
  geo: { lat: 28.6, lon: -80.6 },
};
export const landing = {
  event_id: 'landing',
  time: LANDING,
  name: 'Landing',
  description: 'They land.',
  causes: ['launch'],
};

/** Selects the attribute for colors or values. */
export async function chooseKey(page: Page, field: 'Color by' | 'Values', name: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page
    .getByRole('listbox', { name: `${field}: choices` })
    .getByRole('option', { name, exact: true })
    .click();
}

/** Presses at the center of an element, moves by some pixels, and releases. */
export async function drag(
  page: Page,
  what: Locator,
  by: { x: number; y: number },
  from = { x: 0, y: 0 },
): Promise<void> {
  const box = (await what.boundingBox())!;
  const start = { x: box.x + box.width / 2 + from.x, y: box.y + box.height / 2 + from.y };
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + by.x / 2, start.y + by.y / 2);
  await page.mouse.move(start.x + by.x, start.y + by.y);
  await page.mouse.up();
}

/** Simulates touches. Each finger is a list of positions. */
export async function touch(page: Page, ...fingers: { x: number; y: number }[][]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const at = (step: number): { x: number; y: number; id: number }[] =>
    fingers.map((places, id) => ({ ...places[step]!, id }));
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
  for (let step = 1; step < fingers[0]!.length; step += 1)
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(step) });
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

/** Counts the pixels of the map that are neither land, sea nor empty. */
export const coloredPixels = (page: Page): Promise<number> =>
  region(page, 'Map')
    .locator('.map canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) {
        const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
        if (Math.max(red, green, blue) - Math.min(red, green, blue) > 40) count += 1;
      }
      return count;
    });

/** Returns by how many pixels two elements overlap. */
export async function overlap(one: Locator, other: Locator): Promise<number> {
  const [a, b] = await Promise.all([one.boundingBox(), other.boundingBox()]);
  if (a === null || b === null) return NaN;
  return Math.min(
    Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x),
    Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y),
  );
}

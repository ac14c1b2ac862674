/** More timelines, and more events, than are read at once. */
import { beforeAll, describe, expect, it } from 'vitest';
import { stage } from './harness';

const on = stage('--requests-per-minute', '1000000');
const TIMELINES = 5_000;

describe('five thousand timelines', () => {
  beforeAll(async () => {
    let next = 0;
    const make = async (): Promise<void> => {
      for (let index = next++; index < TIMELINES; index = next++)
        await on.service.call('POST', 'timelines', { timeline_id: `tl-${String(index).padStart(4, '0')}` });
    };
    await Promise.all(Array.from({ length: 16 }, make));
  }, 300_000);

  it('are all found by name, the list read once', async () => {
    const page = await on.page();
    const asked: string[] = [];
    page.on('request', (sent) => {
      const { pathname, search } = new URL(sent.url());
      if (pathname === '/timelines') asked.push(search);
    });
    await page.context().addCookies(await (await on.loggedIn('timeline?timeline=tl-4999')).context().cookies());
    await page.goto(`${on.service.url}/#/timeline?timeline=tl-4999`);
    await page.getByText('Nothing has happened on tl-4999 yet').waitFor();
    expect(asked).toHaveLength(1);
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
    await page.keyboard.press('Enter');
    await page.getByText('Nothing has happened on tl-4996 yet').waitFor();
  });
});

describe('more events than are read at once', () => {
  it('are listed, searched and mapped as the service has them', async () => {
    // A year of the demo's events does not fit into forty.
    const page = await on.loggedIn('timeline?timeline=demo&most=40');
    await page.getByText(/The first \d+ events of about \d+ in view/).waitFor();
    // Who hears the axis is told the same.
    await page.getByText(/^Shows .+, about \d+ events$/).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByText(/^1 to 50 of about \d+ events in view/).waitFor();
    const first = await page.getByRole('region', { name: 'Events in view' }).getByRole('button').first().innerText();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^51 to 100 of about \d+ events in view/).waitFor();
    expect(await page.getByRole('region', { name: 'Events in view' }).getByRole('button').first().innerText()).not.toBe(
      first,
    );
    await page.getByRole('button', { name: 'Page before' }).click();
    await page.getByRole('region', { name: 'Events in view' }).getByRole('button', { name: first }).first().click();
    await page.getByRole('region', { name: 'Chosen event' }).getByText('Recorded').first().waitFor();
    const search = page.getByRole('combobox', { name: 'Find events by name, text, id or place' });
    await search.fill('Rome');
    await page.getByText('Only places are searched here').waitFor();
    await page.getByRole('option').first().waitFor();
    expect(await page.getByText('Nothing happens').count()).toBe(0);
  });
});

/** Files of events: imported with a look before, taken back, and exported as they are filtered. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from './harness';
import { counted, on, param, region, timeline } from './timeline-page';

on.anewWhenRepeated();

const CSV = 'When,Title,wind\n1135900800,Katrina,150\n1127088000,"Rita, ""late""",155\nnever,Wilma,160\n';

async function more(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

describe('an import', () => {
  it('asks which column is what, tells what would come, is done, and is taken back', async () => {
    await timeline('files');
    const page = await on.loggedIn('timeline?timeline=files');
    await page.getByRole('button', { name: 'Import a file…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import into files' });
    await dialog
      .getByLabel('File', { exact: true })
      .last()
      .setInputFiles({ name: 'storms.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) });
    await dialog.getByText('Choose which column has the time of an event.').waitFor();
    await dialog.getByLabel('Time', { exact: true }).selectOption('When');
    await dialog.getByLabel('Name', { exact: true }).selectOption('Title');
    await dialog.getByLabel('The time is').selectOption('seconds since 1970');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByText(/^Line 4:/).waitFor();
    expect((await on.service.call('GET', 'v1/aggregate-events?timeline_id=files&by=source')).count).toBe(0);
    await dialog.getByRole('button', { name: 'Import 2 events' }).click();
    await counted(page, '2 events');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Undo this import' }).click();
    await dialog.getByText('2 events of this import cancelled.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(param(page, 'do')).toBeNull();
    expect((await on.service.call('GET', 'v1/aggregate-events?timeline_id=files&by=source')).count).toBe(0);
  });
});

describe('a number that stands for nothing', () => {
  it('is named, and imported as a value only if somebody says so', async () => {
    await timeline('unmeasured');
    const page = await on.loggedIn('timeline?timeline=unmeasured&do=import');
    const dialog = page.getByRole('dialog', { name: 'Import into unmeasured' });
    const rows = ['time,name,wind', '1971-07-08T12:00:00Z,One,-99', '1971-07-08T18:00:00Z,Two,25'];
    await dialog
      .getByLabel('File', { exact: true })
      .last()
      .setInputFiles({ name: 'winds.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) });
    const box = dialog.getByRole('checkbox', { name: '-99 in wind means that the value is not known (1 row)' });
    await box.waitFor();
    expect(await box.isChecked()).toBe(true);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByRole('button', { name: 'Import 2 events' }).click();
    await counted(page, '2 events');
    const winds = await on.service.call('GET', 'v1/aggregate-events?timeline_id=unmeasured&by=attribute.wind');
    expect(winds).toMatchObject({ without_count: 1, groups: [{ key: '25', count: 1 }] });
  });
});

describe('an export', () => {
  it('is what the filter lets through, in each format', async () => {
    const page = await on.loggedIn('timeline?timeline=demo&text=moon');
    await page.getByRole('button', { name: 'Remove this filter' }).or(page.getByText('“moon”')).first().waitFor();
    await more(page, 'Export…');
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByText('Only events with: “moon”.').waitFor();
    await expectAccessible(page);
    const saved = async (name: string | RegExp): Promise<[string, string]> => {
      const download = page.waitForEvent('download');
      await dialog.getByRole('link', { name }).or(dialog.getByRole('button', { name })).click();
      const file = await download;
      return [file.suggestedFilename(), readFileSync(await file.path()).toString('latin1')];
    };
    const [name, csv] = await saved(/^CSV/);
    expect(name).toBe('demo.csv');
    expect(csv).toMatch(/^event_id,time,/);
    expect(csv).toContain('moon-landing-1969');
    expect(csv.trim().split('\r\n').length).toBeLessThan(60);
    expect((await saved(/^GeoJSON/))[1]).toContain('"FeatureCollection"');
    expect((await saved(/^iCalendar/))[1]).toContain('BEGIN:VEVENT');
    expect((await saved(/^NDJSON/))[1]).toContain('moon-landing-1969');
    // Of the last days by the clock only.
    await dialog.getByLabel('How long before now').selectOption('Last 24 hours');
    expect(await dialog.getByRole('radio', { name: /^Before now/ }).isChecked()).toBe(true);
    expect((await saved(/^CSV/))[1].trim().split('\r\n')).toHaveLength(1);
    const [svgName, svg] = await saved(/^SVG/);
    expect(svgName).toBe('demo.svg');
    expect(svg).toMatch(/^<svg .*<\/svg>$/s);
    expect((await saved(/^PNG/))[1].slice(1, 4)).toBe('PNG');
  });

  it('has the values under the axis in a picture, of events and of what is counted', async () => {
    const blow = (index: number): Record<string, unknown> => ({
      event_id: `blow-${index}`,
      time: `2005-08-${String(10 + index)}T00:00:00Z`,
      description: '',
      attributes: { wind: 20 + index * 10 },
    });
    await timeline('winds', ...[0, 1, 2, 3, 4].map(blow));
    const page = await on.loggedIn('clock?timeline=winds');
    for (const [most, told] of [
      ['', /wind: 20 to 60, 40 on average; 5 values</],
      ['&most=1', /wind: 20 to 60, 40 on average; 5 values · in stretches of /],
    ] as const) {
      await page.goto(`${on.service.url}/#/timeline?timeline=winds&value=wind${most}`);
      await page.reload();
      await region(page, 'Values of wind').getByText('20 to 60, 40 on average').waitFor();
      await more(page, 'Export…');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('dialog', { name: 'Export' }).getByRole('button', { name: /^SVG/ }).click(),
      ]);
      expect(readFileSync(await file.path(), 'utf8')).toMatch(told);
    }
  });
});

/** Event files: import with preview, undo of an import, and export of filtered events. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from './harness';
import { counted, on, param, region, timeline } from './timeline-page';

const CSV = 'When,Title,wind\n1135900800,Katrina,150\n1127088000,"Rita, ""late""",155\nnever,Wilma,160\n';

async function more(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

describe('an import', () => {
  it('maps columns, previews the result, is recorded, and is undone', async () => {
    await timeline('files');
    const page = await on.loggedIn('timeline?timeline=files');
    await page.getByRole('button', { name: 'Import a file…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import into files' });
    await dialog
      .getByLabel('File', { exact: true })
      .last()
      .setInputFiles({ name: 'storms.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) });
    await dialog.getByText('Choose the column with the event time.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Check the file' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Time', { exact: true }).selectOption('When');
    await dialog.getByLabel('Name', { exact: true }).selectOption('Title');
    await dialog.getByLabel('Time format').selectOption('seconds since 1970');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByText(/^Line 4:/).waitFor();
    expect((await on.service.call('GET', 'v1/aggregate-events?timeline_id=files&group_by=source')).count).toBe(0);
    await dialog.getByRole('button', { name: 'Import 2 events' }).click();
    await counted(page, '2 events');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Undo this import' }).click();
    await dialog.getByText('2 events of this import canceled.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(param(page, 'do')).toBeNull();
    expect((await on.service.call('GET', 'v1/aggregate-events?timeline_id=files&group_by=source')).count).toBe(0);
  });
});

/** Opens the import dialog of a timeline and selects a file. */
async function importing(name: string, file: string, contents: Buffer | string): Promise<[Page, Locator]> {
  await timeline(name);
  const page = await on.loggedIn(`timeline?timeline=${name}&do=import`);
  const dialog = page.getByRole('dialog', { name: `Import into ${name}` });
  await dialog
    .getByLabel('File', { exact: true })
    .last()
    .setInputFiles({ name: file, mimeType: 'application/octet-stream', buffer: Buffer.from(contents) });
  return [page, dialog];
}

describe('an imported file', () => {
  it('may be compressed, and needs no check', async () => {
    const [page, dialog] = await importing('packed', 'storms.csv.gz', gzipSync('time,Title\n2005-08-29,Katrina\n'));
    // The browser parses the file.
    await dialog.getByLabel('Name', { exact: true }).selectOption('Title');
    await dialog.getByRole('button', { name: 'Import unchecked' }).click();
    await dialog.getByText(/^1 event is new/).waitFor();
    await counted(page, '1 event');
    // The import is undone later by its id.
    const id = await dialog.getByText(/^\d+-\d+-1$/).innerText();
    await dialog.getByText(`timenav import --undo ${id} --timeline packed`).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await more(page, 'Import a file…');
    await dialog.getByText('Undo an earlier import').click();
    await dialog.getByLabel('Import id').fill(id);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Undo it' }).click();
    await dialog.getByText('1 event of this import canceled.').waitFor();
  });

  it('is rejected at once if it is not text', async () => {
    const [page, dialog] = await importing('zipped', 'flights.csv.zip', Buffer.from('PK\u0003\u0004\u0014'));
    await dialog.getByRole('alert').getByText('It is a ZIP archive').waitFor();
    expect(await dialog.getByRole('button', { name: 'Check the file' }).isDisabled()).toBe(true);
    expect(await dialog.getByLabel('Format').count()).toBe(0);
    await expectAccessible(page);
  });

  it('is recognized as traces by its contents, whatever its name', async () => {
    const trace = '{"data":[{"traceID":"1","spans":[],"processes":{}}]}';
    const [, dialog] = await importing('traced', 'trace.json', trace);
    await expect.poll(() => dialog.getByLabel('Format').inputValue()).toBe('jaeger');
  });

  it('has a suggested time format if the first rows determine it', async () => {
    const [page, dialog] = await importing('proposed', 'log.csv', 'id,committer_time\na,1614136748\nb,1614136749\n');
    await expect.poll(() => dialog.getByLabel('Time format').inputValue()).toBe('|unix');
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByRole('button', { name: 'Import 2 events' }).click();
    await counted(page, '2 events');
  });

  it('may have lines that a pattern splits into columns', async () => {
    const [page, dialog] = await importing('logged', 'web.csv', '2005-08-29T06:00:00Z started\n');
    const pattern = '{"pattern":"^(?<time>\\\\S+) (?<name>.*)$"}';
    await dialog.getByRole('checkbox', { name: /^Enter the mapping as text/ }).check();
    await dialog.getByLabel('Mapping (optional)').fill(pattern);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByRole('button', { name: 'Import 1 event' }).click();
    await counted(page, '1 event');
    expect(await on.service.call('GET', 'v1/aggregate-events?timeline_id=logged&group_by=source')).toMatchObject({
      count: 1,
    });
  });

  it('reports what was only partially imported', async () => {
    const lines = ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:a', 'DTSTART:20050829T060000Z', 'SUMMARY:Weekly'];
    const calendar = [...lines, 'RRULE:FREQ=WEEKLY', 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
    const [, dialog] = await importing('weekly', 'weekly.ics', calendar);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByRole('list', { name: 'Partially imported records' }).getByRole('listitem').waitFor();
  });

  it('is checked by its beginning if it is long', async () => {
    const row = `2005-08-29T06:00:00Z,${'x'.repeat(200)}\n`;
    const [, dialog] = await importing('long', 'long.csv', `time,name\n${row.repeat(40_000)}`);
    await dialog.getByRole('checkbox', { name: 'Check only the first 4.0 MB' }).check();
    await dialog.getByRole('button', { name: 'Check the beginning' }).click();
    await dialog.getByText(/^Of the first 4/).waitFor();
    await dialog.getByRole('button', { name: 'Import the whole file' }).waitFor();
  });

  it('reports what was recorded when stopped, and undoes it', async () => {
    const record = (index: number): string =>
      JSON.stringify({ event_id: `e-${index}`, time: '2005-08-29T06:00:00Z', description: 'x'.repeat(80) });
    const records = Array.from({ length: 60_000 }, (_, index) => record(index)).join('\n');
    const [page, dialog] = await importing('stopped', 'many.ndjson', records);
    await dialog.getByRole('button', { name: 'Import unchecked' }).click();
    const events = async (): Promise<number> =>
      (await on.service.call<{ events: number }>('GET', 'timeline/stopped')).events;
    await expect.poll(events, { interval: 20 }).toBeGreaterThan(0);
    await dialog.getByRole('button', { name: 'Stop' }).click();
    const summary = await dialog.getByText(/^Stopped\.\s+[\d,]+ events had been recorded/).innerText();
    const count = await events();
    expect(summary).toContain(`${count.toLocaleString('en')} events had been recorded`);
    expect(count).toBeLessThan(60_000);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Undo this import' }).click();
    // Tens of thousands of events, so a busy machine needs time.
    const undone = `${count.toLocaleString('en')} events of this import canceled.`;
    await dialog.getByText(undone).waitFor({ timeout: 150_000 });
    expect(await events()).toBe(0);
  });
});

describe('a placeholder number', () => {
  it('is detected, and imported as a value only on request', async () => {
    await timeline('unmeasured');
    const page = await on.loggedIn('timeline?timeline=unmeasured&do=import');
    const dialog = page.getByRole('dialog', { name: 'Import into unmeasured' });
    const rows = ['time,name,wind', '1971-07-08T12:00:00Z,One,-99', '1971-07-08T18:00:00Z,Two,25'];
    await dialog
      .getByLabel('File', { exact: true })
      .last()
      .setInputFiles({ name: 'winds.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) });
    const box = dialog.getByRole('checkbox', { name: '-99 in wind means an unknown value (1 row)' });
    await box.waitFor();
    expect(await box.isChecked()).toBe(true);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByRole('button', { name: 'Import 2 events' }).click();
    await counted(page, '2 events');
    const winds = await on.service.call('GET', 'v1/aggregate-events?timeline_id=unmeasured&group_by=attribute.wind');
    expect(winds).toMatchObject({ ungrouped_count: 1, groups: [{ key: '25', count: 1 }] });
  });
});

describe('an export', () => {
  it('contains the filtered events, in each format', async () => {
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
    // Only the last days, relative to the clock.
    await dialog.getByLabel('How long before now').selectOption('Last 24 hours');
    expect(await dialog.getByRole('radio', { name: /^Before now/ }).isChecked()).toBe(true);
    expect((await saved(/^CSV/))[1].trim().split('\r\n')).toHaveLength(1);
    // The URL contains a range relative to the clock.
    expect(page.url()).toContain('export=24h');
    await page.reload();
    expect(await dialog.getByRole('radio', { name: /^Before now/ }).isChecked()).toBe(true);
    expect(await dialog.getByLabel('How long before now').inputValue()).toBe('24h');
    const [svgName, svg] = await saved(/^SVG/);
    expect(svgName).toBe('demo.svg');
    expect(svg).toMatch(/^<svg .*<\/svg>$/s);
    expect((await saved(/^PNG/))[1].slice(1, 4)).toBe('PNG');
  });

  it('of an image includes the values below the axis, for events and counts', async () => {
    const blow = (index: number): Record<string, unknown> => ({
      event_id: `blow-${index}`,
      time: `2005-08-${String(10 + index)}T00:00:00Z`,
      description: '',
      attributes: { wind: 20 + index * 10 },
    });
    await timeline('winds', ...[0, 1, 2, 3, 4].map(blow));
    const page = await on.loggedIn('clock?timeline=winds');
    for (const [most, content] of [
      ['', /wind: 20 to 60, 40 on average; 5 values</],
      ['&most=1', /wind: 20 to 60, 40 on average; 5 values · in intervals of /],
    ] as const) {
      await page.goto(`${on.service.url}/#/timeline?timeline=winds&value=wind${most}`);
      await page.reload();
      await region(page, 'Values of wind').getByText('20 to 60, 40 on average').waitFor();
      await more(page, 'Export…');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('dialog', { name: 'Export' }).getByRole('button', { name: /^SVG/ }).click(),
      ]);
      expect(readFileSync(await file.path(), 'utf8')).toMatch(content);
    }
    const dialog = page.getByRole('dialog', { name: 'Export' });
    const columns = dialog.getByRole('checkbox', { name: 'In CSV, a column for each attribute: wind' });
    for (const [isChecked, header, row] of [
      [true, /,sequence,wind$/, /,60$/],
      [false, /,sequence$/, /,$/],
    ] as const) {
      await columns.setChecked(isChecked);
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('link', { name: /^CSV/ }).click(),
      ]);
      const lines = readFileSync(await file.path(), 'utf8').split('\r\n');
      expect(lines[0]).toMatch(header);
      expect(lines[5]).toMatch(row);
    }
  });
});

const monthly = (count: number): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, index) => ({
    event_id: `e-${index}`,
    time: new Date(Date.UTC(2001, index)).toISOString(),
    description: '',
    geo: { lat: 10, lon: 20 },
  }));

describe('the axis after an import', () => {
  it('counts all events, even if parts are read again meanwhile', async () => {
    await timeline('raced', ...monthly(130));
    // A view of 2001 in a timeline with more events than are drawn individually.
    const view = 'center=2001-07-01T00:00:00Z&zoom=30000';
    const page = await on.loggedIn(`timeline?timeline=raced&most=60&${view}`);
    await region(page, 'Axis')
      .getByText(/ in view, 130 events$/)
      .waitFor();
    await on.service.call('POST', 'v1/events?timeline_id=raced', { ...monthly(120).at(-1), event_id: 'late' });
    await page.getByRole('button', { name: '1 change out of sight' }).waitFor();
    // The count of all time returns first, while the count of the changed part is still pending.
    let [releaseWhole, markPartRequested] = [(): void => {}, (): void => {}];
    const whole = new Promise<void>((release) => (releaseWhole = release));
    const part = new Promise<void>((markRequested) => (markPartRequested = markRequested));
    let count = 0;
    await page.route(/aggregate-events.*group_by=time/, async (route) => {
      count += 1;
      if (count === 1) {
        await Promise.race([part, new Promise((done) => setTimeout(done, 4_000))]);
        await route.continue();
        setTimeout(releaseWhole, 500);
      } else if (count === 2) {
        markPartRequested();
        await whole;
        await route.continue();
      } else await route.continue();
    });
    await page.evaluate(() => (location.hash += '&box=-180,-90,180,90'));
    await expect.poll(() => count, { timeout: 10_000 }).toBeGreaterThan(1);
    await whole;
    await region(page, 'Axis')
      .getByText(/ in view, 131 events in the box$/)
      .waitFor({ timeout: 10_000 });
    await page.waitForTimeout(1_000);
    await region(page, 'Axis')
      .getByText(/ in view, 131 events in the box$/)
      .waitFor({ timeout: 10_000 });
    await page.getByRole('button', { name: 'Fit', exact: true }).click();
    await counted(page, '131 events in the box');
  });

  it('shows all events, and reports no visible change as out of view', async () => {
    await timeline('seen', ...monthly(12));
    const page = await on.loggedIn('timeline?timeline=seen&center=2001-07-01T00:00:00Z&zoom=30000');
    await counted(page, '12 events');
    const unseen = page.getByRole('button', { name: /out of sight$/ });
    await on.service.call('POST', 'v1/events?timeline_id=seen', { event_id: 'old', time: '1851-06-25T00:00:00Z' });
    await unseen.waitFor();
    await page.getByRole('button', { name: 'Fit', exact: true }).click();
    await counted(page, '13 events');
    await expect.poll(() => unseen.count(), { timeout: 5_000 }).toBe(0);
    await page.goto(`${on.service.url}/#/timeline?timeline=seen&center=2001-07-01T00:00:00Z&zoom=30000&do=import`);
    const dialog = page.getByRole('dialog', { name: 'Import into seen' });
    await dialog
      .getByLabel('File', { exact: true })
      .last()
      .setInputFiles({
        name: 'storms.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('time,name\n1851-06-26,First\n2030-01-01,Last\n'),
      });
    await dialog.getByRole('button', { name: 'Import unchecked' }).click();
    await dialog.getByText(/^2 events are new/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    // The axis shows all events, ignoring the view parameters of the URL.
    await counted(page, '15 events');
    await expect.poll(() => unseen.count(), { timeout: 5_000 }).toBe(0);
  });
});

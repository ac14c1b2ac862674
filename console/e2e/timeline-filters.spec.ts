/** Filters, colors and lanes of the timeline. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, fresh, expectUsable } from './harness';
import { axis, chooseKey, counted, on, param, region, timeline } from './timeline-page';

const STATUS = ['HU', 'HU', 'HU', 'TS', 'TS', 'EX'];

beforeAll(async () => {
  await timeline(
    'storms',
    ...STATUS.map((status, index) => ({
      event_id: `fix-${index}`,
      time: `2005-08-2${index}T00:00:00Z`,
      name: index < 4 ? `Katrina ${index}` : `Rita ${index}`,
      description: 'A fix.',
      actors: [index < 4 ? 'AL12' : 'AL18'],
      attributes: { status, wind: 50 + index, sea: { height: index * 1.5 } },
      geo: { lat: 24 + index, lon: -80 - index },
    })),
  );
});

const legend = (page: Page): Promise<string[]> =>
  page
    .getByRole('list', { name: /^Colors by/ })
    .getByRole('listitem')
    .allInnerTexts()
    .then((texts) => texts.map((text) => text.replace(/\s+/g, ' ')));

// Both with individual events and with counts from the service, the result is the same.
for (const [name, most] of [
  ['few events', ''],
  ['more events than are shown one by one', '&most=1'],
] as const) {
  describe(`with ${name}, a filter`, () => {
    it('is not needed for color classes of numbers, however deeply nested', async () => {
      const page = await on.loggedIn(`timeline?timeline=storms${most}`);
      await counted(page, '6 events');
      await chooseKey(page, 'Color by', 'sea.height');
      await expect
        .poll(() => legend(page))
        .toEqual([
          '0 to <1 1',
          '1 to <2 1',
          '2 to <3 0',
          '3 to <4 1',
          '4 to <5 1',
          '5 to <6 0',
          '6 to <7 1',
          '7 to <8 1',
          'Each number',
          'Add a unit',
        ]);
      const hue = (number: number): Promise<string> =>
        page.evaluate((name) => document.documentElement.style.getPropertyValue(name), `--hue-${number}`);
      expect([await hue(1), await hue(8)]).toEqual(['var(--ramp-1)', 'var(--ramp-8)']);
      await page.getByRole('button', { name: '1 to <2 1' }).click();
      await counted(page, '1 event');
      expect(param(page, 'attribute.sea.height')).toBe('1.5');
      await page.goBack();
      await page.getByRole('button', { name: 'Each number' }).click();
      await expect.poll(() => legend(page).then((texts) => texts.slice(-2))).toEqual(['Classes', 'Add a unit']);
      expect([param(page, 'each'), await hue(1)]).toEqual(['1', '']);
    });

    it('is selected in a dialog, kept in the URL, and removed by its chip', async () => {
      const page = await on.loggedIn(`timeline?timeline=storms${most}`);
      await counted(page, '6 events');
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Show only events with' });
      await dialog.getByLabel('An attribute').check();
      await dialog.getByLabel('Attribute', { exact: true }).fill('status');
      await dialog.getByRole('list', { name: 'Values in view' }).getByRole('button', { name: /^HU/ }).waitFor();
      await expectAccessible(page);
      await dialog.getByLabel('Value', { exact: true }).fill('TS');
      await dialog.getByRole('button', { name: 'Show only these' }).click();
      await counted(page, '2 events');
      expect(param(page, 'attribute.status')).toBe('TS');
      await page.getByRole('application', { name: /^World map with 2 events/ }).waitFor();

      await page.getByRole('button', { name: 'List', exact: true }).click();
      await page.getByRole('button', { name: 'Rita 4' }).waitFor();
      await expect.poll(() => page.getByRole('row').count()).toBe(3);
      const search = page.getByRole('combobox', { name: /^Find events/ });
      await search.fill('katrina');
      await page.getByRole('option', { name: /Katrina 3/ }).waitFor();
      await expect.poll(() => page.getByRole('listbox').getByRole('option').count()).toBe(1);

      await page.reload();
      await counted(page, '2 events');
      await page.getByRole('button', { name: /status = TS/ }).click();
      await counted(page, '6 events');
      expect(param(page, 'attribute.status')).toBeNull();
      await page.goBack();
      await counted(page, '2 events');
    });

    it('accepts a range of numbers, and reports invalid ones', async () => {
      const page = await on.loggedIn(`timeline?timeline=storms${most}`);
      await counted(page, '6 events');
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Show only events with' });
      await dialog.getByLabel('An attribute').check();
      await dialog.getByLabel('Attribute', { exact: true }).fill('wind');
      const show = dialog.getByRole('button', { name: 'Show only these' });
      expect(await dialog.getByLabel('At most').getAttribute('placeholder')).toMatch(/^\d+$/);
      // A shadow shows that the list scrolls: two fixed backgrounds, and two that scroll with the content.
      const list = dialog.getByRole('list', { name: 'Values in view' });
      expect(await list.evaluate((element) => getComputedStyle(element).backgroundAttachment)).toBe(
        'local, local, scroll, scroll',
      );
      // A value and a range are exclusive. The one typed last applies.
      await dialog.getByLabel('Value', { exact: true }).fill('50');
      await dialog.getByLabel('At least').fill('52');
      expect(await dialog.getByLabel('Value', { exact: true }).inputValue()).toBe('');
      await dialog.getByLabel('Value', { exact: true }).fill('50');
      expect(await dialog.getByLabel('At least').inputValue()).toBe('');
      await dialog.getByLabel('At least').fill('53');
      await dialog.getByLabel('At most').fill('5x');
      await dialog.getByText('Enter numbers, such as 140 or -2.5.').waitFor();
      expect(await show.isDisabled()).toBe(true);
      await dialog.getByLabel('At most').fill('52');
      await dialog.getByText('The upper bound must not be below the lower bound.').waitFor();
      await expectAccessible(page);
      await dialog.getByLabel('At most').fill('');
      await show.click();
      await counted(page, '3 events');
      expect(param(page, 'attribute.wind')).toBe('53/..');
      await page.getByRole('button', { name: /wind ≥ 53/ }).click();
      await counted(page, '6 events');
    });

    it('without matches shows a message, and can be cleared', async () => {
      const page = await on.loggedIn(`timeline?timeline=storms&actor=nobody${most}`);
      await page.getByRole('heading', { name: 'No events match the filter' }).waitFor();
      await page.getByRole('button', { name: 'Show all events' }).click();
      await counted(page, '6 events');
    });

    it('is set from the color legend, which has counts', async () => {
      const page = await on.loggedIn(`timeline?timeline=storms${most}`);
      await counted(page, '6 events');
      await chooseKey(page, 'Color by', 'status');
      await expect.poll(() => legend(page)).toEqual(['HU 3', 'TS 2', 'EX 1']);
      await page.getByRole('button', { name: 'Lanes', exact: true }).click();
      expect([param(page, 'by'), param(page, 'lanes')]).toEqual(['attribute.status', '1']);
      await expectUsable(page);
      await page.getByRole('button', { name: /^HU/ }).click();
      await counted(page, '3 events');
      await expect.poll(() => legend(page)).toEqual(['HU 3']);
      await page.getByRole('button', { name: /^HU/ }).click();
      await counted(page, '6 events');
    });
  });
}

describe('selectable attributes', () => {
  it('are those of all events in view, or are typed', async () => {
    const name = fresh('many-kinds');
    const kindOf = (index: number): string => (index === 75 ? 'rare' : index < 75 ? 'early' : 'late');
    const events = Array.from({ length: 150 }, (_, index) => ({
      event_id: `e-${index}`,
      time: new Date(Date.UTC(2001, 0, 1 + index)).toISOString(),
      description: 'It happens.',
      attributes: { [kindOf(index)]: String(index % 3), number: index },
    }));
    await on.service.timeline(name);
    await on.service.call('POST', `v1/events?timeline_id=${name}`, events);
    const page = await on.loggedIn(`timeline?timeline=${name}&most=20`);
    await counted(page, '150 events');
    const by = page.getByRole('combobox', { name: 'Color by' });
    const options = page.getByRole('listbox', { name: 'Color by: choices' }).getByRole('option');
    await by.focus();
    await expect.poll(() => options.allInnerTexts()).toEqual(['nothing', 'number', 'early', 'late']);
    // A value of only one event in the middle is typed.
    await page.keyboard.type('rare');
    await page.getByText('Press Enter to use “rare”.').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => legend(page)).toEqual(['0 1', 'others 149']);
    expect(param(page, 'by')).toBe('attribute.rare');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Enter');
    await expect.poll(() => param(page, 'by')).toBeNull();
    expect(await by.inputValue()).toBe('nothing');
    // Another view has other values.
    await axis(page).focus();
    await page.goto(
      `${on.service.url}/#/timeline?timeline=${name}&most=20&center=2001-01-25T00:00:00Z&zoom=2000000000`,
    );
    await expect
      .poll(async () => {
        await axis(page).focus();
        await by.focus();
        return options.allInnerTexts();
      })
      .toEqual(['nothing', 'early', 'number']);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('radio', { name: 'An attribute' }).check();
    await page.getByRole('combobox', { name: 'Attribute' }).fill('ear');
    await page.getByRole('option', { name: 'early' }).click();
    await page.getByRole('list', { name: 'Values in view' }).getByRole('button').first().click();
    await page.getByRole('button', { name: /^early = \d/ }).waitFor();
  });
});

describe('the legend', () => {
  it('counts the events in view, and keeps the colors of those that stay', async () => {
    // With individual events, and with counts from the service.
    for (const most of ['', '&most=1']) {
      const view = 'by=actor&center=2005-08-23T12:00:00Z&zoom=300000000';
      const page = await on.loggedIn(`timeline?timeline=storms&${view}${most}`);
      await expect.poll(() => legend(page)).toEqual(['AL12 2', 'AL18 2']);
      const color = (name: string): Promise<string> =>
        page
          .getByRole('button', { name: new RegExp(`^${name}`) })
          .locator('.swatch')
          .evaluate((swatch) => getComputedStyle(swatch).backgroundColor);
      const before = await color('AL18');
      await page.getByRole('button', { name: 'Fit', exact: true }).click();
      await expect.poll(() => legend(page)).toEqual(['AL12 4', 'AL18 2']);
      expect(await color('AL18')).toBe(before);
    }
  });
});

describe('an event recorded meanwhile', () => {
  it('is counted only if it matches the filter', async () => {
    const page = await on.loggedIn('timeline?timeline=storms&actor=AL18&by=attribute.status');
    await counted(page, '2 events');
    const late = (event_id: string, actor: string): Promise<unknown> =>
      on.service.call('POST', 'v1/events?timeline_id=storms', {
        event_id,
        time: '2005-09-22T00:00:00Z',
        description: 'Later.',
        actors: [actor],
        attributes: { status: 'HU' },
      });
    await late('other', 'AL99');
    await late('own', 'AL18');
    await counted(page, '3 events');
    // An event that does not match the filter is not a change of the view.
    await region(page, 'Axis').getByRole('button', { name: '1 change out of sight', exact: true }).waitFor();
    // The legend counts events in view.
    expect(await legend(page)).toEqual(['EX 1', 'TS 1']);
    await page.getByRole('button', { name: 'Fit', exact: true }).click();
    await expect.poll(() => legend(page)).toContain('HU 1');
    await axis(page).waitFor();
  });

  it('is reported for the current filter, without those of the previous one', async () => {
    const name = fresh('others');
    const fix = (event_id: string, day: number, actor: string): Record<string, unknown> => ({
      event_id,
      time: `2005-08-2${day}T00:00:00Z`,
      description: 'A fix.',
      actors: [actor],
    });
    await timeline(name, fix('a', 0, 'AL12'), fix('b', 1, 'AL12'), fix('c', 2, 'AL18'));
    const page = await on.loggedIn(`timeline?timeline=${name}&actor=AL12`);
    await counted(page, '2 events');
    const late = (event_id: string, year: number, actor: string): Promise<unknown> =>
      on.service.call('POST', `v1/events?timeline_id=${name}`, {
        event_id,
        time: `${year}-09-22T00:00:00Z`,
        description: 'Later still.',
        actors: [actor],
      });
    await late('first', 2006, 'AL12');
    const outOfSight = region(page, 'Axis').getByRole('button', { name: /out of sight$/ });
    await outOfSight.waitFor();
    await page.getByRole('button', { name: /actor: AL12/ }).click();
    await counted(page, '4 events');
    expect(await outOfSight.count()).toBe(0);
    await late('second', 2010, 'AL99');
    await expect.poll(() => outOfSight.allInnerTexts()).toEqual(['1 change out of sight']);
  });
});

/** Touch input, forced colors, and deceptive names. */
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from './harness';

const on = shared();

beforeAll(async () => {
  await on.service.timeline('hidden', {
    event_id: 'odd',
    time: '2020-01-01T00:00:00Z',
    name: 'user \u202Egnp.exe',
    description: 'a name that is turned round',
    actors: ['bob\u202Eyrram'],
  });
});

describe('touch', () => {
  it('scrolls past axis, overview and map, and pinches', async () => {
    const page = await on.loggedIn('timeline?timeline=demo', {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await page
      .getByText(/^\d+ events$/)
      .first()
      .waitFor();
    const touch = await page.context().newCDPSession(page);
    for (const name of ['Axis', 'Map']) {
      const region = page.getByRole('region', { name, exact: true });
      await region.scrollIntoViewIfNeeded();
      const canvas = (await region.locator('canvas').first().boundingBox())!;
      const before = await page.evaluate(() => scrollY);
      const x = canvas.x + canvas.width / 2;
      const y = canvas.y + canvas.height / 2;
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
      for (let step = 1; step <= 12; step += 1)
        await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y: y - step * 12 }] });
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await expect.poll(() => page.evaluate(() => scrollY), { message: name }).not.toBe(before);
    }
    // Hints for mouse and keyboard are hidden.
    expect(await page.getByText('wheel', { exact: true }).isVisible()).toBe(false);
    await page.getByText('pinch to zoom').waitFor();
  });

  it('selects how a timeline starts, on a narrow page', async () => {
    const page = await on.loggedIn('clock?timeline=demo', { viewport: { width: 390, height: 844 }, hasTouch: true });
    await page.getByRole('button', { name: 'Timeline: demo' }).click();
    await page.getByRole('button', { name: 'New timeline or fork' }).click();
    const radio = (await page.getByRole('radio', { name: /fork of demo/ }).boundingBox())!;
    const text = (await page.getByText('demo', { exact: true }).last().boundingBox())!;
    // The name is to the right of the radio button, in one column of text.
    expect(text.x).toBeGreaterThan(radio.x + radio.width);
    expect(text.height).toBeLessThan(30);
  });
});

describe('a narrow page', () => {
  it('has the sections of Access in one row, by group', async () => {
    const page = await on.loggedIn('access?timeline=demo', { viewport: { width: 390, height: 844 }, hasTouch: true });
    const part = page.getByRole('combobox', { name: 'Section of Access' });
    await expect.poll(() => part.inputValue()).toBe('permissions');
    expect(await page.getByRole('navigation', { name: 'Access' }).isVisible()).toBe(false);
    expect((await part.boundingBox())!.height).toBeLessThan(60);
    expect(await part.locator('optgroup').evaluateAll((all) => all.map((each) => each.getAttribute('label')))).toEqual([
      'demo',
      'Service',
      'You',
    ]);
    await part.selectOption('Sessions');
    await page.getByRole('region', { name: 'Sessions', exact: true }).waitFor();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/access.*tab=sessions/);
    await page.goBack();
    await expect.poll(() => part.inputValue()).toBe('permissions');
    await page.getByRole('heading', { name: 'Who may do what' }).waitFor();
  });

  it('lists past events next to a long time', async () => {
    await on.service.timeline(
      'figures',
      { time: '2020-09-15T02:02:38.123456Z', name: 'Sensor 12 at the mouth of the river is flooded again' },
      { time: '2021-01-01T00:00:00Z', precision: 'day', name: 'Sensor 12 at the mouth of the river is replaced' },
    );
    const page = await on.loggedIn('timeline?timeline=figures&view=list', { viewport: { width: 390, height: 844 } });
    const rows = page.getByRole('row', { name: /Sensor 12/ });
    await rows.last().waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    const boxes = await rows.evaluateAll((all) =>
      all.map((row) => {
        const name = row.querySelector('button')!.getBoundingClientRect();
        const edge = row.closest('[role=region]')!.getBoundingClientRect().right;
        return { seen: Math.min(name.right, edge) - name.left, height: row.getBoundingClientRect().height };
      }),
    );
    for (const { seen } of boxes) expect(seen).toBeGreaterThan(130);
    const list = page.getByRole('region', { name: 'Events on the axis' });
    expect(await list.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    // The last row has no border below it.
    expect(Math.abs(boxes[0]!.height - boxes[1]!.height)).toBeLessThan(1);
  });
});

describe('forced colors', () => {
  it('keep land and events on the map, the current month, and the current view visible', async () => {
    const page = await on.loggedIn('timeline?timeline=demo', { forcedColors: 'active' });
    await page
      .getByText(/^\d+ events$/)
      .first()
      .waitFor();
    const map = page.getByRole('region', { name: 'Map', exact: true }).locator('canvas').first();
    await expect
      .poll(() =>
        map.evaluate((canvas: HTMLCanvasElement) => {
          const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
          const colors = new Map<number, number>();
          for (let at = 0; at < data.length; at += 4) {
            if (data[at + 3]! < 128) continue;
            const color = (data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!;
            colors.set(color, (colors.get(color) ?? 0) + 1);
          }
          // Paper, coasts and events: colors that cover more than an edge. Land must be lighter than what is drawn on
          // it.
          const drawn = [...colors.values()].filter((count) => count > 150);
          const all = [...colors.values()].reduce((sum, count) => sum + count, 0);
          return drawn.length >= 3 && Math.max(...drawn) > all / 2;
        }),
      )
      .toBe(true);
    // With a mouse, hints for touch are hidden.
    expect(await page.getByText('pinch to zoom').isVisible()).toBe(false);
    const outline = (name: string) =>
      page.getByRole('link', { name, exact: true }).evaluate((link) => getComputedStyle(link).outlineStyle);
    expect([await outline('Timeline'), await outline('Access')]).toEqual(['solid', 'none']);
    await page.goto(`${on.service.url}/#/clock?timeline=demo`);
    await page.locator('.ribbon .here').waitFor();
    const marks = await page
      .locator('.ribbon')
      .evaluate((ribbon) => [
        getComputedStyle(ribbon.querySelector('.here')!).backgroundColor,
        getComputedStyle(ribbon.querySelector('span:not(.here)')!).backgroundColor,
      ]);
    expect(marks[0]).not.toBe(marks[1]);
  });
});

describe('names with hidden characters', () => {
  it('are shown with the characters visible', async () => {
    const page = await on.loggedIn('timeline?timeline=hidden&event=odd&view=list');
    await page.getByRole('region', { name: 'Selected event' }).getByText('user ⟨U+202E⟩gnp.exe').first().waitFor();
    await page.getByRole('button', { name: 'user ⟨U+202E⟩gnp.exe' }).first().waitFor();
    for (const view of ['timeline?timeline=hidden&event=odd', 'paradoxes?timeline=hidden&tab=lab&event=odd']) {
      await page.goto(`${on.service.url}/#/${view}`);
      await page.getByText('⟨U+202E⟩').first().waitFor();
      const content = await page.evaluate(() => document.body.innerText + document.body.innerHTML);
      expect(/[\u202a-\u202e]/.test(content)).toBe(false);
    }
  });
});

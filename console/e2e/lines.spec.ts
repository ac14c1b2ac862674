/** Text alignment: headings of adjacent cards share a line, with or without a button, and no example wraps. */
import { expect, it } from 'vitest';
import { shared } from './harness';

const on = shared();

/** Returns the vertical center of each card's first line relative to its top, for groups of adjacent cards. */
const headings = (): number[][] => {
  const byTop = new Map<number, number[]>();
  for (const panel of document.querySelectorAll('.panel')) {
    const { top, width } = panel.getBoundingClientRect();
    const first = panel.querySelector('h2, [role="status"]');
    if (width === 0 || first === null) continue;
    const words = document.createRange();
    words.selectNodeContents(first);
    const { top: from, height } = words.getBoundingClientRect();
    byTop.set(Math.round(top), [...(byTop.get(Math.round(top)) ?? []), from + height / 2 - top]);
  }
  return [...byTop.values()].filter((row) => row.length > 1);
};

it.each([
  ['paradoxes?timeline=demo', 'Effect before cause'],
  ['paradoxes?timeline=demo&tab=lab&event=sarajevo-assassination-1914&action=delay%202h', 'Apply…'],
  ['integrity?timeline=demo', 'What was done'],
  ['access?timeline=demo&tab=retention', 'How long contents are kept'],
])('%s aligns the headings of adjacent cards', async (view, words) => {
  const page = await on.loggedIn(view);
  await page.getByText(words).first().waitFor();
  const found = await page.evaluate(headings);
  expect(found.length).toBeGreaterThan(0);
  for (const row of found) expect(Math.max(...row) - Math.min(...row)).toBeLessThan(1.5);
});

it('an example of a moment does not wrap', async () => {
  const page = await on.loggedIn('clock?timeline=demo&do=travel');
  const example = page.getByText('2028-02-29T09:00[Asia/Tokyo]').last();
  await example.waitFor();
  const lines = await example.evaluate((element) => {
    const words = element.firstChild!;
    const at = words.textContent!.indexOf('2028');
    const range = document.createRange();
    range.setStart(words, at);
    range.setEnd(words, at + 28);
    return range.getClientRects().length;
  });
  expect(lines).toBe(1);
});

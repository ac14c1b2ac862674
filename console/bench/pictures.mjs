/**
 * Takes the screenshots of the README and the quick start. Needs a service just started with `--demo` on a new data
 * folder:
 *
 *   TIMENAV_API_KEY=… node bench/pictures.mjs http://127.0.0.1:8080 ../docs/images
 *
 * Needs the key of the first operator. Sets a password for that user, and creates a timeline `hurricanes`. CHROMIUM_BIN
 * names the browser.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SIZE, Site, launch } from './visit.mjs';

const [base, folder] = process.argv.slice(2);
const key = process.env.TIMENAV_API_KEY;
if (!base || !folder || !key) {
  console.error('usage: TIMENAV_API_KEY=… node bench/pictures.mjs URL FOLDER');
  process.exit(2);
}
const site = new Site(base, key);
const timeline_id = 'hurricanes';

/** The screenshots, each with a locator that is visible once the page is complete. */
const PICTURES = [
  {
    name: 'clock',
    at: 'clock?timeline=hurricanes&tz=place',
    colorScheme: 'dark',
    act: (page) =>
      page
        .getByText(/fires 1 timer/)
        .first()
        .waitFor(),
  },
  {
    name: 'timeline',
    at: 'timeline?timeline=demo&event=fall-of-constantinople-1453',
    colorScheme: 'light',
    act: (page) =>
      page
        .getByRole('article')
        .getByRole('heading', { name: /Constantinople/ })
        .waitFor(),
  },
  {
    name: 'paradoxes',
    at: 'paradoxes?timeline=demo&tab=lab&event=battle-of-actium-31-bce&action=cancel',
    colorScheme: 'light',
    act: (page) => page.getByText(/It creates (a paradox|\d+ paradoxes)/).waitFor(),
  },
];

const password = randomBytes(18).toString('base64url');
await site.call('POST', 'v1/set-password', { password });
await site.call('POST', 'timelines', { timeline_id });
await site.call('POST', `v1/events?timeline_id=${timeline_id}`, [
  { event_id: 'katrina-landfall', time: '2005-08-29T11:10:00Z', name: 'Katrina, landfall', description: '110 kt' },
  { event_id: 'katrina-second', time: '2005-08-29T14:45:00Z', name: 'Katrina, second landfall', description: '105 kt' },
]);
const destination = { destination_time: '2005-08-29T11:36:14Z', location: 'New Orleans' };
await site.call('POST', 'v1/travel', { timeline_id, ...destination });
// Its moments are after the current time of the clock.
await site.call('POST', 'v1/timers', {
  timeline_id,
  timer_id: 'advisory',
  cron: { expression: '0 */6 * * *', zone: 'UTC' },
  deliver: { to: 'queue', queue: 'reports' },
});

const browser = await launch();
try {
  let cookies = [];
  for (const { name, at, colorScheme, act } of PICTURES) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme });
    await context.addCookies(cookies);
    const page = await context.newPage();
    await page.goto(`${site.root}/#/${at}`);
    if (cookies.length === 0) {
      await page.getByLabel('User', { exact: true }).fill('admin');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('button', { name: 'admin', exact: true }).waitFor();
      cookies = await context.cookies();
    }
    await act(page);
    await page.waitForTimeout(2_000);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
}

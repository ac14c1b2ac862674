/** The explorer: operations, forms, requests as code, sending, responses, history, secrets, and missing rights. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, REFUSED, expectAccessible, logIn, shared, expectUsable } from './harness';

const on = shared();

beforeAll(() => on.service.timeline('lab', { event_id: 'one', time: '1969-07-20T20:17:40Z', description: 'One' }));

interface Operation {
  id: string;
  path: string;
  method: string;
}

async function operations(): Promise<Operation[]> {
  const document = await on.service.call<{ paths: Record<string, Record<string, { operationId?: string }>> }>(
    'GET',
    'openapi.json',
  );
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId ? [{ id: operationId, path, method }] : [],
    ),
  );
}

const at = (operation: string, fields: Record<string, string> = {}): string =>
  `explorer?${new URLSearchParams({ timeline: 'lab', op: operation, ...fields }).toString()}`;

/** Opens an operation with a loaded session: the explorer itself does not load it. */
async function opened(address: string, options: Parameters<typeof on.loggedIn>[1] = {}): Promise<Page> {
  const page = await on.loggedIn('access?timeline=lab&tab=sessions', options);
  await page.goto(`${on.service.url}/#/${address}`);
  return page;
}

const exactly = (text: string): RegExp => new RegExp(`^${text.replace(/[.{}]/g, '\\$&')}$`);
const answer = (page: Page) => page.getByRole('region', { name: 'Response' });
const code = (page: Page): Promise<string> =>
  page.getByRole('region', { name: 'The request as code' }).locator('pre').innerText();
const form = (page: Page) => page.getByRole('form', { name: 'Request' });

describe('every operation', () => {
  it('has a form with a valid example, and a request with its path', async () => {
    const page = await opened(at('travel'));
    await page.getByRole('navigation', { name: 'Operations' }).waitFor();
    for (const { id, path, method } of await operations()) {
      await page.goto(`${on.service.url}/#/${at(id)}`);
      // Paths share prefixes, and several operations share a path, so the title is checked too.
      const title = `${method === 'delete' ? 'DEL' : method.toUpperCase()}${path}`;
      await page
        .getByRole('heading', { level: 1 })
        .filter({ hasText: exactly(title) })
        .waitFor();
      await page.getByRole('button', { name: 'Example', exact: true }).click();
      const wrong = form(page).locator('[aria-invalid=true]');
      expect(await wrong.evaluateAll((found) => found.map((field) => field.id)), `${id}: the example is wrong`).toEqual(
        [],
      );
      const [fixed = ''] = path.slice(1).split('{');
      const text = await code(page);
      expect(text).toContain(fixed);
      expect(method === 'get' || text.includes(`--request ${method.toUpperCase()}`), text).toBe(true);
    }
  });

  it('is found by keyword, with the keyboard', async () => {
    const page = await opened(at('travel'));
    await page.getByRole('navigation', { name: 'Operations' }).waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('/');
    await page.keyboard.type('paradoxes of');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'paradox' }).waitFor();
    await page.getByLabel('Find an operation').fill('no such thing at all');
    await page.getByText('No operation matches').waitFor();
  });
});

describe('a form', () => {
  it('shows hints before sending and errors after', async () => {
    const page = await opened(at('travel', { timeline_id: 'lab' }), { expected: REFUSED });
    const time = page.getByLabel('destination_time', { exact: true });
    await time.fill('2028-02-29');
    await page.getByText('Add a time and a zone: 2028-02-29T00:00:00Z').waitFor();
    await time.fill('2028-02-29T08:30:00Z');
    await page.getByText('29 February 2028, 08:30 UTC').waitFor();
    await time.fill('2028-02-30T08:30:00Z');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('One field needs attention.').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('400 Bad Request').waitFor();
    await answer(page)
      .getByText(/^A parameter has an invalid value\. .*day/)
      .waitFor();
    await expect.poll(() => time.getAttribute('aria-invalid')).toBe('true');
  });

  it('switches to JSON and back without losing values', async () => {
    const page = await opened(at('travel', { timeline_id: 'lab', destination_time: '2028-02-29T08:30:00Z' }));
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = page.getByLabel('JSON to send');
    expect(JSON.parse(await json.inputValue())).toEqual({
      timeline_id: 'lab',
      destination_time: '2028-02-29T08:30:00Z',
    });
    await json.fill('{"timeline_id":"demo","destination_time":"1969-07-20T20:17:40Z","location":"Florida"}');
    await page.getByRole('button', { name: 'Show the form' }).click();
    expect(await page.getByLabel('location', { exact: true }).inputValue()).toBe('Florida');
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    await json.fill('{"timeline_id":');
    await expect.poll(() => json.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('button', { name: 'Show the form' }).isDisabled()).toBe(true);
  });

  it('is in the URL, without secrets', async () => {
    const page = await opened(at('encrypt_data'));
    await form(page).getByLabel('data', { exact: true }).fill('for nobody');
    await form(page).getByLabel('encryption_key', { exact: true }).fill('for-nobody-either-0123456789');
    await form(page).getByLabel('timeline_id', { exact: true }).fill('a-link');
    await expect.poll(() => page.url()).toContain('timeline_id=a-link');
    const stored = await page.evaluate(() =>
      JSON.stringify([location.href, Object.entries(localStorage), Object.entries(sessionStorage), history.state]),
    );
    expect(stored).not.toMatch(/for.nobody/);
    const other = await opened(new URL(page.url()).hash.slice(2));
    await expect.poll(() => form(other).getByLabel('timeline_id', { exact: true }).inputValue()).toBe('a-link');
  });
});

describe('the request', () => {
  it('is shown as curl, Python and Rust, without an API key', async () => {
    const page = await opened(
      at('travel', { timeline_id: 'lab', destination_time: '2028-02-29T08:30:00Z', location: "L'Aquila" }),
    );
    await page.getByLabel('location', { exact: true }).waitFor();
    const snippets: string[] = [];
    for (const language of ['curl', 'Python', 'Rust']) {
      await page.getByRole('tab', { name: language }).click();
      snippets.push(await code(page));
    }
    for (const text of snippets) {
      expect(text).toContain('v1/travel');
      expect(text).toContain('TIMENAV_KEY');
      expect(text).not.toContain('tnk_');
    }
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'curl', selected: true }).waitFor();
  });

  it('is a GET for reads, or a QUERY on request', async () => {
    const page = await opened(
      at('monitor_events', {
        timeline_id: 'lab',
        location: '*',
        time_range: '1960-01-01T00:00:00Z/1970-01-01T00:00:00Z',
      }),
    );
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('monitor-events')) sent.push(request.method());
    });
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('200 OK').waitFor();
    await page.getByLabel('Sent as').selectOption('query');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'History' }).getByText('QUERY', { exact: true }).waitFor();
    expect(sent).toEqual(['GET', 'QUERY']);
  });
});

describe('a response', () => {
  it('has status, headers and a collapsible body, and is restored from the history', async () => {
    const page = await opened(at('timeline', { timeline_id: 'lab' }));
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('200 OK').waitFor();
    await answer(page).getByText('"root"').waitFor();
    await answer(page)
      .getByText(/^\d+ headers$/)
      .click();
    await answer(page).getByText('x-request-id').waitFor();
    await answer(page).getByRole('button', { name: 'Fold all', exact: true }).click();
    await expect.poll(() => answer(page).getByText('"root"').count()).toBe(0);

    await page.goto(`${on.service.url}/#/${at('limits')}`);
    await page.getByRole('heading', { level: 1 }).filter({ hasText: '/v1/limits' }).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('200 OK').waitFor();
    await page.getByRole('region', { name: 'History' }).getByText('/timeline/lab').click();
    await page.getByRole('heading', { level: 1 }).filter({ hasText: '/timeline/{timeline_id}' }).waitFor();
    await answer(page).getByText('"root"').waitFor();
  });

  it('of a stream is shown as it arrives, until it is stopped', async () => {
    const page = await opened(at('clock_stream', { timeline_id: 'lab' }));
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('Listening: 1 message so far.').waitFor();
    await on.service.call('POST', 'v1/travel', { timeline_id: 'lab', destination_time: '1987-06-05T04:03:02Z' });
    await answer(page).getByText('Listening: 2 messages so far.').waitFor();
    await answer(page).getByText('1987-06-05T04:03:02').first().waitFor();
    await answer(page).getByRole('button', { name: 'Stop listening' }).click();
    await answer(page).getByText('You stopped it.').waitFor();
  });

  it('to an uploaded file shows the result of the import', async () => {
    const page = await opened(at('import_events', { timeline_id: 'lab', format: 'ndjson' }));
    const buffer = Buffer.from(
      '{"event_id":"sent-by-hand","time":"2001-02-03T04:05:06Z","description":"Sent as a file"}\n',
    );
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'events.ndjson', mimeType: 'application/x-ndjson', buffer });
    await form(page).getByText('events.ndjson').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page)
      .getByText(/1 event is new/)
      .first()
      .waitFor();
    await on.service.call('GET', 'v1/events/sent-by-hand?timeline_id=lab');
  });
});

describe('a user', () => {
  it('without a session fills in the form, logs in, and returns to it', async () => {
    const page = await on.page({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${on.service.url}/#/${at('clock', { timeline_id: 'main' })}`);
    const send = page.getByRole('button', { name: 'Log in to send' });
    const clear = page.getByRole('form', { name: 'Request' }).getByRole('button', { name: 'Clear' });
    expect((await clear.boundingBox())!.y).toBe((await send.boundingBox())!.y);
    await page.getByLabel('timeline_id', { exact: true }).fill('lab');
    await send.click();
    await page.getByRole('heading', { name: 'Log in to timenav' }).waitFor();
    await logIn(page, 'admin', PASSWORD);
    await page.getByRole('heading', { level: 1 }).filter({ hasText: '/v1/clock' }).waitFor();
    expect(await page.getByLabel('timeline_id', { exact: true }).inputValue()).toBe('lab');
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('200 OK').waitFor();
  });

  it('with read access is warned before the service rejects a change', async () => {
    await on.service.user('looker');
    await on.service.call('POST', 'v1/set-access-control', { timeline_id: 'lab', permissions: { read: ['looker'] } });
    const page = await opened(at('pause_time', { timeline_id: 'lab' }), { user: 'looker', expected: REFUSED });
    await page.getByText('This needs write on lab; you have read. The service will reject the request.').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('403 Forbidden').waitFor();
  });
});

describe('the page', () => {
  it('is accessible and fits every width', async () => {
    const page = await opened(at('monitor_events', { timeline_id: 'lab', location: '*', time_range: '../..' }));
    await page.getByRole('button', { name: 'Send' }).click();
    await answer(page).getByText('200 OK').waitFor();
    await expectUsable(page);
    await page.setViewportSize({ width: 320, height: 800 });
    await expectAccessible(page);
  });
});

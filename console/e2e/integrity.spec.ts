/** Integrity: saved and compared checkpoints, proofs verified in the browser, scans, and reported mismatches. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { REFUSED, UNREACHABLE, expectAccessible, expectNoSidewaysScroll, shared, expectUsable } from './harness';

const on = shared();

beforeAll(async () => {
  await on.service.call('POST', 'timelines', { timeline_id: 'sealed' });
  const event = (index: number) => ({ event_id: `e-${index}`, time: '1969-07-20T20:17:40Z', name: `Event ${index}` });
  for (let index = 0; index < 45; index += 1)
    await on.service.call('POST', 'v1/events?timeline_id=sealed', event(index));
});

/** Background writes stop at this position. */
const WRITTEN_MAX = 20_000;

interface Checkpoint {
  checkpoint: string;
  size: number;
  verifier_key: string;
}
interface Proof {
  leaf: string;
  checkpoint: string;
}

/** The checkpoint as JSON, as a user would save it. */
const checkpointOf = async (timeline: string): Promise<Checkpoint> => {
  const answer = await fetch(`${on.service.url}/timeline/${timeline}/checkpoint`, {
    headers: { Authorization: `Bearer ${on.service.adminKey}`, Accept: 'application/json' },
  });
  return (await answer.json()) as Checkpoint;
};

/** The key of a witness that has not cosigned. */
const WITNESS = 'witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs';

describe('the checkpoint', () => {
  it('is shown as text, verified in the browser, and saved', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const panel = page.getByRole('region', { name: 'Checkpoint' });
    await panel.getByText('It is signed by').waitFor();
    await panel.getByText('The signed note').click();
    const note = (await panel.locator('pre').textContent()) ?? '';
    expect(note).toMatch(/^\S+\/sealed\n\d+\n\S+\n\n— \S+\/sealed \S+\n$/);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      panel.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^sealed-\d+\.checkpoint$/);
    expect(readFileSync(await download.path(), 'utf8')).toBe(note);
  });

  it('that was saved is continued by the newest one', async () => {
    const saved = await checkpointOf('sealed');
    await on.service.call('POST', 'v1/set-anchor', { timeline_id: 'sealed', description: 'something that came after' });
    const page = await on.loggedIn('integrity?timeline=sealed');
    const panel = page.getByRole('region', { name: 'Compare with a saved checkpoint' });
    // Without its trailing newline, which is easily lost when copying.
    await panel.getByLabel('Saved note').fill(saved.checkpoint.trimEnd());
    await panel.getByText('History matches the saved checkpoint.').waitFor();
    await panel.getByText(`All ${saved.size.toLocaleString('en')} entries are unchanged`).waitFor();
    await panel.getByText('Saved verifier keys').click();
    await panel.getByLabel('Verifier key').fill(saved.verifier_key);
    await panel.getByText('History matches the saved checkpoint.').waitFor();
    await panel.getByLabel('Retired key').fill('nothing');
    await panel.getByText('The retired key is invalid').waitFor();
    await panel.getByLabel('Retired key').fill(saved.verifier_key);
    await panel.getByText('History matches the saved checkpoint.').waitFor();
    await panel.getByLabel('Witness keys').fill(saved.verifier_key);
    await panel.getByText('This is a ledger key.').waitFor();
    await panel.getByLabel('Witness keys').fill(WITNESS);
    await panel.getByText('It has not cosigned this: witnesses cosign the checkpoints of system').waitFor();
    await panel.getByText('This does not match.').waitFor();
  });

  it('that does not match is reported as evidence', async () => {
    const saved = await checkpointOf('sealed');
    const other = await checkpointOf('main');
    const page = await on.loggedIn('integrity?timeline=sealed');
    const panel = page.getByRole('region', { name: 'Compare with a saved checkpoint' });
    await panel.getByLabel('Saved note').fill(saved.checkpoint.replace(`\n${saved.size}\n`, `\n${saved.size - 1}\n`));
    await panel.getByText('the signature is invalid').waitFor();
    await panel.getByLabel('Saved note').fill(other.checkpoint);
    await panel.getByText('It is a checkpoint of a different ledger').waitFor();
    await panel.getByLabel('Saved note').fill('no note');
    await panel.getByText('The empty line before the signatures is missing.').waitFor();
  });

  it('reveals a ledger that was rolled back', async () => {
    const early = await checkpointOf('sealed');
    await on.service.call('POST', 'v1/set-anchor', { timeline_id: 'sealed', description: 'to be lost' });
    const late = await checkpointOf('sealed');
    const page = await on.loggedIn('integrity?timeline=sealed');
    // The response of a service that was restored from an older backup.
    await page.route('**/timeline/sealed/checkpoint*', (route) => route.fulfill({ json: early }));
    const panel = page.getByRole('region', { name: 'Compare with a saved checkpoint' });
    await panel.getByLabel('Saved note').fill(late.checkpoint);
    await panel.getByText('it was rolled back').waitFor();
  });
});

describe('the head', () => {
  const headOf = async (timeline: string): Promise<Record<string, string>> => {
    const answer = await fetch(`${on.service.url}/timeline/${timeline}/head`, {
      headers: { Authorization: `Bearer ${on.service.adminKey}`, Accept: 'application/json' },
    });
    return (await answer.json()) as Record<string, string>;
  };

  it('is verified against the checkpoint, whichever is newer', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const panel = page.getByRole('region', { name: 'Head' });
    await panel.getByText('It is signed by').waitFor();
    await panel.getByText('The same history, passed').waitFor();
    await panel.getByText('The signed statement').click();
    const lines = ((await panel.locator('pre').textContent()) ?? '').split('\n');
    expect(lines.slice(0, 2)).toEqual(['timenav-head/v1', expect.stringMatching(/\/sealed$/)]);
    // The root and the state hash.
    for (const hash of lines.slice(3, 5)) await panel.getByText(Buffer.from(hash, 'base64').toString('hex')).waitFor();
    await expectAccessible(page);
    // A statement signed before further writes.
    const state = await headOf('sealed');
    await page.route('**/timeline/sealed/head', (route) => route.fulfill({ json: state }));
    await on.service.call('POST', 'v1/set-anchor', { timeline_id: 'sealed', description: 'after the head' });
    await page.getByRole('button', { name: 'Load the latest' }).click();
    await panel.getByText(/^The checkpoint continues it by/).waitFor();
  });

  it('is verified during continuous writes', async () => {
    await on.service.call('POST', 'timelines', { timeline_id: 'busy' });
    let isDone = false;
    let written = 0;
    const write = async (): Promise<void> => {
      written += 1;
      const event = { event_id: `event-${written}`, time: '2001-01-01T00:00:00Z' };
      await on.service.call('POST', 'v1/events?timeline_id=busy', event);
    };
    const writeOn = async (): Promise<void> => {
      while (!isDone && written < WRITTEN_MAX) await write();
    };
    const page = await on.loggedIn('clock?timeline=busy');
    // Writes between any two responses, however fast the service is.
    let turn: Promise<unknown> = Promise.resolve();
    await page.route(/\/timeline\/busy\/(proof|tile\/\d)/, (route) => {
      turn = turn.then(async () => {
        await write();
        await route.continue();
        await route.request().response();
      });
      return turn;
    });
    const writers = Array.from({ length: 4 }, writeOn);
    try {
      await page.goto(`${on.service.url}/#/integrity?timeline=busy`);
      const panel = page.getByRole('region', { name: 'Head' });
      const size = panel.getByText(/^[\d,]+ entr(y|ies)$/).first();
      let before = '';
      for (let reading = 0; reading < 8; reading += 1) {
        await expect.poll(() => size.innerText()).not.toBe(before);
        before = await size.innerText();
        await panel.getByText('The same history, passed').waitFor();
        await panel.getByText(/^(It|The checkpoint) continues (the checkpoint|it) by/).waitFor();
        await page.getByRole('button', { name: 'Load the latest' }).click();
      }
    } finally {
      isDone = true;
      await Promise.all(writers);
      // Pending requests complete before the page closes.
      await page.unrouteAll({ behavior: 'wait' });
    }
    expect(written).toBeGreaterThan(100);
  });

  it('is reported if it was altered or is not of this history', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed', { expected: REFUSED });
    const panel = page.getByRole('region', { name: 'Head' });
    const state = await headOf('sealed');
    const answer = async (text: string): Promise<void> => {
      await page.unroute('**/timeline/sealed/head');
      await page.route('**/timeline/sealed/head', (route) =>
        route.fulfill({ json: { ...state, head_statement: text } }),
      );
      await page.getByRole('button', { name: 'Load the latest' }).click();
    };
    const text = state.head_statement!;
    await answer(text.replace(/\n(\d+)\n/, (_, size: string) => `\n${Number(size) + 1_000}\n`));
    await panel.getByText('The signature is not from').waitFor();
    await panel.getByText('it was rolled back').waitFor();
    await answer((await headOf('main')).head_statement!);
    await panel.getByText('Origin, failed').waitFor();
    await answer('nothing');
    await panel.getByText('The statement, failed').waitFor();
  });
});

describe('the ledger', () => {
  it('shows changes with the number of hidden reads, and reads on request', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const ledger = page.getByRole('region', { name: /^Ledger/ });
    const actions = (): Promise<string[]> => ledger.locator('.what code').allInnerTexts();
    await expect.poll(() => actions().then((all) => all.length)).toBe(20);
    expect(await actions()).not.toContain('reads');
    // Opening a page adds entries, so the newest ones are reads.
    await ledger.getByText(/^\d+ entr(y|ies) with only reads (is|are) hidden\./).waitFor();
    const newest = await ledger.getByRole('link').first().innerText();
    await ledger.getByRole('button', { name: 'Older' }).click();
    await expect.poll(() => ledger.getByRole('link').first().innerText()).not.toBe(newest);
    expect(await actions()).not.toContain('reads');
    await ledger.getByRole('button', { name: 'Newer' }).click();
    await expect.poll(() => ledger.getByRole('link').first().innerText()).toBe(newest);
    await expectAccessible(page);
    await ledger.getByLabel('Show reads').check();
    await expect.poll(actions).toContain('reads');
    expect(page.url()).toContain('show=all');
    await page.reload();
    await expect.poll(actions).toContain('reads');
    await ledger.getByText(/with only reads (is|are) hidden/).waitFor({ state: 'hidden' });
    await ledger.getByLabel('Show reads').uncheck();
    await expect.poll(actions).not.toContain('reads');
    expect(page.url()).not.toContain('show=');
  });

  it('shows event names, with one request per page', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `Station ${index} opens`);
    await on.service.timeline(
      'stations',
      ...names.map((name, index) => ({
        event_id: `station-${index}`,
        time: `1863-01-${String(10 + index)}T00:00:00Z`,
        ...(index === 0 ? {} : { name }),
        description: `${name}. The first trains ran, and thirty-eight thousand people came to see that for themselves.`,
      })),
    );
    await on.service.call('POST', 'v1/manipulate-event', {
      timeline_id: 'stations',
      event_id: 'station-3',
      action: 'cancel',
      time: '1862-01-01T00:00:00Z',
    });
    const page = await on.loggedIn('clock?timeline=stations');
    const requests: string[] = [];
    page.on('request', (request) => {
      if (/\/entries\?|v1\/events|check-timeline/.test(request.url())) requests.push(request.url());
    });
    await page.goto(`${on.service.url}/#/integrity?timeline=stations&show=changes`);
    const ledger = page.getByRole('region', { name: /^Ledger/ });
    await ledger.getByRole('row', { name: /record_event Station 7 opens station-7/ }).waitFor();
    await ledger.getByRole('row', { name: /manipulate_event Station 3 opens station-3/ }).waitFor();
    // An event without a name is labeled with the beginning of its description.
    await ledger.getByRole('row', { name: /Station 0 opens. The first trains ran, .*… station-0/ }).waitFor();
    expect(requests).toHaveLength(1);
    await ledger.getByRole('link', { name: '5', exact: true }).click();
    const proof = page.getByRole('region', { name: 'Entry 5' });
    await proof.getByRole('link', { name: 'Station 4 opens' }).waitFor();
    await expectAccessible(page);
    // The log has the same entries, whose names are cached now.
    await page.goto(`${on.service.url}/#/access?timeline=stations&tab=log`);
    await page
      .getByRole('region', { name: 'Access log' })
      .getByRole('row', { name: /Record event Station 7 opens station-7/ })
      .waitFor();
    expect(requests).toHaveLength(1);
  });

  it('is limited to recent entries', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const ledger = page.getByRole('region', { name: /^Ledger/ });
    await ledger.getByRole('row').nth(1).waitFor();
    await ledger.getByLabel('Recorded, host time').selectOption('Last 7 days');
    expect(new URL(page.url()).hash).toContain('period=7d');
    await ledger.getByRole('row').nth(1).waitFor();
    await page.reload();
    await ledger.getByRole('row').nth(1).waitFor();
    expect(await ledger.getByLabel('Recorded, host time').inputValue()).toBe('7d');
    expect(await page.getByText('Part of this link was ignored.').count()).toBe(0);
    await ledger.getByRole('link', { name: 'access log' }).click();
    await page.getByRole('region', { name: 'Access log' }).waitFor();
  });

  it('is limited by host time, whatever the browser’s clock', async () => {
    const page = await on.loggedIn('clock?timeline=sealed');
    await page.addInitScript(() => {
      const { now } = Date;
      Date.now = () => now() + 5 * 86_400_000;
    });
    await page.goto(`${on.service.url}/#/integrity?timeline=sealed&period=1h`);
    await page.reload();
    await page
      .getByRole('region', { name: /^Ledger/ })
      .getByRole('row')
      .nth(1)
      .waitFor();
    await page.goto(`${on.service.url}/#/access?timeline=sealed&tab=log&period=1h`);
    await page.getByRole('region', { name: 'Access log' }).getByRole('row').nth(1).waitFor();
  });
});

describe('an entry', () => {
  it('links from the ledger to its proof, which is verified in the browser', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const ledger = page.getByRole('region', { name: /^Ledger/ });
    const newest = await ledger.getByRole('link').first().innerText();
    await ledger.getByRole('button', { name: 'Older' }).click();
    // Wait until the older page is rendered. Otherwise the click hits a row that is about to be replaced.
    await expect.poll(() => ledger.getByRole('link').first().innerText()).not.toBe(newest);
    await ledger.getByRole('link').first().click();
    await page.getByText('This browser verified it.').waitFor();
    const position = Number(/position=(\d+)/.exec(page.url())![1]);
    await page.getByRole('img', { name: /steps lead to the root/ }).waitFor();
    await page.getByRole('button', { name: 'Previous entry' }).click();
    await page.getByRole('heading', { name: `Entry ${(position - 1).toLocaleString('en')}` }).waitFor();
    await page.getByLabel('Position of the entry').fill('3');
    await page.getByLabel('Position of the entry').press('Enter');
    await page.getByRole('heading', { name: 'Entry 3', exact: true }).waitFor();
    await page.getByText('This browser verified it.').waitFor();
    await page.getByText('All steps with their hashes').click();
    await page.getByText('SHA-256 of a zero byte').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: `Entry ${(position - 1).toLocaleString('en')}` }).waitFor();
  });

  it('is saved with its proof', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed&position=3');
    await page.getByText('This browser verified it.').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Proof file' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('sealed-3.tlog-proof');
    const text = readFileSync(await file.path(), 'utf8');
    expect(text).toMatch(/^c2sp\.org\/tlog-proof@v1\nextra \S+\nindex 3\n(\S{43}=\n)+\n\S+\/sealed\n\d+\n/);
    const [json] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'JSON' }).click(),
    ]);
    expect((JSON.parse(readFileSync(await json.path(), 'utf8')) as Proof).leaf).toContain('"seq":3');
  });

  it('is not verified if one letter was changed', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const proof = await on.service.call<Proof>('GET', 'timeline/sealed/proof?position=3');
    const forged = { ...proof, leaf: proof.leaf.replace('"actor":"admin"', '"actor":"nimda"') };
    expect(forged.leaf).not.toBe(proof.leaf);
    await page.route('**/timeline/sealed/proof?position=3', (route) => route.fulfill({ json: forged }));
    await page.goto(page.url().replace(/#.*/, '#/integrity?timeline=sealed&position=3'));
    await page.getByText('The proof is not valid.').waitFor();
    await page.getByText('The path ends at a different root than the signed one').waitFor();
  });

  it('has no witnessed proof without witnesses, and shows who can change that', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed&position=3', { expected: REFUSED });
    await page.getByText('Witnesses', { exact: true }).click();
    await page.getByLabel('Witness keys').last().fill(WITNESS);
    await page.getByRole('button', { name: 'Verify with witnesses' }).click();
    await page.getByText('No witness has cosigned a checkpoint of this service yet.').waitFor();
    await page.getByText('timenav serve --witness').waitFor();
  });
});

describe('a scan', () => {
  it('shows what was checked and what was not', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const panel = page.getByRole('region', { name: 'Scan for tampering' });
    await panel.getByRole('button', { name: 'Scan sealed' }).click();
    await panel.getByText('No tampering found on').waitFor();
    await panel.getByText('events compared').waitFor();
    await panel.getByText(/keep the checkpoint and compare/).waitFor();
  });

  it('reads the configured amount', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const panel = page.getByRole('region', { name: 'Scan for tampering' });
    await panel.getByText('A sample').click();
    await panel.getByLabel('How many entries').fill('none');
    await panel.getByText('A whole number from 1').waitFor();
    await panel.getByLabel('How many entries').fill('20');
    await panel.getByRole('button', { name: 'Scan sealed' }).click();
    await panel.getByText(/20 of \d+ entries were picked at random/).waitFor();
  });

  it('is canceled', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed', { expected: UNREACHABLE });
    const panel = page.getByRole('region', { name: 'Scan for tampering' });
    // A scan that never ends.
    await page.route('**/v1/detect-tampering', () => {});
    await panel.getByRole('button', { name: 'Scan sealed' }).click();
    await panel.getByRole('progressbar').waitFor();
    await panel.getByRole('button', { name: 'Cancel' }).click();
    await panel.getByText('Canceled').waitFor();
  });

  it('shows findings with positions and evidence', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    const result = {
      status: 'Tampering was found on `sealed`.',
      tampering_detected: true,
      details: 'Entry 3 is not what was signed.',
      findings: [
        {
          kind: 'leaf-mismatch',
          position: 3,
          evidence: 'The leaf hash is `aa`, and `bb` was signed.',
          last_good_checkpoint: 2,
        },
      ],
      findings_omitted: 4,
      checked: [{ what: 'entries', count: 503 }],
      not_checked: [],
      checkpoint: null,
    };
    await page.route('**/v1/detect-tampering', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: `event: result\ndata: ${JSON.stringify(result)}\n\n` }),
    );
    const panel = page.getByRole('region', { name: 'Scan for tampering' });
    await panel.getByRole('button', { name: 'Scan sealed' }).click();
    const row = panel.getByRole('row', { name: /leaf-mismatch/ });
    await row.getByText('The checkpoint at 2 entries is good.').waitFor();
    await expectAccessible(page);
    await row.getByRole('link', { name: '3' }).click();
    await page.getByRole('heading', { name: 'Entry 3', exact: true }).waitFor();
  });
});

it('is accessible and fits every width', async () => {
  const page = await on.loggedIn('integrity?timeline=sealed&position=30');
  await page.getByText('This browser verified it.').waitFor();
  await page
    .getByRole('region', { name: /^Ledger/ })
    .getByRole('link')
    .first()
    .waitFor();
  await expectUsable(page);
});

describe('the contents of entries', () => {
  interface Entries {
    entries: { position: number; contents: string; payload?: string }[];
  }

  it('are compared in the browser, and erasures are reported', async () => {
    await on.service.call('POST', 'v1/events', {
      timeline_id: 'sealed',
      event_id: 'to-forget',
      time: '2001-01-01T00:00:00Z',
    });
    await on.service.call('POST', 'v1/erase-data', { timeline_id: 'sealed', event_id: 'to-forget' });
    const page = await on.loggedIn('integrity?timeline=sealed');
    const panel = page.getByRole('region', { name: 'Contents of entries' });
    await panel.getByRole('button', { name: 'Compare all entries' }).click();
    await panel.getByText('The contents match the signed tree.').waitFor();
    await panel.getByText(/payloads match the signed hashes/).waitFor();
    await panel.getByText('The entries lead to the signed root.').waitFor();
    await panel.getByText('1 payload erased, each recorded by a later entry.').waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  });

  it('do not match if a payload was changed', async () => {
    const page = await on.loggedIn('integrity?timeline=sealed');
    await page.route('**/timeline/sealed/entries?from=0&*', async (route) => {
      const { search } = new URL(route.request().url());
      const body = await on.service.call<Entries>('GET', `timeline/sealed/entries${search}`);
      const third = body.entries[3]!;
      third.payload = third.payload?.replace('"time":"', '"time":"-') ?? '';
      await route.fulfill({ json: body });
    });
    const panel = page.getByRole('region', { name: 'Contents of entries' });
    await panel.getByRole('button', { name: 'Compare all entries' }).click();
    await panel.getByText('The contents do not match the signed tree.').waitFor();
    await panel.getByText('Its payload hashes to').waitFor();
    await panel.getByRole('link', { name: 'Entry 3' }).click();
    await page.getByRole('heading', { name: 'Entry 3', exact: true }).waitFor();
  });
});

it('have name and id of an event on separate lines, and columns that fit', async () => {
  const page = await on.loggedIn('integrity?timeline=sealed');
  const row = page.getByRole('row').filter({ hasText: 'record_event' });
  await row.first().locator('.mono.small').waitFor();
  const high = await row.evaluateAll((rows) => rows.map((one) => one.getBoundingClientRect().height));
  expect(Math.max(...high)).toBeLessThan(62);
});

/** The witnessed proof of an entry: requested, verified in the browser, and saved. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, afterAll, describe, expect, it, vi } from 'vitest';
import { BINARY, REFUSED, expectAccessible, own, expectUsable } from './harness';
import { Witness } from './witness';

const on = own();
let witness: Witness | null = null;

const NAME = 'witness.test/w1';
const TIMELINE = 'apollo-11';
const POSITION = 2;
/** The key of a witness that has not cosigned. */
const STRANGER = 'witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs';

interface Proof {
  leaf: string;
  checkpoint: string;
  verifier_key: string;
}

const proofOf = (position: number, more = ''): Promise<Proof> =>
  on.service.call<Proof>('GET', `timeline/${TIMELINE}/proof?position=${position}${more}`);

beforeAll(async () => {
  const { service } = on;
  const { verifier_key } = await service.call<Proof>('GET', 'timeline/system/proof?position=0');
  witness = await Witness.start(NAME, verifier_key);
  await service.end();
  await service.again('--witness', witness.option, '--witness-interval-secs', '1');
  const events = ['launch', 'landing', 'return'].map((event_id) => ({ event_id, time: '1969-07-20T20:17:40Z' }));
  await service.timeline(TIMELINE, ...events);
  await vi.waitFor(() => proofOf(POSITION + 1, '&witnessed=true'), { timeout: 60_000, interval: 500 });
});
afterAll(() => witness?.remove());

const keyOf = (): string => witness?.key ?? '';
const panelOf = (page: Page): Locator => page.getByRole('region', { name: /^Entry \d/ });
const fieldOf = (page: Page): Locator => panelOf(page).getByLabel('Witness keys');
const ask = (page: Page): Promise<void> => panelOf(page).getByRole('button', { name: 'Verify with witnesses' }).click();

/** Opens an entry and its section about witnesses. */
async function opened(page: Page, position = POSITION): Promise<void> {
  await page.goto(`${on.service.url}/#/integrity?timeline=${TIMELINE}&position=${position}`);
  await panelOf(page).getByText('Witnesses', { exact: true }).click();
}

describe('a cosigned entry', () => {
  it('is verified with the key of the witness, which is stored for the next entry', async () => {
    const page = await on.loggedIn(`integrity?timeline=${TIMELINE}&position=${POSITION}`);
    const panel = panelOf(page);
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('witnessed=')) requests.push(request.url());
    });
    await panel.getByText('This browser verified it.').waitFor();
    expect(await fieldOf(page).isVisible()).toBe(false);
    await panel.getByText('Witnesses', { exact: true }).click();
    await fieldOf(page).fill(keyOf());
    expect(requests).toEqual([]);
    await ask(page);
    await panel.getByText('It is in a tree that a witness vouches for.').waitFor();
    expect(requests).toHaveLength(1);
    for (const step of ['Checkpoint of system', `Witness ${NAME}`, 'Entry of system', 'Tree of the timeline'])
      await panel.getByText(`${step}, passed`).waitFor();
    await panel.getByText(/^It cosigned this at 20\d\d-\d\d-\d\dT.*Z, by its own clock\.$/).waitFor();
    await expectUsable(page);
    await page.getByRole('button', { name: 'Next entry' }).click();
    await page.getByRole('heading', { name: `Entry ${POSITION + 1}`, exact: true }).waitFor();
    await panel.getByText('It is in a tree that a witness vouches for.').waitFor({ state: 'hidden' });
    expect(await fieldOf(page).inputValue()).toBe(keyOf());
    await ask(page);
    await panel.getByText('It is in a tree that a witness vouches for.').waitFor();
    await page.reload();
    await panel.getByText('Witnesses', { exact: true }).click();
    expect(await fieldOf(page).inputValue()).toBe(keyOf());
    expect(requests).toHaveLength(2);
  });

  it('is saved with its proof, which timenav verify accepts', async () => {
    const page = await on.loggedIn();
    await opened(page);
    await fieldOf(page).fill(keyOf());
    await ask(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      panelOf(page).getByRole('button', { name: 'Witnessed proof' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe(`${TIMELINE}-${POSITION}.witnessed.json`);
    const { verifier_key } = await proofOf(POSITION);
    const command = await panelOf(page)
      .locator('pre', { hasText: /^timenav verify / })
      .innerText();
    expect(command.replaceAll(/ \\\n */g, ' ')).toBe(
      `timenav verify ${TIMELINE}-${POSITION}.witnessed.json --verifier-key ${verifier_key} --witness ${keyOf()}`,
    );
    const path = await file.path();
    const verify = (witnessKey: string): ReturnType<typeof spawnSync> =>
      spawnSync(BINARY, ['verify', path, '--verifier-key', verifier_key, '--witness', witnessKey], {
        encoding: 'utf8',
      });
    expect(verify(keyOf()).stdout).toContain(`cosigned by \`${NAME}\``);
    expect(verify(STRANGER).status).not.toBe(0);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ kind: 'witnessed', position: POSITION });
  });

  it('is not verified with a wrong key', async () => {
    const page = await on.loggedIn();
    await opened(page);
    const panel = panelOf(page);
    await ask(page);
    await panel.getByText('Enter a witness key.').waitFor();
    await fieldOf(page).fill(keyOf().slice(0, -1));
    await ask(page);
    await panel.getByText('This is not a valid witness key: its parts do not match.').waitFor();
    await fieldOf(page).fill((await proofOf(POSITION)).verifier_key);
    await ask(page);
    await panel.getByText('This is a ledger key.').waitFor();
    await expectAccessible(page);
    await fieldOf(page).fill(`${keyOf()}\n${STRANGER}`);
    await ask(page);
    await panel.getByText('Some of the entered witnesses do not vouch for it.').waitFor();
    await panel.getByText(`Witness ${NAME}, passed`).waitFor();
    await panel.getByText(`It has not cosigned this. The note has cosignatures of ${NAME}.`).waitFor();
    await fieldOf(page).fill(keyOf());
    await panel.getByText('Some of the entered witnesses do not vouch for it.').waitFor({ state: 'hidden' });
    await ask(page);
    await panel.getByText('It is in a tree that a witness vouches for.').waitFor();
  });

  it('is not verified if one letter was changed', async () => {
    const page = await on.loggedIn();
    const proof = await proofOf(POSITION, '&witnessed=true');
    const forged = { ...proof, leaf: proof.leaf.replace('"actor":"admin"', '"actor":"nimda"') };
    expect(forged.leaf).not.toBe(proof.leaf);
    await page.route(/witnessed=true/, (route) => route.fulfill({ json: forged }));
    await opened(page);
    await fieldOf(page).fill(keyOf());
    await ask(page);
    await panelOf(page).getByText('The witnessed proof is not valid.').waitFor();
    await panelOf(page).getByText('The entry, failed').waitFor();
  });
});

it('is saved if the page cannot verify anything', async () => {
  const page = await on.loggedIn('clock', {});
  // As on a page loaded over HTTP from another host.
  await page.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, 'subtle'));
  await page.reload();
  await opened(page);
  await panelOf(page)
    .getByText(/Download the proof for timenav verify or/)
    .waitFor();
  await panelOf(page).getByRole('button', { name: 'Get the proof' }).click();
  await panelOf(page).getByRole('button', { name: 'Witnessed proof' }).waitFor();
  await panelOf(page).getByText('--witness KEY').waitFor();
  expect(await panelOf(page).getByText('vouches for').count()).toBe(0);
});

it('has no proof before a witness cosigns it, and shows how far witnesses are', async () => {
  await witness?.remove();
  await on.service.call('POST', `v1/events?timeline_id=${TIMELINE}`, {
    event_id: 'late',
    time: '1969-08-10T00:00:00Z',
  });
  const page = await on.loggedIn('clock', { expected: REFUSED });
  const { size } = await on.service.call<{ size: number }>('GET', `timeline/${TIMELINE}/proof?position=0`);
  await opened(page, size - 1);
  await fieldOf(page).fill(keyOf());
  await ask(page);
  await panelOf(page)
    .getByText(/^Witnesses vouch for \d+ entries of this timeline so far; ask again later\./)
    .waitFor();
});

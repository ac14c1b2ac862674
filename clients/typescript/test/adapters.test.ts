/** The test fixtures and adapters (Vitest, fake timers, Playwright), and the installed package. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { follow } from '../src/fake-timers.js';
import { followClock } from '../src/playwright.js';
import { TestClock } from '../src/testing.js';
import { client, eventually, readText, REPOSITORY, wait } from './harness.js';

const run = promisify(execFile);
/** A test file with failing handlers, for the Vitest fixtures. */
const FAILING = `
import { expect } from 'vitest';
import { test } from 'timenav/vitest';

async function arm(clock, handler) {
  await clock.pause();
  await clock.travel('2028-02-29T09:00:00Z');
  await clock.client.setTimer({ at: '2028-03-01T09:00:00Z', timeline_id: clock.timelineId });
  return clock.on('default', handler);
}

test('advance', async ({ timenavClock }) => {
  await arm(timenavClock, ({ attempt }) => expect(attempt).toBe(0));
  await timenavClock.advance('P1M');
});

test('jump', async ({ timenavClock }) => {
  let resolve;
  const called = new Promise((done) => (resolve = done));
  await arm(timenavClock, () => {
    resolve();
    expect(1).toBe(0);
  });
  await timenavClock.client.fastForward({ duration: 'P1M', wait_for_timers: false, timeline_id: timenavClock.timelineId });
  await called;
});

test('unchecked', async ({ timenavClock }) => {
  await arm(timenavClock, () => expect(1).toBe(0));
  expect((await timenavClock.advance('P1M', { allowFailedFirings: true })).failed).toBe(1);
});

test('second attempt', async ({ timenavClock }) => {
  await arm(timenavClock, ({ attempt }) => expect(attempt).toBe(2));
  expect((await timenavClock.advance('P1M')).acknowledged).toBe(1);
});
`;

/** The result of a test in the JSON report of Vitest. */
interface TestResult {
  title: string;
  status: string;
  failureMessages: string[];
}

const FOLDER = fileURLToPath(new URL('clients/typescript/', REPOSITORY));

async function testClock(): Promise<TestClock> {
  const clock = await TestClock.create(client(), 'adapters');
  onTestFinished(() => clock.end());
  return clock;
}

describe('fake timers', () => {
  it('follow the clock', async () => {
    const clock = await testClock();
    await clock.pause();
    await clock.travel('2028-02-29T09:00:00Z');
    const real = { setTimeout, Date };
    const stop = follow(clock.clock);
    const fired: string[] = [];
    try {
      expect(new Date().toISOString()).toBe('2028-02-29T09:00:00.000Z');
      setTimeout(() => fired.push('an hour'), 3_600_000);
      const every = setInterval(() => fired.push('a day'), 86_400_000);
      await clock.fastForward('30m');
      expect([Date.now(), fired]).toEqual([Date.parse('2028-02-29T09:30:00Z'), []]);
      await clock.rewind('10m');
      expect([Date.now(), fired]).toEqual([Date.parse('2028-02-29T09:20:00Z'), []]);
      await clock.fastForward('1h');
      expect(fired).toEqual(['an hour']);
      await clock.fastForward('P1Y');
      expect(fired).toEqual(['an hour', 'a day']);
      expect(new Date().getFullYear()).toBe(2029);
      clearInterval(every);
      // While the clock runs, timers fire at its rate.
      setTimeout(() => fired.push('a minute'), 60_000);
      await clock.setRate(1_000);
      await clock.resume();
      await eventually(() => fired.includes('a minute'));
    } finally {
      stop();
    }
    expect([setTimeout, Date]).toEqual([real.setTimeout, real.Date]);
  });
});

describe('a Playwright page', () => {
  it('shows the clock', async () => {
    const clock = await testClock();
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
    });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const pageTime = (): Promise<number> => page.evaluate(() => Date.now());
    await clock.pause();
    await clock.travel('2028-02-29T09:00:00Z');
    const followed = await followClock(page, clock.clock);
    await page.goto('data:text/html,<title>A page</title>');
    expect(await pageTime()).toBe(Date.parse('2028-02-29T09:00:00Z'));
    await clock.travel('1999-12-31T23:59:59.5Z');
    await followed.updated();
    expect(await page.evaluate(() => new Date().toISOString())).toBe('1999-12-31T23:59:59.500Z');
    await clock.resume();
    await followed.updated();
    const [before, first] = [clock.now().toMillis(), await pageTime()];
    await wait(100);
    expect(first - before).toBeLessThan(60_000);
    expect((await pageTime()) - first).toBeGreaterThanOrEqual(100);
    await clock.setRate(100_000);
    await followed.updated();
    const fast = await pageTime();
    await wait(300);
    expect((await pageTime()) - fast).toBeGreaterThan(10_000_000);
    await clock.pause();
    await followed.updated();
    expect(await pageTime()).toBe(clock.now().toMillis());
    await followed.stop();
  });
});

describe('the package', () => {
  it('installs from its archive, has types, and runs the README examples', { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'timenav-package-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: FOLDER });
    const file = packed.stdout.trim().split('\n').at(-1)!;
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    const install = ['install', '--offline', '--silent', '--no-audit', '--no-fund', '--omit=peer', `./${file}`];
    await run('npm', install, { cwd: folder });
    const readme = readText('clients/typescript/README.md');
    const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => text!);
    expect(examples.length).toBeGreaterThan(2);
    const isTest = (text: string): boolean => text.includes("'timenav/vitest'");
    const isPage = (text: string): boolean => text.includes("'timenav/playwright'");
    // The examples import other packages from this folder.
    for (const name of ['vitest', '@sinonjs', 'playwright-core', 'typescript', '@types']) {
      await symlink(join(FOLDER, 'node_modules', name), join(folder, 'node_modules', name));
    }
    const env = { ...process.env, TIMENAV_URL: inject('url'), TIMENAV_API_KEY: inject('key') };
    for (const [index, text] of examples.entries()) {
      const name = isTest(text) ? `example-${index}.test.ts` : `example-${index}.ts`;
      await writeFile(join(folder, name), text);
    }
    const tsc = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck'];
    const sources = examples.map((text, index) => `example-${index}${isTest(text) ? '.test' : ''}.ts`);
    await run('node', ['node_modules/typescript/bin/tsc', ...tsc, ...sources], { cwd: folder });
    for (const [index, text] of examples.entries()) {
      if (isTest(text)) {
        const vitest = ['node_modules/vitest/vitest.mjs', 'run', `example-${index}.test.ts`];
        await run('node', vitest, { cwd: folder, env });
        // Run the same tests with a service that the fixture starts.
        const { TIMENAV_URL: _, TIMENAV_API_KEY: __, ...envWithoutService } = env;
        await run('node', vitest, { cwd: folder, env: { ...envWithoutService, TIMENAV_START: '1' } });
        continue;
      }
      if (!isPage(text)) expect(text.split('\n').length).toBeLessThanOrEqual(13);
      const { stdout } = await run('node', [`example-${index}.js`], { cwd: folder, env });
      for (const [, expected] of text.matchAll(/\/\/=> (.*)/g)) expect(stdout).toContain(expected);
    }
    // Run the commands of the recipe, and compare their output. Only the port differs.
    const recipe = readText('docs/recipes/browser-page.md');
    const [, name, script] = /```js (\S+)\n(.*?)```/s.exec(recipe)!;
    const [, session] = /```console recipe\n(.*?)```/s.exec(recipe)!;
    await writeFile(join(folder, name!), script!);
    await mkdir(join(folder, 'timenav-data'));
    await writeFile(join(folder, 'timenav-data/admin.key'), `${inject('key')}\n`);
    const commands = session!.split('\n').filter((line) => line.startsWith('$ '));
    const expected = session!.split('\n').filter((line) => !line.startsWith('$ '));
    const { TIMENAV_API_KEY: ___, ...envWithoutKey } = env;
    const input = commands.map((line) => line.slice(2)).join('\n');
    const printed = await run('bash', ['-ec', input], { cwd: folder, env: envWithoutKey });
    expect(printed.stdout).toBe(expected.join('\n'));
    await writeFile(join(folder, 'failing.test.js'), FAILING);
    const failing = ['node_modules/vitest/vitest.mjs', 'run', 'failing.test.js', '--reporter=json'];
    const result = await run('node', failing, { cwd: folder, env }).catch(
      (error: unknown) => error as { stdout: string },
    );
    const report = JSON.parse(result.stdout) as { testResults: { assertionResults: TestResult[] }[] };
    const outcomes = report.testResults[0]!.assertionResults;
    expect(outcomes.map(({ title, status }) => [title, status])).toEqual([
      ['advance', 'failed'],
      ['jump', 'failed'],
      ['unchecked', 'passed'],
      ['second attempt', 'passed'],
    ]);
    for (const { failureMessages } of outcomes.slice(0, 2)) expect(failureMessages[0]).toMatch(/expected \d to be \+0/);
    expect(await readFile(join(folder, 'node_modules/timenav/dist/index.d.ts'), 'utf8')).toContain('Client');
    for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
      const license = await readFile(join(folder, 'node_modules/timenav', name), 'utf8');
      expect(license, name).toBe(readText(name));
    }
  });
});

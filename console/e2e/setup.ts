/** Global setup: the shared service, and a data folder that other services copy. */
import { accessSync, constants } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { CHROMIUM } from './harness';
import { BINARY, PASSWORD, RETENTION_FLOOR_SECS, Service } from './service';

/** Options of the shared service. The webhook is never called: no clock reaches its time. */
const OPTIONS = [
  ['--requests-per-minute', '1000000'],
  ['--webhook-allow-host', 'hooks.example.com'],
  ['--retention-floor-secs', String(RETENTION_FLOOR_SECS)],
].flat();

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const [path, what] of [
    [BINARY, 'the service is not built: run `cargo build -p timenav`, or name the program in TIMENAV_BIN'],
    [CHROMIUM, 'Chromium is missing: `apt-get install chromium-headless-shell`, or name the program in CHROMIUM_BIN'],
  ] as const) {
    try {
      accessSync(path, constants.X_OK);
    } catch {
      throw new Error(`${what} (looked at ${path})`);
    }
  }
  // Copying the demo is faster than recording it.
  const template = await Service.start();
  await template.call('POST', 'v1/set-password', { password: PASSWORD });
  await template.end();
  project.provide('data', template.data);
  const service = await Service.copied(template.data, ...OPTIONS);
  const { url, adminKey } = service;
  project.provide('shared', { url, adminKey, session: await service.session('admin') });
  return async () => {
    await service.remove();
    await template.remove();
  };
}

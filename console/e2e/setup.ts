/** What all files of tests share: programs that are there, and a data folder that each of them copies. */
import { accessSync, constants } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { CHROMIUM } from './harness';
import { BINARY, PASSWORD, Service } from './service';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const [path, what] of [
    [BINARY, 'the service is not built: run `cargo build -p timenav`, or name the program in TIMENAV_BIN'],
    [CHROMIUM, 'Chromium is missing: `apt-get install chromium`, or name the program in CHROMIUM_BIN'],
  ] as const) {
    try {
      accessSync(path, constants.X_OK);
    } catch {
      throw new Error(`${what} (looked at ${path})`);
    }
  }
  // To record the demo takes longer than to copy it.
  const service = await Service.start();
  await service.call('POST', 'v1/set-password', { password: PASSWORD });
  await service.end();
  project.provide('data', service.data);
  return () => service.remove();
}

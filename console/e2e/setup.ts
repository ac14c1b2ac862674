/** Says in one line what is missing, before any test begins. */
import { accessSync, constants } from 'node:fs';
import { BINARY, CHROMIUM } from './harness';

export default function setup(): void {
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
}

/** Installs the development dependencies if they are missing, so that `npm pack` works in a fresh clone. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
if (!existsSync(new URL('../node_modules/typescript', import.meta.url))) {
  // Overrides npm options that are inherited from the caller. Scripts are disabled, because this one runs in `prepare`.
  const options = ['--ignore-scripts', '--include=dev', '--no-dry-run'];
  // The standard output of `npm pack` must contain only the file name.
  const stdio = ['ignore', process.stderr, 'inherit'];
  const { status } = spawnSync('npm', ['ci', ...options], { cwd: folder, stdio, shell: process.platform === 'win32' });
  process.exitCode = status ?? 1;
}

// Fails if two builds of the console differ: `node compare-dist.mjs COMMITTED BUILT`. Compressed files are compared by
// their decompressed contents, because the compressor's version may differ.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

const [committed, built] = process.argv.slice(2);

function contents(folder) {
  const found = new Map();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    found.set(name, name.endsWith('.br') ? brotliDecompressSync(bytes) : bytes);
  }
  return found;
}

const old = contents(committed);
const fresh = contents(built);
const names = [...new Set([...old.keys(), ...fresh.keys()])].sort();
const different = names.filter((name) => {
  const [before, after] = [old.get(name), fresh.get(name)];
  return before === undefined || after === undefined || !before.equals(after);
});
if (different.length > 0) {
  console.error(
    `console/dist is not what its sources make: ${different.join(', ')}. ` +
      'Run `npm run build` in console/ and commit it.',
  );
  process.exit(1);
}
console.log(`console/dist is what its sources make: ${names.length} files`);

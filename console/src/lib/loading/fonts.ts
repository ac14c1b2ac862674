/** Console fonts. Latin is bundled; other scripts use system fonts. */
import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
import mono from '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2';
import { networkIdle } from './network-idle';

const FACES = [
  { family: 'Inter Variable', weight: '100 900', url: inter },
  { family: 'JetBrains Mono Variable', weight: '100 800', url: mono },
];
/** If the script took longer to load, other files have priority over fonts. */
const SLOW_MS = 600;

/** Loads the fonts; on a slow connection, after the page content. */
export async function addFonts(): Promise<void> {
  // `performance.now()` counts from navigation start.
  if (performance.now() > SLOW_MS) await networkIdle();
  for (const { family, weight, url } of FACES)
    document.fonts.add(new FontFace(family, `url("${url}")`, { weight, display: 'swap' }));
}

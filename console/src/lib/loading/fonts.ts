/** The letters of the console. Latin ones come along; other scripts are the system's. */
import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
import mono from '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2';
import { quiet } from './quiet';

const FACES = [
  { family: 'Inter Variable', weight: '100 900', url: inter },
  { family: 'JetBrains Mono Variable', weight: '100 800', url: mono },
];
/** A page whose script takes longer to come has better things to wait for than letters: the system has some too. */
const SLOW_MS = 600;

/** Offers the letters to the page; where the line is slow, once what it shows is there. */
export async function addFonts(): Promise<void> {
  // Since the page was asked for.
  if (performance.now() > SLOW_MS) await quiet();
  for (const { family, weight, url } of FACES)
    document.fonts.add(new FontFace(family, `url("${url}")`, { weight, display: 'swap' }));
}

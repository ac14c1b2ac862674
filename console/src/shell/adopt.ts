/** What a bundle needs to be adopted, checked before it is sent. */
import { bytesText } from '../lib/files';
import { toBase64, utf8 } from '../lib/merkle';
import { timelineOf } from '../lib/note';
import type { BundleSummary } from '../lib/timeline-bundle';

/** What the service answers where a timeline was adopted. */
export interface AdoptedBody {
  timeline_id: string;
  origin: string;
  entries: number;
  /** Contents that were erased or let go at the other service. */
  erased: number;
  sealed: number;
  rotations_followed: number;
}

/** Says that a bundle has more bytes than are adopted. */
export function tooLarge(bytes: number, bytesMax: number): string {
  return `The service adopts bundles of at most ${bytesText(bytesMax)}, but this file has ${bytesText(bytes)}.`;
}

/** Returns why a bundle is not adopted, or null. */
export function fileIssue(
  bytes: number,
  bytesMax: number | null,
  summary: BundleSummary,
  isHere: boolean,
): string | null {
  if (bytesMax !== null && bytes > bytesMax) return tooLarge(bytes, bytesMax);
  if (isHere) return `There is already a timeline ${summary.timeline} here. A timeline keeps its name when it moves.`;
  return null;
}

const KEY = /^([^+\s]+)\+[0-9a-f]{8}\+[0-9A-Za-z+/]+=*$/;

/** Returns why a text is not the public key of the ledger, or null. Whether it fits its id the service says. */
export function keyIssue(text: string, origin: string | null): string | null {
  const name = KEY.exec(text)?.[1];
  if (name === undefined) return 'This is not a public key: it must be name+id+key on one line.';
  if (origin === null || name === origin) return null;
  return timelineOf(name) === timelineOf(origin)
    ? `This is a key of ${name}, but the file says it belongs to ${origin}.`
    : `This is a key of the timeline ${timelineOf(name)}, but the file contains the timeline ${timelineOf(origin)}.`;
}

/** Writes who is who as the service reads it; empty where nobody is named. */
export function mapText(here: Readonly<Record<string, string>>): string {
  return Object.entries(here)
    .filter(([, name]) => name.trim() !== '')
    .map(([there, name]) => `${there}=${name.trim()}`)
    .join(',');
}

/** Returns the checkpoint in a proof file, as it is sent: in base64 for addresses. Null where it is no such file. */
export function noteOf(text: string): string | null {
  if (!text.startsWith('c2sp.org/tlog-proof@v1\n')) return null;
  const gap = text.indexOf('\n\n');
  if (gap < 0) return null;
  return toBase64(utf8(text.slice(gap + 2)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

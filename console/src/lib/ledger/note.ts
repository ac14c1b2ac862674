/**
 * Signed checkpoints: docs/specs/ledger.md §5 and §6 (C2SP tlog-checkpoint, signed-note), with Ed25519 from WebCrypto.
 */
import type { Micros } from '../time/instant';
import { concat, equal, fromBase64, fromHex, sha256, toBase64, utf8, type Bytes } from './merkle';

export interface VerifierKey {
  name: string;
  id: Bytes;
  publicKey: Bytes;
}

export interface Checkpoint {
  origin: string;
  size: number;
  root: Bytes;
  /** The signed text: everything before the last empty line. */
  text: string;
  signatures: { name: string; id: Bytes; signature: Bytes }[];
}

const NOTE_BYTES_MAX = 1_048_576;
const SIGNATURES_MAX = 64;
/** Key types in the first byte of a key: signatures and cosignatures. */
const ED25519 = 1;
const COSIGNATURE = 4;
export const SIGNATURE_BYTES = 64;

/**
 * Parses a public key in the form `<name>+<id>+<key>`. Returns null if it is malformed or its ID does not match the
 * key.
 */
export function readKey(text: string): Promise<VerifierKey | null> {
  return readKeyOf(ED25519, text);
}

/** Like `readKey`, for a witness key. */
export function readWitnessKey(text: string): Promise<VerifierKey | null> {
  return readKeyOf(COSIGNATURE, text);
}

async function readKeyOf(kind: number, text: string): Promise<VerifierKey | null> {
  const [, name = '', idHex = '', base64 = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(text.trim()) ?? [];
  const id = fromHex(idHex);
  const typed = fromBase64(base64);
  if (name === '' || id === null || typed?.length !== 33 || typed[0] !== kind) return null;
  return equal(await keyId(name, typed), id) ? { name, id, publicKey: typed.slice(1) } : null;
}

/** A witness key as printed by a witness. `=https://…` may follow, as in the service settings. */
export const WITNESS_LINE = /^(?:witness key )?(\S+?)(?:=https?:\S*)?$/;

/** Parses witness keys, one per line, without duplicates. Returns an error text if a line is invalid. */
export async function readWitnessKeys(text: string): Promise<VerifierKey[] | string> {
  const lines = text.split('\n').map((line) => line.trim());
  const keys = new Map<string, VerifierKey>();
  for (const [at, line] of lines.entries()) {
    if (line === '') continue;
    const keyText = WITNESS_LINE.exec(line)?.[1] ?? '';
    const key = await readWitnessKey(keyText);
    if (key === null) {
      const which = lines.filter(Boolean).length === 1 ? 'This' : `Line ${at + 1}`;
      return (await readKey(keyText)) === null
        ? `${which} is not a valid witness key: its parts do not match. Enter it as \`timenav witness\` prints it.`
        : `${which} is a ledger key. Enter a witness key as \`timenav witness\` prints it.`;
    }
    keys.set(keyText, key);
  }
  return [...keys.values()];
}

/** Returns the same public key under the name of another ledger. */
export async function renamed({ publicKey }: VerifierKey, name: string): Promise<VerifierKey> {
  return { name, id: await keyId(name, concat(Uint8Array.of(ED25519), publicKey)), publicKey };
}

async function keyId(name: string, typed: Bytes): Promise<Bytes> {
  return (await sha256(utf8(name), Uint8Array.of(0x0a), typed)).slice(0, 4);
}

/** Parses a note with a checkpoint. Returns an error text if it is invalid. */
export function readNote(note: string): Checkpoint | string {
  if (utf8(note).length > NOTE_BYTES_MAX) return 'It is too long for a note.';
  // eslint-disable-next-line no-control-regex -- a note must not contain control characters
  if (/[\u0000-\u0009\u000b-\u001f]/.test(note))
    return 'It has characters that are not allowed in a note. Was it saved with different line endings?';
  if (!note.endsWith('\n')) return 'Its last line is incomplete: copy the whole note, including the final line break.';
  const gap = note.lastIndexOf('\n\n');
  if (gap < 0) return 'The empty line before the signatures is missing.';
  const text = note.slice(0, gap + 1);
  const lines = note.slice(gap + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) return 'It has too many signatures.';
  const signatures: Checkpoint['signatures'] = [];
  for (const line of lines) {
    const [, name = '', base64 = ''] = /^— ([^\s+]+) (\S+)$/u.exec(line) ?? [];
    const bytes = fromBase64(base64);
    if (name === '' || bytes === null || bytes.length < 5) return 'One of its signature lines is not valid.';
    signatures.push({ name, id: bytes.slice(0, 4), signature: bytes.slice(4) });
  }
  return readText(text, signatures);
}

function readText(text: string, signatures: Checkpoint['signatures']): Checkpoint | string {
  const [origin = '', sizeText = '', rootText = '', ...rest] = text.slice(0, -1).split('\n');
  const root = fromBase64(rootText);
  if (origin === '' || !/^(0|[1-9]\d*)$/.test(sizeText) || root?.length !== 32)
    return 'Its first three lines must be origin, size and root.';
  if (rest.includes('')) return 'It has an empty line in the wrong place.';
  const size = Number(sizeText);
  return Number.isSafeInteger(size)
    ? { origin, size, root, text, signatures }
    : 'Its size is larger than a ledger can be.';
}

/** Length of an Ed25519 cosignature after the key ID: a timestamp and a signature (C2SP tlog-cosignature). */
const COSIGNATURE_BYTES = 8 + SIGNATURE_BYTES;

/** End of the year 9999 in seconds since 1970. Later times cannot be displayed. */
const SECONDS_MAX = 253_402_300_799n;

/** Returns the witnesses and times of the cosignatures on a checkpoint, without verifying them. */
export function cosigners({ origin, signatures }: Checkpoint): { name: string; at: Micros }[] {
  return signatures
    .filter(({ name, signature }) => name !== origin && signature.length === COSIGNATURE_BYTES)
    .map(({ name, signature }) => {
      const seconds = new DataView(signature.buffer, signature.byteOffset, 8).getBigUint64(0);
      return { name, seconds };
    })
    .filter(({ seconds }) => seconds <= SECONDS_MAX)
    .map(({ name, seconds }) => ({ name, at: seconds * 1_000_000n }));
}

/** Time of a verified cosignature, or the reason why it is not valid. */
type Cosigned = { at: Micros } | 'not cosigned' | 'wrong signature' | 'unsupported';

/** Verifies the cosignatures of a witness on a checkpoint. All must be valid; the newest counts. */
export async function verifyCosigned(checkpoint: Checkpoint, witness: VerifierKey): Promise<Cosigned> {
  const own = checkpoint.signatures.filter((each) => each.name === witness.name && equal(each.id, witness.id));
  let newest: bigint | null = null;
  for (const { signature } of own) {
    if (signature.length !== COSIGNATURE_BYTES) return 'wrong signature';
    const seconds = new DataView(signature.buffer, signature.byteOffset, 8).getBigUint64(0);
    const text = `cosignature/v1\ntime ${seconds}\n${checkpoint.text}`;
    const isSigned = await isSignedBy(witness, text, signature.slice(8));
    if (isSigned === null) return 'unsupported';
    // Reject timestamps of zero or beyond the calendar.
    if (!isSigned || seconds === 0n || seconds > SECONDS_MAX) return 'wrong signature';
    newest = newest === null || seconds > newest ? seconds : newest;
  }
  return newest === null ? 'not cosigned' : { at: newest * 1_000_000n };
}

export type Verdict = 'signed' | 'wrong signature' | 'other key' | 'other origin' | 'unsupported';

/** Verifies a checkpoint against a key. The origin must equal the key name because one service signs many ledgers. */
export async function verify(checkpoint: Checkpoint, key: VerifierKey): Promise<Verdict> {
  if (checkpoint.origin !== key.name) return 'other origin';
  const own = checkpoint.signatures.filter((each) => each.name === key.name && equal(each.id, key.id));
  if (own.length === 0) return 'other key';
  for (const { signature } of own) {
    const isSigned = await isSignedBy(key, checkpoint.text, signature);
    if (isSigned !== true) return isSigned === null ? 'unsupported' : 'wrong signature';
  }
  return 'signed';
}

/** Whether a key signed a text; null if this browser does not support Ed25519. */
export async function isSignedBy(key: VerifierKey, text: string, signature: Bytes): Promise<boolean | null> {
  let known: CryptoKey;
  try {
    known = await crypto.subtle.importKey('raw', key.publicKey, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    return null;
  }
  if (signature.length !== SIGNATURE_BYTES) return false;
  return crypto.subtle.verify({ name: 'Ed25519' }, known, signature, utf8(text));
}

/**
 * Verifies a checkpoint against the current key and then its predecessors. An invalid signature by any of them
 * outweighs valid ones. Returns the verdict and the key it applies to.
 */
export async function verifyByAny(
  checkpoint: Checkpoint,
  keys: readonly [VerifierKey, ...VerifierKey[]],
): Promise<[Verdict, VerifierKey]> {
  const verdicts = await Promise.all(
    keys.map(async (key): Promise<[Verdict, VerifierKey]> => [await verify(checkpoint, key), key]),
  );
  const first = (expected: Verdict): [Verdict, VerifierKey] | undefined =>
    verdicts.find(([verdict]) => verdict === expected);
  return (
    first('wrong signature') ??
    first('other origin') ??
    first('signed') ??
    first('unsupported') ?? ['other key', keys[0]]
  );
}

/** Returns the timeline ID in an origin: the part after the last slash. */
export function timelineOf(origin: string): string {
  return origin.slice(origin.lastIndexOf('/') + 1);
}

/**
 * Splits a bundle into entries, each prefixed with its length as two bytes, big-endian. Returns null if the bundle is
 * truncated.
 */
export function readBundle(bundle: Bytes): Bytes[] | null {
  const entries: Bytes[] = [];
  let at = 0;
  while (at < bundle.length) {
    const [high, low] = bundle.subarray(at, at + 2);
    if (high === undefined || low === undefined) return null;
    const size = high * 256 + low;
    if (at + 2 + size > bundle.length) return null;
    entries.push(bundle.slice(at + 2, at + 2 + size));
    at += 2 + size;
  }
  return entries;
}

/** Returns the path, starting with `entries/`, of bundle `index` in a ledger of `size` entries. */
export function bundlePath(index: number, size: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const path = groups.map((group, place) => (place < groups.length - 1 ? `x${group}` : group)).join('/');
  const width = Math.min(256, size - index * 256);
  return `entries/${path}${width < 256 ? `.p/${width}` : ''}`;
}

/** Returns the content of a proof file, including the entry. */
export function proofFile(entry: string, index: number, hashes: readonly string[], note: string): string {
  const lines = hashes.map((hash) => toBase64(fromHex(hash) ?? concat()));
  return ['c2sp.org/tlog-proof@v1', `extra ${toBase64(utf8(entry))}`, `index ${index}`, ...lines, '', note].join('\n');
}

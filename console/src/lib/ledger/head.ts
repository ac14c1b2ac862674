/**
 * Head statements: the service signs the ledger and the resulting timeline state inside the transaction that writes to
 * it (docs/specs/ledger-2.md §4).
 */
import { fromBase64, type Bytes } from './merkle';
import { SIGNATURE_BYTES } from './note';

export interface HeadStatement {
  origin: string;
  size: number;
  root: Bytes;
  /** Hash over clock, counts, permissions and fork: docs/specs/ledger-2.md §5. */
  stateHash: Bytes;
  /** Root of an index over the entries, reserved for future use; null without an index. */
  indexRoot: Bytes | null;
  /** The signed text. */
  text: string;
  signature: Bytes;
}

const HEADER = 'timenav-head/v1';
const NO_INDEX = '-';
const HASH_BYTES = 32;

/** Parses a signed head statement. Returns an error text if it is invalid. */
export function readHead(signed: string): HeadStatement | string {
  const gap = signed.lastIndexOf('\n\n');
  const signature = gap < 0 || !signed.endsWith('\n') ? null : fromBase64(signed.slice(gap + 2, -1));
  if (signature?.length !== SIGNATURE_BYTES)
    return 'Its text must be followed by an empty line and a signature of 64 bytes in base64.';
  const text = signed.slice(0, gap + 1);
  const [header, origin = '', sizeText = '', ...hashes] = text.slice(0, -1).split('\n');
  if (header !== HEADER || hashes.length !== 3) return `It must have six lines and start with ${HEADER}.`;
  if (origin === '') return 'The name of its ledger is missing.';
  if (!/^(0|[1-9]\d*)$/.test(sizeText)) return 'Its size must be a decimal number without leading zeros.';
  const size = Number(sizeText);
  if (!Number.isSafeInteger(size)) return 'Its size is larger than a ledger can be.';
  const [root, stateHash, indexRoot] = hashes.map(hashOf);
  if (!root || !stateHash || (!indexRoot && hashes[2] !== NO_INDEX))
    return `Each of its hashes must be 32 bytes in base64, or ${NO_INDEX} for a missing index.`;
  return { origin, size, root, stateHash, indexRoot: indexRoot ?? null, text, signature };
}

function hashOf(line: string): Bytes | null {
  const bytes = fromBase64(line);
  return bytes?.length === HASH_BYTES ? bytes : null;
}

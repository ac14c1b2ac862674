/** Verifies a head statement in the browser and compares it with the checkpoint. No requests are sent. */
import { entriesText } from '../../../lib/events/words';
import { readHead, type HeadStatement } from '../../../lib/ledger/head';
import { equal, isConsistent, type Bytes } from '../../../lib/ledger/merkle';
import { isSignedBy, readKey, timelineOf } from '../../../lib/ledger/note';
import type { Check } from '../check';

/** The Merkle tree of the first entries of a ledger. */
export interface Tree {
  size: number;
  root: Bytes;
}

/** Evidence that two trees belong to one history. */
export interface TreeProof {
  /** The consistency proof from the smaller tree to the larger one. */
  proof: readonly Bytes[];
  /** The number of entries in the ledger if it is fewer than were signed; null otherwise. */
  left: number | null;
}

/**
 * Reads a head statement, and checks its signature and timeline. It uses the checkpoint's key, because a ledger has one
 * key.
 */
export async function checkHead(
  signed: string,
  keyText: string,
  timeline: string,
): Promise<{ head: HeadStatement | null; checks: Check[] }> {
  const head = readHead(signed);
  if (typeof head === 'string') return { head: null, checks: [{ what: 'The statement', detail: head, state: 'bad' }] };
  const key = await readKey(keyText);
  if (key === null)
    return {
      head,
      checks: [{ what: 'The key', detail: 'The verifier key is invalid: its parts do not match.', state: 'bad' }],
    };
  const isOwn = head.origin === key.name && timelineOf(head.origin) === timeline;
  const origin: Check = {
    what: 'Origin',
    detail: isOwn
      ? `It is for the timeline ${timeline}, at ${entriesText(head.size)}.`
      : `It is for ${head.origin}, not ${timeline}.`,
    state: isOwn ? 'good' : 'bad',
  };
  return { head, checks: [origin, signedBy(key.name, await isSignedBy(key, head.text, head.signature))] };
}

function signedBy(name: string, isSigned: boolean | null): Check {
  const what = 'Signature';
  if (isSigned === null)
    return {
      what,
      detail: 'This browser does not support Ed25519, so the signature was not verified. Use timenav verify.',
      state: 'unknown',
    };
  return isSigned
    ? { what, detail: `It is signed by ${name}.`, state: 'good' }
    : {
        what,
        detail: `The signature is not from ${name}: the statement was changed or signed with another key.`,
        state: 'bad',
      };
}

/** Checks that head and checkpoint belong to one history. Trees of equal size need no proof. */
export async function checkTree(head: Tree, checkpoint: Tree, { proof, left }: TreeProof): Promise<Check> {
  const what = 'The same history';
  const bad = (detail: string): Check => ({ what, detail, state: 'bad' });
  if (head.size === checkpoint.size) {
    return equal(head.root, checkpoint.root)
      ? { what, detail: 'It has the size and the root of the checkpoint.', state: 'good' }
      : bad('It has the size of the checkpoint but another root: entries were changed before they were signed.');
  }
  const [older, newer] = head.size < checkpoint.size ? [head, checkpoint] : [checkpoint, head];
  if (left !== null)
    return bad(`The ledger has ${entriesText(left)}, but ${entriesText(newer.size)} were signed: it was rolled back.`);
  if (!(await isConsistent(older.size, older.root, newer.size, newer.root, proof)))
    return bad(
      'Head and checkpoint belong to different histories: history was changed or forked. Keep both as evidence.',
    );
  const between = entriesText(newer.size - older.size);
  const detail =
    newer === head ? `It continues the checkpoint by ${between}.` : `The checkpoint continues it by ${between}.`;
  return { what, detail, state: 'good' };
}

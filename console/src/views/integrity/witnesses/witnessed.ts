/**
 * Verifies the witnessed proof of an entry in the browser, step by step: docs/specs/ledger-2.md §10. No requests are
 * sent.
 */
import { countText, entriesText } from '../../../lib/events/words';
import { climb, equal, fromHex, leafHash, toBase64, utf8, type Bytes } from '../../../lib/ledger/merkle';
import {
  readKey,
  readNote,
  renamed,
  timelineOf,
  verify,
  type Checkpoint,
  type Verdict,
  type VerifierKey,
} from '../../../lib/ledger/note';
import { checkCosigned, type Check } from '../check';

/** The service's response to a request for a witnessed proof, as far as it is verified. */
export interface WitnessedBody {
  position: number;
  leaf: string;
  hashes: string[];
  size: number;
  root: string;
  head: HeadProof | null;
  checkpoint: string;
}

interface HeadProof {
  index: number;
  count: number;
  hashes: string[];
  position: number;
  leaf: string;
  system_hashes: string[];
}

/** The fields of an entry that are compared. */
interface Entry {
  action?: unknown;
  actor?: unknown;
  seq?: unknown;
  subject?: unknown;
  timeline_id?: unknown;
}

/** A Merkle tree with its number of leaves. */
interface Tree {
  size: number;
  root: Bytes;
}

const SYSTEM = 'system';
const HEADS = 'heads';

/** The labels of the steps. */
export const STEPS = {
  note: 'Checkpoint of system',
  heads: 'Entry of system',
  tree: 'Tree of the timeline',
  entry: 'The entry',
} as const;

const isOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Parses a response; null if it is not a witnessed proof. */
export function readWitnessed(json: unknown): WitnessedBody | null {
  const { kind, position, leaf, hashes, size, root, head, checkpoint } = (json ?? {}) as Record<string, unknown>;
  const isRead =
    kind === 'witnessed' &&
    typeof position === 'number' &&
    typeof leaf === 'string' &&
    isOfTexts(hashes) &&
    typeof size === 'number' &&
    typeof root === 'string' &&
    typeof checkpoint === 'string';
  if (!isRead) return null;
  const own = head === undefined || head === null ? null : readHeadProof(head);
  return own === undefined ? null : { position, leaf, hashes, size, root, head: own, checkpoint };
}

function readHeadProof(json: unknown): HeadProof | undefined {
  const { index, count, hashes, position, leaf, system_hashes } = json as Record<string, unknown>;
  const isRead =
    typeof index === 'number' &&
    typeof count === 'number' &&
    isOfTexts(hashes) &&
    typeof position === 'number' &&
    typeof leaf === 'string' &&
    isOfTexts(system_hashes);
  return isRead ? { index, count, hashes, position, leaf, system_hashes } : undefined;
}

/**
 * Verifies a witnessed proof of the entry at `position` of `timeline`. `keyText` is the public key of that timeline.
 * Each witness must have cosigned.
 */
export async function checkWitnessed(
  response: unknown,
  { timeline, position, keyText }: { timeline: string; position: number; keyText: string },
  witnesses: readonly VerifierKey[],
): Promise<Check[]> {
  const body = readWitnessed(response);
  if (body === null)
    return [bad('The response', 'It is not a witnessed proof: something is missing. Ask the operator of the service.')];
  const key = await readKey(keyText);
  if (key === null) return [bad('The key', 'The verifier key of the timeline is invalid: its parts do not match.')];
  if (timelineOf(key.name) !== timeline) return [bad('The key', `It is the key of ${key.name}, not of ${timeline}.`)];
  const note = readNote(body.checkpoint);
  const tree = readTree(body);
  const checks: Check[] = [];
  if (typeof note === 'string') checks.push(bad(STEPS.note, note));
  else checks.push(...(await checkNote(note, key, witnesses)));
  const system = typeof note === 'string' ? null : note;
  if (timeline === SYSTEM) checks.push(sameTree(tree, system));
  else {
    const [heads, check] = await checkHeads(body.head, system);
    checks.push(check, await checkTree(body.head, heads, tree, key.name));
  }
  return [...checks, await checkEntry(body, tree, timeline, position)];
}

function readTree({ size, root }: WitnessedBody): Tree | null {
  const bytes = fromHex(root);
  return bytes?.length === 32 && Number.isSafeInteger(size) && size >= 0 ? { size, root: bytes } : null;
}

const UNSIGNED: Record<Exclude<Verdict, 'signed'>, (name: string, origin: string) => Check> = {
  'other origin': (name, origin) =>
    bad(STEPS.note, `It is a checkpoint of ${origin}, not of ${name}: this proof is from another service.`),
  'other key': (name) =>
    bad(
      STEPS.note,
      `The key of the timeline has not signed it as ${name}. ` +
        'If the key was just changed, try again after witnesses have cosigned.',
    ),
  'wrong signature': (name) =>
    bad(
      STEPS.note,
      `It claims to be signed by ${name}, but the signature is invalid: it was changed or signed with another key.`,
    ),
  unsupported: () =>
    unknown(
      STEPS.note,
      'This browser does not support Ed25519, so the signature was not verified. ' +
        'Use a newer browser or timenav verify.',
    ),
};

/** Step 1: the service signed the note of `system` with the key of the timeline, and the witnesses cosigned it. */
async function checkNote(note: Checkpoint, key: VerifierKey, witnesses: readonly VerifierKey[]): Promise<Check[]> {
  const name = `${key.name.slice(0, key.name.lastIndexOf('/'))}/${SYSTEM}`;
  const verdict = await verify(note, await renamed(key, name));
  const signed =
    verdict === 'signed'
      ? good(STEPS.note, `${name} at ${entriesText(note.size)} is signed with the key of this timeline.`)
      : UNSIGNED[verdict](name, note.origin);
  return [signed, ...(await checkCosigned(note, witnesses))];
}

/** Step 2: an entry `heads` is in the tree of the note. Returns the tree of heads that it commits to. */
async function checkHeads(head: HeadProof | null, system: Checkpoint | null): Promise<[Tree | null, Check]> {
  const what = STEPS.heads;
  if (head === null) return [null, bad(what, 'The proof does not show that system commits to this timeline.')];
  if (system === null) return [null, unknown(what, 'Not checked: this needs a valid checkpoint.')];
  const wrong = await misplaced(head.leaf, head.position, system, head.system_hashes);
  if (wrong !== null) return [null, bad(what, wrong)];
  const entry = readEntry(head.leaf);
  const isOne =
    entry?.action === HEADS &&
    entry.actor === SYSTEM &&
    entry.timeline_id === SYSTEM &&
    entry.seq === head.position &&
    typeof entry.subject === 'string';
  if (!isOne) return [null, bad(what, `It says that it is ${titled(entry)}, not entry ${head.position} of system.`)];
  const [, count = '', rootHex = ''] = /^([1-9]\d*):([0-9a-f]{64})$/.exec(entry.subject as string) ?? [];
  const root = fromHex(rootHex);
  if (root === null || count !== String(head.count))
    return [null, bad(what, `It commits to ${count || 'no'} timelines, but the proof names ${head.count}.`)];
  const timelines = countText(head.count, 'timeline');
  const detail = `Entry ${head.position.toLocaleString('en')} is under that checkpoint, and commits to ${timelines}.`;
  return [{ size: head.count, root }, good(what, detail)];
}

/** Step 3: the timeline's tree, under the name of its key, is one of those that the entry commits to. */
async function checkTree(head: HeadProof | null, heads: Tree | null, tree: Tree | null, name: string): Promise<Check> {
  const what = STEPS.tree;
  if (tree === null) return bad(what, 'The size or the root in the proof is invalid.');
  if (head === null || heads === null) return unknown(what, 'Not checked: the entry of system is not valid.');
  const text = `${name}\n${tree.size}\n${toBase64(tree.root)}\n`;
  const wrong = await misplaced(text, head.index, heads, head.hashes);
  if (wrong !== null) return bad(what, `The entry of system does not commit to this tree. ${wrong}`);
  const which = heads.size === 1 ? 'That' : 'One of these';
  return good(what, `${which} is ${name} at ${entriesText(tree.size)}, with the root of this proof.`);
}

/** Step 3 for `system` itself, which needs no such entry. */
function sameTree(tree: Tree | null, system: Checkpoint | null): Check {
  const what = STEPS.tree;
  if (tree === null) return bad(what, 'The size or the root in the proof is invalid.');
  if (system === null) return unknown(what, 'Not checked: this needs a valid checkpoint.');
  return tree.size === system.size && equal(tree.root, system.root)
    ? good(what, 'Its size and root match the checkpoint.')
    : bad(what, 'Its size or root does not match the checkpoint.');
}

/** Step 4: the entry is in the tree of the timeline, and has the right timeline and position. */
async function checkEntry(
  { leaf, hashes, position: own }: WitnessedBody,
  tree: Tree | null,
  timeline: string,
  position: number,
): Promise<Check> {
  const what = STEPS.entry;
  if (own !== position) return bad(what, `The proof is of entry ${own}, not of entry ${position}.`);
  if (tree === null) return unknown(what, 'Not checked: this needs a valid root.');
  const wrong = await misplaced(leaf, position, tree, hashes);
  if (wrong !== null) return bad(what, wrong);
  const entry = readEntry(leaf);
  if (entry?.seq !== position || entry.timeline_id !== timeline)
    return bad(what, `It says that it is ${titled(entry)}, not entry ${position} of ${timeline}.`);
  return good(what, `It is in that tree, and its text names entry ${position.toLocaleString('en')}.`);
}

/** Returns why a text is not the leaf at an index of a tree, or null if it is. */
async function misplaced(text: string, index: number, tree: Tree, proof: readonly string[]): Promise<string | null> {
  const hashes = proof.map(fromHex);
  const leaf = await leafHash(utf8(text));
  const steps = hashes.includes(null) ? null : await climb(leaf, index, tree.size, hashes as Bytes[]);
  if (steps === null) return 'The proof does not have the hashes that a tree of this size needs.';
  const top = steps.at(-1)?.parentHash ?? leaf;
  return equal(top, tree.root) ? null : 'The path ends at a different root than the signed one.';
}

/** Parses an entry; null if it is not in canonical form, for example with a duplicate member. */
function readEntry(text: string): Entry | null {
  try {
    const entry = JSON.parse(text) as Entry | null;
    return JSON.stringify(entry) === text ? entry : null;
  } catch {
    return null;
  }
}

function titled(entry: Entry | null): string {
  if (entry === null) return 'not an entry';
  const place = `entry ${String(entry.seq)} of ${String(entry.timeline_id)}`;
  return `${place}, ${String(entry.action)} by ${String(entry.actor)}`;
}

function good(what: string, detail: string): Check {
  return { what, detail, state: 'good' };
}

function bad(what: string, detail: string): Check {
  return { what, detail, state: 'bad' };
}

function unknown(what: string, detail: string): Check {
  return { what, detail, state: 'unknown' };
}

/** Verification in the browser, as a list of checks for the page. No requests are sent. */
import { countText, entriesText } from '../../lib/events/words';
import { format } from '../../lib/time/instant';
import {
  climb,
  equal,
  fromHex,
  isConsistent,
  leafHash,
  toHex,
  utf8,
  type Bytes,
  type Step,
} from '../../lib/ledger/merkle';
import {
  cosigners,
  readKey,
  readNote,
  timelineOf,
  verifyByAny,
  verifyCosigned,
  type Checkpoint,
  type Verdict,
  type VerifierKey,
} from '../../lib/ledger/note';

/** The service's response to a request for a checkpoint. */
export interface CheckpointBody {
  status: string;
  origin: string;
  size: number;
  root: string;
  checkpoint: string;
  verifier_key: string;
}

/** The service's response to a request for a proof. */
export interface ProofBody {
  status: string;
  kind: 'inclusion' | 'consistency';
  position?: number | null;
  leaf?: string | null;
  hashes: string[];
  size: number;
  root: string;
  checkpoint: string;
  verifier_key: string;
}

export interface Check {
  what: string;
  detail: string;
  state: 'good' | 'bad' | 'unknown';
}

const SIGNATURES: Record<Verdict, [Check['state'], (name: string, isRetired: boolean) => string]> = {
  signed: ['good', (name, isRetired) => `It is signed by ${name}${isRetired ? ', with the retired key' : ''}.`],
  'wrong signature': [
    'bad',
    (name) =>
      `It claims to be signed by ${name}, but the signature is invalid: it was changed or signed with another key.`,
  ],
  'other key': [
    'bad',
    (name) => `It has no signature of the key ${name}. If the key has been changed since, enter the retired one too.`,
  ],
  'other origin': ['bad', (name) => `It is a checkpoint of a different ledger than the key ${name} signs.`],
  unsupported: [
    'unknown',
    () =>
      'This browser does not support Ed25519, so the signature was not verified. ' +
      'Use a newer browser or timenav verify.',
  ],
};

/**
 * Reads a signed checkpoint, and checks its signature and timeline. A saved checkpoint may be signed by a retired key.
 */
export async function checkCheckpoint(
  note: string,
  keyText: string,
  timeline: string,
  retiredText = '',
): Promise<{ checkpoint: Checkpoint | null; checks: Check[] }> {
  const checkpoint = readNote(note);
  if (typeof checkpoint === 'string')
    return { checkpoint: null, checks: [{ what: 'The note', detail: checkpoint, state: 'bad' }] };
  const key = await readKey(keyText);
  if (key === null)
    return {
      checkpoint,
      checks: [{ what: 'The key', detail: 'The verifier key is invalid: its parts do not match.', state: 'bad' }],
    };
  const retired = retiredText === '' ? [] : [await readKey(retiredText)];
  if (retired.includes(null))
    return {
      checkpoint,
      checks: [{ what: 'The key', detail: 'The retired key is invalid: its parts do not match.', state: 'bad' }],
    };
  const [verdict, signer] = await verifyByAny(checkpoint, [key, ...(retired as VerifierKey[])]);
  const [state, words] = SIGNATURES[verdict];
  const own = timelineOf(checkpoint.origin) === timeline;
  return {
    checkpoint,
    checks: [
      {
        what: 'Origin',
        detail: own
          ? `It is for the timeline ${timeline}, at ${entriesText(checkpoint.size)}.`
          : `It is for ${checkpoint.origin}, not ${timeline}.`,
        state: own ? 'good' : 'bad',
      },
      { what: 'Signature', detail: words(signer.name, signer !== key), state },
    ],
  };
}

/**
 * Checks that witnesses cosigned a checkpoint, one check per witness. Their keys must come from outside the service.
 */
export function checkCosigned(checkpoint: Checkpoint, witnesses: readonly VerifierKey[]): Promise<Check[]> {
  return Promise.all(
    witnesses.map(async (witness): Promise<Check> => {
      const isAlone = witnesses.filter(({ name }) => name === witness.name).length === 1;
      const what = `Witness ${witness.name}${isAlone ? '' : `, key ${toHex(witness.id)}`}`;
      const cosigned = await verifyCosigned(checkpoint, witness);
      switch (cosigned) {
        case 'not cosigned':
          return { what, detail: notCosigned(checkpoint, witness.name), state: 'bad' };
        case 'wrong signature':
          return { what, detail: 'Its cosignature is invalid.', state: 'bad' };
        case 'unsupported': {
          const detail =
            'This browser does not support Ed25519, so the cosignature was not verified. ' +
            'Use a newer browser or timenav verify.';
          return { what, detail, state: 'unknown' };
        }
        default:
          return { what, detail: `It cosigned this at ${format(cosigned.at)}, by its own clock.`, state: 'good' };
      }
    }),
  );
}

function notCosigned(checkpoint: Checkpoint, name: string): string {
  if (checkpoint.signatures.some((each) => each.name === name))
    return 'It has cosigned this with another key. Ask its operator for the current key.';
  const others = [...new Set(cosigners(checkpoint).map((each) => each.name))];
  if (others.length > 0) return `It has not cosigned this. The note has cosignatures of ${others.join(', ')}.`;
  return timelineOf(checkpoint.origin) === 'system'
    ? 'It has not cosigned this. No other witness has either.'
    : 'It has not cosigned this: witnesses cosign the checkpoints of system, for all timelines.';
}

/** Checks that an entry is in a ledger: the hash of its leaf, the proof path, and the signed root. */
export async function checkInclusion(
  body: ProofBody,
  timeline: string,
  position: number,
): Promise<{ leaf: Bytes; steps: Step[] | null; checks: Check[] }> {
  const text = body.leaf ?? '';
  const leaf = await leafHash(utf8(text));
  const { checkpoint, checks: signed } = await checkCheckpoint(body.checkpoint, body.verifier_key, timeline);
  const proof = body.hashes.map(fromHex);
  const isWhole = !proof.includes(null);
  const steps = checkpoint && isWhole ? await climb(leaf, position, checkpoint.size, proof as Bytes[]) : null;
  const top = steps === null ? null : (steps.at(-1)?.parentHash ?? leaf);
  const isRoot = top !== null && checkpoint !== null && equal(top, checkpoint.root);
  return { leaf, steps, checks: [placed(text, timeline, position), climbed(steps, checkpoint, isRoot), ...signed] };
}

function placed(text: string, timeline: string, position: number): Check {
  const what = 'The entry';
  try {
    const entry = JSON.parse(text) as { seq?: unknown; timeline_id?: unknown };
    if (entry.seq !== position)
      return { what, detail: `Its position is ${String(entry.seq)}, not ${position}.`, state: 'bad' };
    if (entry.timeline_id !== timeline)
      return { what, detail: `It belongs to ${String(entry.timeline_id)}, not to ${timeline}.`, state: 'bad' };
    return {
      what,
      detail: `Its own text names entry ${position.toLocaleString('en')} of ${timeline}.`,
      state: 'good',
    };
  } catch {
    return { what, detail: 'The response is not an entry.', state: 'bad' };
  }
}

function climbed(steps: Step[] | null, checkpoint: Checkpoint | null, isRoot: boolean): Check {
  const what = 'The path to the root';
  if (steps === null || checkpoint === null)
    return { what, detail: 'The proof does not have the hashes that a ledger of this size needs.', state: 'bad' };
  if (!isRoot)
    return {
      what,
      detail: 'The path ends at a different root than the signed one: this is not the entry that was signed.',
      state: 'bad',
    };
  const count = steps.length + 1;
  return {
    what,
    detail: `${countText(count, 'hash', 'hashes')} computed here lead to the signed root.`,
    state: 'good',
  };
}

/** The result of a comparison with a saved checkpoint. */
export async function checkContinuation(
  saved: Checkpoint,
  newest: Checkpoint,
  proof: readonly string[],
): Promise<Check> {
  const what = 'History';
  if (saved.size > newest.size) {
    return {
      what,
      detail:
        `The ledger had ${entriesText(saved.size)} when you saved this, but has ${entriesText(newest.size)} now: ` +
        'it was rolled back. Keep both notes as evidence.',
      state: 'bad',
    };
  }
  const hashes = proof.map(fromHex);
  const isSame =
    !hashes.includes(null) && (await isConsistent(saved.size, saved.root, newest.size, newest.root, hashes as Bytes[]));
  if (!isSame) {
    const how =
      saved.size === newest.size
        ? 'They have the same size but different roots'
        : 'The current history does not continue the saved one';
    return {
      what,
      detail: `${how}: history was changed or forked. Keep both notes as evidence.`,
      state: 'bad',
    };
  }
  const grown = newest.size - saved.size;
  return {
    what,
    detail:
      grown === 0
        ? 'Nothing was changed, and nothing was added.'
        : `All ${entriesText(saved.size)} are unchanged; ${entriesText(grown)} were added.`,
    state: 'good',
  };
}

/** Returns the worst state of the checks. */
export function verdictOf(checks: readonly Check[]): Check['state'] {
  if (checks.some((check) => check.state === 'bad')) return 'bad';
  return checks.some((check) => check.state === 'unknown') ? 'unknown' : 'good';
}

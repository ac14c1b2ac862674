/** Texts about a witnessed proof: why it is missing, and how to verify it elsewhere. */
import { ApiError, capital } from '../../../lib/service/api';
import { WITNESS_LINE } from '../../../lib/ledger/note';

/** Returns advice if the service has no such proof, or null if it rejected the request for another reason. */
export function rejectionText(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === 'feature_disabled')
    return (
      'No witness has cosigned a checkpoint of this service yet. Its operator configures witnesses with ' +
      '`timenav serve --witness`, and `/metrics` shows the state of each.'
    );
  if (error.code !== 'invalid_parameter' || error.field !== 'position') return null;
  return (
    `${capital(error.errors[0]?.detail ?? error.detail)} The service sends checkpoints to witnesses at an ` +
    'interval, by default every minute. If the number does not change, ask the operator whether the witnesses ' +
    'respond.'
  );
}

/** Returns the command line, in parts, that verifies a saved proof with the same keys. */
export function verifyCommand(file: string, verifierKey: string, witnesses: string): string[] {
  const keys = witnesses.split('\n').flatMap((line) => WITNESS_LINE.exec(line.trim())?.[1] ?? []);
  const options = (keys.length === 0 ? ['KEY'] : keys).map((key) => `--witness ${quoted(key)}`);
  return [`timenav verify ${quoted(file)}`, `--verifier-key ${quoted(verifierKey)}`, ...options];
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w.+/=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

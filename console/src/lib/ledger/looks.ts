/** Which entries of a ledger change nothing. */

const LOOKS: readonly string[] = ['read', 'reads', 'reads_erased', 'renew_session'];

/** Returns whether an action is a read, or a session that goes on with one. */
export const isLook = (action: string): boolean => LOOKS.includes(action);

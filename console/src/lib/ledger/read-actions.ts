/** Ledger entries that change nothing. */

const READ_ACTIONS: readonly string[] = ['read', 'reads', 'reads_erased', 'renew_session'];

/** Whether an action is a read or a session renewal. */
export const isReadAction = (action: string): boolean => READ_ACTIONS.includes(action);

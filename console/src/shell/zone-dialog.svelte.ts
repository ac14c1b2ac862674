/** Whether the time zone dialog is open. Shared by the header and the account menu. */
export const zoneDialog = $state({ isOpen: false });

/** Whether the dialog of time zones is open: the header and the menu of the account both open it. */
export const zoneDialog = $state({ isOpen: false });

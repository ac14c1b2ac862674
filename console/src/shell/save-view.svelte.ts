/** Whether the dialog of saved views is open: it lies over whichever view is to be saved. */
export const saveView = $state({ isOpen: false });

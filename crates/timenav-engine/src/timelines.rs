pub(crate) mod commands;
pub(crate) mod destroying;
pub(crate) mod ends;
pub(crate) mod diff;
pub(crate) mod bundles;
pub(crate) mod sweeping;

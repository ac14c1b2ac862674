//! Commands that read and prove entries.

pub(crate) mod entries;
pub(crate) mod proof;

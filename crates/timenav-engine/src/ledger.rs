//! Entries of ledgers, and the statements about them.

pub(crate) mod head;
pub(crate) mod action;
pub(crate) mod unknown_entry;
pub(crate) mod payload;
pub(crate) mod tree;
pub(crate) mod stated;
pub(crate) mod statement;
pub(crate) mod notes;
pub(crate) mod changes;
pub(crate) mod published;
pub(crate) mod proofs;
pub(crate) mod entries;
pub(crate) mod import_id;

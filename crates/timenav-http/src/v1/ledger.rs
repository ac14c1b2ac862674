//! Entries, their proofs, and the search for tampering.

pub(crate) mod entries;
pub(crate) mod proofs;
pub(crate) mod tampering;
pub(crate) mod tiles;

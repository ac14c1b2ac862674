//! Attacks on the ledger itself: entries with their contents, heads and signing keys.

pub(crate) mod authority;
mod carried_over;
pub(crate) mod contents;
mod entries;
mod heads;
mod rewritten;
mod rollback;
mod signing_keys;

//! Encoding of stored leaves. Read entries have a short form, which can be rebuilt from their position.

use std::borrow::Cow;

use timenav_core::ledger::{LeafRecord, PruneClass, ReadsEntry, rebuilt_leaf};

/// Prefix of read entries. No other entry has it.
const OF_READS: &[u8] = b"{\"action\":\"reads\",";

/// Returns the stored form of a leaf.
pub(crate) fn stored_form(leaf: &[u8]) -> Cow<'_, [u8]> {
    let of_reads = leaf.starts_with(OF_READS).then(|| LeafRecord::decode(leaf).ok());
    match of_reads.flatten().and_then(|record| ReadsEntry::of(&record)) {
        Some(entry) => entry.to_bytes().into(),
        None => leaf.into(),
    }
}

/// Prefix of the leaf of an entry of version 1 or 2.
const ACTION: &[u8] = b"{\"action\":\"";

/// Returns whether a stored leaf is in the short form, which only read entries have.
pub(crate) fn is_short(stored: &[u8]) -> bool {
    stored.first() != Some(&b'{')
}

/// Returns the bytes that are hashed into the tree. `name` is the name that the timeline had when the entry was
/// written. A malformed stored leaf is returned unchanged, so that verification reports it.
pub(crate) fn whole<'a>(stored: &'a [u8], name: &str, seq: u64) -> Cow<'a, [u8]> {
    if is_short(stored) { rebuilt_leaf(stored, name, seq).unwrap_or(Cow::Borrowed(stored)) } else { stored.into() }
}

/// Returns whether retention may prune an entry, given its stored leaf. The short form means a read entry.
pub(crate) fn may_go(stored: &[u8]) -> bool {
    let Some(rest) = stored.strip_prefix(ACTION) else { return is_short(stored) };
    let word = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
    std::str::from_utf8(word).is_ok_and(|action| PruneClass::of(action).is_some())
}

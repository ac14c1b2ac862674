//! Leaves as they are kept. What tells of reads is kept in a short form: there are many, and each follows from its place.

use std::borrow::Cow;

use timenav_core::ledger::{LeafRecord, LetGoClass, ReadsEntry, rebuilt_leaf};

/// What an entry of reads begins with. No other entry does.
const OF_READS: &[u8] = b"{\"action\":\"reads\",";

/// Returns what is kept of a leaf.
pub(crate) fn kept(leaf: &[u8]) -> Cow<'_, [u8]> {
    let of_reads = leaf.starts_with(OF_READS).then(|| LeafRecord::decode(leaf).ok());
    match of_reads.flatten().and_then(|record| ReadsEntry::of(&record)) {
        Some(entry) => entry.to_bytes().into(),
        None => leaf.into(),
    }
}

/// What the leaf of an entry of version 1 or 2 begins with.
const ACTION: &[u8] = b"{\"action\":\"";

/// Returns whether a leaf is kept in the short form, and so tells of reads.
pub(crate) fn is_short(kept: &[u8]) -> bool {
    kept.first() != Some(&b'{')
}

/// Returns the bytes that are hashed into the tree. `told` is the name of the timeline where they were written. What is
/// kept and neither form of an entry is returned as it is, for whoever looks at it to say so.
pub(crate) fn whole<'a>(kept: &'a [u8], told: &str, seq: u64) -> Cow<'a, [u8]> {
    if is_short(kept) { rebuilt_leaf(kept, told, seq).unwrap_or(Cow::Borrowed(kept)) } else { kept.into() }
}

/// Returns whether retention may let go what belongs to a leaf, as the leaf is kept. The short form tells of reads.
pub(crate) fn may_go(kept: &[u8]) -> bool {
    let Some(rest) = kept.strip_prefix(ACTION) else { return is_short(kept) };
    let word = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
    std::str::from_utf8(word).is_ok_and(|action| LetGoClass::of(action).is_some())
}

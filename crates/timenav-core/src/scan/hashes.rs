//! The hashes of an entry. They depend only on the entry, so that several threads can compute them.

use std::collections::HashSet;

use crate::ledger::{Hash, LeafRecord, ReadsEntry, RemainingReads, Salt, leaf_hash, payload_hash};

/// The start of the leaf of an entry of reads.
const OF_READS: &[u8] = b"{\"action\":\"reads\",";

/// An entry as stored, possibly damaged.
#[derive(Clone, Copy, Debug)]
pub struct EntryBytes<'a> {
    pub position: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: &'a [u8],
    /// Hashed before the payload; empty if the payload was erased.
    pub salt: &'a [u8],
    /// Empty if it was erased.
    pub payload: &'a [u8],
}

impl EntryBytes<'_> {
    #[must_use]
    pub const fn is_erased(&self) -> bool {
        self.salt.is_empty() && self.payload.is_empty()
    }
}

#[derive(Clone, Debug)]
pub struct EntryHashes {
    pub(super) leaf: Hash,
    /// The payload hash, or why there is none; `None` if the payload is erased.
    pub(super) payload: Option<Result<Hash, String>>,
    readers: Option<Vec<ReadBy>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBy {
    pub key: String,
    pub user: String,
    /// The operation, such as `clock` or `monitor_events`.
    pub action: String,
}

impl EntryHashes {
    #[must_use]
    pub fn of(entry: &EntryBytes<'_>) -> Self {
        let leaf = leaf_hash(entry.leaf);
        if entry.is_erased() {
            return Self { leaf, payload: None, readers: None };
        }
        if contains_reads(entry.leaf) {
            let reads = RemainingReads::parse(entry.salt, entry.payload);
            let readers = reads.as_ref().ok().map(readers);
            let payload = reads.map(|reads| reads.root()).map_err(|error| error.to_string());
            return Self { leaf, payload: Some(payload), readers };
        }
        let salt = entry.salt.try_into().map(Salt::from_bytes);
        let salt = salt.map_err(|_| format!("the salt has {} bytes instead of {}", entry.salt.len(), Salt::BYTES));
        Self { leaf, payload: Some(salt.map(|salt| payload_hash(&salt, entry.payload))), readers: None }
    }

    /// Returns the readers of an entry of reads, without duplicates, in the order of their first read; `None` for any
    /// other entry, or if the reads cannot be parsed.
    #[must_use]
    pub fn readers(&self) -> Option<&[ReadBy]> {
        self.readers.as_deref()
    }
}

fn contains_reads(leaf: &[u8]) -> bool {
    leaf.starts_with(OF_READS) && LeafRecord::decode(leaf).is_ok_and(|record| ReadsEntry::of(&record).is_some())
}

fn readers(reads: &RemainingReads<'_>) -> Vec<ReadBy> {
    let (mut seen, mut last, mut readers) = (HashSet::new(), None, Vec::new());
    for read in reads.iter().flatten() {
        let by = (&*read.key, &*read.user, &*read.action);
        // Most duplicates are adjacent.
        if last.replace(by) != Some(by) && seen.insert(by) {
            let (key, user, action) = by;
            readers.push(ReadBy { key: key.to_owned(), user: user.to_owned(), action: action.to_owned() });
        }
    }
    readers
}

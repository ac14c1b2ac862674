//! The hashes of an entry, which follow from it alone: several threads may make those of many.

use std::collections::HashSet;

use crate::ledger::{Hash, KeptReads, LeafRecord, ReadsEntry, Salt, leaf_hash, payload_hash};

/// What the leaf of an entry of reads begins with.
const OF_READS: &[u8] = b"{\"action\":\"reads\",";

/// An entry as it is kept, whatever that is.
#[derive(Clone, Copy, Debug)]
pub struct EntryBytes<'a> {
    /// Where it is kept.
    pub position: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: &'a [u8],
    /// Hashed before the payload; nothing where the payload was erased.
    pub salt: &'a [u8],
    /// What happened; nothing where it was erased.
    pub payload: &'a [u8],
}

impl EntryBytes<'_> {
    /// Returns whether the payload and its salt are gone.
    #[must_use]
    pub const fn is_erased(&self) -> bool {
        self.salt.is_empty() && self.payload.is_empty()
    }
}

/// The hashes of an entry as it is kept.
#[derive(Clone, Debug)]
pub struct EntryHashes {
    pub(super) leaf: Hash,
    /// What stands for the payload in the entry, or why nothing does; `None` where it is erased.
    pub(super) payload: Option<Result<Hash, String>>,
    readers: Option<Vec<ReadBy>>,
}

/// Who read, and what kind of thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBy {
    /// The id of the key or session that asked.
    pub key: String,
    /// Who asked.
    pub user: String,
    /// What was read: `clock`, `monitor_events`.
    pub action: String,
}

impl EntryHashes {
    /// Hashes an entry.
    #[must_use]
    pub fn of(entry: &EntryBytes<'_>) -> Self {
        let leaf = leaf_hash(entry.leaf);
        if entry.is_erased() {
            return Self { leaf, payload: None, readers: None };
        }
        if tells_of_reads(entry.leaf) {
            let reads = KeptReads::parse(entry.salt, entry.payload);
            let readers = reads.as_ref().ok().map(readers);
            let payload = reads.map(|reads| reads.root()).map_err(|error| error.to_string());
            return Self { leaf, payload: Some(payload), readers };
        }
        let salt = entry.salt.try_into().map(Salt::from_bytes);
        let salt = salt.map_err(|_| format!("the salt has {} bytes instead of {}", entry.salt.len(), Salt::BYTES));
        Self { leaf, payload: Some(salt.map(|salt| payload_hash(&salt, entry.payload))), readers: None }
    }

    /// Returns who made the reads that an entry tells of, each once, in the order in which they first appear; `None`
    /// where it tells of none, or they cannot be read.
    #[must_use]
    pub fn readers(&self) -> Option<&[ReadBy]> {
        self.readers.as_deref()
    }
}

fn tells_of_reads(leaf: &[u8]) -> bool {
    leaf.starts_with(OF_READS) && LeafRecord::decode(leaf).is_ok_and(|record| ReadsEntry::of(&record).is_some())
}

fn readers(reads: &KeptReads<'_>) -> Vec<ReadBy> {
    let (mut seen, mut last, mut readers) = (HashSet::new(), None, Vec::new());
    for read in reads.iter().flatten() {
        let by = (&*read.key, &*read.user, &*read.action);
        // Most come one after the other.
        if last.replace(by) != Some(by) && seen.insert(by) {
            let (key, user, action) = by;
            readers.push(ReadBy { key: key.to_owned(), user: user.to_owned(), action: action.to_owned() });
        }
    }
    readers
}

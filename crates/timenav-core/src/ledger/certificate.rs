//! What a key with a horizon has seen, as the service signs it.

use std::fmt::Write as _;

use super::{Hash, Salt, leaf_hash, sha256, tree_root};
use crate::horizon::Horizon;
use crate::ids::{KeyId, UserId};
use crate::time::{Instant, Virtual};

mod check;

#[cfg(test)]
mod tests;

pub use check::{CertificateCheck, CertificateError};

/// The first line. The second one is the origin, where a checkpoint has a number: neither is taken for the other.
const FIRST_LINE: &str = "timenav-certificate/v1";

/// What a key with a horizon has seen, as far as entries of its timeline's ledger tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The ledger's name.
    pub origin: String,
    /// The key.
    pub key_id: KeyId,
    /// The user it belongs to.
    pub user_id: UserId,
    /// How far it sees.
    pub horizon: Horizon,
    /// The first position that was looked at.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// What the entries there tell.
    pub seen: CertifiedReads,
    /// Entries in the tree that the proofs lead to.
    pub size: u64,
    /// Its root.
    pub root: Hash,
    /// Other keys and sessions of the user that work when it is signed, and may have seen more.
    pub others: u64,
}

/// What entries tell of the reads of one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertifiedReads {
    /// How many reads there are.
    pub reads: u64,
    /// How many of them are streams: what a clock showed while it was watched is in no entry.
    pub streams: u64,
    /// In how many entries.
    pub entries: u64,
    /// How often the key was refused.
    pub refusals: u64,
    /// Entries of reads and single reads whose contents were let go or erased: whose they were is not known.
    pub gone: u64,
    /// The latest instant that a clock showed at one of the reads.
    pub latest_time: Option<Instant<Virtual>>,
    /// The last position that one of the reads could see.
    pub latest_position: Option<u64>,
    leaves: Vec<Hash>,
}

impl CertifiedReads {
    /// Adds a read: its salt and its bytes as the entry commits to them, and the position of that entry, before which it
    /// saw.
    pub fn add(&mut self, (salt, read): (&Salt, &[u8]), position: u64, shown: Instant<Virtual>, horizon: Horizon) {
        self.reads += 1;
        let before = position.checked_sub(1);
        let seen = before.map(|before| horizon.known_at.map_or(before, |known_at| known_at.min(before)));
        self.latest_position = self.latest_position.max(seen);
        if horizon.until_clock {
            self.latest_time = self.latest_time.max(Some(shown));
        }
        self.leaves.push(leaf_hash(sha256(&[salt.as_bytes(), read]).as_bytes()));
    }

    /// Returns the root over the reads, in their order: an RFC 6962 tree over SHA-256(salt ‖ read) of each.
    #[must_use]
    pub fn root(&self) -> Hash {
        tree_root(&self.leaves)
    }
}

impl Certificate {
    /// Returns the text that is signed. Each line but the last is a word and its values; what is not there is `-`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { origin, key_id, user_id, horizon, from, to, seen, size, root, others } = self;
        let horizon_word = if horizon.until_clock { Horizon::CLOCK } else { "-" };
        let CertifiedReads { reads, streams, entries, refusals, gone, .. } = seen;
        let mut text = format!("{FIRST_LINE}\n{origin}\n");
        let mut line =
            |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect("a string takes every character");
        line(format_args!("key {key_id}"));
        line(format_args!("user {user_id}"));
        line(format_args!("horizon {horizon_word}"));
        line(format_args!("known-at {}", or_none(horizon.known_at)));
        line(format_args!("range {from} {to}"));
        line(format_args!("reads {reads}"));
        line(format_args!("streams {streams}"));
        line(format_args!("entries {entries}"));
        line(format_args!("refusals {refusals}"));
        line(format_args!("gone {gone}"));
        line(format_args!("latest-time {}", or_none(seen.latest_time)));
        line(format_args!("latest-position {}", or_none(seen.latest_position)));
        line(format_args!("reads-root {}", seen.root().to_base64()));
        line(format_args!("tree {size} {}", root.to_base64()));
        line(format_args!("others {others}"));
        line(format_args!("not certified: what the reader knew before, or learned elsewhere"));
        text
    }
}

fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

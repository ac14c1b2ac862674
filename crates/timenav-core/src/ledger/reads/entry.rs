use std::borrow::Cow;

use super::super::leaf::{Authority, Leaf, LeafRecord, SEQ_MAX};
use super::{Hash, READS_ACTION};
use crate::time::{Instant, Virtual, Wall};

/// Bytes of the compact form before the directory version.
const FIXED_BYTES: usize = 8 + 8 + Hash::BYTES;

/// The members of an entry of reads that do not follow from its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadsEntry {
    pub recorded_at: Instant<Wall>,
    pub clock_time: Instant<Virtual>,
    /// The root over the reads.
    pub payload_hash: Hash,
    /// As in [`Authority`]; at most [`SEQ_MAX`].
    pub directory: u64,
}

impl ReadsEntry {
    /// Returns `None` unless the entry is of version 2 and [`ReadsEntry::leaf`] reproduces it byte by byte.
    #[must_use]
    pub fn of(record: &LeafRecord<'_>) -> Option<Self> {
        let Authority { key, directory } = record.authority.as_ref()?;
        let is_nobodys = record.actor.is_empty() && record.subject.is_empty() && key.is_empty();
        if record.action != READS_ACTION || !is_nobodys {
            return None;
        }
        Some(Self {
            recorded_at: Instant::written(&record.recorded_at)?,
            clock_time: Instant::written(&record.clock_time)?,
            payload_hash: record.payload_hash,
            directory: *directory,
        })
    }

    #[must_use]
    pub fn leaf(&self, timeline_id: &str, seq: u64) -> Vec<u8> {
        let leaf = Leaf {
            timeline_id,
            seq,
            recorded_at: &self.recorded_at.to_string(),
            clock_time: &self.clock_time.to_string(),
            actor: "",
            action: READS_ACTION,
            subject: "",
            payload_hash: self.payload_hash,
        };
        leaf.encode_v2(&Authority { key: "".into(), directory: self.directory })
    }

    /// Returns 48 to 55 bytes: `recorded_at` and `clock_time` in microseconds since 1970, each as eight signed bytes,
    /// the payload hash, and the directory version without leading zeros. All numbers are big-endian. The result never
    /// starts with `{`, as a complete entry does.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED_BYTES + 8);
        bytes.extend_from_slice(&self.recorded_at.micros().to_be_bytes());
        bytes.extend_from_slice(&self.clock_time.micros().to_be_bytes());
        bytes.extend_from_slice(self.payload_hash.as_bytes());
        let zeros = self.directory.leading_zeros() as usize / 8;
        bytes.extend_from_slice(&self.directory.to_be_bytes()[zeros..]);
        bytes
    }

    /// Parses the output of [`ReadsEntry::to_bytes`], and nothing else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (recorded_at, rest) = bytes.split_first_chunk()?;
        let (clock_time, rest) = rest.split_first_chunk()?;
        let (payload_hash, digits) = rest.split_first_chunk()?;
        if digits.len() > 8 || digits.first() == Some(&0) {
            return None;
        }
        let directory = digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit));
        Some(Self {
            recorded_at: Instant::from_micros(i64::from_be_bytes(*recorded_at))?,
            clock_time: Instant::from_micros(i64::from_be_bytes(*clock_time))?,
            payload_hash: Hash::from_bytes(*payload_hash),
            directory: (directory <= SEQ_MAX).then_some(directory)?,
        })
    }
}

/// Returns the bytes of an entry that is stored completely or in the compact form of [`ReadsEntry::to_bytes`]. Returns
/// `None` if it is neither. A complete entry is not validated; use [`LeafRecord::decode`] for that.
#[must_use]
pub fn rebuilt_leaf<'a>(stored_leaf: &'a [u8], timeline_id: &str, seq: u64) -> Option<Cow<'a, [u8]>> {
    if stored_leaf.first() == Some(&b'{') {
        return Some(stored_leaf.into());
    }
    ReadsEntry::from_bytes(stored_leaf).map(|entry| entry.leaf(timeline_id, seq).into())
}

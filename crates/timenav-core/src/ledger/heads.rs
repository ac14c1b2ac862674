//! `heads` entries, which commit `system` to the trees of other timelines. A cosignature on `system` therefore covers
//! them.
//!
//! The entry's subject is the number of heads and the root of a tree over them (RFC 6962). Each leaf is the text of a
//! timeline's checkpoint, so an inclusion proof for one timeline does not reveal others.

use super::canonical::{Malformed, Scanner, Writer};
use super::checkpoint::{Checkpoint, origin};
use super::leaf::LeafRecord;
use super::merkle::{leaf_hash, tree_root};
use super::proof::{ProofError, verify_inclusion};
use super::{Hash, parse_decimal};
use crate::ids::TimelineId;

#[cfg(test)]
mod tests;

/// The action of a `system` entry that commits to the trees of other timelines.
pub const HEADS_ACTION: &str = "heads";

/// Most heads in one entry. The remaining ones go into further entries.
pub const HEADS_MAX: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedHead {
    pub root: Hash,
    pub size: u64,
    pub timeline_id: TimelineId,
}

impl CommittedHead {
    /// Returns the leaf: the text of the timeline's checkpoint.
    fn leaf(&self, service_name: &str) -> Hash {
        let (origin, size, root) = (origin(service_name, self.timeline_id.as_str()), self.size, self.root);
        leaf_hash(Checkpoint { origin, size, root, extensions: Vec::new() }.to_text().as_bytes())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedHeads {
    /// Not empty, ordered by timeline id.
    heads: Vec<CommittedHead>,
    /// The position of the previous `heads` entry.
    pub previous: Option<u64>,
}

impl CommittedHeads {
    /// Sorts the heads. Returns `None` if there are none, more than [`HEADS_MAX`], or two of one timeline.
    #[must_use]
    pub fn new(mut heads: Vec<CommittedHead>, previous: Option<u64>) -> Option<Self> {
        heads.sort_by(|a, b| a.timeline_id.cmp(&b.timeline_id));
        let is_one_each = heads.windows(2).all(|pair| pair[0].timeline_id != pair[1].timeline_id);
        ((1..=HEADS_MAX).contains(&heads.len()) && is_one_each).then_some(Self { heads, previous })
    }

    #[must_use]
    pub fn as_slice(&self) -> &[CommittedHead] {
        &self.heads
    }

    #[must_use]
    pub fn leaves(&self, service_name: &str) -> Vec<Hash> {
        self.heads.iter().map(|head| head.leaf(service_name)).collect()
    }

    /// Returns the subject of the entry: the number of heads, and the root of the tree over them.
    #[must_use]
    pub fn subject(&self, service_name: &str) -> String {
        subject(self.heads.len() as u64, &tree_root(&self.leaves(service_name)))
    }

    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"heads\":").array(&self.heads, |writer, head| {
            writer.raw("{\"root\":").hash(&head.root).raw(",\"size\":").integer(head.size);
            writer.raw(",\"timeline_id\":").text(head.timeline_id.as_str()).raw("}");
        });
        if let Some(previous) = self.previous {
            writer.raw(",\"previous\":").integer(previous);
        }
        writer.raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`CommittedHeads::encode`], and nothing else.
    ///
    /// # Errors
    /// The encoding differs, or there are too many heads or they are not in order.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"heads\":[")?;
        let mut heads: Vec<CommittedHead> = Vec::new();
        loop {
            let wrong = scanner.malformed("the tree of a timeline, in ascending order of names and within the limit");
            scanner.expect("{\"root\":\"")?;
            let root = scanner.hash()?;
            scanner.expect(",\"size\":")?;
            let size = scanner.integer()?;
            scanner.expect(",\"timeline_id\":\"")?;
            let timeline_id = TimelineId::new(&scanner.text()?).map_err(|_| wrong)?;
            scanner.expect("}")?;
            let is_after = heads.last().is_none_or(|last| last.timeline_id < timeline_id);
            if !is_after || heads.len() == HEADS_MAX {
                return Err(wrong);
            }
            heads.push(CommittedHead { root, size, timeline_id });
            if !scanner.skip(",") {
                break;
            }
        }
        scanner.expect("]")?;
        let previous = if scanner.skip(",\"previous\":") { Some(scanner.integer()?) } else { None };
        scanner.expect("}")?;
        scanner.end()?;
        Ok(Self { heads, previous })
    }
}

fn subject(count: u64, root: &Hash) -> String {
    format!("{count}:{}", root.to_hex())
}

/// Proves that a `heads` entry commits to a timeline's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadProof {
    pub index: u64,
    pub count: u64,
    /// The hashes from the head to the root of the heads.
    pub hashes: Vec<Hash>,
    /// The position of the `heads` entry on `system`.
    pub position: u64,
    pub leaf: Vec<u8>,
    /// The hashes from the entry to the root of `system`.
    pub system_hashes: Vec<Hash>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadProofError {
    #[error("the entry of `system` does not commit to the trees of timelines")]
    Entry,
    #[error("the entry is not in the tree of `system`: {0}")]
    System(ProofError),
    #[error("the entry of `system` does not commit to the tree: {0}")]
    Head(ProofError),
}

impl HeadProof {
    /// Verifies that the tree of the checkpoint `head` is committed to by an entry in the tree of the checkpoint
    /// `system`. The caller must verify the signatures of the latter.
    ///
    /// # Errors
    /// The proof is not valid.
    pub fn verify(&self, head: &Checkpoint, system: &Checkpoint) -> Result<(), HeadProofError> {
        verify_inclusion(self.position, system.size, &leaf_hash(&self.leaf), &self.system_hashes, &system.root)
            .map_err(HeadProofError::System)?;
        let record = LeafRecord::decode(&self.leaf).map_err(|_| HeadProofError::Entry)?;
        let is_it = record.action == HEADS_ACTION
            && record.seq == self.position
            && record.timeline_id == TimelineId::SYSTEM
            && record.actor == TimelineId::SYSTEM;
        let counts = record.subject.split_once(':').filter(|_| is_it);
        let counts = counts.and_then(|(count, root)| Some((parse_decimal(count)?, Hash::from_hex(root)?)));
        let (count, root) = counts.filter(|(count, _)| *count == self.count).ok_or(HeadProofError::Entry)?;
        let leaf = leaf_hash(head.to_text().as_bytes());
        verify_inclusion(self.index, count, &leaf, &self.hashes, &root).map_err(HeadProofError::Head)
    }
}

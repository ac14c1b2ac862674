//! The Merkle tree of RFC 6962 §2.1, grown one leaf at a time.

use super::leaf::SEQ_MAX;
use super::{Hash, sha256};

#[cfg(test)]
mod tests;

const LEAF_PREFIX: u8 = 0;
const NODE_PREFIX: u8 = 1;

/// Returns the hash of an entry: SHA-256(0x00 ‖ entry). RFC 6962 §2.1.
#[must_use]
pub fn leaf_hash(entry: &[u8]) -> Hash {
    sha256(&[&[LEAF_PREFIX], entry])
}

/// Returns the hash over two subtrees: SHA-256(0x01 ‖ left ‖ right). RFC 6962 §2.1.
#[must_use]
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut bytes = [NODE_PREFIX; 1 + 2 * Hash::BYTES];
    bytes[1..=Hash::BYTES].copy_from_slice(left.as_bytes());
    bytes[1 + Hash::BYTES..].copy_from_slice(right.as_bytes());
    sha256(&[&bytes])
}

/// Returns the root of a tree without leaves: SHA-256 of nothing.
#[must_use]
pub fn empty_root() -> Hash {
    sha256(&[])
}

/// Returns the root over complete subtrees of falling height, given from left to right. Without
/// any, that is [`empty_root`].
#[must_use]
pub fn fold(hashes: &[Hash]) -> Hash {
    let folded = hashes.iter().rev().copied().reduce(|right, left| node_hash(&left, &right));
    folded.unwrap_or_else(empty_root)
}

/// Returns the root of the tree with those leaf hashes; or of the subtree with those hashes,
/// where they all stand at one height.
#[must_use]
pub fn tree_root(hashes: &[Hash]) -> Hash {
    let mut frontier = Frontier::default();
    for hash in hashes {
        frontier.push(*hash);
    }
    frontier.root()
}

/// A complete subtree: the one over the 2^height leaves from index · 2^height on.
///
/// Its hash never changes once the tree has grown past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subtree {
    /// Levels above the leaves; 0 is a single leaf.
    pub height: u8,
    /// How many subtrees of this height stand to its left.
    pub index: u64,
}

/// The right edge of a growing tree: all that is needed to add leaves and to know the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// The complete subtrees that `size` is made of, from left to right: one for every bit set
    /// in it, the highest first.
    hashes: Vec<Hash>,
}

/// Why bytes are not a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontierError {
    /// No ledger is that long.
    #[error("a tree can have at most 2^53 leaves, not {size}")]
    Size {
        /// The size that was given.
        size: u64,
    },
    /// The bytes are not as many as the size demands.
    #[error("the frontier of {size} leaves must have {expected} bytes, not {found}")]
    Length {
        /// The size that was given.
        size: u64,
        /// 32 for every bit set in it.
        expected: usize,
        /// What was given.
        found: usize,
    },
}

impl Frontier {
    /// Returns the number of leaves.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hashes of the complete subtrees, from left to right.
    #[must_use]
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Adds a leaf on the right.
    pub fn push(&mut self, leaf: Hash) {
        self.push_visiting(leaf, |_, _| ());
    }

    /// Adds a leaf on the right and calls `completed` for every subtree that it completes, from
    /// the leaf itself upward. Over many leaves these are two a leaf at most.
    pub fn push_visiting(&mut self, leaf: Hash, mut completed: impl FnMut(Subtree, Hash)) {
        let mut subtree = Subtree { height: 0, index: self.size };
        let mut hash = leaf;
        completed(subtree, hash);
        while subtree.index % 2 == 1
            && let Some(left) = self.hashes.pop()
        {
            subtree = Subtree { height: subtree.height + 1, index: subtree.index / 2 };
            hash = node_hash(&left, &hash);
            completed(subtree, hash);
        }
        self.hashes.push(hash);
        self.size += 1;
    }

    /// Returns the root.
    #[must_use]
    pub fn root(&self) -> Hash {
        fold(&self.hashes)
    }

    /// Returns the hashes, one after the other: 32 bytes for every bit set in the size.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.hashes.iter().flat_map(Hash::as_bytes).copied().collect()
    }

    /// Returns the frontier of that size with those hashes.
    ///
    /// # Errors
    /// The size is impossible, or the length of the bytes does not fit it.
    pub fn from_bytes(size: u64, bytes: &[u8]) -> Result<Self, FrontierError> {
        if size > SEQ_MAX + 1 {
            return Err(FrontierError::Size { size });
        }
        let (hashes, rest) = bytes.as_chunks::<{ Hash::BYTES }>();
        let expected = Hash::BYTES * size.count_ones() as usize;
        if bytes.len() != expected || !rest.is_empty() {
            return Err(FrontierError::Length { size, expected, found: bytes.len() });
        }
        let hashes = hashes.iter().copied().map(Hash::from_bytes).collect();
        Ok(Self { size, hashes })
    }
}

//! The Merkle tree of RFC 6962 §2.1, built one leaf at a time.

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

/// Returns the root of a tree without leaves: SHA-256 of the empty string.
#[must_use]
pub fn empty_root() -> Hash {
    sha256(&[])
}

/// Returns the root over complete subtrees of decreasing height, or [`empty_root`] without any.
#[must_use]
pub fn fold(hashes: &[Hash]) -> Hash {
    let folded = hashes.iter().rev().copied().reduce(|right, left| node_hash(&left, &right));
    folded.unwrap_or_else(empty_root)
}

/// Returns the root over these leaf hashes, or over subtree hashes that are all at one height.
#[must_use]
pub fn tree_root(hashes: &[Hash]) -> Hash {
    let mut frontier = Frontier::default();
    for hash in hashes {
        frontier.push(*hash);
    }
    frontier.root()
}

/// A complete subtree: the one over the 2^height leaves from index · 2^height on. Its hash never changes once the tree
/// is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subtree {
    /// Levels above the leaves; 0 is a single leaf.
    pub height: u8,
    /// Number of subtrees of this height to its left.
    pub index: u64,
}

/// The right edge of a growing tree: sufficient for adding leaves and computing the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// The complete subtrees that make up `size`, from left to right: one for every bit set in it, the highest first.
    hashes: Vec<Hash>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontierError {
    #[error("a tree can have at most 2^53 leaves, not {size}")]
    Size { size: u64 },
    #[error("the frontier of {size} leaves must have {expected} bytes, not {found}")]
    Length {
        size: u64,
        /// 32 for every bit set in the size.
        expected: usize,
        found: usize,
    },
}

impl Frontier {
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hashes of the complete subtrees, from left to right.
    #[must_use]
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    pub fn push(&mut self, leaf: Hash) {
        self.push_visiting(leaf, |_, _| ());
    }

    /// Appends a leaf and calls `completed` for every subtree that it completes, from the leaf itself upward. On
    /// average this is at most twice per leaf.
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

    #[must_use]
    pub fn root(&self) -> Hash {
        fold(&self.hashes)
    }

    /// Returns the concatenated hashes: 32 bytes for every bit set in the size.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.hashes.iter().flat_map(Hash::as_bytes).copied().collect()
    }

    /// Returns the frontier of that size with those hashes.
    ///
    /// # Errors
    /// The size is impossible, or the number of bytes does not match it.
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

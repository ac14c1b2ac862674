//! Proofs that an entry is in a tree, and that a tree has only grown.
//!
//! Making a proof is split in two: the functions named `…_nodes` say which hashes it is made of,
//! and [`ProofNode::hash`] makes each once the caller has fetched them. So the store decides how
//! it reads, and nothing here waits for it.

use std::fmt::Write as _;

use data_encoding::BASE64;

use super::merkle::{Subtree, empty_root, fold, node_hash, tree_root};
use super::{Hash, decode_base64, parse_decimal};

#[cfg(test)]
mod tests;

/// Most hashes in an inclusion proof: one for every level of the highest tree `u64` can count.
pub const PROOF_HASHES_MAX: usize = 64;

const TLOG_PROOF_HEADER: &str = "c2sp.org/tlog-proof@v1";

/// One hash of a proof, as the complete subtrees it is folded from, left to right.
///
/// Most have one part. Those at the right edge of a tree have one for each subtree of that edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofNode {
    /// The subtrees, each smaller than the one before.
    pub parts: Vec<Subtree>,
}

/// Why a proof is refused, or cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// There is no such entry in a tree of that size.
    #[error("a tree of {size} entries has no entry at position {index}")]
    IndexOutOfRange {
        /// The position that was asked for.
        index: u64,
        /// The size of the tree.
        size: u64,
    },
    /// The tree that should be the older one is the larger.
    #[error("a tree of {old} entries cannot grow into one of {new}")]
    SizesReversed {
        /// The size of the older tree.
        old: u64,
        /// The size of the newer tree.
        new: u64,
    },
    /// Hashes are missing.
    #[error("the proof has too few hashes")]
    TooShort,
    /// There are more hashes than the sizes call for.
    #[error("the proof has too many hashes")]
    TooLong,
    /// The proof leads to another root.
    #[error("the proof does not lead to the root")]
    RootMismatch,
    /// The proof leads to another root of the older tree.
    #[error("the proof does not lead to the root of the older tree")]
    OldRootMismatch,
    /// The proof leads to another root of the newer tree.
    #[error("the proof does not lead to the root of the newer tree")]
    NewRootMismatch,
}

impl ProofNode {
    /// Covers the leaves of `range`, which starts where a subtree as large as it may start.
    fn covering(begin: u64, end: u64) -> Self {
        let mut parts = Vec::new();
        let mut begin = begin;
        while begin < end {
            let height = (end - begin).ilog2();
            parts.push(Subtree { height: height_u8(height), index: begin >> height });
            begin += 1 << height;
        }
        Self { parts }
    }

    /// Returns the hash, after asking `hash_of` for that of every part.
    ///
    /// # Errors
    /// Whatever `hash_of` answers.
    pub fn hash<E>(&self, hash_of: impl FnMut(Subtree) -> Result<Hash, E>) -> Result<Hash, E> {
        let hashes: Vec<Hash> = self.parts.iter().copied().map(hash_of).collect::<Result<_, E>>()?;
        Ok(fold(&hashes))
    }
}

/// The logarithm of a `u64` to base 2, which is below 64.
fn height_u8(height: u32) -> u8 {
    u8::try_from(height).unwrap_or(u8::MAX)
}

/// Returns the size of the left part of a tree: the largest power of two smaller than `size`,
/// which is 2 or more. RFC 6962 §2.1.
const fn left_size(size: u64) -> u64 {
    1 << (size - 1).ilog2()
}

/// Returns what the root of a tree is made of.
#[must_use]
pub fn root_node(size: u64) -> ProofNode {
    ProofNode::covering(0, size)
}

/// Returns what the proof is made of that the entry at `index` is in the tree of `size` entries,
/// from the leaf upward. RFC 6962 §2.1.1.
///
/// # Errors
/// There is no such entry.
pub fn inclusion_nodes(index: u64, size: u64) -> Result<Vec<ProofNode>, ProofError> {
    if index >= size {
        return Err(ProofError::IndexOutOfRange { index, size });
    }
    let (mut begin, mut end) = (0, size);
    let mut nodes = Vec::new();
    while end - begin > 1 {
        let middle = begin + left_size(end - begin);
        if index < middle {
            nodes.push(ProofNode::covering(middle, end));
            end = middle;
        } else {
            nodes.push(ProofNode::covering(begin, middle));
            begin = middle;
        }
    }
    nodes.reverse();
    Ok(nodes)
}

/// Returns the hashes of the proof that the leaf at `index` is among these, where all of them are at hand.
///
/// # Errors
/// There is no such leaf.
pub fn inclusion_hashes(leaves: &[Hash], index: u64) -> Result<Vec<Hash>, ProofError> {
    let size = leaves.len() as u64;
    let hash_of = |Subtree { height, index }: Subtree| {
        let first = usize::try_from(index << height).ok();
        let leaves = first.and_then(|first| leaves.get(first..first + (1 << height)));
        leaves.map(tree_root).ok_or(ProofError::TooShort)
    };
    inclusion_nodes(index, size)?.iter().map(|node| node.hash(hash_of)).collect()
}

/// Returns what the proof is made of that the tree of `new` entries starts with the tree of `old`
/// entries. RFC 6962 §2.1.2.
///
/// # Errors
/// The old tree is larger than the new one.
pub fn consistency_nodes(old: u64, new: u64) -> Result<Vec<ProofNode>, ProofError> {
    if old > new {
        return Err(ProofError::SizesReversed { old, new });
    }
    if old == 0 {
        return Ok(Vec::new());
    }
    let (mut begin, mut end) = (0, new);
    let mut nodes = Vec::new();
    while end != old {
        let middle = begin + left_size(end - begin);
        if old <= middle {
            nodes.push(ProofNode::covering(middle, end));
            end = middle;
        } else {
            nodes.push(ProofNode::covering(begin, middle));
            begin = middle;
        }
    }
    // Where the old tree is a subtree that starts at 0, the verifier knows its hash already.
    if begin > 0 {
        nodes.push(ProofNode::covering(begin, end));
    }
    nodes.reverse();
    Ok(nodes)
}

/// Checks that the entry with `leaf` as its hash is at `index` in the tree of `size` entries with
/// that root. RFC 9162 §2.1.3.2.
///
/// # Errors
/// It is not, or the proof does not show it.
pub fn verify_inclusion(index: u64, size: u64, leaf: &Hash, proof: &[Hash], root: &Hash) -> Result<(), ProofError> {
    if root_by_inclusion(index, size, leaf, proof)? == *root { Ok(()) } else { Err(ProofError::RootMismatch) }
}

/// Returns the root of the tree of `size` entries in which the entry with `leaf` as its hash is at `index`, as the proof
/// has it. RFC 9162 §2.1.3.2.
///
/// # Errors
/// The proof is not of an entry there.
pub(super) fn root_by_inclusion(index: u64, size: u64, leaf: &Hash, proof: &[Hash]) -> Result<Hash, ProofError> {
    if index >= size {
        return Err(ProofError::IndexOutOfRange { index, size });
    }
    let (mut place, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in proof {
        if last == 0 {
            return Err(ProofError::TooLong);
        }
        if place % 2 == 1 || place == last {
            hash = node_hash(sibling, &hash);
            (place, last) = skip_levels_without_sibling(place, last);
        } else {
            hash = node_hash(&hash, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    if last > 0 { Err(ProofError::TooShort) } else { Ok(hash) }
}

/// Checks that the tree of `new_size` entries starts with the tree of `old_size` entries.
/// RFC 9162 §2.1.4.2.
///
/// # Errors
/// It does not, or the proof does not show it.
pub fn verify_consistency(
    old_size: u64,
    old_root: &Hash,
    new_size: u64,
    new_root: &Hash,
    proof: &[Hash],
) -> Result<(), ProofError> {
    if old_size > new_size {
        return Err(ProofError::SizesReversed { old: old_size, new: new_size });
    }
    if old_size == 0 || old_size == new_size {
        return verify_without_proof(old_size, old_root, new_size, new_root, proof);
    }
    let root = root_by_consistency(old_size, old_root, new_size, proof)?;
    if root == *new_root { Ok(()) } else { Err(ProofError::NewRootMismatch) }
}

/// Returns the root of the tree of `new_size` entries that starts with the tree of `old_size` entries, as the proof has
/// it. RFC 9162 §2.1.4.2.
///
/// # Errors
/// The proof is not of such trees: the older one must have an entry, and the newer one more than the older.
pub(super) fn root_by_consistency(
    old_size: u64,
    old_root: &Hash,
    new_size: u64,
    proof: &[Hash],
) -> Result<Hash, ProofError> {
    if old_size == 0 || old_size >= new_size {
        return Err(ProofError::SizesReversed { old: old_size, new: new_size });
    }
    // A tree whose size is a power of two is its own first hash.
    let (first, rest) = if old_size.is_power_of_two() {
        if proof.is_empty() {
            return Err(ProofError::TooShort);
        }
        (old_root, proof)
    } else {
        proof.split_first().ok_or(ProofError::TooShort)?
    };
    let odd_levels = (old_size - 1).trailing_ones();
    let (mut place, mut last) = ((old_size - 1) >> odd_levels, (new_size - 1) >> odd_levels);
    let (mut old_hash, mut new_hash) = (*first, *first);
    for sibling in rest {
        if last == 0 {
            return Err(ProofError::TooLong);
        }
        if place % 2 == 1 || place == last {
            old_hash = node_hash(sibling, &old_hash);
            new_hash = node_hash(sibling, &new_hash);
            (place, last) = skip_levels_without_sibling(place, last);
        } else {
            new_hash = node_hash(&new_hash, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    if last > 0 {
        return Err(ProofError::TooShort);
    }
    if old_hash != *old_root {
        return Err(ProofError::OldRootMismatch);
    }
    Ok(new_hash)
}

/// Checks the cases that have an empty proof: growth from nothing, and no growth.
fn verify_without_proof(
    old_size: u64,
    old_root: &Hash,
    new_size: u64,
    new_root: &Hash,
    proof: &[Hash],
) -> Result<(), ProofError> {
    if !proof.is_empty() {
        return Err(ProofError::TooLong);
    }
    if old_size == 0 && *old_root != empty_root() {
        return Err(ProofError::OldRootMismatch);
    }
    if old_size == new_size && old_root != new_root {
        return Err(ProofError::NewRootMismatch);
    }
    Ok(())
}

/// Climbs over the levels where the rightmost node has no sibling: until `place` is odd or 0.
fn skip_levels_without_sibling(place: u64, last: u64) -> (u64, u64) {
    let levels = if place == 0 { 0 } else { place.trailing_zeros() };
    (place >> levels, last >> levels)
}

/// A proof that an entry was logged, which needs nothing but the entry and the log's key to be
/// checked. C2SP tlog-proof v1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// What the application adds. Not proven by anything; empty if there is none.
    pub extra: Vec<u8>,
    /// The position of the entry.
    pub index: u64,
    /// The inclusion proof, from the leaf upward.
    pub hashes: Vec<Hash>,
    /// The signed checkpoint, as it was issued.
    pub checkpoint: String,
}

/// Why a text is not a tlog proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlogProofError {
    /// It is not UTF-8.
    #[error("the proof is not UTF-8")]
    NotUtf8,
    /// The first line is another.
    #[error("a proof must start with the line `{TLOG_PROOF_HEADER}`")]
    Header,
    /// The extra data is empty or not in base64.
    #[error("the line `extra` must hold at least one byte in base64")]
    Extra,
    /// There is no line with the index.
    #[error("the line `index` must hold a decimal number")]
    Index,
    /// A hash is not one.
    #[error("each line of the proof must hold 32 bytes in base64")]
    Hash,
    /// There are more than [`PROOF_HASHES_MAX`] hashes.
    #[error("a proof can have at most {PROOF_HASHES_MAX} hashes")]
    TooManyHashes,
    /// Nothing follows the hashes.
    #[error("the hashes must be followed by an empty line and a checkpoint")]
    Checkpoint,
}

impl TlogProof {
    /// Returns the text. Files of it end in `.tlog-proof`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{TLOG_PROOF_HEADER}\n");
        if !self.extra.is_empty() {
            text.push_str("extra ");
            BASE64.encode_append(&self.extra, &mut text);
            text.push('\n');
        }
        writeln!(text, "index {}", self.index).expect("a string takes every character");
        for hash in &self.hashes {
            BASE64.encode_append(hash.as_bytes(), &mut text);
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint);
        text
    }

    /// Returns whether a file begins as a proof of some version does.
    #[must_use]
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(b"c2sp.org/tlog-proof@")
    }

    /// Reads a proof. Whether it is true, and whether the checkpoint is signed, is for
    /// [`verify_inclusion`] and [`Checkpoint::open`](super::Checkpoint::open) to say.
    ///
    /// # Errors
    /// The text does not have this form.
    pub fn parse(bytes: &[u8]) -> Result<Self, TlogProofError> {
        let text = std::str::from_utf8(bytes).map_err(|_| TlogProofError::NotUtf8)?;
        let (header, rest) = text.split_once('\n').ok_or(TlogProofError::Header)?;
        if header != TLOG_PROOF_HEADER {
            return Err(TlogProofError::Header);
        }
        let (extra, rest) = parse_extra(rest)?;
        let (index, mut rest) = rest.split_once('\n').ok_or(TlogProofError::Index)?;
        let index = index.strip_prefix("index ").and_then(parse_decimal);
        let index = index.ok_or(TlogProofError::Index)?;
        let mut hashes = Vec::new();
        loop {
            let (line, after) = rest.split_once('\n').ok_or(TlogProofError::Checkpoint)?;
            rest = after;
            if line.is_empty() {
                break;
            }
            if hashes.len() == PROOF_HASHES_MAX {
                return Err(TlogProofError::TooManyHashes);
            }
            hashes.push(Hash::from_base64(line).ok_or(TlogProofError::Hash)?);
        }
        if rest.is_empty() {
            return Err(TlogProofError::Checkpoint);
        }
        Ok(Self { extra, index, hashes, checkpoint: rest.to_owned() })
    }
}

fn parse_extra(text: &str) -> Result<(Vec<u8>, &str), TlogProofError> {
    let Some(rest) = text.strip_prefix("extra ") else {
        return Ok((Vec::new(), text));
    };
    let (extra, rest) = rest.split_once('\n').ok_or(TlogProofError::Extra)?;
    match decode_base64(extra) {
        Some(extra) if !extra.is_empty() => Ok((extra, rest)),
        Some(_) | None => Err(TlogProofError::Extra),
    }
}

//! Inclusion and consistency proofs.
//!
//! Creating a proof takes two steps: the `…_nodes` functions return which hashes it consists of, and
//! [`ProofNode::hash`] computes each one after the caller has fetched its parts. The store thus decides how to read,
//! and nothing here blocks on it.

use std::fmt::Write as _;

use data_encoding::BASE64;

use super::merkle::{Subtree, empty_root, fold, node_hash, tree_root};
use super::{Hash, decode_base64, parse_decimal};

#[cfg(test)]
mod tests;

/// Most hashes in an inclusion proof: one for every level of the highest tree that `u64` can count.
pub const PROOF_HASHES_MAX: usize = 64;

const TLOG_PROOF_HEADER: &str = "c2sp.org/tlog-proof@v1";

/// One hash of a proof, as the complete subtrees it is folded from, left to right. Most have one part. Those at the
/// right edge of a tree have one for each subtree of that edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofNode {
    /// The subtrees, each smaller than the previous one.
    pub parts: Vec<Subtree>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    #[error("a tree of {size} entries has no entry at position {index}")]
    IndexOutOfRange { index: u64, size: u64 },
    #[error("a tree of {old} entries cannot grow into one of {new}")]
    SizesReversed { old: u64, new: u64 },
    #[error("the proof has too few hashes")]
    TooShort,
    #[error("the proof has too many hashes")]
    TooLong,
    #[error("the proof does not lead to the root")]
    RootMismatch,
    #[error("the proof does not lead to the root of the older tree")]
    OldRootMismatch,
    #[error("the proof does not lead to the root of the newer tree")]
    NewRootMismatch,
}

impl ProofNode {
    /// Covers the leaves from `begin` up to `end`. `begin` must be the start of a subtree of maximal size.
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

    /// Returns the hash, calling `hash_of` for each part.
    ///
    /// # Errors
    /// Any error of `hash_of`.
    pub fn hash<E>(&self, hash_of: impl FnMut(Subtree) -> Result<Hash, E>) -> Result<Hash, E> {
        let hashes: Vec<Hash> = self.parts.iter().copied().map(hash_of).collect::<Result<_, E>>()?;
        Ok(fold(&hashes))
    }
}

/// Converts the base-2 logarithm of a `u64`, which is below 64.
fn height_u8(height: u32) -> u8 {
    u8::try_from(height).unwrap_or(u8::MAX)
}

/// Returns the largest power of two smaller than `size`, which is at least 2. RFC 6962 §2.1.
const fn left_size(size: u64) -> u64 {
    1 << (size - 1).ilog2()
}

#[must_use]
pub fn root_node(size: u64) -> ProofNode {
    ProofNode::covering(0, size)
}

/// Returns the parts of the proof that the entry at `index` is in the tree of `size` entries, from the leaf upward. RFC
/// 6962 §2.1.1.
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

/// Returns the inclusion proof of the leaf at `index`, given all leaf hashes.
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

/// Returns the parts of the proof that the tree of `new` entries starts with the tree of `old` entries. RFC 6962
/// §2.1.2.
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
    // If the old tree is a subtree that starts at 0, the verifier already knows its hash.
    if begin > 0 {
        nodes.push(ProofNode::covering(begin, end));
    }
    nodes.reverse();
    Ok(nodes)
}

/// Verifies that the entry with the leaf hash `leaf` is at `index` in the tree of `size` entries with that root. RFC
/// 9162 §2.1.3.2.
///
/// # Errors
/// The proof is not valid.
pub fn verify_inclusion(index: u64, size: u64, leaf: &Hash, proof: &[Hash], root: &Hash) -> Result<(), ProofError> {
    if root_by_inclusion(index, size, leaf, proof)? == *root { Ok(()) } else { Err(ProofError::RootMismatch) }
}

/// Returns the root that the proof leads to (RFC 9162 §2.1.3.2). Fails unless the proof has the right length.
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

/// Verifies that the tree of `new_size` entries starts with the tree of `old_size` entries. RFC 9162 §2.1.4.2.
///
/// # Errors
/// The proof is not valid.
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

/// Returns the root of the newer tree that the proof leads to (RFC 9162 §2.1.4.2). The older tree must have an entry,
/// and the newer one must be larger. Fails if the proof is not valid for these trees.
pub(super) fn root_by_consistency(
    old_size: u64,
    old_root: &Hash,
    new_size: u64,
    proof: &[Hash],
) -> Result<Hash, ProofError> {
    if old_size == 0 || old_size >= new_size {
        return Err(ProofError::SizesReversed { old: old_size, new: new_size });
    }
    // If the size is a power of two, the root of the old tree is the first hash.
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

/// Checks the cases with an empty proof: an empty old tree, and equal sizes.
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

/// Skips the levels where the rightmost node has no sibling: until `place` is odd or 0.
fn skip_levels_without_sibling(place: u64, last: u64) -> (u64, u64) {
    let levels = if place == 0 { 0 } else { place.trailing_zeros() };
    (place >> levels, last >> levels)
}

/// A proof that an entry was logged. Verification needs only the entry and the log's key. C2SP tlog-proof v1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// Extra data of the application, which is not covered by the proof. Empty if there is none.
    pub extra: Vec<u8>,
    pub index: u64,
    /// The inclusion proof, from the leaf upward.
    pub hashes: Vec<Hash>,
    /// The signed checkpoint, as issued.
    pub checkpoint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlogProofError {
    #[error("the proof is not UTF-8")]
    NotUtf8,
    #[error("a proof must start with the line `{TLOG_PROOF_HEADER}`")]
    Header,
    #[error("the `extra` line must hold at least one byte in base64")]
    Extra,
    #[error("the `index` line must hold a decimal number")]
    Index,
    #[error("each line of the proof must hold 32 bytes in base64")]
    Hash,
    #[error("a proof can have at most {PROOF_HASHES_MAX} hashes")]
    TooManyHashes,
    #[error("the hashes must be followed by an empty line and a checkpoint")]
    Checkpoint,
}

impl TlogProof {
    /// Returns the text. The file extension is `.tlog-proof`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{TLOG_PROOF_HEADER}\n");
        if !self.extra.is_empty() {
            text.push_str("extra ");
            BASE64.encode_append(&self.extra, &mut text);
            text.push('\n');
        }
        writeln!(text, "index {}", self.index).expect("writing to a string does not fail");
        for hash in &self.hashes {
            BASE64.encode_append(hash.as_bytes(), &mut text);
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint);
        text
    }

    /// Returns whether a file starts like a proof of any version.
    #[must_use]
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(b"c2sp.org/tlog-proof@")
    }

    /// Parses a proof, without verifying it. Use [`verify_inclusion`] for the proof and
    /// [`Checkpoint::open`](super::Checkpoint::open) for the checkpoint.
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

//! The ledger of a timeline: entry encoding, Merkle tree, proofs and checkpoints.
//!
//! Nothing here reads a key, a clock or a store. The caller provides functions that sign and verify, and fetches hashes
//! from its own storage. `docs/specs/ledger.md` and `docs/specs/ledger-2.md` specify the format independently of this
//! code. The vectors in `test-data/ledger-format-v1.json` and `-v2.json` check its values. Hashed bytes never change: a
//! change requires a new version in addition to the old one. The service writes version 2.

use std::fmt;

use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest, Sha256};

mod adoption;
mod canonical;
mod checkpoint;
mod directory;
mod ending;
mod erasure;
mod head;
mod heads;
mod leaf;
mod merkle;
mod proof;
mod reads;
mod retention;
mod runs;
mod salt;
mod state;
mod tile;

#[cfg(test)]
mod tests;

pub use adoption::{ADOPT_ACTION, Adopted, AdoptedLayer};
pub use canonical::Malformed;
pub use checkpoint::cosignature::{
    COSIGNATURE, COSIGNATURE_AHEAD_SECONDS_MAX, COSIGNATURE_ML_DSA_44, CosignatureError, WitnessKey, cosignatures_in,
};
pub use checkpoint::note::{ED25519, NOTE_BYTES_MAX, NOTE_SIGNATURES_MAX};
pub use checkpoint::note::{Note, NoteError, NoteKeyId, NoteSignature, SignerKey, TrustedKeys, VerifierKey, key_id};
pub use checkpoint::witnessing::{
    ADD_CHECKPOINT_BYTES_MAX, ADD_CHECKPOINT_HASHES_MAX, AddCheckpoint, AddCheckpointError, WitnessRefusal, Witnessed,
    decide_witnessing,
};
pub use checkpoint::{Checkpoint, CheckpointError, origin};
pub use directory::{DIRECTORY_BUCKETS, DirectoryRow, DirectoryTree, RowName};
pub use ending::{END_TIMELINE_ACTION, HANDED_OVER_ACTION, HandedOver, TimelineEnded};
pub use erasure::{ERASE_EVENTS_ACTION, ERASE_READS_ACTION, ERASED_OUTCOMES_MAX};
pub use erasure::{ErasedBy, EventsErased, ReadsErased, is_erasable};
pub use head::{HeadError, HeadStatement};
pub use heads::{CommittedHead, CommittedHeads, HEADS_ACTION, HEADS_MAX, HeadProof, HeadProofError};
pub use leaf::{Authority, LEAF_VERSION, LEAF_VERSION_2, Leaf, LeafError, LeafRecord, SEQ_MAX};
pub use merkle::{Frontier, FrontierError, Subtree};
pub use merkle::{empty_root, fold, leaf_hash, node_hash, tree_root};
pub use proof::{PROOF_HASHES_MAX, ProofError, ProofNode, TlogProof, TlogProofError};
pub use proof::{consistency_nodes, inclusion_hashes, inclusion_nodes, root_node};
pub use proof::{verify_consistency, verify_inclusion};
pub use reads::{
    READ_PARAMETERS_BYTES_MAX, READS_MAX, READS_OPENED_BYTES_MAX, READS_PAYLOAD_BYTES_MAX, RemainingReads,
};
pub use reads::{READS_ACTION, Read, ReadParameters, ReadProof, ReadProofError, ReadsDraft, ReadsEntry, ReadsError};
pub use reads::{ReadsFull, reads_in, rebuilt_leaf};
pub use retention::sweep::{
    MissingPayloads, PayloadFate, SWEEP_ACTION, Sweep, SweepAudit, SweepDraft, SweepFault, SweepFaultKind, SweepOffer,
    SweptEntry,
};
pub use retention::{
    BelowFloor, ClockStep, PruneClass, Retention, RetentionPolicies, SET_RETENTION_ACTION, clock_step,
};
pub use runs::{POSITION_RUNS_MAX, PositionRuns, RunsError};
pub use salt::{Salt, payload_hash};
pub use state::{ForkedFrom, Held, TimelineCounts, TimelineFacts};
pub use tile::{TILE_HEIGHT, TILE_WIDTH, TileError, TileId, TilePath};
pub use tile::{index_path, parse_index_path, tile_of};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    pub const BYTES: usize = 32;

    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns `None` unless there are exactly 32 bytes.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Returns 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Parses the output of [`Hash::to_hex`], and nothing else.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        Self::from_slice(&HEXLOWER.decode(text.as_bytes()).ok()?)
    }

    /// Returns 44 characters of padded standard base64 (RFC 4648 §4).
    #[must_use]
    pub fn to_base64(&self) -> String {
        BASE64.encode(&self.0)
    }

    /// Parses the output of [`Hash::to_base64`], and nothing else.
    #[must_use]
    pub fn from_base64(text: &str) -> Option<Self> {
        Self::from_slice(&decode_base64(text)?)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// Returns the SHA-256 of the concatenated parts (FIPS 180-4).
#[must_use]
pub fn sha256(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    finished(hasher)
}

/// Finishes a hash into our own array, because creating the library's is slow in unoptimized builds.
fn finished(hasher: Sha256) -> Hash {
    let mut bytes = [0; Hash::BYTES];
    hasher.finalize_into((&mut bytes).into());
    Hash(bytes)
}

#[derive(Clone, Default)]
pub struct RunningHash(Sha256);

impl RunningHash {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    #[must_use]
    pub fn hash(&self) -> Hash {
        finished(self.0.clone())
    }
}

impl fmt::Debug for RunningHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunningHash(..)")
    }
}

/// Decodes canonical base64 (RFC 4648 §4). The decoder alone also accepts concatenated padded pieces.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let is_one_piece = !text.trim_end_matches('=').contains('=');
    if is_one_piece { BASE64.decode(text.as_bytes()).ok() } else { None }
}

/// Parses a decimal number in its canonical form: digits only, without leading zeros.
fn parse_decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let padded = text.len() > 1 && text.starts_with('0');
    if plain && !padded { text.parse().ok() } else { None }
}

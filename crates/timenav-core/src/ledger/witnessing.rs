//! What a witness is asked, and what it decides: C2SP tlog-witness, `add-checkpoint`.

use std::fmt::Write as _;

use super::checkpoint::{Checkpoint, CheckpointError};
use super::merkle::empty_root;
use super::note::{NOTE_BYTES_MAX, Note, NoteError, VerifierKey};
use super::proof::{ProofError, verify_consistency};
use super::{Hash, parse_decimal};

#[cfg(test)]
mod tests;

/// Most hashes of the proof in a request to a witness.
pub const ADD_CHECKPOINT_HASHES_MAX: usize = 63;

/// Largest body of a request to a witness, in bytes. A checkpoint with a dozen signatures has two kilobytes, and one by
/// ML-DSA-44 has three more.
pub const ADD_CHECKPOINT_BYTES_MAX: usize = 64 * 1024;

const _: () = assert!(ADD_CHECKPOINT_BYTES_MAX <= NOTE_BYTES_MAX, "a note in a request can be read");

/// A checkpoint that a witness is asked to cosign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size of the checkpoint that the witness cosigned last, as far as the log knows.
    pub old_size: u64,
    /// The proof that the checkpoint continues that one (RFC 6962 §2.1.2).
    pub hashes: Vec<Hash>,
    /// The signed checkpoint.
    pub note: String,
}

/// Why a request to a witness cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddCheckpointError {
    /// It is longer than [`ADD_CHECKPOINT_BYTES_MAX`].
    #[error("the body can have at most {ADD_CHECKPOINT_BYTES_MAX} bytes")]
    TooLong,
    /// It is not UTF-8.
    #[error("the body is not UTF-8")]
    NotUtf8,
    /// The first line is another.
    #[error("the first line must be `old` and a decimal number without leading zeros")]
    OldSize,
    /// A hash is none.
    #[error("each line of the proof must be 32 bytes in base64")]
    Hash,
    /// There are more than [`ADD_CHECKPOINT_HASHES_MAX`] hashes.
    #[error("a proof can have at most {ADD_CHECKPOINT_HASHES_MAX} hashes")]
    TooManyHashes,
    /// Nothing follows the hashes.
    #[error("the proof must be followed by an empty line and a checkpoint")]
    Checkpoint,
}

impl AddCheckpoint {
    /// Returns the body of the request.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("old {}\n", self.old_size);
        for hash in &self.hashes {
            writeln!(text, "{}", hash.to_base64()).expect("a string takes every character");
        }
        text.push('\n');
        text.push_str(&self.note);
        text
    }

    /// Reads the body of a request. Whether the checkpoint is one is for [`decide_witnessing`] to say.
    ///
    /// # Errors
    /// The body is written otherwise.
    pub fn parse(body: &[u8]) -> Result<Self, AddCheckpointError> {
        if body.len() > ADD_CHECKPOINT_BYTES_MAX {
            return Err(AddCheckpointError::TooLong);
        }
        let text = std::str::from_utf8(body).map_err(|_| AddCheckpointError::NotUtf8)?;
        let (old, mut rest) = text.split_once('\n').ok_or(AddCheckpointError::OldSize)?;
        let old = old.strip_prefix("old ").and_then(parse_decimal);
        let old_size = old.ok_or(AddCheckpointError::OldSize)?;
        let mut hashes = Vec::new();
        loop {
            let (line, after) = rest.split_once('\n').ok_or(AddCheckpointError::Checkpoint)?;
            rest = after;
            if line.is_empty() {
                break;
            }
            let hash = Hash::from_base64(line).ok_or(AddCheckpointError::Hash)?;
            if hashes.len() == ADD_CHECKPOINT_HASHES_MAX {
                return Err(AddCheckpointError::TooManyHashes);
            }
            hashes.push(hash);
        }
        if rest.is_empty() {
            return Err(AddCheckpointError::Checkpoint);
        }
        Ok(Self { old_size, hashes, note: rest.to_owned() })
    }

    /// Returns which log the checkpoint is of, as it says itself: the first line.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.note.split('\n').next().unwrap_or_default()
    }
}

/// What a witness has cosigned last of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witnessed {
    /// The size of the tree.
    pub size: u64,
    /// Its root.
    pub root: Hash,
}

impl Default for Witnessed {
    /// Returns what counts before anything was cosigned: the empty tree.
    fn default() -> Self {
        Self { size: 0, root: empty_root() }
    }
}

/// Why a witness does not cosign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WitnessRefusal {
    /// The checkpoint is no signed note, or none of a log. Answered with 400.
    #[error("the checkpoint cannot be read: {0}")]
    Malformed(CheckpointError),
    /// No known key of the log has signed, or a line says so and it is not true. Answered with 403.
    #[error("{0}")]
    Unsigned(NoteError),
    /// The proof is from a size that is larger than the checkpoint's. Answered with 400.
    #[error("the old size {old} is larger than that of the checkpoint, {new}")]
    Reversed {
        /// The old size.
        old: u64,
        /// The size of the checkpoint.
        new: u64,
    },
    /// The last cosigned size is another one. Answered with 409 and that size.
    #[error("the last cosigned checkpoint has {recorded} entries, not {old}")]
    Conflict {
        /// The old size in the request.
        old: u64,
        /// The size that was cosigned last.
        recorded: u64,
    },
    /// An empty tree has another root than the empty one. Answered with 422.
    #[error("a tree without entries must have the root of the empty tree")]
    NotEmpty,
    /// The checkpoint is not shown to continue what was cosigned. Answered with 422.
    #[error("the checkpoint is not consistent with the last cosigned one: {0}")]
    Inconsistent(ProofError),
}

/// Decides whether a witness cosigns: returns the note and what has to be kept, before the cosignature is given out.
/// `keys` are those of the log that the request names; `recorded` is what was cosigned last of it.
///
/// # Errors
/// The first reason against it, in the order in which C2SP tlog-witness checks.
pub fn decide_witnessing(
    request: &AddCheckpoint,
    keys: &[VerifierKey],
    recorded: Witnessed,
    ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
) -> Result<(Note, Witnessed), WitnessRefusal> {
    let note = Note::parse(request.note.as_bytes()).map_err(|error| WitnessRefusal::Malformed(error.into()))?;
    let checkpoint = Checkpoint::parse(note.text()).map_err(WitnessRefusal::Malformed)?;
    note.verify(keys, ed25519).map_err(WitnessRefusal::Unsigned)?;
    let (old, new) = (request.old_size, checkpoint.size);
    if old > new {
        return Err(WitnessRefusal::Reversed { old, new });
    }
    if old != recorded.size {
        return Err(WitnessRefusal::Conflict { old, recorded: recorded.size });
    }
    if new == 0 && checkpoint.root != empty_root() {
        return Err(WitnessRefusal::NotEmpty);
    }
    verify_consistency(old, &recorded.root, new, &checkpoint.root, &request.hashes)
        .map_err(WitnessRefusal::Inconsistent)?;
    Ok((note, Witnessed { size: new, root: checkpoint.root }))
}

//! Requests to a witness, and its decision: C2SP tlog-witness, `add-checkpoint`.

use std::fmt::Write as _;

use crate::ledger::Hash;
use crate::ledger::checkpoint::note::{NOTE_BYTES_MAX, Note, NoteError, VerifierKey};
use crate::ledger::checkpoint::{Checkpoint, CheckpointError};
use crate::ledger::merkle::empty_root;
use crate::ledger::parse_decimal;
use crate::ledger::proof::{ProofError, verify_consistency};

#[cfg(test)]
mod tests;

pub const ADD_CHECKPOINT_HASHES_MAX: usize = 63;

/// Largest request body, in bytes. A dozen signatures take two kilobytes, one by ML-DSA-44 three more.
pub const ADD_CHECKPOINT_BYTES_MAX: usize = 64 * 1024;

const _: () = assert!(ADD_CHECKPOINT_BYTES_MAX <= NOTE_BYTES_MAX, "a note in a request can be read");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size of the checkpoint that the witness cosigned last, as far as the log knows.
    pub old_size: u64,
    /// The proof that the checkpoint is consistent with that one (RFC 6962 §2.1.2).
    pub hashes: Vec<Hash>,
    pub note: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddCheckpointError {
    #[error("the body can have at most {ADD_CHECKPOINT_BYTES_MAX} bytes")]
    TooLong,
    #[error("the body is not UTF-8")]
    NotUtf8,
    #[error("the first line must be `old` and a decimal number without leading zeros")]
    OldSize,
    #[error("each line of the proof must be 32 bytes in base64")]
    Hash,
    #[error("a proof can have at most {ADD_CHECKPOINT_HASHES_MAX} hashes")]
    TooManyHashes,
    #[error("the proof must be followed by an empty line and a checkpoint")]
    Checkpoint,
}

impl AddCheckpoint {
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("old {}\n", self.old_size);
        for hash in &self.hashes {
            writeln!(text, "{}", hash.to_base64()).expect("writing to a string does not fail");
        }
        text.push('\n');
        text.push_str(&self.note);
        text
    }

    /// Parses the body of a request. The checkpoint itself is checked by [`decide_witnessing`].
    ///
    /// # Errors
    /// The body does not have this form.
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

    /// Returns the log that the checkpoint claims to be of: its first line.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.note.split('\n').next().unwrap_or_default()
    }
}

/// The last checkpoint of a log that a witness has cosigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witnessed {
    pub size: u64,
    pub root: Hash,
}

impl Default for Witnessed {
    /// Returns the empty tree, for a log without cosigned checkpoints.
    fn default() -> Self {
        Self { size: 0, root: empty_root() }
    }
}

/// Why a witness does not cosign. Each reason has an HTTP status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WitnessRefusal {
    /// The checkpoint is not a signed note, or its text is not a checkpoint. Status 400.
    #[error("the checkpoint cannot be read: {0}")]
    Malformed(CheckpointError),
    /// No known key of the log has signed, or a signature of one is not valid. Status 403.
    #[error("{0}")]
    Unsigned(NoteError),
    /// The old size is larger than the checkpoint's. Status 400.
    #[error("the old size {old} is larger than that of the checkpoint, {new}")]
    Reversed { old: u64, new: u64 },
    /// The last cosigned size is another one. Status 409, with that size.
    #[error("the last cosigned checkpoint has {recorded} entries, not {old}")]
    Conflict { old: u64, recorded: u64 },
    /// The root of an empty tree is not the empty root. Status 422.
    #[error("a tree without entries must have the root of the empty tree")]
    NotEmpty,
    /// The checkpoint is not proven to be consistent with the last cosigned one. Status 422.
    #[error("the checkpoint is not consistent with the last cosigned one: {0}")]
    Inconsistent(ProofError),
}

/// Decides whether a witness cosigns. Returns the note, and the state to store before the cosignature is sent. `keys`
/// are those of the log that the request names; `recorded` is its last cosigned checkpoint.
///
/// # Errors
/// The first failed check, in the order of C2SP tlog-witness.
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

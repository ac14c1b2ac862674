//! Whether a checkpoint is what it claims to be, and how it is called where it is not.

use super::FindingKind;
use crate::ledger::{Checkpoint, CheckpointError, Note, NoteError, VerifierKey};

/// Why a note is no checkpoint of this ledger and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned {
    /// How that is called.
    pub kind: FindingKind,
    /// The size that the note claims, where it can be read.
    pub size: Option<u64>,
    /// What is wrong with it.
    pub evidence: String,
}

/// Reads a signed checkpoint. `ed25519` is as for [`Note::verify`].
///
/// # Errors
/// It is of another ledger, signed by another key, damaged, or its signature is wrong.
pub fn open_signed(
    note: &str,
    key: &VerifierKey,
    ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
) -> Result<Checkpoint, Unsigned> {
    let error = match Checkpoint::open(note.as_bytes(), key, ed25519) {
        Ok(checkpoint) => return Ok(checkpoint),
        Err(error) => error,
    };
    let claimed = Note::parse(note.as_bytes()).ok().and_then(|note| Checkpoint::parse(note.text()).ok());
    let kind = match &error {
        CheckpointError::OriginMismatch { .. } => FindingKind::OriginMismatch,
        _ if claimed.as_ref().is_some_and(|claimed| claimed.origin != key.name()) => FindingKind::OriginMismatch,
        CheckpointError::Note(NoteError::NoKnownKey) => FindingKind::UnknownKey,
        CheckpointError::Note(_) | CheckpointError::Lines | CheckpointError::Size | CheckpointError::Root => {
            FindingKind::BadSignature
        }
    };
    let evidence = match (&kind, &claimed) {
        (FindingKind::OriginMismatch, Some(claimed)) => {
            format!("it is a checkpoint of `{}`, not of `{}`", claimed.origin, key.name())
        }
        _ => error.to_string(),
    };
    Err(Unsigned { kind, size: claimed.map(|claimed| claimed.size), evidence })
}

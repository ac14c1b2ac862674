//! Verification of checkpoints, and the kind of finding if it fails.

use super::FindingKind;
use crate::ledger::{Checkpoint, CheckpointError, Note, NoteError, NoteSignature, TrustedKeys};

/// Most signers that are named if none of them is trusted. The sender of a note decides how many there are.
const SIGNERS_NAMED_MAX: usize = 4;

/// Why a note is not a checkpoint of this ledger and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned {
    pub kind: FindingKind,
    /// The size that the note claims, if it can be parsed.
    pub size: Option<u64>,
    pub evidence: String,
}

/// Opens the newest signed checkpoint of a ledger, as [`Checkpoint::open_newest`] does.
///
/// # Errors
/// It belongs to another ledger, is signed by another key, is damaged, or its signature is not valid.
pub fn open_signed(
    note: &str,
    keys: &TrustedKeys,
    ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
) -> Result<Checkpoint, Unsigned> {
    Checkpoint::open_newest(note.as_bytes(), keys, ed25519).map_err(|error| unsigned(note, keys, &error))
}

/// Opens a checkpoint stored outside of the scanned data, as [`Checkpoint::open_stored`] does.
///
/// # Errors
/// Those of [`open_signed`].
pub fn open_stored(
    note: &str,
    keys: &TrustedKeys,
    ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
) -> Result<Checkpoint, Unsigned> {
    Checkpoint::open_stored(note.as_bytes(), keys, ed25519).map_err(|error| unsigned(note, keys, &error))
}

fn unsigned(note: &str, keys: &TrustedKeys, error: &CheckpointError) -> Unsigned {
    let parsed = Note::parse(note.as_bytes()).ok();
    let claimed = parsed.as_ref().and_then(|note| Checkpoint::parse(note.text()).ok());
    let name = keys.current.name();
    let kind = match error {
        CheckpointError::OriginMismatch { .. } => FindingKind::OriginMismatch,
        _ if claimed.as_ref().is_some_and(|claimed| claimed.origin != name) => FindingKind::OriginMismatch,
        CheckpointError::Note(NoteError::NoKnownKey) => FindingKind::UnknownKey,
        CheckpointError::Note(_) | CheckpointError::Lines | CheckpointError::Size | CheckpointError::Root => {
            FindingKind::BadSignature
        }
    };
    let evidence = match (&kind, &claimed, &parsed) {
        (FindingKind::OriginMismatch, Some(claimed), _) => {
            format!("it is a checkpoint of `{}`, not `{name}`", claimed.origin)
        }
        (FindingKind::UnknownKey, _, Some(note)) => signed_by_others(note, keys),
        _ => error.to_string(),
    };
    Unsigned { kind, size: claimed.map(|claimed| claimed.size), evidence }
}

/// Lists the keys in the signature lines when none of them is trusted.
fn signed_by_others(note: &Note, keys: &TrustedKeys) -> String {
    let is_retired = |line: &NoteSignature| keys.retired.iter().any(|key| key.id() == line.id());
    let named = |line: &NoteSignature| {
        let which = if is_retired(line) { "the retired key" } else { "the key" };
        format!("{which} `{}` with the id {}", line.name(), line.id())
    };
    let signers: Vec<String> = note.signatures().iter().take(SIGNERS_NAMED_MAX).map(named).collect();
    format!("it is not signed by the key with the id {}, but by {}", keys.current.id(), signers.join(", "))
}

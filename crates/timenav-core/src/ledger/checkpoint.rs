//! Checkpoints: the signed name, size and root of a ledger. C2SP tlog-checkpoint 1.0.0.

use std::fmt::Write as _;

use self::note::{Note, NoteError, TrustedKeys, VerifierKey};
use super::{Hash, parse_decimal};

pub(crate) mod cosignature;
pub(crate) mod note;
pub(crate) mod witnessing;
#[cfg(test)]
mod tests;

/// The state of a ledger at one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub origin: String,
    pub size: u64,
    pub root: Hash,
    /// Further lines, without line ends. This service writes none, and preserves those it reads.
    pub extensions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error(transparent)]
    Note(#[from] NoteError),
    #[error("a checkpoint must have at least three lines, none of them empty")]
    Lines,
    #[error("the size of a checkpoint must be a decimal number without leading zeros")]
    Size,
    #[error("the root of a checkpoint must be 32 bytes in base64")]
    Root,
    #[error("the checkpoint is for `{found}`, not `{expected}`")]
    OriginMismatch { expected: String, found: String },
}

/// Returns the name of a timeline's ledger and of its signing key: `<service name>/<timeline id>`. A timeline id has no
/// slash, so the last slash separates the two.
#[must_use]
pub fn origin(service_name: &str, timeline_id: &str) -> String {
    format!("{service_name}/{timeline_id}")
}

impl Checkpoint {
    /// Returns the text that is signed.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n", self.origin, self.size, self.root.to_base64());
        for line in &self.extensions {
            writeln!(text, "{line}").expect("writing to a string does not fail");
        }
        text
    }

    /// Parses the text of a checkpoint, which [`Checkpoint::to_text`] reproduces byte by byte.
    ///
    /// # Errors
    /// The text does not have this form.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        let body = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?;
        if body.split('\n').any(str::is_empty) {
            return Err(CheckpointError::Lines);
        }
        let mut lines = body.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(CheckpointError::Lines);
        };
        Ok(Self {
            origin: origin.to_owned(),
            size: parse_decimal(size).ok_or(CheckpointError::Size)?,
            root: Hash::from_base64(root).ok_or(CheckpointError::Root)?,
            extensions: lines.map(str::to_owned).collect(),
        })
    }

    /// Returns a note with this checkpoint, signed by `sign`. The name of the key must be the checkpoint's origin.
    ///
    /// Never call this for a tree that is not a continuation of the last one signed: anyone who has two such
    /// checkpoints can prove that the service misbehaved.
    ///
    /// # Errors
    /// The key belongs to another ledger, or the origin has control characters.
    pub fn sign(&self, key: &VerifierKey, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<Note, CheckpointError> {
        self.check_origin(key)?;
        Ok(Note::sign(self.to_text(), key, sign)?)
    }

    /// Opens a signed checkpoint. It must be signed by `key`, and be of the ledger that the key is named after.
    /// `ed25519` is as for [`Note::verify`].
    ///
    /// # Errors
    /// The note is not valid or not signed by the key, or is not a checkpoint of that ledger.
    pub fn open(
        note: &[u8],
        key: &VerifierKey,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Self, CheckpointError> {
        Self::opened(note, std::slice::from_ref(key), |_| true, ed25519)
    }

    /// Opens a signed checkpoint like [`Checkpoint::open`], signed by the current key. Retired keys may have signed it
    /// too; their signatures must be valid.
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`].
    pub fn open_newest(
        note: &[u8],
        keys: &TrustedKeys,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Self, CheckpointError> {
        Self::opened(note, &keys.all(), |signer| *signer == keys.current, ed25519)
    }

    /// Opens a stored checkpoint, signed by the current key or a retired one.
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`].
    pub fn open_stored(
        note: &[u8],
        keys: &TrustedKeys,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Self, CheckpointError> {
        Self::opened(note, &keys.all(), |_| true, ed25519)
    }

    /// Opens a checkpoint signed by at least one known key that `counts` accepts.
    fn opened(
        note: &[u8],
        known: &[VerifierKey],
        counts: impl Fn(&VerifierKey) -> bool,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Self, CheckpointError> {
        let note = Note::parse(note)?;
        let signers = note.signers(known, ed25519)?;
        let checkpoint = Self::parse(note.text())?;
        signers.iter().try_for_each(|signer| checkpoint.check_origin(signer))?;
        if signers.into_iter().any(counts) { Ok(checkpoint) } else { Err(NoteError::NoKnownKey.into()) }
    }

    fn check_origin(&self, key: &VerifierKey) -> Result<(), CheckpointError> {
        if self.origin == key.name() {
            return Ok(());
        }
        Err(CheckpointError::OriginMismatch { expected: key.name().to_owned(), found: self.origin.clone() })
    }
}

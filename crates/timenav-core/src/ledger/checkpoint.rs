//! What is signed of a ledger: its name, its size and its root. C2SP tlog-checkpoint 1.0.0.

use std::fmt::Write as _;

use super::note::{Note, NoteError, TrustedKeys, VerifierKey};
use super::{Hash, parse_decimal};

#[cfg(test)]
mod tests;

/// The state of a ledger at one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The ledger's name, from [`origin`].
    pub origin: String,
    /// Entries in the ledger.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Hash,
    /// Further lines, without their line ends. This service writes none, and keeps those it reads.
    pub extensions: Vec<String>,
}

/// Why a checkpoint is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The note around it is refused.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// There are fewer than three lines, or an empty one, or an unfinished one.
    #[error("a checkpoint must have at least three lines, none of them empty")]
    Lines,
    /// The size is not a plain decimal number.
    #[error("the size of a checkpoint must be a decimal number without leading zeros")]
    Size,
    /// The root is not a hash in base64.
    #[error("the root of a checkpoint must be 32 bytes in base64")]
    Root,
    /// The key that signed belongs to another ledger.
    #[error("the checkpoint is for `{found}`, not `{expected}`")]
    OriginMismatch {
        /// The name of the key, which is the name of its ledger.
        expected: String,
        /// The name in the checkpoint.
        found: String,
    },
}

/// Returns the name of a timeline's ledger, and of the key that signs it:
/// `<service name>/<timeline id>`. A timeline id has no slash, so the last one divides the two.
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
            writeln!(text, "{line}").expect("a string takes every character");
        }
        text
    }

    /// Reads the text of a checkpoint, which [`Checkpoint::to_text`] gives back byte by byte.
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

    /// Returns the note that holds this checkpoint, signed by `sign`. The key must have the
    /// checkpoint's origin as its name.
    ///
    /// Never to be called for a tree that is no continuation of the last one signed: whoever
    /// holds two such checkpoints can prove that the service lied.
    ///
    /// # Errors
    /// The key is another ledger's, or the origin has control characters.
    pub fn sign(&self, key: &VerifierKey, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<Note, CheckpointError> {
        self.check_origin(key)?;
        Ok(Note::sign(self.to_text(), key, sign)?)
    }

    /// Reads a signed checkpoint. It must be signed by that key and be of the ledger that the key
    /// is named after; `ed25519` is as for [`Note::verify`].
    ///
    /// # Errors
    /// The note breaks a rule, is not signed by that key, or holds no checkpoint of that ledger.
    pub fn open(
        note: &[u8],
        key: &VerifierKey,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Self, CheckpointError> {
        Self::opened(note, std::slice::from_ref(key), |_| true, ed25519)
    }

    /// Reads a signed checkpoint as [`Checkpoint::open`] does, by the key that signs today. Retired keys may have
    /// signed it too, and where one is said to have, it must have.
    ///
    /// # Errors
    /// As those of [`Checkpoint::open`].
    pub fn open_newest(
        note: &[u8],
        keys: &TrustedKeys,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Self, CheckpointError> {
        Self::opened(note, &keys.all(), |signer| *signer == keys.current, ed25519)
    }

    /// Reads a checkpoint that somebody kept: signed by the key that signs today, or by one that did.
    ///
    /// # Errors
    /// As those of [`Checkpoint::open`].
    pub fn open_kept(
        note: &[u8],
        keys: &TrustedKeys,
        ed25519: impl Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<Self, CheckpointError> {
        Self::opened(note, &keys.all(), |_| true, ed25519)
    }

    /// Reads a checkpoint that a known key that counts has signed.
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

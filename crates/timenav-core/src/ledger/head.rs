//! Head statements: the signed state of a ledger, created inside the transaction that writes to it.
//!
//! A transaction may still fail after the signature, and a checkpoint of a failed transaction would be evidence of
//! misbehavior. The statement therefore has a format that is not accepted as a checkpoint.

use data_encoding::BASE64;

use super::checkpoint::Checkpoint;
use super::{Hash, decode_base64, parse_decimal};
use crate::ledger::checkpoint::note::VerifierKey;

#[cfg(test)]
mod tests;

/// The first line, which separates it from all other texts signed by the key.
const HEADER: &str = "timenav-head/v1";

const NO_INDEX: &str = "-";

/// The state of a ledger at one size, and of the timeline derived from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadStatement {
    pub origin: String,
    pub size: u64,
    pub root: Hash,
    /// The result of [`TimelineFacts::hash`](super::TimelineFacts::hash) for the timeline after these entries.
    pub state_hash: Hash,
    /// The root of an index over the entries. Reserved: this service never writes or checks it.
    pub index_root: Option<Hash>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    #[error("a head statement must have six lines, the first of them `{HEADER}`")]
    Lines,
    #[error("the origin of a head statement must not be empty")]
    Origin,
    #[error("the size of a head statement must be a decimal number without leading zeros")]
    Size,
    #[error("each hash of a head statement must be 32 bytes in base64, or `{NO_INDEX}` for a missing index")]
    Hash,
    #[error("the head statement is for `{found}`, not `{expected}`")]
    OriginMismatch { expected: String, found: String },
    #[error("the text of a head statement must be followed by an empty line and 64 bytes in base64")]
    Signature,
    #[error("the signature of the head statement is wrong")]
    BadSignature,
}

impl HeadStatement {
    /// Returns the text that is signed: six lines, each with a line end.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { origin, size, root, state_hash, index_root } = self;
        let index_root = index_root.map_or_else(|| NO_INDEX.to_owned(), |hash| hash.to_base64());
        format!("{HEADER}\n{origin}\n{size}\n{}\n{}\n{index_root}\n", root.to_base64(), state_hash.to_base64())
    }

    /// Parses the text of a head statement, which [`HeadStatement::to_text`] reproduces byte by byte.
    ///
    /// # Errors
    /// The text does not have this form.
    pub fn parse(text: &str) -> Result<Self, HeadError> {
        let body = text.strip_suffix('\n').ok_or(HeadError::Lines)?;
        let lines: Vec<&str> = body.split('\n').collect();
        let [HEADER, origin, size, root, state_hash, index_root] = lines[..] else {
            return Err(HeadError::Lines);
        };
        if origin.is_empty() {
            return Err(HeadError::Origin);
        }
        let hash = |line: &str| Hash::from_base64(line).ok_or(HeadError::Hash);
        Ok(Self {
            origin: origin.to_owned(),
            size: parse_decimal(size).ok_or(HeadError::Size)?,
            root: hash(root)?,
            state_hash: hash(state_hash)?,
            index_root: (index_root != NO_INDEX).then(|| hash(index_root)).transpose()?,
        })
    }

    /// Returns the Ed25519 signature over the text, created by `sign`. The name of the key must be the statement's
    /// origin.
    ///
    /// # Errors
    /// The key belongs to another ledger.
    pub fn sign(&self, key: &VerifierKey, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<[u8; 64], HeadError> {
        self.check_origin(key)?;
        Ok(sign(self.to_text().as_bytes()))
    }

    /// Verifies the signature of this ledger's key over the text. `ed25519` is as for
    /// [`Note::verify`](super::Note::verify).
    ///
    /// # Errors
    /// The key belongs to another ledger, or the signature is not valid.
    pub fn verify(
        &self,
        signature: &[u8; 64],
        key: &VerifierKey,
        ed25519: impl FnOnce(&[u8; 32], &[u8], &[u8; 64]) -> bool,
    ) -> Result<(), HeadError> {
        self.check_origin(key)?;
        let is_signed = ed25519(key.public_key(), self.to_text().as_bytes(), signature);
        if is_signed { Ok(()) } else { Err(HeadError::BadSignature) }
    }

    /// Returns text, empty line, and signature in base64. Parsers of signed notes do not accept that line.
    #[must_use]
    pub fn to_signed_text(&self, signature: &[u8; 64]) -> String {
        format!("{}\n{}\n", self.to_text(), BASE64.encode(signature))
    }

    /// Parses the output of [`HeadStatement::to_signed_text`], without verifying the signature. Use
    /// [`HeadStatement::verify`] for that.
    ///
    /// # Errors
    /// The text does not have this form.
    pub fn parse_signed(text: &str) -> Result<(Self, [u8; 64]), HeadError> {
        let (text, signature) = text.rsplit_once("\n\n").ok_or(HeadError::Signature)?;
        let signature = signature.strip_suffix('\n').and_then(decode_base64);
        let signature = signature.and_then(|bytes| bytes.try_into().ok()).ok_or(HeadError::Signature)?;
        Ok((Self::parse(&format!("{text}\n"))?, signature))
    }

    /// Returns the checkpoint of the same tree. Sign it only after the entries are durably committed.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { origin: self.origin.clone(), size: self.size, root: self.root, extensions: Vec::new() }
    }

    fn check_origin(&self, key: &VerifierKey) -> Result<(), HeadError> {
        if self.origin == key.name() {
            return Ok(());
        }
        Err(HeadError::OriginMismatch { expected: key.name().to_owned(), found: self.origin.clone() })
    }
}

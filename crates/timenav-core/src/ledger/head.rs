//! What is signed of a ledger inside the transaction that writes to it.
//!
//! Whether a transaction has happened is known only once it is over, and a checkpoint that was signed
//! over one that did not happen is evidence of a lie. So what is signed within it is another text,
//! which no reader of checkpoints takes for one.

use data_encoding::BASE64;

use super::checkpoint::Checkpoint;
use super::note::VerifierKey;
use super::{Hash, decode_base64, parse_decimal};

#[cfg(test)]
mod tests;

/// The first line: no other text that the key signs begins with it.
const HEADER: &str = "timenav-head/v1";

/// What stands in the place of an index root that there is not.
const NO_INDEX: &str = "-";

/// The state of a ledger at one size, and of the timeline that follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadStatement {
    /// The ledger's name, from [`origin`](super::origin).
    pub origin: String,
    /// Entries in the ledger.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Hash,
    /// What [`TimelineFacts::hash`](super::TimelineFacts::hash) returned for the timeline as it is after them.
    pub state_hash: Hash,
    /// The root of an index over the entries. Reserved: this service writes none, and checks none.
    pub index_root: Option<Hash>,
}

/// Why a head statement is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// There are not six lines, or the first is another.
    #[error("a head statement must have six lines, the first of them `{HEADER}`")]
    Lines,
    /// The name of the ledger is empty.
    #[error("the origin of a head statement must not be empty")]
    Origin,
    /// The size is not a plain decimal number.
    #[error("the size of a head statement must be a decimal number without leading zeros")]
    Size,
    /// One of the hashes is not one in base64.
    #[error("each hash of a head statement must be 32 bytes in base64, or `{NO_INDEX}` for a missing index")]
    Hash,
    /// The key belongs to another ledger.
    #[error("the head statement is for `{found}`, not `{expected}`")]
    OriginMismatch {
        /// The name of the key, which is the name of its ledger.
        expected: String,
        /// The name in the statement.
        found: String,
    },
    /// After the text come no empty line and no signature.
    #[error("the text of a head statement must be followed by an empty line and 64 bytes in base64")]
    Signature,
    /// The key did not sign this.
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

    /// Reads the text of a head statement, which [`HeadStatement::to_text`] gives back byte by byte.
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

    /// Returns the Ed25519 signature over the text, made by `sign`. The key must have the statement's
    /// origin as its name.
    ///
    /// # Errors
    /// The key is another ledger's.
    pub fn sign(&self, key: &VerifierKey, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<[u8; 64], HeadError> {
        self.check_origin(key)?;
        Ok(sign(self.to_text().as_bytes()))
    }

    /// Checks that the key of this ledger has made a signature over the text. `ed25519` is as for
    /// [`Note::verify`](super::Note::verify).
    ///
    /// # Errors
    /// The key is another ledger's, or has not made this signature.
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

    /// Returns how the statement is handed around: its text, an empty line, and the signature in base64. No
    /// reader of signed notes takes that line for one of theirs.
    #[must_use]
    pub fn to_signed_text(&self, signature: &[u8; 64]) -> String {
        format!("{}\n{}\n", self.to_text(), BASE64.encode(signature))
    }

    /// Reads what [`HeadStatement::to_signed_text`] returns. Whether the signature is right is for
    /// [`HeadStatement::verify`] to say.
    ///
    /// # Errors
    /// The text does not have this form.
    pub fn parse_signed(text: &str) -> Result<(Self, [u8; 64]), HeadError> {
        let (text, signature) = text.rsplit_once("\n\n").ok_or(HeadError::Signature)?;
        let signature = signature.strip_suffix('\n').and_then(decode_base64);
        let signature = signature.and_then(|bytes| bytes.try_into().ok()).ok_or(HeadError::Signature)?;
        Ok((Self::parse(&format!("{text}\n"))?, signature))
    }

    /// Returns the checkpoint of the same tree, to be signed once it is known that the entries are there
    /// for good.
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

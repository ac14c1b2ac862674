//! Data sealed under its owner's key: the byte format of a record.
//!
//! Nothing here encrypts. This module defines the bytes that are authenticated and hashed, once for sealing and
//! checking. `test-data/data-format-v1.json` freezes them.

use std::fmt;

use data_encoding::{BASE64, BASE64URL, HEXLOWER_PERMISSIVE};
use zeroize::Zeroizing;

use crate::ids::{DataId, TimelineId};
use crate::ledger::{Hash, sha256};
use crate::limits::ENCRYPTION_KEY_BYTES_MAX;

#[cfg(test)]
mod tests;

pub const DATA_FORMAT: u8 = 1;
pub const ENCRYPTION: &str = "AES-256";

pub const SALT_BYTES: usize = 16;
/// Length of a record's nonce (NIST SP 800-38D §5.2.1.1).
pub const NONCE_BYTES: usize = 12;
pub const COMMITMENT_BYTES: usize = 32;

/// Prefix of all authenticated bytes, for domain separation from other protocols.
const CONTEXT: &[u8] = b"timenav data";

named! {
    /// How a record's key is derived from the owner's key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum KeyKind {
        /// 32 random bytes, through HKDF-SHA-256.
        Random = "hkdf-sha256",
        /// A passphrase, through Argon2id (19 MiB, 2 passes, 1 lane), then HKDF-SHA-256.
        Passphrase = "argon2id",
    }
}

impl KeyKind {
    /// Returns the number stored in records.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Random => 1,
            Self::Passphrase => 2,
        }
    }

    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key must have 1 to {ENCRYPTION_KEY_BYTES_MAX} bytes")]
pub struct KeyLength;

/// A key as its owner writes it. Its `Debug` output is redacted, and its memory is wiped on drop.
#[derive(Clone)]
pub struct EncryptionKey(Zeroizing<String>);

impl EncryptionKey {
    /// Accepts the text of a key.
    ///
    /// # Errors
    /// The text is empty or too long.
    pub fn new(text: Zeroizing<String>) -> Result<Self, KeyLength> {
        if (1..=ENCRYPTION_KEY_BYTES_MAX).contains(&text.len()) { Ok(Self(text)) } else { Err(KeyLength) }
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the 32 bytes that the text encodes if it has the form of a random key: 64 hexadecimal digits, or 44
    /// characters of base64 in either alphabet, with padding.
    ///
    /// Any other text is a passphrase. A random key in another form therefore takes longer to derive, but is no less
    /// secure.
    #[must_use]
    pub fn random_bytes(&self) -> Option<Zeroizing<[u8; 32]>> {
        let text = self.as_bytes();
        let encodings = match text.len() {
            64 => &[HEXLOWER_PERMISSIVE][..],
            44 => &[BASE64, BASE64URL][..],
            _ => &[],
        };
        let decoded = encodings.iter().find_map(|encoding| encoding.decode(text).ok().map(Zeroizing::new))?;
        let mut bytes = Zeroizing::new([0; 32]);
        (decoded.len() == bytes.len()).then(|| {
            bytes.copy_from_slice(&decoded);
            bytes
        })
    }

    /// Returns the kind of key. It depends on the text alone.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        if self.random_bytes().is_some() { KeyKind::Random } else { KeyKind::Passphrase }
    }
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey(..)")
    }
}

/// The plaintext of a record, a JSON object. Its `Debug` output is redacted, and its memory is wiped on drop.
#[derive(Clone)]
pub struct Plaintext(Zeroizing<String>);

impl Plaintext {
    #[must_use]
    pub const fn new(text: Zeroizing<String>) -> Self {
        Self(text)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plaintext(..)")
    }
}

/// A sealed record as it is stored. The fields are as read, and may be damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealedData {
    pub format: u8,
    /// How the key was made: [`KeyKind::number`].
    pub kind: u8,
    /// Input of the key derivation; new for each record.
    pub salt: Vec<u8>,
    /// The cipher's nonce; new for each record.
    pub nonce: Vec<u8>,
    /// Commits to the key, because AES-GCM does not.
    pub commitment: Vec<u8>,
    /// The ciphertext, followed by the 16-byte tag.
    pub ciphertext: Vec<u8>,
}

impl SealedData {
    #[must_use]
    pub const fn bytes_count(&self) -> usize {
        2 + self.salt.len() + self.nonce.len() + self.commitment.len() + self.ciphertext.len()
    }

    /// Returns SHA-256(format ‖ kind ‖ salt ‖ nonce ‖ commitment ‖ ciphertext). Only the last length varies.
    #[must_use]
    pub fn hash(&self) -> Hash {
        sha256(&[&[self.format, self.kind], &self.salt, &self.nonce, &self.commitment, &self.ciphertext])
    }
}

/// Returns the associated data of a record's cipher, which binds the record to its timeline and id. Each part is
/// prefixed with its length in 8 bytes, big-endian.
#[must_use]
pub fn associated_data(format: u8, timeline: &TimelineId, data_id: &DataId, kind: KeyKind) -> Vec<u8> {
    let parts = [CONTEXT, &[format], timeline.as_str().as_bytes(), data_id.as_str().as_bytes(), &[kind.number()]];
    parts.iter().flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.iter().copied())).collect()
}

//! Data that is kept sealed under its owner's key: what a record is made of, to the byte.
//!
//! Nothing here encrypts. The bytes that are authenticated and hashed are said here once, are the
//! same for whoever seals and whoever checks, and are frozen by `test-data/data-format-v1.json`.

use std::fmt;

use data_encoding::{BASE64, BASE64URL, HEXLOWER_PERMISSIVE};
use zeroize::Zeroizing;

use crate::ids::{DataId, TimelineId};
use crate::ledger::{Hash, sha256};
use crate::limits::ENCRYPTION_KEY_BYTES_MAX;

#[cfg(test)]
mod tests;

/// The format of records that are made now.
pub const DATA_FORMAT: u8 = 1;
/// What an encryption is called on the wire.
pub const ENCRYPTION: &str = "AES-256";

/// Bytes of a record's salt.
pub const SALT_BYTES: usize = 16;
/// Bytes of a record's nonce (NIST SP 800-38D §5.2.1.1).
pub const NONCE_BYTES: usize = 12;
/// Bytes of a record's commitment.
pub const COMMITMENT_BYTES: usize = 32;

/// First in everything that is authenticated, so that no other protocol's bytes are these.
const CONTEXT: &[u8] = b"timenav data";

/// How a record's key is made from what its owner keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// 32 random bytes, through HKDF-SHA-256.
    Random,
    /// A passphrase, through Argon2id (19 MiB, 2 passes, 1 lane), then HKDF-SHA-256.
    Passphrase,
}

impl KeyKind {
    /// Returns the number that stands in records.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Random => 1,
            Self::Passphrase => 2,
        }
    }

    /// Returns the word that stands in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Random => "hkdf-sha256",
            Self::Passphrase => "argon2id",
        }
    }

    /// Returns the kind with that number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Random, Self::Passphrase].into_iter().find(|kind| kind.number() == number)
    }
}

/// Why a text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has 1 to {ENCRYPTION_KEY_BYTES_MAX} bytes")]
pub struct KeyLength;

/// A key as its owner writes it. It is never shown, and wiped when it is dropped.
#[derive(Clone)]
pub struct EncryptionKey(Zeroizing<String>);

impl EncryptionKey {
    /// Takes the text of a key.
    ///
    /// # Errors
    /// It is empty or too long.
    pub fn new(text: Zeroizing<String>) -> Result<Self, KeyLength> {
        if (1..=ENCRYPTION_KEY_BYTES_MAX).contains(&text.len()) { Ok(Self(text)) } else { Err(KeyLength) }
    }

    /// Returns the bytes of the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the 32 bytes that the text writes, if it is of a form in which random keys are
    /// written: 64 hexadecimal digits, or 44 characters of base64, either alphabet, with padding.
    ///
    /// Anything else is a passphrase. A random key in a form that is not known here so costs its
    /// owner a moment and no security.
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

    /// Returns what kind of key the text is. It depends on the text alone.
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

/// What was sealed, or is to be: a JSON object. It is never shown, and wiped when it is dropped.
#[derive(Clone)]
pub struct Plaintext(Zeroizing<String>);

impl Plaintext {
    /// Takes a text.
    #[must_use]
    pub const fn new(text: Zeroizing<String>) -> Self {
        Self(text)
    }

    /// Returns the text.
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

/// A sealed record as it is kept. Lengths and numbers are what was read, and may be damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealedData {
    /// The format: [`DATA_FORMAT`].
    pub format: u8,
    /// How the key was made: [`KeyKind::number`].
    pub kind: u8,
    /// Goes into the key; new for each record.
    pub salt: Vec<u8>,
    /// The nonce of the cipher; new for each record.
    pub nonce: Vec<u8>,
    /// Commits to the key, which AES-GCM does not.
    pub commitment: Vec<u8>,
    /// The ciphertext, and the cipher's tag of 16 bytes.
    pub ciphertext: Vec<u8>,
}

impl SealedData {
    /// Returns the record's length in bytes.
    #[must_use]
    pub const fn bytes_count(&self) -> usize {
        2 + self.salt.len() + self.nonce.len() + self.commitment.len() + self.ciphertext.len()
    }

    /// Returns the hash that stands in the ledger: SHA-256(format ‖ kind ‖ salt ‖ nonce ‖
    /// commitment ‖ ciphertext). All but the last are of fixed length.
    #[must_use]
    pub fn hash(&self) -> Hash {
        sha256(&[&[self.format, self.kind], &self.salt, &self.nonce, &self.commitment, &self.ciphertext])
    }
}

/// Returns what a record's cipher authenticates beside the data, so that no record passes for
/// another: each part after its length in 8 bytes, most significant first.
#[must_use]
pub fn associated_data(format: u8, timeline: &TimelineId, data_id: &DataId, kind: KeyKind) -> Vec<u8> {
    let parts = [CONTEXT, &[format], timeline.as_str().as_bytes(), data_id.as_str().as_bytes(), &[kind.number()]];
    parts.iter().flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.iter().copied())).collect()
}

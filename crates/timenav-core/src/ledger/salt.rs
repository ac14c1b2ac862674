//! The salt of a payload, and the hash that stands for both in an entry.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Hash, sha256};

#[cfg(test)]
mod tests;

/// Sixteen random bytes, kept beside a payload and erased with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 16]);

impl Salt {
    /// Length in bytes.
    pub const BYTES: usize = 16;

    /// Returns the salt with those bytes. They must be fresh from a secure random source.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Returns the salt of one part of what this salt is for: the first 16 bytes of
    /// HMAC-SHA-256(salt, number), the number as four bytes with the highest first (RFC 2104 §5 allows
    /// to cut). Whoever is shown it learns nothing of this salt, nor of those of other parts.
    #[must_use]
    pub fn derive(&self, number: u32) -> Self {
        self.deriving()(number)
    }

    /// Returns what [`Salt::derive`] does, for many parts: what is the same for all of them is hashed once.
    pub(super) fn deriving(&self) -> impl Fn(u32) -> Self + use<> {
        let keyed = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of every length");
        move |number| {
            let code = keyed.clone().chain_update(number.to_be_bytes()).finalize();
            let code = Hash::from_bytes(code.into_bytes().into());
            Self(*code.as_bytes().first_chunk().expect("a code is longer than a salt"))
        }
    }
}

impl fmt::Debug for Salt {
    // A salt in a log would outlive its erasure, and let an erased payload be guessed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(..)")
    }
}

/// Returns SHA-256(salt ‖ payload): what an entry says of its payload.
///
/// Without the salt, the hash of an erased payload does not help to guess it.
#[must_use]
pub fn payload_hash(salt: &Salt, payload: &[u8]) -> Hash {
    sha256(&[salt.as_bytes(), payload])
}

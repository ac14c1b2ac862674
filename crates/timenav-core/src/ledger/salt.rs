use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Hash, sha256};

#[cfg(test)]
mod tests;

/// Sixteen random bytes, stored with a payload and erased with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 16]);

impl Salt {
    pub const BYTES: usize = 16;

    /// Returns the salt with those bytes. They must be fresh from a secure random source.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Derives the salt of one part: the first 16 bytes of HMAC-SHA-256(salt, number), with the number as four bytes,
    /// big-endian. RFC 2104 §5 permits truncation. The derived salt reveals nothing about this one, nor about those of
    /// other parts.
    #[must_use]
    pub fn derive(&self, number: u32) -> Self {
        self.deriving()(number)
    }

    /// Returns [`Salt::derive`] as a function for many parts, which shares the common part of the computation.
    pub(super) fn deriving(&self) -> impl Fn(u32) -> Self + use<> {
        let keyed = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC accepts keys of any length");
        move |number| {
            let code = keyed.clone().chain_update(number.to_be_bytes()).finalize();
            let code = Hash::from_bytes(code.into_bytes().into());
            Self(*code.as_bytes().first_chunk().expect("a code is longer than a salt"))
        }
    }
}

impl fmt::Debug for Salt {
    // A salt in a log would survive its erasure, and allow guessing an erased payload.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(..)")
    }
}

/// Returns SHA-256(salt ‖ payload), the payload hash of an entry. Without the salt, the hash of an erased payload does
/// not help to guess it.
#[must_use]
pub fn payload_hash(salt: &Salt, payload: &[u8]) -> Hash {
    sha256(&[salt.as_bytes(), payload])
}

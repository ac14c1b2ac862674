//! The secrets of keys and sessions: how they are made, and under what they are kept.

use timenav_core::key::key_text;
use timenav_core::ledger::sha256;

use crate::entropy::Entropy;

/// Returns the text of a new key.
pub(crate) fn new_key_text(entropy: &dyn Entropy) -> String {
    loop {
        let mut random = [0; 64];
        entropy.fill(&mut random);
        // 64 bytes give 30 characters all but once in many lifetimes.
        if let Some(text) = key_text(&random) {
            return text;
        }
    }
}

/// Returns the digest under which a key is kept.
pub(crate) fn key_digest(text: &str) -> [u8; 32] {
    // A plain hash is right: what it is made from has more than 178 random bits.
    *sha256(&[text.as_bytes()]).as_bytes()
}

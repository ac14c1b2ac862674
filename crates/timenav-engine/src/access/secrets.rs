use timenav_core::key::key_text;
use timenav_core::ledger::sha256;

use crate::ports::entropy::Entropy;

pub(crate) fn new_key_text(entropy: &dyn Entropy) -> String {
    loop {
        let mut random = [0; 64];
        entropy.fill(&mut random);
        // Too few usable characters occur practically never with 64 bytes.
        if let Some(text) = key_text(&random) {
            return text;
        }
    }
}

pub(crate) fn key_digest(text: &str) -> [u8; 32] {
    // A plain hash suffices, because its input has more than 178 random bits.
    *sha256(&[text.as_bytes()]).as_bytes()
}

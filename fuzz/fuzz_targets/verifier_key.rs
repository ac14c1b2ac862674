//! Keys of ledgers: what is read is written again byte by byte, and a private key that is refused,
//! or printed for debugging, does not give itself away.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{ED25519, SignerKey, VerifierKey, key_id};
use timenav_fuzz::check_message;

/// Longest text that is printed of a private key beside its name, in bytes.
const DEBUG_BYTES_MAX: usize = 40;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match VerifierKey::parse(text) {
        Ok(key) => {
            assert_eq!(key.to_string(), text);
            assert_eq!(key.id(), key_id(key.name(), ED25519, key.public_key()));
            assert_eq!(VerifierKey::new(key.name(), *key.public_key()).as_ref(), Ok(&key));
        }
        Err(error) => check_message(&error, text.len()),
    }
    match SignerKey::parse(text) {
        Ok(key) => {
            assert_eq!(key.to_secret_text(), text);
            let debug_text = format!("{key:?}");
            assert!(debug_text.len() <= DEBUG_BYTES_MAX + format!("{:?}", key.name()).len(), "the seed is not shown");
            check_message(&key.name(), key.name().len());
            assert_eq!(
                VerifierKey::new(key.name(), *key.seed()).map(|public| public.name().to_owned()).as_deref(),
                Ok(key.name())
            );
        }
        // Nothing is quoted: it could be the seed.
        Err(error) => check_message(&error, 0),
    }
});

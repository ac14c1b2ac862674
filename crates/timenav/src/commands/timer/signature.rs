//! Signatures of requests, as Standard Webhooks 1.0.0 says.

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use data_encoding::BASE64;
use timenav_engine::Entropy;
use zeroize::Zeroizing;

/// What secrets begin with.
const PREFIX: &str = "whsec_";
/// Bytes of a new secret: from 24 to 64 are allowed.
const SECRET_BYTES: usize = 32;

/// Signs requests under one secret.
pub(super) struct Signer {
    bytes: Zeroizing<Vec<u8>>,
    key: hmac::Key,
}

impl Signer {
    /// Returns one with a new secret.
    pub(super) fn new(entropy: &impl Entropy) -> Self {
        let mut bytes = vec![0; SECRET_BYTES];
        entropy.fill(&mut bytes);
        Self::of(bytes)
    }

    fn of(bytes: Vec<u8>) -> Self {
        Self { key: hmac::Key::new(HMAC_SHA256, &bytes), bytes: Zeroizing::new(bytes) }
    }

    /// Returns the secret as libraries want it.
    pub(super) fn secret(&self) -> String {
        format!("{PREFIX}{}", BASE64.encode(&self.bytes))
    }

    /// Returns the value of `webhook-signature` for a request with this id, in whole seconds since 1970.
    pub(super) fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let tag = hmac::sign(&self.key, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", BASE64.encode(tag.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doors::OsEntropy;

    #[test]
    fn signatures_are_those_of_the_published_libraries() {
        // The vector in the tests of the libraries for Rust, Go, Python, JavaScript and others.
        let bytes = BASE64.decode(b"C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        let body = r#"{"email":"test@example.com","username":"test_user"}"#;
        let signed = Signer::of(bytes).sign("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, body);
        assert_eq!(signed, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn secrets_are_new_and_read_back() {
        let (one, other) = (Signer::new(&OsEntropy::new()), Signer::new(&OsEntropy::new()));
        assert_ne!(one.secret(), other.secret());
        let bytes = BASE64.decode(one.secret().strip_prefix(PREFIX).unwrap().as_bytes()).unwrap();
        assert_eq!(Signer::of(bytes).sign("a", 1, "b"), one.sign("a", 1, "b"));
        assert_ne!(one.sign("a", 1, "b"), other.sign("a", 1, "b"));
    }
}

//! The door to the key that signs checkpoints.

use std::cell::RefCell;

use thiserror::Error;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{NoteError, VerifierKey, origin};

/// What is signed to find out whether a key signs: neither a checkpoint nor the statement of a head.
pub(crate) const TRIAL: &[u8] = b"timenav asks whether this key signs\n";

/// Reason for which a signer did not sign.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the key cannot sign now: {0}")]
pub struct SignFailure(pub String);

/// Signs with one Ed25519 key and never shows it.
pub trait Signer: Send + Sync + 'static {
    /// Returns the public key.
    fn public_key(&self) -> [u8; 32];

    /// Returns the Ed25519 signature of a message (RFC 8032).
    ///
    /// # Errors
    /// The signer did not sign. The signer of a key file always signs.
    fn sign(&self, message: &[u8]) -> Result<[u8; 64], SignFailure>;

    /// Returns whether a signature of a message was made with the key behind `public_key`.
    fn verify(&self, public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool;

    /// Returns a message authentication code under a secret that goes with this key, and a label: so that what the service
    /// hands out and takes back (cursors) cannot be made up. It needs nobody but this process.
    fn authenticate(&self, label: &str, message: &[u8]) -> [u8; 32];
}

impl dyn Signer {
    /// Returns the public key under the name of a timeline's ledger.
    pub(crate) fn ledger_key(&self, service_name: &str, timeline: &TimelineId) -> Result<VerifierKey, NoteError> {
        VerifierKey::new(&origin(service_name, timeline.as_str()), self.public_key())
    }

    /// Lends signatures to something that is made with them. What is made with one that failed is thrown away.
    ///
    /// # Errors
    /// Nothing was signed.
    pub fn lend<T>(&self, make: impl FnOnce(&dyn Fn(&[u8]) -> [u8; 64]) -> T) -> Result<T, SignFailure> {
        let failed = RefCell::new(None);
        let thing = make(&|message| {
            self.sign(message).unwrap_or_else(|failure| {
                failed.replace(Some(failure));
                [0; 64]
            })
        });
        failed.into_inner().map_or(Ok(thing), Err)
    }
}

//! The door to the key that signs checkpoints.

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{NoteError, VerifierKey, origin};

/// Signs with one Ed25519 key and never shows it.
pub trait Signer: Send + Sync + 'static {
    /// Returns the public key.
    fn public_key(&self) -> [u8; 32];

    /// Returns the Ed25519 signature of a message (RFC 8032).
    fn sign(&self, message: &[u8]) -> [u8; 64];

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
}

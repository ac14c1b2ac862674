use timenav_core::ids::TimelineId;
use timenav_core::ledger::{NoteError, VerifierKey, origin};

/// Signs with one Ed25519 key, which it never reveals.
pub trait Signer: Send + Sync + 'static {
    fn public_key(&self) -> [u8; 32];

    /// Returns the Ed25519 signature of a message (RFC 8032).
    fn sign(&self, message: &[u8]) -> [u8; 64];

    fn verify(&self, public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool;

    /// Returns a message authentication code under a secret derived from this key, and a label. It protects data that
    /// the service issues and accepts again, such as cursors. Labels are few, so that their keys can be cached.
    fn authenticate(&self, label: &'static str, message: &[u8]) -> [u8; 32];
}

impl dyn Signer {
    pub(crate) fn ledger_key(&self, service_name: &str, timeline: &TimelineId) -> Result<VerifierKey, NoteError> {
        VerifierKey::new(&origin(service_name, timeline.as_str()), self.public_key())
    }
}

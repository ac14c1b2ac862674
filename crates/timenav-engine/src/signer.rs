//! The door to the key that signs checkpoints.

/// Signs with one Ed25519 key and never shows it.
pub trait Signer: Send + Sync + 'static {
    /// Returns the public key.
    fn public_key(&self) -> [u8; 32];

    /// Returns the Ed25519 signature of a message (RFC 8032).
    fn sign(&self, message: &[u8]) -> [u8; 64];

    /// Returns whether a signature of a message was made with the key behind `public_key`.
    fn verify(&self, public_key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool;

    /// Returns a message authentication code under a key made from this one and a label, so that
    /// what the service hands out and takes back (cursors) cannot be made up.
    fn authenticate(&self, label: &str, message: &[u8]) -> [u8; 32];
}

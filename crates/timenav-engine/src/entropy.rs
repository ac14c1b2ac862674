//! The door by which randomness enters.

/// Gives random bytes fit for keys and salts.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the buffer with random bytes that nobody can predict.
    fn fill(&self, buffer: &mut [u8]);
}

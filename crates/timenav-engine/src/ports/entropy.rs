/// A source of random bytes suitable for keys and salts.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the buffer with cryptographically secure random bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// A source of random bytes suitable for keys and salts.
pub trait Entropy: Send + Sync + 'static {
    fn fill(&self, buffer: &mut [u8]);
}

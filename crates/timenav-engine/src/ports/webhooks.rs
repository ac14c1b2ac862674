use timenav_core::ids::TimelineId;

/// Decides where the operator allows webhooks to be sent, and seals their signing secrets.
///
/// An implementation determines which machines the service connects to, and sees all secrets.
pub trait Webhooks: Send + Sync + 'static {
    /// Returns the normalized form of a URL, in which it is stored.
    ///
    /// # Errors
    /// The URL is not allowed; says why, and what would be valid.
    fn check(&self, url: &str) -> Result<String, String>;

    /// Seals a secret of a timeline. Deterministic, so that setting the same timer again is recognized as identical.
    ///
    /// # Errors
    /// It is not a valid Standard Webhooks secret; says why, without repeating the secret.
    fn seal(&self, timeline: &TimelineId, secret: &str) -> Result<String, String>;
}

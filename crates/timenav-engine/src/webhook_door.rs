//! The door to what knows where webhooks may go.

use timenav_core::ids::TimelineId;

/// Knows where the operator lets the service send requests, and seals what they are signed under.
///
/// Whoever controls an implementation decides which machines the service talks to, and reads every secret.
pub trait Webhooks: Send + Sync + 'static {
    /// Returns an address in the one form in which it is kept.
    ///
    /// # Errors
    /// Requests may not go there: why, and what would be right.
    fn check(&self, url: &str) -> Result<String, String>;

    /// Seals a secret of a timeline. The same secret of the same timeline gives the same text, so that whoever sets a timer
    /// again sets the very same one.
    ///
    /// # Errors
    /// It is no secret as Standard Webhooks writes one: why. The secret is not repeated.
    fn seal(&self, timeline: &TimelineId, secret: &str) -> Result<String, String>;
}

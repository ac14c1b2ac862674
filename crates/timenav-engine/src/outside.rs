//! The door to the checkpoints kept outside the database.

use timenav_core::ids::TimelineId;

/// Why checkpoints could not be kept or read.
#[derive(Debug, thiserror::Error)]
#[error("the checkpoints outside the database: {0}")]
pub struct OutsideError(#[from] pub std::io::Error);

/// Keeps the last signed checkpoint of every timeline where an attacker on the database is not.
///
/// An attacker who controls both the database and this place can take history back without being
/// found out by the service alone; one who controls only one of them cannot.
pub trait Outside: Send + Sync + 'static {
    /// Keeps these signed checkpoints, each the newest of its timeline. They are durable on `Ok`.
    ///
    /// # Errors
    /// Nothing may be assumed about what was kept; the service stops writing.
    fn keep(&self, checkpoints: &[(TimelineId, std::sync::Arc<str>)]) -> Result<(), OutsideError>;

    /// Forgets everything and keeps these instead, all or nothing. Only an operator who accepts
    /// that a database was taken back leads here.
    ///
    /// # Errors
    /// What was kept before is still kept.
    fn replace(&self, checkpoints: &[(TimelineId, std::sync::Arc<str>)]) -> Result<(), OutsideError>;

    /// Returns the last checkpoint of every timeline, as signed notes.
    ///
    /// # Errors
    /// They cannot be read.
    fn last(&self) -> Result<Vec<(TimelineId, String)>, OutsideError>;
}

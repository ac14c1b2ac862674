//! What a store says where it does not do what was asked.

use timenav_core::ids::TimelineId;

/// Why the store did not do what was asked. Nothing was changed, unless it says that this is not known.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another writer moved a timeline on since its state was read.
    #[error("timeline `{0}` was changed by another writer")]
    Moved(TimelineId),
    /// There is no room, the disk fails, the connection is lost.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A step was sent, and whether it happened cannot be found out.
    #[error("it is not known whether the store did it: {0}")]
    Unknown(String),
    /// What is kept does not make sense: damage or tampering.
    #[error("the store holds something that it cannot hold: {0}")]
    Damaged(String),
}

use timenav_core::ids::TimelineId;

/// Why the store did not carry out a request. Nothing was changed, unless the variant says that this is unknown.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another writer moved a timeline since its state was read.
    #[error("timeline `{0}` was changed by another writer")]
    Moved(TimelineId),
    /// No space, a disk failure, or a lost connection.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A step was sent, and its outcome cannot be determined.
    #[error("it is not known whether the store committed it: {0}")]
    Unknown(String),
    /// Stored data is invalid: damage or tampering.
    #[error("the store holds invalid data: {0}")]
    Damaged(String),
}

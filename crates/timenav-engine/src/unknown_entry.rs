//! What of `system` only a later version knows.

/// An entry of `system` that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a later version of timenav has written to the database: entry {position} of `system` has {what}, which this \
     version does not know; start the version that has written it, or a newer one"
)]
pub struct UnknownEntry {
    /// Which entry.
    pub position: u64,
    /// What of it is not known: its action or its format.
    pub what: String,
}

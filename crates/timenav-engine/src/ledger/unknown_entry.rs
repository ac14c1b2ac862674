#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a later version of timenav has written to the database: entry {position} of `system` has {what}, which this \
     version does not know; start the version that has written it, or a newer one"
)]
pub struct UnknownEntry {
    pub position: u64,
    /// What is unknown: its action or its format.
    pub what: String,
}

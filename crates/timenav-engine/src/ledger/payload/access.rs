use serde::{Deserialize, Serialize};

/// Payload of `unauthorized_access_attempt`.
#[derive(Serialize, Deserialize)]
pub(crate) struct AttemptRecord {
    pub(crate) operation: String,
    pub(crate) code: String,
    pub(crate) detail: String,
}

/// Payload of `unauthorized_access_attempts`: rejections of unidentified callers that have no entries of their own.
#[derive(Serialize, Deserialize)]
pub(crate) struct AttemptsCounted {
    /// Number of rejections since the instant `since`.
    pub(crate) count: u64,
    pub(crate) since: String,
    /// The most frequent sources: addresses, and networks for IPv6.
    pub(crate) networks: Vec<NetworkCount>,
    pub(crate) networks_unnamed: u64,
    /// The most frequent operations, with the reason of the rejection.
    pub(crate) operations: Vec<OperationCount>,
    pub(crate) operations_unnamed: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct NetworkCount {
    pub(crate) network: String,
    pub(crate) count: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OperationCount {
    pub(crate) operation: String,
    pub(crate) code: String,
    pub(crate) count: u64,
}

//! The payloads of entries that tell who looked and who was refused.

use serde::{Deserialize, Serialize};

/// Payload of `unauthorized_access_attempt`.
#[derive(Serialize, Deserialize)]
pub(crate) struct AttemptRecord {
    pub(crate) operation: String,
    pub(crate) code: String,
    pub(crate) detail: String,
}

/// Payload of `unauthorized_access_attempts`: refusals of strangers that have no entries of their own.
#[derive(Serialize, Deserialize)]
pub(crate) struct AttemptsCounted {
    /// How many there were, since the moment that is named.
    pub(crate) count: u64,
    pub(crate) since: String,
    /// Where most of them came from: addresses, and networks of IPv6.
    pub(crate) networks: Vec<NetworkCount>,
    /// How many came from elsewhere.
    pub(crate) networks_unnamed: u64,
    /// What most of them attempted, and why they were refused.
    pub(crate) operations: Vec<OperationCount>,
    /// How many attempted something else.
    pub(crate) operations_unnamed: u64,
}

/// Refusals of one network.
#[derive(Serialize, Deserialize)]
pub(crate) struct NetworkCount {
    pub(crate) network: String,
    pub(crate) count: u64,
}

/// Refusals of one operation, for one reason.
#[derive(Serialize, Deserialize)]
pub(crate) struct OperationCount {
    pub(crate) operation: String,
    pub(crate) code: String,
    pub(crate) count: u64,
}

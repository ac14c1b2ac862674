//! The payloads of entries that tell who looked and who was refused.

use serde::Serialize;

/// Payload of `unauthorized_access_attempt`.
#[derive(Serialize)]
pub(crate) struct AttemptRecord<'a> {
    pub(crate) operation: &'a str,
    pub(crate) code: &'a str,
    pub(crate) detail: &'a str,
}

/// Payload of `unauthorized_access_attempts`: refusals of strangers that have no entries of their own.
#[derive(Serialize)]
pub(crate) struct AttemptsCounted<'a> {
    /// How many there were, since the moment that is named.
    pub(crate) count: u64,
    pub(crate) since: String,
    /// Where most of them came from: addresses, and networks of IPv6.
    pub(crate) networks: Vec<NetworkCount<'a>>,
    /// How many came from elsewhere.
    pub(crate) networks_unnamed: u64,
    /// What most of them attempted, and why they were refused.
    pub(crate) operations: Vec<OperationCount<'a>>,
    /// How many attempted something else.
    pub(crate) operations_unnamed: u64,
}

/// Refusals of one network.
#[derive(Serialize)]
pub(crate) struct NetworkCount<'a> {
    pub(crate) network: &'a str,
    pub(crate) count: u64,
}

/// Refusals of one operation, for one reason.
#[derive(Serialize)]
pub(crate) struct OperationCount<'a> {
    pub(crate) operation: &'a str,
    pub(crate) code: &'a str,
    pub(crate) count: u64,
}

/// Payload of `read` where the parameters are long.
#[derive(Serialize)]
pub(crate) struct ParametersCut<'a> {
    /// The first of their JSON text.
    pub(crate) parameters_begin: &'a str,
    /// How long that text is.
    pub(crate) parameters_bytes: usize,
    /// The SHA-256 of the whole text, as hexadecimal digits.
    #[serde(rename = "parameters_sha256")]
    pub(crate) sha256: String,
}

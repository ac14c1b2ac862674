//! The payloads of what the service logs of itself.

use serde::{Deserialize, Serialize};

/// Payload of `accept_rollback`.
#[derive(Serialize, Deserialize)]
pub(crate) struct RollbackAccepted {
    pub(crate) findings: Vec<String>,
}

/// Payload of `accept_host_clock`: what the host's clock said when it was last known to be right, and what it says.
#[derive(Serialize, Deserialize)]
pub(crate) struct HostClockAccepted {
    pub(crate) last: String,
    pub(crate) now: String,
}

/// Payload of `rotate_signing_key`: two public keys of the ledger, as they are handed around.
#[derive(Serialize, Deserialize)]
pub(crate) struct SigningKeyRotated {
    /// The one that signed.
    pub(crate) retired_verifier_key: String,
    /// The one that takes its place.
    pub(crate) verifier_key: String,
}

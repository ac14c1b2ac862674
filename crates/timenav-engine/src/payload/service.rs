//! The payloads of what the service logs of itself.

use serde::{Deserialize, Serialize};

/// Payload of `accept_rollback`.
#[derive(Serialize, Deserialize)]
pub(crate) struct RollbackAccepted {
    pub(crate) findings: Vec<String>,
}

/// Payload of `rotate_signing_key`: two public keys of the ledger, as they are handed around.
#[derive(Serialize, Deserialize)]
pub(crate) struct SigningKeyRotated {
    /// The one that signed.
    pub(crate) retired_verifier_key: String,
    /// The one that takes its place.
    pub(crate) verifier_key: String,
}

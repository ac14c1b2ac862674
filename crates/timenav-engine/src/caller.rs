//! Who asks.

use std::sync::Arc;

use timenav_core::access::Scope;
use timenav_core::ids::{KeyId, TimelineId, UserId};

/// A user who showed a valid key.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user.
    pub user_id: UserId,
    /// The key shown.
    pub key_id: KeyId,
    /// The timeline meant where a request names none.
    pub timeline_id: TimelineId,
    /// What the key may be used for; `None` for all that the user may do.
    pub scopes: Option<Arc<[Scope]>>,
}

/// Why nobody could be identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthFailure {
    /// No key was shown.
    #[error("no API key was given; send `Authorization: Bearer <API_KEY>`")]
    Missing,
    /// The key is malformed, unknown, expired or revoked. Which of these is not told.
    #[error("the API key is not valid")]
    Invalid,
    /// The request shows its credentials in a way that cannot be read.
    #[error("the Authorization header cannot be read; send one `Authorization: Bearer <API_KEY>`")]
    Malformed,
}

impl AuthFailure {
    /// Returns the stable word for it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing => "missing_credentials",
            Self::Invalid | Self::Malformed => "invalid_credentials",
        }
    }
}

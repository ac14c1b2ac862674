//! Who asks.

use std::sync::Arc;

use timenav_core::access::Scope;
use timenav_core::ids::{KeyId, SessionId, TimelineId, UserId};

/// A user who showed a valid key, or the cookie of a session.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user.
    pub user_id: UserId,
    /// By what the user was identified.
    pub credential: Credential,
    /// The timeline meant where a request names none.
    pub timeline_id: TimelineId,
    /// What the key may be used for; `None` for all that the user may do.
    pub scopes: Option<Arc<[Scope]>>,
}

/// By what somebody was identified.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// An API key.
    Key(KeyId),
    /// A session.
    Session(SessionId),
}

impl Caller {
    /// Returns the timeline that is meant: the one that a request names, else the caller's own.
    #[must_use]
    pub fn timeline(&self, named: Option<TimelineId>) -> TimelineId {
        named.unwrap_or_else(|| self.timeline_id.clone())
    }

    /// Returns the session that the caller asks in, if it is one.
    #[must_use]
    pub const fn session_id(&self) -> Option<&SessionId> {
        match &self.credential {
            Credential::Key(_) => None,
            Credential::Session(session_id) => Some(session_id),
        }
    }
}

/// Why nobody could be identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthFailure {
    /// No key was shown.
    #[error("no API key was given")]
    Missing,
    /// What was shown is under another scheme than that of API keys, or under none.
    #[error("what was given is not under the scheme of an API key")]
    OtherScheme,
    /// A key was shown where none is looked for.
    #[error("an API key was given where none is accepted")]
    Elsewhere,
    /// The key is malformed, unknown, expired or revoked. Which of these is not told.
    #[error("the API key is not valid")]
    Invalid,
    /// The key has a horizon, which earlier versions knew: it saw less than its user, so it is not taken for another one.
    #[error(
        "the API key has a horizon, and such keys no longer work; create one without, and give `as_of` with requests"
    )]
    Retired,
    /// The request shows its credentials in a way that cannot be read.
    #[error("the credentials cannot be read")]
    Malformed,
    /// The session of the cookie is malformed, unknown or has ended. Which of these is not told.
    #[error("the session has ended; log in again")]
    Session,
    /// User and password do not belong together. Whether there is such a user is not told.
    #[error("wrong user name or password")]
    LogIn,
}

impl AuthFailure {
    /// Returns the stable word for it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing | Self::OtherScheme | Self::Elsewhere => "missing_credentials",
            Self::Invalid | Self::Retired | Self::Malformed | Self::Session | Self::LogIn => "invalid_credentials",
        }
    }
}

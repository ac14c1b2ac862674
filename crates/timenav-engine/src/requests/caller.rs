use std::sync::Arc;

use timenav_core::access::Scope;
use timenav_core::ids::{KeyId, SessionId, TimelineId, UserId};

/// A user identified by a valid API key or session cookie.
#[derive(Clone, Debug)]
pub struct Caller {
    pub user_id: UserId,
    pub credential: Credential,
    /// The timeline of requests that name none.
    pub timeline_id: TimelineId,
    /// Limits what the key may be used for; `None` for everything the user may do.
    pub scopes: Option<Arc<[Scope]>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    Key(KeyId),
    Session(SessionId),
}

impl Caller {
    /// Returns the timeline named by a request, or else the caller's own.
    #[must_use]
    pub fn timeline(&self, named: Option<TimelineId>) -> TimelineId {
        named.unwrap_or_else(|| self.timeline_id.clone())
    }

    #[must_use]
    pub const fn session_id(&self) -> Option<&SessionId> {
        match &self.credential {
            Credential::Key(_) => None,
            Credential::Session(session_id) => Some(session_id),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthFailure {
    #[error("no API key was given")]
    Missing,
    /// The credentials use another scheme than API keys, or none.
    #[error("the credentials do not use the scheme of an API key")]
    OtherScheme,
    /// A key was sent in an unsupported place.
    #[error("an API key was sent in an unsupported place")]
    Elsewhere,
    /// The key is malformed, unknown, expired or revoked. The error does not reveal which.
    #[error("the API key is not valid")]
    Invalid,
    /// The key has a horizon, a feature of earlier versions that limited what it could see. It must not be treated as
    /// an unlimited key.
    #[error(
        "the API key has a horizon, and such keys no longer work; create one without, and give `as_of` with requests"
    )]
    Retired,
    #[error("the credentials cannot be read")]
    Malformed,
    /// The session is malformed, unknown or has ended. The error does not reveal which.
    #[error("the session has ended; log in again")]
    Session,
    /// User and password do not match. The error does not reveal whether the user exists.
    #[error("wrong user name or password")]
    Login,
}

impl AuthFailure {
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing | Self::OtherScheme | Self::Elsewhere => "missing_credentials",
            Self::Invalid | Self::Retired | Self::Malformed | Self::Session | Self::Login => "invalid_credentials",
        }
    }
}

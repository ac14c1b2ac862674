//! Who acts.

use timenav_core::ids::{TimelineId, UserId};

use crate::caller::{Caller, Credential};

/// Who acts.
pub(crate) enum Actor {
    /// A user who showed a key or a session.
    Caller(Caller),
    /// The caller is not authenticated.
    Unknown,
    /// The service itself: on its first start, and where its operator does something with it while it is stopped.
    Service,
}

impl Actor {
    /// Returns the id of the key or session that was shown; empty where there was none.
    pub(crate) fn credential(&self) -> &str {
        match self {
            Self::Caller(caller) => match &caller.credential {
                Credential::Key(key_id) => key_id.as_str(),
                Credential::Session(session_id) => session_id.as_str(),
            },
            Self::Unknown | Self::Service => "",
        }
    }

    /// Returns how the actor stands in the ledger.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Caller(caller) => caller.user_id.as_str(),
            Self::Unknown => UserId::UNKNOWN,
            Self::Service => TimelineId::SYSTEM,
        }
    }
}

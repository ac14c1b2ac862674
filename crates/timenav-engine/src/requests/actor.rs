use timenav_core::ids::{TimelineId, UserId};

use crate::requests::caller::{Caller, Credential};

pub(crate) enum Actor {
    Caller(Caller),
    Unknown,
    /// The service itself: on its first start, in background work, or for its operator while it is stopped.
    Service,
}

impl Actor {
    /// Returns the id of the key or session; empty if there is none.
    pub(crate) fn credential(&self) -> &str {
        match self {
            Self::Caller(caller) => match &caller.credential {
                Credential::Key(key_id) => key_id.as_str(),
                Credential::Session(session_id) => session_id.as_str(),
            },
            Self::Unknown | Self::Service => "",
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Caller(caller) => caller.user_id.as_str(),
            Self::Unknown => UserId::UNKNOWN,
            Self::Service => TimelineId::SYSTEM,
        }
    }
}

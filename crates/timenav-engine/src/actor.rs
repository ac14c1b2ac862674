//! Who acts.

use timenav_core::ids::{TimelineId, UserId};

use crate::caller::Caller;

/// Who acts.
pub(crate) enum Actor {
    /// A user who showed a key or a session.
    Caller(Caller),
    /// Nobody could be identified.
    Unknown,
    /// The service itself: on its first start, and where its operator does something with it while it is stopped.
    Service,
}

impl Actor {
    /// Returns how the actor stands in the ledger.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Caller(caller) => caller.user_id.as_str(),
            Self::Unknown => UserId::UNKNOWN,
            Self::Service => TimelineId::SYSTEM,
        }
    }
}

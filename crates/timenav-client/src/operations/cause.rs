use serde::{Deserialize, Serialize};

use crate::string_enum::string_enum;

string_enum! {
    /// How strong a cause is.
    CauseKind { Requires = "requires", Contributes = "contributes", }
}

/// A cause of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// The event that is the cause.
    pub event_id: String,
    /// How strong it is. Defaults to `requires`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CauseKind>,
}

impl Cause {
    /// Returns a cause that contributed to an event, which would have happened without it.
    #[must_use]
    pub fn contributes(event_id: impl Into<String>) -> Self {
        Self { event_id: event_id.into(), kind: Some(CauseKind::Contributes) }
    }
}

impl<T: Into<String>> From<T> for Cause {
    fn from(event_id: T) -> Self {
        Self { event_id: event_id.into(), kind: None }
    }
}

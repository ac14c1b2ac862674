//! What is to be changed of a timer.

use timenav_core::timers::{Misfire, Schedule};

/// Another schedule of a timer.
#[derive(Clone, Debug)]
pub enum ScheduleChange {
    /// This one.
    To(Schedule),
    /// The same rule, with another fate of moments that come together.
    Misfire(Misfire),
}

/// Another order of a timer's firings.
#[derive(Clone, Debug)]
pub enum OrderKeyChange {
    /// They are worked on one after the other with those of this key.
    To(String),
    /// They are worked on in any order.
    Removed,
}

impl OrderKeyChange {
    /// Returns the key that they are to have.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Self::To(key) => Some(key),
            Self::Removed => None,
        }
    }
}

use timenav_core::timers::{Misfire, Schedule};

#[derive(Clone, Debug)]
pub enum ScheduleChange {
    To(Schedule),
    /// The same rule with another misfire policy.
    Misfire(Misfire),
}

#[derive(Clone, Debug)]
pub enum OrderKeyChange {
    /// Firings with the same key are worked on one after the other.
    To(String),
    Removed,
}

impl OrderKeyChange {
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Self::To(key) => Some(key),
            Self::Removed => None,
        }
    }
}

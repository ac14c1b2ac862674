//! How a clock and an advance stand.

use std::fmt;

use serde::Deserialize;

/// Whether virtual time passes. A clock that neither runs nor is paused is one that this version cannot compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Running {
    /// It does.
    Running,
    /// The clock stands still.
    Paused,
}

/// How an advance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AdvanceState {
    /// At the destination.
    Settled,
    /// On its way.
    Running,
    /// Somebody paused the clock, or held an instant for too long.
    Stopped,
    /// Timers kept arming themselves for the same instant.
    Stuck,
    /// Something that this version does not know.
    #[serde(other)]
    Other,
}

impl fmt::Display for AdvanceState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Settled => "settled",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Stuck => "stuck",
            Self::Other => "in a state that this version does not know",
        })
    }
}

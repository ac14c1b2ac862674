//! What came of an advance.

use std::fmt;

use serde::Deserialize;

use crate::instant::Instant;

/// How an advance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AdvanceState {
    /// At the destination.
    Settled,
    /// On its way.
    Running,
    /// Somebody paused the clock, or held an instant for too long.
    Stopped,
    /// Timers kept arming themselves for the same instant.
    Stuck,
}

impl fmt::Display for AdvanceState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Settled => "settled",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Stuck => "stuck",
        })
    }
}

/// One moment of a timer that fell due, in a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct FiringBody {
    /// The id of the firing.
    pub firing_id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The moment at which it fell due.
    pub due: Instant,
    /// The round of the timer.
    pub round: u32,
    /// The queue that it waits in.
    pub queue: String,
    /// `pending`, `acknowledged`, `failed` or `superseded`.
    pub state: String,
    /// Why it failed.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What fired while a clock moved, as answers have it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SettledBody {
    /// How the advance stands.
    pub state: AdvanceState,
    /// The id of the advance.
    pub advance_id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The destination.
    pub to: Instant,
    /// How far the clock has come.
    pub reached: Instant,
    /// How many firings there were.
    pub fired: u64,
    /// How many were acknowledged.
    pub acknowledged: u64,
    /// How many failed.
    pub failed: u64,
    /// How many nobody has acknowledged yet: their queues have no listener.
    pub unheard: u64,
    /// Who held the instant that it was stopped at.
    #[serde(default)]
    pub held_by: Option<String>,
    /// The first 100 firings.
    pub firings: Vec<FiringBody>,
}

/// What came of an advance.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The timeline.
    pub timeline_id: String,
    /// How it stands.
    pub state: AdvanceState,
    /// How far the clock has come.
    pub reached: Instant,
    /// The destination.
    pub to: Instant,
    /// How many firings there were.
    pub fired: u64,
    /// How many were acknowledged.
    pub acknowledged: u64,
    /// How many failed.
    pub failed: u64,
    /// How many nobody has acknowledged yet: their queues have no listener.
    pub unheard: u64,
    /// The first 100 firings.
    pub firings: Vec<FiringBody>,
    /// The id of the advance; `None` where the clock passed no timer.
    pub advance_id: Option<String>,
    /// Who held the instant that it was stopped at.
    pub held_by: Option<String>,
}

impl From<SettledBody> for Receipt {
    fn from(settled: SettledBody) -> Self {
        Self {
            timeline_id: settled.timeline_id,
            state: settled.state,
            reached: settled.reached,
            to: settled.to,
            fired: settled.fired,
            acknowledged: settled.acknowledged,
            failed: settled.failed,
            unheard: settled.unheard,
            firings: settled.firings,
            advance_id: Some(settled.advance_id),
            held_by: settled.held_by,
        }
    }
}

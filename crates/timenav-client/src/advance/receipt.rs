use serde::{Deserialize, Serialize};

use crate::instant::Instant;
use crate::string_enum::string_enum;

string_enum! {
    /// The state of an advance: `settled` at the destination; `stopped` if the clock was paused, or held for too long;
    /// `stuck` if timers kept arming themselves for the same instant.
    AdvanceState { Settled = "settled", Running = "running", Stopped = "stopped", Stuck = "stuck", }
}

string_enum! {
    /// The outcome of a firing.
    FiringState { Pending = "pending", Acknowledged = "acknowledged", Failed = "failed", Superseded = "superseded", }
}

/// The receipt of an advance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The timeline.
    pub timeline_id: String,
    /// The state of the advance.
    pub state: AdvanceState,
    /// The clock's reading at the start of the advance.
    pub from: Instant,
    /// The destination.
    pub to: Instant,
    /// The time that the clock has reached.
    pub reached: Instant,
    /// The number of instants that the advance has reached.
    pub step: u64,
    /// The number of firings.
    pub fired: u64,
    /// The number of acknowledged firings.
    pub acknowledged: u64,
    /// The number of failed firings.
    pub failed: u64,
    /// The number of firings without an outcome. If the advance is settled, their queues have no listener.
    pub unacknowledged: u64,
    /// The first 100 firings.
    pub firings: Vec<FiringRecord>,
    /// The id of the advance; `None` if the clock passed no timer.
    pub advance_id: Option<String>,
    /// The worker, hold or followers that the last instant waited for; if the advance is stuck, the last timer.
    pub held_by: Option<String>,
}

/// A firing of a timer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FiringRecord {
    /// The id of the firing.
    pub firing_id: String,
    /// The timer.
    pub timer_id: String,
    /// The due time.
    pub due: Instant,
    /// The round of the timer.
    pub round: u32,
    /// The outcome.
    pub state: FiringState,
    /// The event that it recorded, if its timer records events.
    pub event_id: Option<String>,
    /// The queue; `timenav:webhook` if the firing is sent as a webhook. `None` if it records an event.
    pub queue: Option<String>,
    /// The reason of the failure.
    pub reason: Option<String>,
}

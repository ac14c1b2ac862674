use serde::{Deserialize, Serialize};

use crate::instant::Instant;
use crate::words::words;

words! {
    /// The state of an advance: `stopped` if the clock was paused or an instant was held for too long, `stuck` if timers
    /// kept arming themselves for the same instant.
    AdvanceState { Settled = "settled", Running = "running", Stopped = "stopped", Stuck = "stuck", }
}

words! {
    /// The outcome of a firing.
    FiringState { Pending = "pending", Acknowledged = "acknowledged", Failed = "failed", Superseded = "superseded", }
}

/// The outcome of an advance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The timeline.
    pub timeline_id: String,
    /// Its state.
    pub state: AdvanceState,
    /// The clock's reading at its beginning.
    pub from: Instant,
    /// The target.
    pub to: Instant,
    /// The instant it has reached.
    pub reached: Instant,
    /// The number of instants it has reached.
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
    /// The holder of the instant at which it stopped.
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
    /// Its outcome.
    pub state: FiringState,
    /// The event that it recorded, if its timer records events.
    pub event_id: Option<String>,
    /// The queue: `timenav:webhook` if the service sends it, `None` if it is recorded as an event.
    pub queue: Option<String>,
    /// Why it failed.
    pub reason: Option<String>,
}

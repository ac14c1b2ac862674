//! Background work, as reported to tracing.

use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

/// A kind of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Firing timers of a timeline, or moving an advance on.
    FireTimers,
    /// Pruning contents whose retention has passed.
    Sweep,
    /// Keeping checkpoints outside the database.
    KeepCheckpoints,
}

/// A finished piece of background work.
#[derive(Clone, Debug)]
pub struct BackgroundWork {
    pub what: Background,
    /// The timeline it was for, if there is one.
    pub timeline_id: Option<TimelineId>,
    /// Host time of its start.
    pub began: Instant<Wall>,
    /// Host time of its end.
    pub ended: Instant<Wall>,
    pub has_failed: bool,
}

/// Receives finished background work.
pub trait BackgroundTraces: Send + Sync {
    /// Called on the thread that writes ledgers, so it must not block.
    fn done(&self, work: BackgroundWork);
}

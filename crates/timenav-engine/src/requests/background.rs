use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Firing timers of a timeline, or moving an advance on.
    FireTimers,
    Sweep,
    KeepCheckpoints,
}

#[derive(Clone, Debug)]
pub struct BackgroundWork {
    pub what: Background,
    pub timeline_id: Option<TimelineId>,
    pub began: Instant<Wall>,
    pub ended: Instant<Wall>,
    pub has_failed: bool,
}

pub trait BackgroundTraces: Send + Sync {
    /// Called on the thread that writes ledgers, so it must not block.
    fn done(&self, work: BackgroundWork);
}

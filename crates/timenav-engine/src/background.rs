//! What the engine does that no request asked for, as whoever traces it hears of it.

use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};

/// Something that the engine does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Timers of a timeline fall due, or an advance goes on.
    FireTimers,
    /// Contents are let go whose retention has passed.
    Sweep,
    /// Checkpoints are kept outside the database.
    KeepCheckpoints,
}

/// What was done, and when.
#[derive(Clone, Debug)]
pub struct BackgroundWork {
    /// What it was.
    pub what: Background,
    /// The timeline that it was done on, if it was one.
    pub timeline_id: Option<TimelineId>,
    /// When it began, in host time.
    pub began: Instant<Wall>,
    /// When it was done, in host time.
    pub ended: Instant<Wall>,
    /// Whether it failed.
    pub has_failed: bool,
}

/// Hears of what was done.
pub trait BackgroundTraces: Send + Sync {
    /// Takes it. The thread that writes ledgers calls this: it must wait for nothing.
    fn done(&self, work: BackgroundWork);
}

//! What the engine has done, in numbers.

use timenav_core::time::{Instant, Wall};

/// What the engine has done since it opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineStats {
    /// Ledger entries written.
    pub entries: u64,
    /// Groups committed that wrote an entry.
    pub groups: u64,
    /// Timelines there are.
    pub timelines: u64,
    /// How far the host's clock is behind the newest entry from before the start, in seconds.
    pub host_clock_behind_seconds: u64,
    /// Whether the host's clock is doubted, so that nothing is destroyed by it.
    pub is_host_clock_doubted: bool,
    /// Scans that run.
    pub scans_running: u64,
    /// Scans that came to their end.
    pub scans_finished: u64,
    /// Scans that were given up before it.
    pub scans_cancelled: u64,
    /// How often a timeline was looked at, for timers that are due there.
    pub timekeeper_looks: u64,
    /// Firings without an outcome, on all timelines.
    pub firings_pending: u64,
    /// Timelines with firings without an outcome.
    pub timelines_with_firings_pending: u64,
}

/// Returns by how many seconds host time is before that of the newest entry.
pub(crate) fn behind_seconds(newest: Instant<Wall>, now: Instant<Wall>) -> u64 {
    u64::try_from(newest.since(now).micros()).unwrap_or(0) / 1_000_000
}

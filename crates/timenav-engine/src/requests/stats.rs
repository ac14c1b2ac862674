use timenav_core::time::{Instant, Wall};

/// Statistics of the engine since startup.
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineStats {
    pub entries: u64,
    /// Committed groups with at least one entry.
    pub groups: u64,
    pub timelines: u64,
    /// How far the host's clock is behind the newest entry from before the start, in seconds.
    pub host_clock_behind_seconds: u64,
    /// Whether the host's clock is doubted, so that destructive work is suspended.
    pub is_host_clock_untrusted: bool,
    pub scans_running: u64,
    pub scans_finished: u64,
    pub scans_cancelled: u64,
    /// Number of timelines checked for due timers.
    pub scheduler_polls: u64,
    pub firings_pending: u64,
    pub timelines_with_firings_pending: u64,
}

/// Returns how many seconds host time is before the newest entry.
pub(crate) fn behind_seconds(newest: Instant<Wall>, now: Instant<Wall>) -> u64 {
    u64::try_from(newest.since(now).micros()).unwrap_or(0) / 1_000_000
}

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use timenav_core::time::{Instant, Wall};
use tokio::sync::Notify;

use crate::ledger::head::TimelineKey;
use crate::writer::heads::Heads;

#[derive(Debug)]
pub(crate) struct Following {
    /// When all ledgers were last compared, in microseconds of host time.
    pub(crate) caught_up_at: AtomicI64,
    /// How many entries were unknown at that time.
    pub(crate) lag_positions: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) loads: AtomicU64,
    /// Signals that the directory was updated from entries, so that its rows must be compared.
    pub(crate) rows_moved: Notify,
    pub(crate) outcomes_unknown: AtomicU64,
    pub(crate) checked_until: AtomicI64,
    /// Whether no checkpoint was available at startup to compare the database with.
    pub(crate) is_unseen: AtomicBool,
    /// The age of the oldest snapshot of the server's sessions, in transactions.
    pub(crate) snapshot_age: AtomicU64,
}

impl Following {
    pub(crate) fn since(now: Instant<Wall>) -> Self {
        Self {
            caught_up_at: AtomicI64::new(now.micros()),
            lag_positions: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            loads: AtomicU64::new(0),
            rows_moved: Notify::new(),
            outcomes_unknown: AtomicU64::new(0),
            checked_until: AtomicI64::new(i64::MIN),
            is_unseen: AtomicBool::new(false),
            snapshot_age: AtomicU64::new(0),
        }
    }

    pub(crate) fn note_lag(&self, heads: &Heads, sizes: &[(TimelineKey, u64)]) {
        let known: HashMap<TimelineKey, u64> =
            heads.all().map(|state| (state.head.key, state.head.frontier.size())).collect();
        let missing = |(key, size): &(TimelineKey, u64)| size.saturating_sub(known.get(key).copied().unwrap_or(0));
        self.lag_positions.store(sizes.iter().map(missing).sum(), Ordering::Release);
    }

    pub(crate) fn caught_up(&self, now: Instant<Wall>) {
        self.caught_up_at.fetch_max(now.micros(), Ordering::AcqRel);
    }
}

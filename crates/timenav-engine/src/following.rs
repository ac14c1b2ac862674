//! What is counted of how this service follows the others on its database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use timenav_core::time::{Instant, Wall};
use tokio::sync::Notify;

use crate::head::TimelineKey;
use crate::heads::Heads;

/// How this service follows the others on its database.
#[derive(Debug)]
pub(crate) struct Following {
    /// When all ledgers were compared last, in microseconds of host time.
    pub(crate) caught_up_at: AtomicI64,
    /// How many entries were not known then.
    pub(crate) lag_positions: AtomicU64,
    /// How often a group was decided again.
    pub(crate) retries: AtomicU64,
    /// How often all timelines were read again.
    pub(crate) loads: AtomicU64,
    /// Is notified where the directory was brought forward by entries, so that its rows are to be compared.
    pub(crate) rows_moved: Notify,
    /// How often it could not be told whether a group was committed.
    pub(crate) outcomes_unknown: AtomicU64,
    /// The number of the last timeline that was looked back at.
    pub(crate) looked_back_to: AtomicI64,
    /// Whether it began with what was in the database, and had kept nothing to compare that with.
    pub(crate) is_unseen: AtomicBool,
    /// How many transactions the oldest snapshot of the server's sessions is behind.
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
            looked_back_to: AtomicI64::new(i64::MIN),
            is_unseen: AtomicBool::new(false),
            snapshot_age: AtomicU64::new(0),
        }
    }

    /// Takes down how many of the entries that there are were not known.
    pub(crate) fn note_lag(&self, heads: &Heads, sizes: &[(TimelineKey, u64)]) {
        let known: HashMap<TimelineKey, u64> =
            heads.all().map(|state| (state.head.key, state.head.frontier.size())).collect();
        let missing = |(key, size): &(TimelineKey, u64)| size.saturating_sub(known.get(key).copied().unwrap_or(0));
        self.lag_positions.store(sizes.iter().map(missing).sum(), Ordering::Release);
    }

    /// Takes that everything up to an instant is known.
    pub(crate) fn caught_up(&self, now: Instant<Wall>) {
        self.caught_up_at.fetch_max(now.micros(), Ordering::AcqRel);
    }
}

use serde::{Deserialize, Serialize};
use timenav_core::ledger::{PruneClass, Retention};
use timenav_core::time::{Instant, Wall};

use super::Change;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RetentionSet {
    pub(crate) retention: Retention,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct RetentionSetRecord {
    reads_seconds: Option<u32>,
    refusals_seconds: Option<u32>,
}

impl Change for RetentionSet {
    const KIND: &'static str = "retention";
    type Record = RetentionSetRecord;

    fn record(&self) -> RetentionSetRecord {
        let Retention { reads_seconds, refusals_seconds } = self.retention;
        RetentionSetRecord { reads_seconds, refusals_seconds }
    }

    fn of(record: RetentionSetRecord) -> Option<Self> {
        let RetentionSetRecord { reads_seconds, refusals_seconds } = record;
        Some(Self { retention: Retention { reads_seconds, refusals_seconds } })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrunedContents {
    pub position: u64,
    pub class: PruneClass,
    pub count: u64,
    /// All pruned contents were recorded before this host time.
    pub cutoff: Instant<Wall>,
}

/// A sweep, after the remainder of earlier ones was finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    pub(crate) pruned: PrunedContents,
    /// Contents of earlier sweeps that were deleted first.
    pub(crate) finished: u64,
    pub(crate) retention: Retention,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SweptRecord {
    position: u64,
    class: String,
    count: u64,
    cutoff: i64,
    finished: u64,
    retention: RetentionSetRecord,
}

impl Change for Swept {
    const KIND: &'static str = "swept";
    type Record = SweptRecord;

    fn record(&self) -> SweptRecord {
        let Self { pruned: PrunedContents { position, class, count, cutoff }, finished, retention } = *self;
        let (class, cutoff) = (class.as_str().to_owned(), cutoff.micros());
        SweptRecord { position, class, count, cutoff, finished, retention: RetentionSet { retention }.record() }
    }

    fn of(record: SweptRecord) -> Option<Self> {
        let SweptRecord { position, class, count, cutoff, finished, retention } = record;
        let class = PruneClass::ALL.into_iter().find(|known| known.as_str() == class)?;
        let pruned = PrunedContents { position, class, count, cutoff: Instant::from_micros(cutoff)? };
        Some(Self { pruned, finished, retention: RetentionSet::of(retention)?.retention })
    }
}

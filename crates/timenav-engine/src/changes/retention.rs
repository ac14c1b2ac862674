//! What is answered where it is said how long reads and refusals are kept, and where some are let go.

use serde::{Deserialize, Serialize};
use timenav_core::ledger::{LetGoClass, Retention};
use timenav_core::time::{Instant, Wall};

use super::Change;

/// It was said how long reads and refusals are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetentionSet {
    /// What is in force after it.
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

/// Contents were let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetGone {
    /// Position of the entry that tells of it.
    pub position: u64,
    /// Of which class.
    pub class: LetGoClass,
    /// How many.
    pub count: u64,
    /// Everything that was let go was recorded before this host time.
    pub cutoff: Instant<Wall>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct LetGoneRecord {
    position: u64,
    class: String,
    count: u64,
    cutoff: i64,
}

impl Change for LetGone {
    const KIND: &'static str = "swept";
    type Record = LetGoneRecord;

    fn record(&self) -> LetGoneRecord {
        let Self { position, class, count, cutoff } = *self;
        LetGoneRecord { position, class: class.as_str().to_owned(), count, cutoff: cutoff.micros() }
    }

    fn of(record: LetGoneRecord) -> Option<Self> {
        let LetGoneRecord { position, class, count, cutoff } = record;
        let class = LetGoClass::ALL.into_iter().find(|known| known.as_str() == class)?;
        Some(Self { position, class, count, cutoff: Instant::from_micros(cutoff)? })
    }
}

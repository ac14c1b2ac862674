//! What is answered where events or single reads are erased.

use serde::{Deserialize, Serialize};

use super::Change;

/// Events were erased.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EventsGone {
    /// How many.
    pub(crate) events_count: u64,
    /// How many payloads were erased, including those of forks.
    pub(crate) payloads_count: u64,
    /// How many forks lost something.
    pub(crate) forks_count: u64,
    /// How many outcomes of requests that may be repeated forgot what they held.
    pub(crate) outcomes_count: u64,
    /// How many events that were chosen are left for the next batch.
    pub(crate) left: u64,
}

impl Change for EventsGone {
    const KIND: &'static str = "events_gone";
    type Record = Self;

    fn record(&self) -> Self {
        *self
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}

/// Single reads were erased.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReadsGone {
    /// Position of the entry of reads.
    pub(crate) position: u64,
    /// How many went.
    pub(crate) erased: u64,
    /// How many of that entry are left.
    pub(crate) left: u64,
}

impl Change for ReadsGone {
    const KIND: &'static str = "reads_gone";
    type Record = Self;

    fn record(&self) -> Self {
        *self
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}

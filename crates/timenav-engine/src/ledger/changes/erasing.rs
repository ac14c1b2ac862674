//! Responses of erasures.

use serde::{Deserialize, Serialize};

use super::Change;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EventsGone {
    pub(crate) events_count: u64,
    /// How many payloads were erased, including those of forks.
    pub(crate) payloads_count: u64,
    /// How many forks lost content of their own.
    pub(crate) forks_count: u64,
    /// How many stored outcomes were erased.
    pub(crate) outcomes_count: u64,
    /// How many selected events are left for the next batch.
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

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReadsGone {
    /// Position of the entry of reads.
    pub(crate) position: u64,
    /// How many were erased.
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

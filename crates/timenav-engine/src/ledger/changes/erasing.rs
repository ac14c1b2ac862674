use serde::{Deserialize, Serialize};

use super::Change;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EventsErasureResult {
    pub(crate) events_count: u64,
    pub(crate) payloads_count: u64,
    pub(crate) forks_count: u64,
    pub(crate) outcomes_count: u64,
    pub(crate) left: u64,
}

impl Change for EventsErasureResult {
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
pub(crate) struct ReadsErasureResult {
    pub(crate) position: u64,
    pub(crate) erased: u64,
    pub(crate) left: u64,
}

impl Change for ReadsErasureResult {
    const KIND: &'static str = "reads_gone";
    type Record = Self;

    fn record(&self) -> Self {
        *self
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}

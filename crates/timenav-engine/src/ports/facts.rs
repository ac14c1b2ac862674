//! Batched queries to the store, and their results.

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::anchor::Anchor;
use timenav_core::directory::{ApiKey, StoredPassword};
use timenav_core::ids::{AnchorId, DataId, EventId, KeyId, TimelineId};

use crate::ledger::head::{EndedTimeline, Layer, TimelineKey};
use crate::ports::rows::{DataRecord, IdempotencyRecord, KnownEvent, StoredEntry};
use crate::ports::shared_leases::{ActivityQuery, AtWork};
use crate::ports::timer_rows::{TimerQuery, TimersFound};

/// Queries answered from one snapshot. Each field is a list of queries; the result has a value for each, in the same
/// order.
#[derive(Clone, Debug, Default)]
pub struct FactsQuery {
    pub events: Vec<(Arc<[Layer]>, Vec<EventId>)>,
    pub outcomes: Vec<[u8; 32]>,
    /// Outcomes that contain content of these events of a timeline.
    pub outcomes_of: Vec<(TimelineId, Vec<EventId>)>,
    pub entries: Vec<(TimelineKey, u64)>,
    pub anchors: Vec<(TimelineKey, AnchorId)>,
    /// API keys, valid or not.
    pub keys: Vec<KeyId>,
    pub data: Vec<DataId>,
    pub rotation_notes: Vec<(TimelineKey, u64)>,
    pub timers: Vec<(TimelineKey, TimerQuery)>,
    /// Set if several services share the store and heads are locked: activity cannot change until the step ends.
    pub at_work: Vec<ActivityQuery>,
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The events that exist.
    pub events: Vec<HashMap<EventId, KnownEvent>>,
    pub outcomes: Vec<Option<IdempotencyRecord>>,
    pub outcomes_of: Vec<Vec<IdempotencyRecord>>,
    pub entries: Vec<Option<StoredEntry>>,
    pub anchors: Vec<Option<Anchor>>,
    pub keys: Vec<Option<ApiKey>>,
    /// The records, each with the name of its timeline.
    pub data: Vec<Option<(TimelineId, DataRecord)>>,
    pub rotation_notes: Vec<Option<String>>,
    pub timers: Vec<TimersFound>,
    pub at_work: Vec<AtWork>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryOrigin {
    /// The committer, between two commits, on its own thread, which may block.
    Writer,
    /// Any other task, on a thread that must not block.
    Reader,
}

impl FactsQuery {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { events, outcomes, outcomes_of, entries, anchors, keys, data, rotation_notes, timers, at_work } =
            self;
        events.is_empty()
            && outcomes.is_empty()
            && outcomes_of.is_empty()
            && entries.is_empty()
            && anchors.is_empty()
            && keys.is_empty()
            && data.is_empty()
            && rotation_notes.is_empty()
            && timers.is_empty()
            && at_work.is_empty()
    }
}

/// Rows of which entries of `system` contain only the hashes.
#[derive(Clone, Debug, Default)]
pub struct UnloggedRows {
    pub passwords: Vec<StoredPassword>,
    pub ended: Vec<EndedTimeline>,
}

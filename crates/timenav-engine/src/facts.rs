//! What somebody wants to know of the store, and what was found.

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::anchor::Anchor;
use timenav_core::directory::{ApiKey, KeptPassword};
use timenav_core::ids::{AnchorId, DataId, EventId, KeyId, TimelineId};

use crate::head::{EndedTimeline, Layer, TimelineKey};
use crate::leasing_door::{AtWork, AtWorkWanted};
use crate::rows::{DataRecord, IdempotencyRecord, KnownEvent, StoredEntry};
use crate::timer_rows::{TimersFound, TimersWanted};

/// What is to be known, all of one moment. Each field is a list of questions; what is found has an answer to each, in the
/// same order.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Events of these ids on these layers.
    pub events: Vec<(Arc<[Layer]>, Vec<EventId>)>,
    /// Outcomes kept under these keys.
    pub outcomes: Vec<[u8; 32]>,
    /// Outcomes that hold the content of these events of a timeline.
    pub outcomes_of: Vec<(TimelineId, Vec<EventId>)>,
    /// Ledger entries.
    pub entries: Vec<(TimelineKey, u64)>,
    /// Anchors.
    pub anchors: Vec<(TimelineKey, AnchorId)>,
    /// API keys, whether they work or not.
    pub keys: Vec<KeyId>,
    /// Sealed records.
    pub data: Vec<DataId>,
    /// Checkpoints that two keys have signed, by the position of their last entry.
    pub rotation_notes: Vec<(TimelineKey, u64)>,
    /// What there is of timers.
    pub timers: Vec<(TimelineKey, TimersWanted)>,
    /// Who is at work on timelines, where several services share the store and their heads are locked: then it stays so
    /// until the step ends.
    pub at_work: Vec<AtWorkWanted>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The events that are known.
    pub events: Vec<HashMap<EventId, KnownEvent>>,
    /// The outcomes.
    pub outcomes: Vec<Option<IdempotencyRecord>>,
    /// All outcomes that hold the content of the events.
    pub outcomes_of: Vec<Vec<IdempotencyRecord>>,
    /// The entries.
    pub entries: Vec<Option<StoredEntry>>,
    /// The anchors.
    pub anchors: Vec<Option<Anchor>>,
    /// The keys.
    pub keys: Vec<Option<ApiKey>>,
    /// The records, each with the name of its timeline.
    pub data: Vec<Option<(TimelineId, DataRecord)>>,
    /// The signed notes.
    pub rotation_notes: Vec<Option<String>>,
    /// What there is of timers.
    pub timers: Vec<TimersFound>,
    /// Who is at work.
    pub at_work: Vec<AtWork>,
}

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The committer, between two commits, on its own thread, which may be blocked.
    Writer,
    /// Anybody else, on a thread that must not be.
    Reader,
}

impl Wanted {
    /// Returns whether nothing is wanted.
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

/// Rows that entries of `system` tell of by their hashes alone.
#[derive(Clone, Debug, Default)]
pub struct ToldRows {
    /// What is kept of passwords.
    pub passwords: Vec<KeptPassword>,
    /// Timelines that have ended.
    pub ended: Vec<EndedTimeline>,
}

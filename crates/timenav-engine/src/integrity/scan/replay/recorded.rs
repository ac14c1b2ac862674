use timenav_core::ledger::Hash;
use timenav_core::scan::ReadBy;
use timenav_core::time::{Instant, Wall};

use crate::writer::project::EventMade;

#[derive(Clone, Debug)]
pub(in crate::integrity::scan) struct RecordedEvent {
    pub(in crate::integrity::scan) position: u64,
    pub(in crate::integrity::scan) event_id: String,
    pub(in crate::integrity::scan) made: EventMade<Vec<u8>>,
    /// Whether it ends the previous version on this timeline.
    pub(in crate::integrity::scan) ends: bool,
    pub(in crate::integrity::scan) intervention_id: Option<String>,
}

#[derive(Clone, Debug)]
pub(in crate::integrity::scan) struct RecordedData {
    pub(in crate::integrity::scan) position: u64,
    pub(in crate::integrity::scan) data_id: String,
    pub(in crate::integrity::scan) sha256: String,
}

/// The data of an entry next to its leaf.
#[derive(Clone, Copy)]
pub(in crate::integrity::scan) struct EntryData<'a> {
    pub(in crate::integrity::scan) position: u64,
    /// `None` if it was erased or pruned.
    pub(in crate::integrity::scan) payload: Option<&'a [u8]>,
    pub(in crate::integrity::scan) readers: Option<&'a [ReadBy]>,
}

#[derive(Clone, Debug)]
pub(in crate::integrity::scan) enum Recorded {
    Event(RecordedEvent),
    Data(RecordedData),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Erased {
    pub(super) by: u64,
    /// Whether an event was erased, whose payload is missing; the payload of a sealed record stays.
    pub(super) is_event: bool,
    /// Whether the event was current, and this is the first position of the erasure.
    pub(super) was_active: bool,
}

#[derive(Clone, Debug)]
pub(in crate::integrity::scan) struct ForgottenOutcomes {
    pub(in crate::integrity::scan) position: u64,
    pub(in crate::integrity::scan) recorded_at: Instant<Wall>,
    /// Hashes of their keys.
    pub(in crate::integrity::scan) names: Vec<Hash>,
}

pub(super) enum Followed {
    Row(Recorded),
    State,
    /// None: it was a read or a rejection, or the service logged something about itself.
    Nothing,
}

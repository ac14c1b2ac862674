//! What an entry tells, as far as it is compared with rows.

use timenav_core::ledger::Hash;
use timenav_core::scan::ReadBy;
use timenav_core::time::{Instant, Wall};

use crate::project::EventMade;

/// What an entry says of an event, to be compared with its rows.
#[derive(Clone, Debug)]
pub(in crate::scan) struct RecordedEvent {
    pub(in crate::scan) position: u64,
    pub(in crate::scan) event_id: String,
    pub(in crate::scan) made: EventMade<Vec<u8>>,
    /// Whether a version on this timeline stood right before, and ends here.
    pub(in crate::scan) ends: bool,
    /// The id of the intervention, where the entry is one.
    pub(in crate::scan) intervention_id: Option<String>,
}

/// A sealed record that an entry tells of, to be compared with its row.
#[derive(Clone, Debug)]
pub(in crate::scan) struct RecordedData {
    pub(in crate::scan) position: u64,
    pub(in crate::scan) data_id: String,
    pub(in crate::scan) sha256: String,
}

/// What belongs to the leaf of an entry.
#[derive(Clone, Copy)]
pub(in crate::scan) struct Beside<'a> {
    pub(in crate::scan) position: u64,
    /// `None` where it was erased, or let go by a sweep.
    pub(in crate::scan) payload: Option<&'a [u8]>,
    /// Who made the reads that it tells of, where that is known already.
    pub(in crate::scan) readers: Option<&'a [ReadBy]>,
}

/// Rows that an entry tells of.
#[derive(Clone, Debug)]
pub(in crate::scan) enum Recorded {
    Event(RecordedEvent),
    Data(RecordedData),
}

/// An entry that says that something was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Erased {
    /// Its own position.
    pub(super) by: u64,
    /// Whether it was an event, whose payload goes; the payload of a sealed record stays.
    pub(super) is_event: bool,
    /// Whether the event stood, and this is the position that the erasure is about first.
    pub(super) stood: bool,
}

/// Kept answers that an erasure says are forgotten.
#[derive(Clone, Debug)]
pub(in crate::scan) struct ForgottenOutcomes {
    /// The erasure.
    pub(in crate::scan) position: u64,
    /// When it was recorded.
    pub(in crate::scan) recorded_at: Instant<Wall>,
    /// What they were kept under.
    pub(in crate::scan) names: Vec<Hash>,
}

/// What follows from an entry.
pub(super) enum Followed {
    /// Rows, which are compared with those that are kept.
    Row(Recorded),
    /// Another state.
    State,
    /// Nothing: it was a read or a refusal, or the service logged something of itself.
    Nothing,
}

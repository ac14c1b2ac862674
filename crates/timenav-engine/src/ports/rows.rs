use std::sync::Arc;

use timenav_core::data::SealedData;
use timenav_core::ids::{DataId, EventId, InterventionId, TimelineId};
use timenav_core::ledger::{PruneClass, Salt};
use timenav_core::place::Point;
use timenav_core::time::{Instant, Virtual, Wall};

use crate::events::event_columns::EventColumns;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRecord {
    /// Its id, unique across all timelines.
    pub data_id: DataId,
    pub position: u64,
    /// Position of the entry that erased it. Salt, nonce, commitment and ciphertext are empty in that case.
    pub erased: Option<u64>,
    pub sealed: SealedData,
}

/// Content to erase. The leaf of its entry stays, and so does every proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// Position of the entry with the content.
    pub position: u64,
    /// Position of the entry of the erasure.
    pub by: u64,
    pub content: ErasedContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErasedContent {
    /// A sealed record: salt, nonce, commitment and ciphertext become empty. The payload of its entry stays, because it
    /// reveals nothing about the data but its length.
    Data(DataId),
    /// A version of an event: its row is deleted, and the payload and salt of its entry become empty. An intervention
    /// at that position stays as a row, without its payload.
    Event(EventId),
    /// Single reads of an entry of reads: its salt becomes empty, and this remainder replaces its payload. Nothing
    /// happens if the entry was pruned.
    Reads(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    pub position: u64,
    pub leaf: Vec<u8>,
    /// Salt and payload of an entry of reads.
    pub reads: Option<(Vec<u8>, Vec<u8>)>,
}

/// A committed sweep. The entries it names are pruned afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepRow {
    pub position: u64,
    pub mark: SweepMark,
}

/// How far a policy's entries are swept. Nothing is decided by it: it only avoids examining entries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepMark {
    /// Position of the policy in force for the entries.
    pub policy: u64,
    pub class: PruneClass,
    /// Everything of the class after the policy and before this position was named by a sweep.
    pub until: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its position, from 0.
    pub seq: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    /// Hashed before the payload. Zeroed if single reads of the entry or its whole payload were erased.
    pub salt: Salt,
    /// JSON. The stored bytes are the hashed ones. Empty if it was erased; no other payload is empty.
    pub payload: Vec<u8>,
    /// Number of current events after the entry.
    pub events_count: u64,
    /// Position of the entry whose payload records the clock as of this one.
    pub clock_entry: u64,
}

impl StoredEntry {
    /// If so, a later `erase_data` or `erase_events` entry names the position.
    #[must_use]
    pub const fn is_erased(&self) -> bool {
        self.payload.is_empty()
    }
}

/// A stored event version, as used by queries.
#[derive(Clone, Debug)]
pub struct EventRow {
    pub position: u64,
    /// Whether this row hides an event inherited from the timeline that this one was forked from. Its content is empty.
    pub is_tombstone: bool,
    pub event_id: EventId,
    pub columns: Arc<EventColumns>,
    /// The whole event as JSON, in the form of responses.
    pub content: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEnd {
    pub event_id: EventId,
    /// Position of the entry that created the version.
    pub position: u64,
    /// Position of the entry that ends it.
    pub until: u64,
}

/// A stored intervention, whose content is in the payload of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterventionRow {
    pub position: u64,
    pub event_id: EventId,
    pub intervention_id: InterventionId,
}

/// The outcome of a request with an idempotency key.
#[derive(Clone, Debug)]
pub struct IdempotencyRecord {
    /// Digest of user, method, route and key.
    pub key: [u8; 32],
    /// Digest of the request.
    pub fingerprint: [u8; 32],
    /// When it may be deleted, in host time.
    pub expires_at: Instant<Wall>,
    /// The response, as JSON.
    pub outcome: String,
    /// The event whose content it contains, and its timeline.
    pub event: Option<(TimelineId, EventId)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownEvent {
    /// All versions in the order of their creation.
    pub versions: Vec<EventVersion>,
    /// Positions of its interventions, by layer, in the same order.
    pub interventions: Vec<(usize, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventVersion {
    pub layer: usize,
    pub position: u64,
    /// The position that ended it, on its own layer.
    pub until: Option<u64>,
    /// The event as JSON; empty if the event is hidden on this layer.
    pub content: Arc<str>,
}

impl EventVersion {
    /// Unique within the event: the position, preceded by the layer unless that is the first.
    #[must_use]
    pub fn tag(&self) -> String {
        if self.layer == 0 { self.position.to_string() } else { format!("{}.{}", self.layer, self.position) }
    }
}

impl KnownEvent {
    /// Returns the current version; `None` if the event is canceled.
    #[must_use]
    pub fn current(&self) -> Option<&EventVersion> {
        self.versions.last().filter(|version| version.until.is_none())
    }

    /// Returns the layer and position at which the event was canceled or removed. `None` if it is current.
    #[must_use]
    pub fn ending(&self) -> Option<(usize, u64)> {
        self.versions.last().and_then(|version| Some((version.layer, version.until?)))
    }

    /// Returns the last version that was recorded or corrected, as opposed to one by an intervention.
    #[must_use]
    pub fn recorded(&self) -> Option<&EventVersion> {
        let by_intervention =
            |version: &EventVersion| self.interventions.binary_search(&(version.layer, version.position)).is_ok();
        self.versions.iter().rev().find(|version| !version.content.is_empty() && !by_intervention(version))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    pub event_id: Option<EventId>,
    pub is_cut_off: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    pub time: Instant<Virtual>,
    pub layer: usize,
    pub position: u64,
    pub content: String,
}

/// The place of an event in the order of results: its time, layer and position.
pub type EventPlace = (Instant<Virtual>, usize, u64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventStretch {
    pub first: Instant<Virtual>,
    pub last: Instant<Virtual>,
    pub count: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventStretches {
    /// The non-empty ranges in order. The first may continue the last one of the previous result.
    pub stretches: Vec<EventStretch>,
    /// Time, layer and position of the last event counted, if there may be more.
    pub counted_until: Option<EventPlace>,
}

/// Time and place of an event found by a query, and the values to group it by.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSpot {
    pub time: Instant<Virtual>,
    pub layer: usize,
    pub position: u64,
    pub point: Option<Point>,
    /// Source and actors, or else the whole event as JSON. `None` if they were not requested.
    pub parties: Option<Box<str>>,
}

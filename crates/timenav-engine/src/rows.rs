//! What is kept, row by row.

use std::sync::Arc;

use timenav_core::data::SealedData;
use timenav_core::ids::{DataId, EventId, InterventionId, TimelineId};
use timenav_core::ledger::{LetGoClass, Salt};
use timenav_core::place::Point;
use timenav_core::time::{Instant, Virtual, Wall};

use crate::event_columns::EventColumns;

/// One sealed record as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRecord {
    /// Its id, unique among all timelines.
    pub data_id: DataId,
    /// Position of the entry that tells of it.
    pub position: u64,
    /// Position of the entry that erased it. Its salt, nonce, commitment and ciphertext are empty then.
    pub erased: Option<u64>,
    /// What was sealed.
    pub sealed: SealedData,
}

/// Content to be taken out of what is kept. The leaf of its entry stays, and so does every proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// Position of the entry that tells of the content.
    pub position: u64,
    /// Position of the entry that tells of the erasure.
    pub by: u64,
    /// What is erased.
    pub content: ErasedContent,
}

/// What is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErasedContent {
    /// A sealed record: salt, nonce, commitment and ciphertext become empty. The payload of its
    /// entry stays, which tells nothing of the data but its length.
    Data(DataId),
    /// A version of an event: its row goes, the payload and the salt of its entry become empty. An
    /// intervention at that position stays as a row, without its payload.
    Event(EventId),
    /// Single reads of an entry of reads: its salt becomes empty, and this takes the place of its payload, with what is
    /// left. Nothing happens where all of it was let go.
    Reads(Vec<u8>),
}

/// What one entry tells of who did what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// Its position, from 0.
    pub position: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    /// Salt and payload of an entry of reads.
    pub reads: Option<(Vec<u8>, Vec<u8>)>,
}

/// A sweep that was committed. What it names goes afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepRow {
    /// Position of its entry.
    pub position: u64,
    /// How far its class is swept by it.
    pub mark: SweepMark,
}

/// How far the entries that were recorded under one policy are swept. Nothing is decided by it: what it says is only not
/// looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepMark {
    /// Position of the policy that was in force where the entries stand.
    pub policy: u64,
    /// Of which class.
    pub class: LetGoClass,
    /// Everything of the class before this position, and after the policy, was named by a sweep.
    pub until: u64,
}

/// One ledger entry as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its position, from 0.
    pub seq: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    /// Hashed before the payload. Zero bytes where single reads of it were erased, or all of it.
    pub salt: Salt,
    /// What happened, as JSON. What is hashed is what is stored. Empty if it was erased; no other payload is empty.
    pub payload: Vec<u8>,
    /// How many events stand after the entry.
    pub events_count: u64,
    /// Position of the entry whose payload tells of the clock after this one.
    pub clock_entry: u64,
}

impl StoredEntry {
    /// Returns whether the payload was erased. A later entry `erase_data` or `erase_events` names the position then.
    #[must_use]
    pub const fn is_erased(&self) -> bool {
        self.payload.is_empty()
    }
}

/// One version of an event as it is kept for queries.
#[derive(Clone, Debug)]
pub struct EventRow {
    /// Position of the entry that made it.
    pub position: u64,
    /// Whether it never stood: it says that an event of the timeline that this one was forked
    /// from does not stand on this one. Its content is empty.
    pub is_tombstone: bool,
    /// The event's id.
    pub event_id: EventId,
    /// What it is found by.
    pub columns: Arc<EventColumns>,
    /// The whole event as JSON, in the shape in which it is answered.
    pub content: Arc<str>,
}

/// A version of an event that ceases to stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEnd {
    /// The event.
    pub event_id: EventId,
    /// Position of the entry that made the version.
    pub position: u64,
    /// Position of the entry that ends it.
    pub until: u64,
}

/// One intervention as it is kept: what happened is in the payload of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterventionRow {
    /// Position of its entry.
    pub position: u64,
    /// The event.
    pub event_id: EventId,
    /// Its id.
    pub intervention_id: InterventionId,
}

/// The outcome of a request that carried an idempotency key.
#[derive(Clone, Debug)]
pub struct IdempotencyRecord {
    /// Digest of user, method, route and key.
    pub key: [u8; 32],
    /// Digest of the request.
    pub fingerprint: [u8; 32],
    /// When it may be forgotten, by the host.
    pub expires_at: Instant<Wall>,
    /// The answer, as JSON.
    pub outcome: String,
    /// The event whose content it holds, and on which timeline.
    pub event: Option<(TimelineId, EventId)>,
}

/// An event found by its id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownEvent {
    /// Every version there is, in the order in which they were made.
    pub versions: Vec<EventVersion>,
    /// Positions of the interventions on it, by layer, in the same order.
    pub interventions: Vec<(usize, u64)>,
}

/// One version of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventVersion {
    /// Which layer it is on.
    pub layer: usize,
    /// The position that made it.
    pub position: u64,
    /// The position at which it ceased to stand, on its own layer.
    pub until: Option<u64>,
    /// The event as JSON; empty where it says that the event does not stand on this layer.
    pub content: Arc<str>,
}

impl EventVersion {
    /// Returns the tag of a version, which no other version of the event has: its position, and before
    /// it the layer where that is not the first.
    #[must_use]
    pub fn tag(&self) -> String {
        if self.layer == 0 { self.position.to_string() } else { format!("{}.{}", self.layer, self.position) }
    }
}

impl KnownEvent {
    /// Returns the version that stands, and `None` where the event is cancelled.
    #[must_use]
    pub fn standing(&self) -> Option<&EventVersion> {
        self.versions.last().filter(|version| version.until.is_none())
    }

    /// Returns where the event ceased to stand: the layer, and the position of the entry there. `None` if it stands.
    #[must_use]
    pub fn ending(&self) -> Option<(usize, u64)> {
        self.versions.last().and_then(|version| Some((version.layer, version.until?)))
    }

    /// Returns the last version that was recorded or corrected, and not made by an intervention.
    #[must_use]
    pub fn recorded(&self) -> Option<&EventVersion> {
        let by_intervention =
            |version: &EventVersion| self.interventions.binary_search(&(version.layer, version.position)).is_ok();
        self.versions.iter().rev().find(|version| !version.content.is_empty() && !by_intervention(version))
    }
}

/// What was found by a description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// The event that has it.
    pub event_id: Option<EventId>,
    /// Whether there are more events than were looked through.
    pub is_cut_off: bool,
}

/// One event found by a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// When it happened.
    pub time: Instant<Virtual>,
    /// Which layer it is on.
    pub layer: usize,
    /// The position that made the version that stands.
    pub position: u64,
    /// The whole event as JSON.
    pub content: String,
}

/// Where an event stands among others: its time, its layer, its position.
pub type EventPlace = (Instant<Virtual>, usize, u64);

/// Events of one stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventStretch {
    /// When the first one happened.
    pub first: Instant<Virtual>,
    /// When the last one happened.
    pub last: Instant<Virtual>,
    /// How many they are.
    pub count: usize,
}

/// Events counted in stretches of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventStretches {
    /// The stretches that have any, in their order. The first may go on from where it was counted to before.
    pub stretches: Vec<EventStretch>,
    /// Time, layer and position of the last event that was counted, where there may be more after it.
    pub counted_to: Option<EventPlace>,
}

/// When and where one event is that was found by a query, and what it is counted by.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSpot {
    /// When it happened.
    pub time: Instant<Virtual>,
    /// Which layer it is on.
    pub layer: usize,
    /// The position that made the version that stands.
    pub position: u64,
    /// The point that it is found by.
    pub point: Option<Point>,
    /// Its source and actors as they are kept beside it, or the whole event as JSON where they are not. `None` if
    /// nobody asked for them.
    pub parties: Option<Box<str>>,
}

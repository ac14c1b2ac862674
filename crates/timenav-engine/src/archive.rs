//! The door to what is kept, for a scan: as it is, not as it should be.

use std::collections::BTreeMap;

use async_trait::async_trait;
use timenav_core::anchor::Anchor;
use timenav_core::directory::Directory;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, TileId};
use timenav_core::scan::EntryBytes;

use crate::head::{EndedTimeline, Head, TimelineKey};
use crate::rows::{DataRecord, IdempotencyRecord};
use crate::seen_events::{EventAt, SeenEvent, SeenEvents};
use crate::store_error::StoreError;
use crate::timer_rows::{TimersFound, TimersWanted};

/// What is kept of one timeline beside its entries, all of one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The newest state.
    pub head: Head,
    /// The position of the last entry that is kept, whatever the head says.
    pub last_position: Option<u64>,
    /// The tables that have rows at positions that the ledger has not come to, or tiles that its tree does not have. Those
    /// of events and interventions are counted instead ([`ScanSource::event_rows_count`]).
    pub ahead: Vec<&'static str>,
    /// What is kept of the service; only for `system`.
    pub service: Option<ServiceRows>,
    /// Rows of timelines that are not there; only for `system`.
    pub orphans: Vec<Orphan>,
    /// Numbers that are marked as those of timelines that arrive, and are none; only for `system`.
    pub marked: Vec<i64>,
}

/// What is kept of the service.
#[derive(Clone, Debug)]
pub struct ServiceRows {
    /// Users, and what shows who they are.
    pub directory: Directory,
    /// The timelines that stand, and the number of each.
    pub timelines: BTreeMap<TimelineId, TimelineKey>,
    /// The timelines that have ended.
    pub ended: Vec<EndedTimeline>,
}

/// That a table has rows of a timeline that is not there. No ledger vouches for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The table.
    pub table: &'static str,
    /// The number that its rows name, and no timeline has.
    pub timeline: i64,
}

/// An answer that is kept for a repeated request.
#[derive(Clone, Debug)]
pub struct KeptOutcome {
    /// The row.
    pub record: IdempotencyRecord,
    /// The timeline with whose end it goes, by name; `None` where it goes with none.
    pub goes_with: Option<String>,
}

/// Entries that have so many bytes are handed over before more are read, so that memory holds few of them.
pub const ENTRY_ROWS_BYTES: u64 = 4 * 1024 * 1024;

/// One entry as it is kept, whatever that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// Where it is kept.
    pub position: u64,
    /// The bytes that are hashed into the tree.
    pub leaf: Vec<u8>,
    /// Hashed before the payload; empty where that was erased.
    pub salt: Vec<u8>,
    /// What happened; empty where it was erased.
    pub payload: Vec<u8>,
    /// What is kept beside it.
    pub marks: EntryMarks,
}

impl EntryRow {
    /// Returns how many bytes of the entry are kept.
    #[must_use]
    pub const fn bytes_count(&self) -> u64 {
        (self.leaf.len() + self.salt.len() + self.payload.len()) as u64
    }

    /// Returns the entry as a scan of its ledger takes it.
    pub(crate) fn as_bytes(&self) -> EntryBytes<'_> {
        let Self { position, leaf, salt, payload, .. } = self;
        EntryBytes { position: *position, leaf, salt, payload }
    }
}

/// Entries that were read together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryRows {
    /// Those there are, in order.
    pub rows: Vec<EntryRow>,
    /// The position up to which they were read, without it.
    pub end: u64,
}

/// What a fork at an entry begins with. It is kept beside the entry, and follows from it and those before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryMarks {
    /// How many events stand after it.
    pub events_count: i64,
    /// The position of the entry whose payload tells of the clock.
    pub clock_entry: i64,
}

/// One row of the table of events.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptEvent {
    /// The entry that recorded it.
    pub position: u64,
    /// The position at which it ceased to stand.
    pub until: Option<u64>,
    /// When it happened, in microseconds since 1970.
    pub time_micros: i64,
    /// Latitude and longitude.
    pub point: Option<(f64, f64)>,
    /// The cell of the grid; `None` without coordinates.
    pub cell: Option<i64>,
    /// The place by name.
    pub place: Option<String>,
    /// The event's own name, in the form by which it is found.
    pub name_key: Option<String>,
    /// How long it lasts, roughly, as the number of its class.
    pub length_class: Option<i64>,
    /// Its source and actors as they are kept beside it, if they are.
    pub parties: Option<String>,
    /// The event as JSON.
    pub content: String,
}

impl KeptEvent {
    /// Returns the row as it is seen by who passes over all of them.
    pub(crate) fn seen<'a>(&'a self, event_id: &'a str) -> SeenEvent<'a> {
        let Self { position, until, time_micros, point, cell, place, name_key, length_class, parties, content } = self;
        SeenEvent {
            event_id,
            position: *position,
            until: *until,
            time_micros: *time_micros,
            point: *point,
            cell: *cell,
            place: place.as_deref(),
            name_key: name_key.as_deref(),
            length_class: *length_class,
            parties: parties.as_deref(),
            content,
        }
    }
}

/// What is kept of one event around the entry at one position, which is about it: as much, however often it was changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptRows {
    /// The version that the entry made.
    pub version: Option<KeptEvent>,
    /// Whether something happened to the event where that version ceased to stand, which was later: another version was
    /// made, or there was an intervention.
    pub is_end_told: bool,
    /// Where the version right before ceased to stand.
    pub before: Option<KeptEnd>,
    /// The id of the intervention that the entry is.
    pub intervention_id: Option<String>,
}

/// Where a version of an event ceased to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptEnd {
    /// The position; `None` where it stands.
    pub until: Option<u64>,
}

/// Reads what is kept for a scan. It may be damaged, and may grow while it is read: what stood
/// before the size of a [`Snapshot`] stays.
#[async_trait]
pub trait ScanSource: Send + Sync {
    /// Returns what is laid out otherwise than the store does, a sentence each: what makes the rest hard to trust, and
    /// perhaps to read. Costs nothing that grows.
    async fn schema_differences(&self) -> Result<Vec<String>, StoreError>;

    /// Returns where what is kept contradicts itself, a sentence each, such as an index that lacks a row. Reads
    /// everything. Dropping the future ends it.
    async fn contradictions(&self) -> Result<Vec<String>, StoreError>;

    /// Returns what is kept of a timeline beside its entries; `None` where there is none.
    async fn snapshot(&self, timeline: &TimelineId) -> Result<Option<Snapshot>, StoreError>;

    /// Returns what is kept of a timeline that has ended; `None` where none of that name has.
    async fn ended(&self, timeline: &TimelineId) -> Result<Option<EndedTimeline>, StoreError>;

    /// Returns the entries there are from position `first` up to `end`, without it, in order. Where those so far have
    /// [`ENTRY_ROWS_BYTES`] no more are read, and the answer says where it ends.
    async fn entry_rows(&self, timeline: TimelineKey, first: u64, end: u64) -> Result<EntryRows, StoreError>;

    /// Returns an entry, where it is there.
    async fn entry_row(&self, timeline: TimelineKey, position: u64) -> Result<Option<EntryRow>, StoreError> {
        Ok(self.entry_rows(timeline, position, position.saturating_add(1)).await?.rows.pop())
    }

    /// Returns the first `width` hashes of a tile, made of entries where the tile is not kept.
    async fn tile_hashes(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError>;

    /// Returns the bytes that are kept of these tiles.
    async fn tile_bytes(&self, timeline: TimelineKey, tiles: Vec<TileId>) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Returns what is kept of events around entries about them: of each pair, the event is found by its id, and the entry is
    /// at the position.
    async fn event_rows(&self, timeline: TimelineKey, events: Vec<(String, u64)>) -> Result<Vec<KeptRows>, StoreError>;

    /// Returns rows of events in an order of the store's own, in which no row moves: from the one after `after` on,
    /// `rows_max` of them at most, and none only where there are no more. Rows that are made meanwhile may be among
    /// them or not.
    async fn event_page(
        &self,
        timeline: TimelineKey,
        after: Option<EventAt>,
        rows_max: usize,
    ) -> Result<SeenEvents, StoreError>;

    /// As [`ScanSource::event_page`], the places of rows as the index says by which events are found by their ids.
    /// `None` where the rows themselves are read by it.
    async fn event_index_page(
        &self,
        timeline: TimelineKey,
        after: Option<EventAt>,
        rows_max: usize,
    ) -> Result<Option<Vec<EventAt>>, StoreError>;

    /// Returns how many rows of events, and how many of interventions, were made before position
    /// `end`.
    async fn event_rows_count(&self, timeline: TimelineKey, end: u64) -> Result<(u64, u64), StoreError>;

    /// Returns the sealed record that each of these entries tells of.
    async fn data_rows(
        &self,
        timeline: TimelineKey,
        positions: Vec<u64>,
    ) -> Result<Vec<Option<DataRecord>>, StoreError>;

    /// Returns the outcomes kept under these keys.
    async fn outcome_rows(&self, keys: Vec<[u8; 32]>) -> Result<Vec<IdempotencyRecord>, StoreError>;

    /// Returns outcomes in the order of their keys, from the one after `after` on.
    async fn outcome_page(&self, after: Option<[u8; 32]>, rows_max: usize) -> Result<Vec<KeptOutcome>, StoreError>;

    /// Returns the whole leaf of each of these entries, where there is one, of timelines that stand or have ended.
    async fn leaves_named(&self, entries: Vec<(TimelineId, u64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Returns the positions of the sweeps that are kept of a timeline, in order, from those of entries before `end`.
    async fn sweep_rows(&self, timeline: TimelineKey, end: u64) -> Result<Vec<u64>, StoreError>;

    /// Returns how many sealed records were made before position `end`.
    async fn data_rows_count(&self, timeline: TimelineKey, end: u64) -> Result<u64, StoreError>;

    /// Returns what there is of a timeline's timers.
    async fn timer_rows(&self, timeline: TimelineKey, wanted: TimersWanted) -> Result<TimersFound, StoreError>;

    /// Returns anchors in the order in which they were set, from the one after `after` on.
    async fn anchor_rows(
        &self,
        timeline: TimelineKey,
        after: Option<u64>,
        items_max: usize,
    ) -> Result<Vec<Anchor>, StoreError>;
}

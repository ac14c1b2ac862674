//! The storage interface for scans, which returns data as stored, valid or not.

use std::collections::BTreeMap;

use async_trait::async_trait;
use timenav_core::anchor::Anchor;
use timenav_core::directory::Directory;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, TileId};
use timenav_core::scan::EntryBytes;

use crate::ledger::head::{EndedTimeline, Head, TimelineKey};
use crate::ports::rows::{DataRecord, IdempotencyRecord};
use crate::ports::seen_events::{EventAt, SeenEvent, SeenEvents};
use crate::ports::store_error::StoreError;
use crate::ports::timer_rows::{TimerQuery, TimersFound};

/// The stored data of one timeline except its entries, from one snapshot.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub head: Head,
    /// The position of the last stored entry, regardless of the head.
    pub last_position: Option<u64>,
    /// The tables that have rows at positions beyond the end of the ledger, or tiles beyond the tree. Rows of events
    /// and interventions are counted instead ([`ScanSource::event_rows_count`]).
    pub ahead: Vec<&'static str>,
    /// The data of the service; only for `system`.
    pub service: Option<ServiceRows>,
    /// Rows of timelines that do not exist; only for `system`.
    pub orphans: Vec<Orphan>,
    /// Numbers marked as arriving timelines without being one; only for `system`.
    pub marked: Vec<i64>,
}

#[derive(Clone, Debug)]
pub struct ServiceRows {
    pub directory: Directory,
    /// The timelines that have not ended, with their numbers.
    pub timelines: BTreeMap<TimelineId, TimelineKey>,
    pub ended: Vec<EndedTimeline>,
}

/// A table with rows of a timeline that does not exist. No ledger vouches for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orphan {
    pub table: &'static str,
    /// The number in the rows, which belongs to no timeline.
    pub timeline: i64,
}

#[derive(Clone, Debug)]
pub struct StoredOutcome {
    pub record: IdempotencyRecord,
    /// The timeline that deletes it at its end, if any.
    pub goes_with: Option<String>,
}

/// Bytes of entries after which a batch ends, to bound memory.
pub const ENTRY_ROWS_BYTES: u64 = 4 * 1024 * 1024;

/// One entry as stored, valid or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    pub position: u64,
    pub leaf: Vec<u8>,
    /// Hashed before the payload; empty if that was erased.
    pub salt: Vec<u8>,
    /// The payload; empty if it was erased.
    pub payload: Vec<u8>,
    /// The unsigned columns of the row.
    pub marks: EntryMarks,
}

impl EntryRow {
    #[must_use]
    pub const fn bytes_count(&self) -> u64 {
        (self.leaf.len() + self.salt.len() + self.payload.len()) as u64
    }

    pub(crate) fn as_bytes(&self) -> EntryBytes<'_> {
        let Self { position, leaf, salt, payload, .. } = self;
        EntryBytes { position: *position, leaf, salt, payload }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryRows {
    /// The existing ones in order.
    pub rows: Vec<EntryRow>,
    /// The exclusive end of the positions that were read.
    pub end: u64,
}

/// The initial state of a fork at an entry, which follows from the entries up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryMarks {
    /// Number of current events after it.
    pub events_count: i64,
    /// Position of the entry with the clock in its payload.
    pub clock_entry: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredVersion {
    pub position: u64,
    /// The position at which the version ended.
    pub until: Option<u64>,
    /// In microseconds since 1970.
    pub time_micros: i64,
    /// Latitude and longitude.
    pub point: Option<(f64, f64)>,
    pub cell: Option<i64>,
    pub place: Option<String>,
    pub name_key: Option<String>,
    pub length_class: Option<i64>,
    pub parties: Option<String>,
    pub content: String,
}

impl StoredVersion {
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

/// The rows of an event around one of its entries. Their number is bounded, no matter how often the event was changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRows {
    pub version: Option<StoredVersion>,
    /// Whether the position at which that version ended belongs to a later version or an intervention.
    pub is_end_recorded: bool,
    pub before: Option<StoredEnd>,
    pub intervention_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEnd {
    pub until: Option<u64>,
}

/// Reads stored data for a scan. The data may be damaged, and may grow in the meantime: data before the size of a
/// [`Snapshot`] does not change.
#[async_trait]
pub trait ScanSource: Send + Sync {
    /// Returns differences of the schema from the expected one, as sentences. With any of them, the other data is hard to
    /// trust or unreadable. Its cost is independent of the size of the data.
    async fn schema_differences(&self) -> Result<Vec<String>, StoreError>;

    /// Returns inconsistencies of the database itself, as sentences, such as missing index rows. Reads everything.
    /// Dropping the future cancels it.
    async fn contradictions(&self) -> Result<Vec<String>, StoreError>;

    /// Returns the stored data of a timeline except its entries; `None` if it does not exist.
    async fn snapshot(&self, timeline: &TimelineId) -> Result<Option<Snapshot>, StoreError>;

    /// Returns the stored data of an ended timeline; `None` if no such timeline has ended.
    async fn ended(&self, timeline: &TimelineId) -> Result<Option<EndedTimeline>, StoreError>;

    /// Returns the existing entries from position `first` up to `end` (exclusive) in order. Stops after
    /// [`ENTRY_ROWS_BYTES`] and returns the position where it stopped.
    async fn entry_rows(&self, timeline: TimelineKey, first: u64, end: u64) -> Result<EntryRows, StoreError>;

    async fn entry_row(&self, timeline: TimelineKey, position: u64) -> Result<Option<EntryRow>, StoreError> {
        Ok(self.entry_rows(timeline, position, position.saturating_add(1)).await?.rows.pop())
    }

    /// Returns the first `width` hashes of a tile, computed from entries if the tile is not stored.
    async fn tile_hashes(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError>;

    async fn tile_bytes(&self, timeline: TimelineKey, tiles: Vec<TileId>) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Returns the rows of events around entries about them, given the event id and the position of the entry.
    async fn event_rows(
        &self,
        timeline: TimelineKey,
        events: Vec<(String, u64)>,
    ) -> Result<Vec<StoredRows>, StoreError>;

    /// Returns up to `rows_max` event rows after `after`, in an order chosen by the store, in which rows never move.
    /// Empty only at the end. Rows created concurrently may or may not be included.
    async fn event_page(
        &self,
        timeline: TimelineKey,
        after: Option<EventAt>,
        rows_max: usize,
    ) -> Result<SeenEvents, StoreError>;

    /// Like [`ScanSource::event_page`], but returns the row locations from the index on event ids. `None` if that index
    /// is the table itself.
    async fn event_index_page(
        &self,
        timeline: TimelineKey,
        after: Option<EventAt>,
        rows_max: usize,
    ) -> Result<Option<Vec<EventAt>>, StoreError>;

    /// Returns how many rows of events, and how many of interventions, were created before position `end`.
    async fn event_rows_count(&self, timeline: TimelineKey, end: u64) -> Result<(u64, u64), StoreError>;

    async fn data_rows(
        &self,
        timeline: TimelineKey,
        positions: Vec<u64>,
    ) -> Result<Vec<Option<DataRecord>>, StoreError>;

    async fn outcome_rows(&self, keys: Vec<[u8; 32]>) -> Result<Vec<IdempotencyRecord>, StoreError>;

    /// Returns outcomes in key order, starting after `after`.
    async fn outcome_page(&self, after: Option<[u8; 32]>, rows_max: usize) -> Result<Vec<StoredOutcome>, StoreError>;

    /// Returns the whole leaf of each of these entries, if it exists, including those of ended timelines.
    async fn leaves_named(&self, entries: Vec<(TimelineId, u64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Returns the positions of a timeline's stored sweeps before `end`, in order.
    async fn sweep_rows(&self, timeline: TimelineKey, end: u64) -> Result<Vec<u64>, StoreError>;

    /// Returns how many sealed records were created before position `end`.
    async fn data_rows_count(&self, timeline: TimelineKey, end: u64) -> Result<u64, StoreError>;

    async fn timer_rows(&self, timeline: TimelineKey, query: TimerQuery) -> Result<TimersFound, StoreError>;

    /// Returns anchors in the order of their creation, starting after `after`.
    async fn anchor_rows(
        &self,
        timeline: TimelineKey,
        after: Option<u64>,
        items_max: usize,
    ) -> Result<Vec<Anchor>, StoreError>;
}

//! The reads of a scan, with the same switches.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, TileId};
use timenav_engine::{
    Anchor, DataRecord, EndedTimeline, EntryRows, EventAt, IdempotencyRecord, ScanSource, SeenEvents, Snapshot,
    StoreError, StoredOutcome, StoredRows, TimelineKey, TimerQuery, TimersFound,
};

use super::FaultyStore;

forward! {
    ScanSource {
        read schema_differences() -> Vec<String>;
        read contradictions() -> Vec<String>;
        read snapshot(timeline: &TimelineId) -> Option<Snapshot>;
        read ended(timeline: &TimelineId) -> Option<EndedTimeline>;
        read tile_hashes(timeline: TimelineKey, tile: TileId, width: usize) -> Vec<Hash>;
        read tile_bytes(timeline: TimelineKey, tiles: Vec<TileId>) -> Vec<Option<Vec<u8>>>;
        read event_index_page(timeline: TimelineKey, after: Option<EventAt>, rows_max: usize) -> Option<Vec<EventAt>>;
        read event_rows_count(timeline: TimelineKey, end: u64) -> (u64, u64);
        read data_rows(timeline: TimelineKey, positions: Vec<u64>) -> Vec<Option<DataRecord>>;
        read outcome_rows(keys: Vec<[u8; 32]>) -> Vec<IdempotencyRecord>;
        read outcome_page(after: Option<[u8; 32]>, rows_max: usize) -> Vec<StoredOutcome>;
        read leaves_named(entries: Vec<(TimelineId, u64)>) -> Vec<Option<Vec<u8>>>;
        read sweep_rows(timeline: TimelineKey, end: u64) -> Vec<u64>;
        read data_rows_count(timeline: TimelineKey, end: u64) -> u64;
        read timer_rows(timeline: TimelineKey, query: TimerQuery) -> TimersFound;
        read anchor_rows(timeline: TimelineKey, after: Option<u64>, items_max: usize) -> Vec<Anchor>;
    }
    {
        async fn entry_rows(&self, timeline: TimelineKey, first: u64, end: u64) -> Result<EntryRows, StoreError> {
            self.pass_scan_gate(timeline).await;
            let read = self.read()?.entry_rows(timeline, first, end).await?;
            let bytes = read.rows.iter().map(|row| row.leaf.len() + row.payload.len()).sum();
            self.scanned_bytes.fetch_max(bytes, Ordering::SeqCst);
            self.hand_over(read.rows.len());
            Ok(read)
        }

        async fn event_rows(&self, timeline: TimelineKey, of: Vec<(String, u64)>) -> Result<Vec<StoredRows>, StoreError> {
            self.looked_up.fetch_add(of.len(), Ordering::SeqCst);
            let rows = self.read()?.event_rows(timeline, of).await?;
            let bytes = rows.iter().filter_map(|rows| rows.version.as_ref()).map(|version| version.content.len()).sum();
            self.scanned_bytes.fetch_max(bytes, Ordering::SeqCst);
            Ok(rows)
        }

        async fn event_page(
            &self,
            timeline: TimelineKey,
            after: Option<EventAt>,
            rows_max: usize,
        ) -> Result<SeenEvents, StoreError> {
            let page = self.read()?.event_page(timeline, after, rows_max).await?;
            self.scanned_bytes.fetch_max(page.bytes_count(), Ordering::SeqCst);
            Ok(page)
        }
    }
}

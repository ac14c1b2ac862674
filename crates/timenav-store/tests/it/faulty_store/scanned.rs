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

#[async_trait]
impl ScanSource for FaultyStore {
    async fn schema_differences(&self) -> Result<Vec<String>, StoreError> {
        self.reading()?.schema_differences().await
    }

    async fn contradictions(&self) -> Result<Vec<String>, StoreError> {
        self.reading()?.contradictions().await
    }

    async fn snapshot(&self, timeline: &TimelineId) -> Result<Option<Snapshot>, StoreError> {
        self.reading()?.snapshot(timeline).await
    }

    async fn ended(&self, timeline: &TimelineId) -> Result<Option<EndedTimeline>, StoreError> {
        self.reading()?.ended(timeline).await
    }

    async fn entry_rows(&self, timeline: TimelineKey, first: u64, end: u64) -> Result<EntryRows, StoreError> {
        self.pass_scan_gate(timeline).await;
        let read = self.reading()?.entry_rows(timeline, first, end).await?;
        let bytes = read.rows.iter().map(|row| row.leaf.len() + row.payload.len()).sum();
        self.scanned_bytes.fetch_max(bytes, Ordering::SeqCst);
        self.hand_over(read.rows.len());
        Ok(read)
    }

    async fn tile_hashes(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError> {
        self.reading()?.tile_hashes(timeline, tile, width).await
    }

    async fn tile_bytes(&self, timeline: TimelineKey, tiles: Vec<TileId>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.reading()?.tile_bytes(timeline, tiles).await
    }

    async fn event_rows(&self, timeline: TimelineKey, of: Vec<(String, u64)>) -> Result<Vec<StoredRows>, StoreError> {
        self.looked_up.fetch_add(of.len(), Ordering::SeqCst);
        let rows = self.reading()?.event_rows(timeline, of).await?;
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
        let page = self.reading()?.event_page(timeline, after, rows_max).await?;
        self.scanned_bytes.fetch_max(page.bytes_count(), Ordering::SeqCst);
        Ok(page)
    }

    async fn event_index_page(
        &self,
        timeline: TimelineKey,
        after: Option<EventAt>,
        rows_max: usize,
    ) -> Result<Option<Vec<EventAt>>, StoreError> {
        self.reading()?.event_index_page(timeline, after, rows_max).await
    }

    async fn event_rows_count(&self, timeline: TimelineKey, end: u64) -> Result<(u64, u64), StoreError> {
        self.reading()?.event_rows_count(timeline, end).await
    }

    async fn data_rows(
        &self,
        timeline: TimelineKey,
        positions: Vec<u64>,
    ) -> Result<Vec<Option<DataRecord>>, StoreError> {
        self.reading()?.data_rows(timeline, positions).await
    }

    async fn outcome_rows(&self, keys: Vec<[u8; 32]>) -> Result<Vec<IdempotencyRecord>, StoreError> {
        self.reading()?.outcome_rows(keys).await
    }

    async fn outcome_page(&self, after: Option<[u8; 32]>, rows_max: usize) -> Result<Vec<StoredOutcome>, StoreError> {
        self.reading()?.outcome_page(after, rows_max).await
    }

    async fn leaves_named(&self, entries: Vec<(TimelineId, u64)>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.reading()?.leaves_named(entries).await
    }

    async fn sweep_rows(&self, timeline: TimelineKey, end: u64) -> Result<Vec<u64>, StoreError> {
        self.reading()?.sweep_rows(timeline, end).await
    }

    async fn data_rows_count(&self, timeline: TimelineKey, end: u64) -> Result<u64, StoreError> {
        self.reading()?.data_rows_count(timeline, end).await
    }

    async fn timer_rows(&self, timeline: TimelineKey, query: TimerQuery) -> Result<TimersFound, StoreError> {
        self.reading()?.timer_rows(timeline, query).await
    }

    async fn anchor_rows(
        &self,
        timeline: TimelineKey,
        after: Option<u64>,
        items_max: usize,
    ) -> Result<Vec<Anchor>, StoreError> {
        self.reading()?.anchor_rows(timeline, after, items_max).await
    }
}

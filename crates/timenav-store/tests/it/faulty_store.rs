//! A store that fails, or waits, when the test says so.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use timenav_core::ids::{AnchorId, EventId};
use timenav_core::ledger::{Hash, TileId};
use timenav_engine::{
    Anchor, Commit, EventQuery, IdempotencyRecord, KnownEvent, Opened, Store, StoreError, StoredEntry, StoredEvent,
    TimelineKey,
};
use tokio::sync::Semaphore;

/// Another store behind two switches and a gate.
pub(crate) struct FaultyStore {
    inner: Arc<dyn Store>,
    commits_fail: AtomicBool,
    reads_fail: AtomicBool,
    gate: Semaphore,
    /// One permit for each commit that has reached the gate.
    arrived: Semaphore,
}

/// More than any test commits.
const OPEN_PERMITS: usize = 1 << 20;

impl FaultyStore {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            commits_fail: AtomicBool::new(false),
            reads_fail: AtomicBool::new(false),
            gate: Semaphore::new(OPEN_PERMITS),
            arrived: Semaphore::new(0),
        }
    }

    pub(crate) fn set_commits_failing(&self, fail: bool) {
        self.commits_fail.store(fail, Ordering::SeqCst);
    }

    pub(crate) fn set_reads_failing(&self, fail: bool) {
        self.reads_fail.store(fail, Ordering::SeqCst);
    }

    /// Makes commits wait from now on.
    pub(crate) fn close_gate(&self) {
        let arrived = self.arrived.available_permits();
        self.arrived.forget_permits(arrived);
        self.gate.forget_permits(OPEN_PERMITS);
        assert_eq!(self.gate.available_permits(), 0);
    }

    /// Returns when a commit waits at the closed gate.
    pub(crate) async fn arrival(&self) {
        self.arrived.acquire().await.unwrap().forget();
    }

    /// Lets all commits pass again.
    pub(crate) fn open_gate(&self) {
        self.gate.add_permits(OPEN_PERMITS);
    }

    fn reading(&self) -> Result<&dyn Store, StoreError> {
        if self.reads_fail.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("reading fails".to_owned()));
        }
        Ok(&*self.inner)
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn open(&self) -> Result<Opened, StoreError> {
        self.reading()?.open().await
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.arrived.add_permits(1);
        drop(self.gate.acquire().await.unwrap());
        if self.commits_fail.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("the disk is full".to_owned()));
        }
        self.inner.commit(commit).await
    }

    async fn known_events(
        &self,
        timeline: TimelineKey,
        event_ids: &[EventId],
    ) -> Result<HashMap<EventId, KnownEvent>, StoreError> {
        self.reading()?.known_events(timeline, event_ids).await
    }

    async fn outcomes(&self, keys: &[[u8; 32]]) -> Result<Vec<IdempotencyRecord>, StoreError> {
        self.reading()?.outcomes(keys).await
    }

    async fn events(&self, query: EventQuery) -> Result<Vec<StoredEvent>, StoreError> {
        self.reading()?.events(query).await
    }

    async fn anchors(
        &self,
        timeline: TimelineKey,
        after: Option<u64>,
        items_max: usize,
    ) -> Result<Vec<Anchor>, StoreError> {
        self.reading()?.anchors(timeline, after, items_max).await
    }

    async fn anchor(&self, timeline: TimelineKey, id: &AnchorId) -> Result<Option<Anchor>, StoreError> {
        self.reading()?.anchor(timeline, id).await
    }

    async fn entry(&self, timeline: TimelineKey, seq: u64) -> Result<Option<StoredEntry>, StoreError> {
        self.reading()?.entry(timeline, seq).await
    }

    async fn tile(&self, timeline: TimelineKey, tile: TileId, width: usize) -> Result<Vec<Hash>, StoreError> {
        self.reading()?.tile(timeline, tile, width).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.reading()?.ping().await
    }
}

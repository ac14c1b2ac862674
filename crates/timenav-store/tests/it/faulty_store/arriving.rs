//! Bundles that arrive: each batch waits at a gate, and is refused where the test says so.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use parking_lot::Mutex;
use timenav_core::ids::TimelineId;
use timenav_engine::{Arrivals, ArrivingRows, StoreError, StoredEntry, StrayArrivals, TimelineKey};
use tokio::sync::Semaphore;

use super::{FaultyStore, OPEN_PERMITS};

/// Where batches of rows wait that arrive.
pub(super) struct ArrivingGate {
    gate: Semaphore,
    /// One permit for each batch that has reached the gate.
    reached: Semaphore,
    /// Bytes of the entries of each batch, the last one of a batch apart.
    batches: Mutex<Vec<(usize, usize)>>,
}

impl Default for ArrivingGate {
    fn default() -> Self {
        Self { gate: Semaphore::new(OPEN_PERMITS), reached: Semaphore::new(0), batches: Mutex::default() }
    }
}

impl FaultyStore {
    /// Makes batches of rows wait that arrive from now on.
    pub(crate) fn close_arriving_gate(&self) {
        let ArrivingGate { gate, reached, .. } = &self.arriving;
        reached.forget_permits(reached.available_permits());
        gate.forget_permits(OPEN_PERMITS);
        assert_eq!(gate.available_permits(), 0);
    }

    /// Returns when another batch waits at that gate.
    pub(crate) async fn arrival_at_arriving_gate(&self) {
        self.arriving.reached.acquire().await.unwrap().forget();
    }

    /// Lets so many batches pass.
    pub(crate) fn let_arrive(&self, batches: usize) {
        self.arriving.gate.add_permits(batches);
    }

    /// Returns how many bytes the entries of each batch had, without the last one of it, and with it.
    pub(crate) fn batches(&self) -> Vec<(usize, usize)> {
        self.arriving.batches.lock().clone()
    }

    /// Lets all of them pass again.
    pub(crate) fn open_arriving_gate(&self) {
        self.let_arrive(OPEN_PERMITS);
    }
}

#[async_trait]
impl Arrivals for FaultyStore {
    async fn begin_arrival(&self, arrival: &str, timelines: Vec<TimelineId>) -> Result<Vec<TimelineKey>, StoreError> {
        self.inner.begin_arrival(arrival, timelines).await
    }

    async fn put_arriving(
        &self,
        arrival: &str,
        timeline: TimelineKey,
        size: u64,
        rows: ArrivingRows,
    ) -> Result<(), StoreError> {
        self.arriving.reached.add_permits(1);
        self.arriving.gate.acquire().await.unwrap().forget();
        if self.commits_fail.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("the disk is full".to_owned()));
        }
        let bytes = |entries: &[StoredEntry]| entries.iter().map(|entry| entry.leaf.len() + entry.payload.len()).sum();
        let before_last = rows.entries.split_last().map_or(0, |(_, before)| bytes(before));
        self.arriving.batches.lock().push((before_last, bytes(&rows.entries)));
        self.inner.put_arriving(arrival, timeline, size, rows).await
    }

    async fn keep_arrival(&self, arrival: &str) -> Result<(), StoreError> {
        self.inner.keep_arrival(arrival).await
    }

    async fn arrivals_left(&self) -> Result<Vec<String>, StoreError> {
        self.reading()?.arrivals_left().await
    }

    async fn clear_arrival(&self, arrival: &str, items_max: usize) -> Result<bool, StoreError> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.let_go_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            return Err(StoreError::Unavailable("the power is gone".to_owned()));
        }
        self.inner.clear_arrival(arrival, items_max).await
    }

    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError> {
        self.reading()?.stray_arrivals().await
    }
}

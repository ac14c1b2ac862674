//! A store that fails or blocks when a test says so.

use std::ops::{Range, RangeInclusive};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use timenav_core::followers::Confirmed;
use timenav_core::ids::{EventId, FollowerId, KeyId, TimelineId, UserId};
use timenav_core::ledger::{Hash, TileId};
use timenav_core::time::{Bucket, Instant, Wall};
use timenav_engine::{
    ActivityQuery, ApiKey, AtWork, ChangeLeases, Commit, Described, EndedTimeline, EventFilter, EventQuery, EventSpot,
    EventStretches, Facts, FactsQuery, FilteredEvents, FollowerRow, Head, Health, Hint, Layer, LeaseQuery, Locked,
    LogRow, Opened, Overridden, Presence, QueryOrigin, RotationNote, SharedFollowers, SharedLeases, Store, StoreError,
    StoredEvent, StoredTree, StrayArrivals, SweepMark, TimelineKey, UnloggedRows, Upkeep,
};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Implements a trait: `read` methods fail on request, `pass` methods never do. All call the inner store.
macro_rules! forward {
    ($trait:ident {
        $($way:ident $method:ident($($name:ident: $type:ty),*) -> $result:ty;)*
    } {
        $($other:tt)*
    }) => {
        #[async_trait]
        impl $trait for FaultyStore {
            $(
                async fn $method(&self, $($name: $type),*) -> Result<$result, StoreError> {
                    self.$way()?.$method($($name),*).await
                }
            )*

            $($other)*
        }
    };
}

mod scanned;

/// Interference by another writer.
pub(crate) type Meddler = dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

/// A wrapper around another store, with switches that make it fail and gates that block it.
pub(crate) struct FaultyStore {
    inner: Arc<dyn Store>,
    commits_fail: AtomicBool,
    /// Number of commits that succeed before the next ones fail.
    commits_left: AtomicUsize,
    /// Number of prunings that succeed before the next ones fail.
    prune_left: AtomicUsize,
    reads_fail: AtomicBool,
    /// Blocks commits.
    gate: Semaphore,
    /// One permit for each commit that has reached the gate.
    arrived: Semaphore,
    /// Closed by taking its permits. Blocks readers of entries, such as scans, views and pages of the access log.
    pub(crate) scan_gate: Semaphore,
    /// Whether others write to the store too.
    shared: bool,
    /// Whether the inner store locks heads.
    locks: bool,
    /// Whether heads are locked now.
    is_locked: AtomicBool,
    /// Called at each access of the writer: before it locks, when it asks for facts, and before it commits.
    meddler: Mutex<Option<Arc<Meddler>>>,
    /// Interference while heads are locked, which may have to wait.
    meddling: Mutex<Vec<JoinHandle<()>>>,
    /// The readers that have reached that gate, in order, by timeline.
    pub(crate) at_scan_gate: Mutex<Vec<TimelineKey>>,
    /// Closed by taking its permits. Blocks readers of event versions.
    pub(crate) versions_gate: Semaphore,
    /// One permit for each reader that has reached that gate.
    pub(crate) at_versions_gate: Semaphore,
    /// Maximum size of a block that a scan has received, of entries or of rows of events, in bytes.
    pub(crate) scanned_bytes: AtomicUsize,
    /// Number of events that a scan has looked up by their ids.
    pub(crate) looked_up: AtomicUsize,
    /// Number of rows of heads, of the directory and of entries that were returned.
    pub(crate) handed_over: AtomicUsize,
    /// Number of calls of `open`, and of those while heads were locked.
    pub(crate) opened: AtomicUsize,
    pub(crate) opened_locked: AtomicUsize,
}

/// More than any test commits.
pub(crate) const OPEN_PERMITS: usize = 1 << 20;

impl FaultyStore {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            commits_fail: AtomicBool::new(false),
            commits_left: AtomicUsize::new(usize::MAX),
            prune_left: AtomicUsize::new(usize::MAX),
            reads_fail: AtomicBool::new(false),
            gate: Semaphore::new(OPEN_PERMITS),
            arrived: Semaphore::new(0),
            scan_gate: Semaphore::new(OPEN_PERMITS),
            at_scan_gate: Mutex::default(),
            versions_gate: Semaphore::new(OPEN_PERMITS),
            at_versions_gate: Semaphore::new(0),
            scanned_bytes: AtomicUsize::new(0),
            looked_up: AtomicUsize::new(0),
            handed_over: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            opened_locked: AtomicUsize::new(0),
            shared: false,
            locks: false,
            is_locked: AtomicBool::new(false),
            meddler: Mutex::default(),
            meddling: Mutex::default(),
        }
    }

    /// Returns a store that others write to as well.
    pub(crate) fn shared(inner: Arc<dyn Store>) -> Self {
        Self { shared: true, ..Self::new(inner) }
    }

    /// Returns a store that others write to as well, and that locks heads.
    pub(crate) fn locking(inner: Arc<dyn Store>) -> Self {
        Self { shared: true, locks: true, ..Self::new(inner) }
    }

    pub(crate) const fn locks(&self) -> bool {
        self.locks
    }

    /// Waits until all interference has finished.
    pub(crate) async fn meddled(&self) {
        let meddling: Vec<_> = self.meddling.lock().drain(..).collect();
        for one in meddling {
            one.await.unwrap();
        }
    }

    pub(crate) fn meddle(&self, meddler: Option<Arc<Meddler>>) {
        *self.meddler.lock() = meddler;
    }

    /// Runs the interference.
    async fn point(&self) {
        let meddler = self.meddler.lock().clone();
        match meddler {
            // It may wait for a lock held here, so it is not awaited.
            Some(meddler) if self.is_locked.load(Ordering::SeqCst) => {
                self.meddling.lock().push(tokio::spawn(async move { meddler().await }));
            }
            Some(meddler) => meddler().await,
            None => {}
        }
    }

    pub(crate) fn set_commits_failing(&self, fail: bool) {
        self.commits_fail.store(fail, Ordering::SeqCst);
    }

    /// Allows this many prunings, and fails later ones.
    pub(crate) fn prune_at_most(&self, count: usize) {
        self.prune_left.store(count, Ordering::SeqCst);
    }

    /// Allows this many commits, and fails later ones.
    pub(crate) fn fail_after(&self, commits_count: usize) {
        self.commits_left.store(commits_count, Ordering::SeqCst);
    }

    pub(crate) fn set_reads_failing(&self, fail: bool) {
        self.reads_fail.store(fail, Ordering::SeqCst);
    }

    /// Blocks commits from now on.
    pub(crate) fn close_gate(&self) {
        let arrived = self.arrived.available_permits();
        self.arrived.forget_permits(arrived);
        self.gate.forget_permits(OPEN_PERMITS);
        assert_eq!(self.gate.available_permits(), 0);
    }

    /// Waits until a commit has reached the closed gate.
    pub(crate) async fn arrival(&self) {
        self.arrived.acquire().await.unwrap().forget();
    }

    /// Unblocks commits.
    pub(crate) fn open_gate(&self) {
        self.gate.add_permits(OPEN_PERMITS);
    }

    /// Blocks readers of event versions from now on.
    pub(crate) fn close_versions_gate(&self) {
        let arrived = self.at_versions_gate.available_permits();
        self.at_versions_gate.forget_permits(arrived);
        assert_eq!(self.versions_gate.forget_permits(OPEN_PERMITS), OPEN_PERMITS);
    }

    /// Waits until a reader has reached that gate.
    pub(crate) async fn arrival_at_versions_gate(&self) {
        self.at_versions_gate.acquire().await.unwrap().forget();
    }

    pub(crate) fn open_versions_gate(&self) {
        self.versions_gate.add_permits(OPEN_PERMITS);
    }

    async fn pass_scan_gate(&self, timeline: TimelineKey) {
        self.at_scan_gate.lock().push(timeline);
        // The permit is not returned, so that a test can let readers pass one by one.
        self.scan_gate.acquire().await.unwrap().forget();
    }

    fn hand_over(&self, rows: usize) {
        self.handed_over.fetch_add(rows, Ordering::SeqCst);
    }

    /// Returns the inner store for methods that never fail on request.
    #[expect(clippy::unnecessary_wraps, reason = "`forward` treats it like `read`")]
    fn pass(&self) -> Result<&dyn Store, StoreError> {
        Ok(&*self.inner)
    }

    fn read(&self) -> Result<&dyn Store, StoreError> {
        if self.reads_fail.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("reading fails".to_owned()));
        }
        Ok(&*self.inner)
    }
}

forward! {
    Store {
        pass wait_for_open_steps() -> ();
        pass feature_level() -> u64;
        read open_directory() -> Opened;
        read trees(timelines: Vec<TimelineKey>) -> Vec<StoredTree>;
        read events_named(layers: Arc<[Layer]>, key: String, items_max: usize) -> Vec<EventId>;
        read event_described(layers: Arc<[Layer]>, description: String, searched_max: usize) -> Described;
        read events_unchanged_since(
            timeline: TimelineKey, position: u64, after: Option<EventId>, items_max: usize
        ) -> Vec<EventId>;
        read events(query: EventQuery) -> Vec<StoredEvent>;
        read overridden(layers: Arc<[Layer]>, rows_max: usize) -> Option<Overridden>;
        read api_keys(user_id: &UserId, after: Option<&KeyId>, items_max: usize) -> Vec<ApiKey>;
        read clock_payloads(timeline: TimelineKey, last: u64, items_max: usize) -> Vec<Vec<u8>>;
        pass keep_rotations(notes: Vec<RotationNote>) -> ();
        read first_recorded_at(timeline: TimelineKey, host: Instant<Wall>, size: u64) -> u64;
        read tile(timeline: TimelineKey, tile: TileId, width: usize) -> Vec<Hash>;
    }
    {
        async fn open(&self) -> Result<Opened, StoreError> {
            self.opened.fetch_add(1, Ordering::SeqCst);
            self.opened_locked.fetch_add(usize::from(self.is_locked.load(Ordering::SeqCst)), Ordering::SeqCst);
            let opened = self.read()?.open().await?;
            self.hand_over(opened.heads.len() + opened.ended.len() + opened.directory.users.len());
            Ok(opened)
        }

        fn is_shared(&self) -> bool {
            self.shared
        }

        fn has_others(&self) -> bool {
            self.locks
        }

        async fn lock(&self, timelines: &[TimelineKey]) -> Result<Option<Locked>, StoreError> {
            if !self.locks {
                return Ok(None);
            }
            self.point().await;
            let locked = self.inner.lock(timelines).await?;
            self.is_locked.store(true, Ordering::SeqCst);
            Ok(locked)
        }

        async fn release(&self) {
            self.is_locked.store(false, Ordering::SeqCst);
            self.inner.release().await;
        }

        async fn sizes(&self) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
            let sizes = self.inner.sizes().await?;
            self.hand_over(sizes.len());
            Ok(sizes)
        }

        async fn newest(
            &self,
            timelines: &[TimelineKey],
            known: RangeInclusive<TimelineKey>,
        ) -> Result<Vec<Head>, StoreError> {
            let heads = self.inner.newest(timelines, known).await?;
            self.hand_over(heads.len());
            Ok(heads)
        }

        async fn unlogged_rows(&self, users: Vec<UserId>, ended: Vec<TimelineId>) -> Result<UnloggedRows, StoreError> {
            let rows = self.inner.unlogged_rows(users, ended).await?;
            self.hand_over(rows.passwords.len() + rows.ended.len());
            Ok(rows)
        }

        async fn hint(&self) -> Hint {
            self.inner.hint().await
        }

        async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
            self.point().await;
            self.is_locked.store(false, Ordering::SeqCst);
            self.arrived.add_permits(1);
            drop(self.gate.acquire().await.unwrap());
            let one_less = |left: usize| left.checked_sub(1);
            let is_left = self.commits_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
            if self.commits_fail.load(Ordering::SeqCst) || !is_left {
                return Err(StoreError::Unavailable("the disk is full".to_owned()));
            }
            self.inner.commit(commit).await
        }

        async fn facts(&self, query: FactsQuery, origin: QueryOrigin) -> Result<Facts, StoreError> {
            if origin == QueryOrigin::Writer || !query.rotation_notes.is_empty() {
                self.point().await;
            } else if !query.events.is_empty() {
                self.at_versions_gate.add_permits(1);
                drop(self.versions_gate.acquire().await.unwrap());
            }
            self.read()?.facts(query, origin).await
        }

        async fn names_near(
            &self,
            layers: Arc<[Layer]>,
            key: String,
            searched_max: usize,
        ) -> Result<Vec<(EventId, Option<String>)>, StoreError> {
            let store = self.read()?;
            if let Some(layer) = layers.last() {
                self.pass_scan_gate(layer.timeline).await;
            }
            store.names_near(layers, key, searched_max).await
        }

        fn events_at_once(&self, query: &EventQuery) -> Result<Option<Vec<StoredEvent>>, StoreError> {
            self.read()?.events_at_once(query)
        }

        async fn event_spots(&self, query: EventQuery, with_parties: bool) -> Result<Vec<EventSpot>, StoreError> {
            if let Some(layer) = query.layers.last() {
                self.pass_scan_gate(layer.timeline).await;
            }
            self.read()?.event_spots(query, with_parties).await
        }

        async fn event_stretches(&self, query: EventQuery, bucket: Bucket) -> Result<Option<EventStretches>, StoreError> {
            if let Some(layer) = query.layers.last() {
                self.pass_scan_gate(layer.timeline).await;
            }
            self.read()?.event_stretches(query, bucket).await
        }

        fn stores_parties(&self) -> bool {
            self.inner.stores_parties()
        }

        async fn filtered_events(
            &self,
            query: EventQuery,
            filter: Arc<EventFilter>,
            searched_max: usize,
        ) -> Result<FilteredEvents, StoreError> {
            if let Some(layer) = query.layers.last() {
                self.pass_scan_gate(layer.timeline).await;
            }
            self.read()?.filtered_events(query, filter, searched_max).await
        }

        async fn leaves(&self, timeline: TimelineKey, first: u64, items_max: usize) -> Result<Vec<Vec<u8>>, StoreError> {
            self.pass_scan_gate(timeline).await;
            self.read()?.leaves(timeline, first, items_max).await
        }

        async fn leaves_of(&self, of: Vec<(TimelineKey, Range<u64>)>) -> Result<Vec<Vec<Vec<u8>>>, StoreError> {
            for (timeline, _) in &of {
                self.pass_scan_gate(*timeline).await;
            }
            self.read()?.leaves_of(of).await
        }

        async fn log_rows(
            &self,
            timeline: TimelineKey,
            range: Range<u64>,
            newest_first: bool,
            bytes_max: usize,
        ) -> Result<Vec<LogRow>, StoreError> {
            self.pass_scan_gate(timeline).await;
            self.read()?.log_rows(timeline, range, newest_first, bytes_max).await
        }

        async fn health(&self, expected: Health) -> Result<(), StoreError> {
            if expected == Health::Writes && self.commits_fail.load(Ordering::SeqCst) {
                return Err(StoreError::Unavailable("the disk is full".to_owned()));
            }
            let store = if expected == Health::Answers { self.read()? } else { &*self.inner };
            store.health(expected).await
        }
    }
}

forward! {
    SharedFollowers {
        pass share_followers(there: Vec<FollowerRow>, removed: Vec<FollowerId>) -> ();
        pass confirm_follower(
            follower_id: &FollowerId, whose: (TimelineKey, &UserId), confirmed: Confirmed
        ) -> Option<FollowerRow>;
        pass followers_of(timelines: Vec<TimelineKey>) -> Vec<FollowerRow>;
        pass forget_followers() -> ();
    }
    {}
}

forward! {
    SharedLeases {
        pass change_leases(timeline: TimelineKey, query: LeaseQuery, change: ChangeLeases) -> ();
        pass report_presence(presence: Presence) -> bool;
        pass leave(service: &str) -> ();
        pass keep_timelines(service: &str, timelines: Vec<TimelineKey>) -> Vec<(TimelineKey, u64)>;
        pass leases_ended(service: &str) -> Vec<TimelineKey>;
        pass at_work(query: ActivityQuery) -> AtWork;
        read cosigned_note() -> Option<Vec<u8>>;
        pass keep_cosigned_note(read: Option<Vec<u8>>, note: Vec<u8>) -> bool;
    }
    {}
}

forward! {
    Upkeep {
        read stray_arrivals() -> StrayArrivals;
        read sweeps_left() -> Vec<(TimelineKey, u64)>;
        read sweep_marks(timeline: TimelineKey) -> Vec<SweepMark>;
        pass mark_swept(timeline: TimelineKey, mark: SweepMark) -> ();
        read forget_outcomes(before: Instant<Wall>, rows_max: usize) -> bool;
        read host_clock() -> Option<Instant<Wall>>;
        pass keep_host_clock(now: Instant<Wall>) -> ();
    }
    {
        async fn prune_ended(&self, ended: &EndedTimeline, from: u64, items_max: usize) -> Result<Option<u64>, StoreError> {
            let one_less = |left: usize| left.checked_sub(1);
            self.commits_left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                .map_err(|_| StoreError::Unavailable("the disk is full".to_owned()))?;
            self.inner.prune_ended(ended, from, items_max).await
        }

        async fn sweep(&self, timeline: TimelineKey, positions: Vec<u64>, finished: Option<u64>) -> Result<(), StoreError> {
            let one_less = |left: usize| left.checked_sub(1);
            if self.prune_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
                return Err(StoreError::Unavailable("the power is gone".to_owned()));
            }
            self.inner.sweep(timeline, positions, finished).await
        }
    }
}

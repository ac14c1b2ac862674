use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use timenav_core::directory::Directory;
use timenav_core::ids::{TimelineId, type_id};
use timenav_core::time::{Instant, Wall};

use crate::access::directory_rows::DirectoryRows;
use crate::clock::follower_registry::FollowerRegistry;
use crate::clock::host_clock::HostClock;
use crate::integrity::scan_places::ScanPlaces;
use crate::integrity::witnessed::Witnessed;
use crate::ledger::head::{EndedTimeline, TimelineState};
use crate::ledger::published::Published;
use crate::paradoxes::view_board::Views;
use crate::ports::all::{Ports, uuid};
use crate::ports::store::Store;
use crate::read::live::Live;
use crate::read::long_work::LongWork;
use crate::replication::following::Following;
use crate::requests::attempts::Attempts;
use crate::requests::background::{Background, BackgroundTraces, BackgroundWork};
use crate::requests::options::{FEATURE_LEVEL, Options};
use crate::requests::refusal::Refusal;
use crate::requests::refused::CountedRefusals;
use crate::timers::timing::Timing;
use crate::writer::batch_delay::BatchDelay;
use crate::writer::commit_times::CommitTimes;
use crate::writer::heads::Heads;
use crate::writer::keeping::Keeper;
use crate::writer::queue_state::QueueState;

pub(crate) struct Committed {
    pub(crate) states: Vec<Arc<TimelineState>>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) rows: Arc<DirectoryRows>,
    pub(crate) ended: Vec<EndedTimeline>,
    pub(crate) entries_count: u64,
}

/// State shared by the committer, the sealer and all readers.
pub(crate) struct Shared {
    pub(crate) ports: Ports,
    pub(crate) options: Options,
    pub(crate) live: Live,
    pub(crate) attempts: Attempts,
    pub(crate) counted_refusals: CountedRefusals,
    pub(crate) views: Views,
    pub(crate) scans: ScanPlaces,
    pub(crate) long_work: LongWork,
    /// Timelines left to sweep in this round. Locked while sweeping.
    pub(crate) sweeping: tokio::sync::Mutex<VecDeque<TimelineId>>,
    pub(crate) delay: BatchDelay,
    pub(crate) queue: QueueState,
    pub(crate) sealing: AtomicUsize,
    pub(crate) keeper: Keeper,
    pub(crate) timelines: RwLock<Published>,
    pub(crate) directory: ArcSwap<Directory>,
    failure: Mutex<Option<Refusal>>,
    /// Whether the last group could not be committed.
    pub(crate) is_refused: AtomicBool,
    pub(crate) entries: AtomicU64,
    pub(crate) groups: AtomicU64,
    pub(crate) commit_times: Arc<CommitTimes>,
    pub(crate) newest_at_start: Instant<Wall>,
    pub(crate) host_clock: HostClock,
    /// The feature level of the database at the last lock of heads. Never decreases.
    pub(crate) level: AtomicU64,
    pub(crate) following: Following,
    /// Locked while ends of timelines are handled.
    pub(crate) tending: tokio::sync::Mutex<()>,
    pub(crate) witnessed: Witnessed,
    pub(crate) timing: Arc<Timing>,
    pub(crate) follower_registry: FollowerRegistry,
    pub(crate) background: OnceLock<Arc<dyn BackgroundTraces>>,
}

impl Shared {
    pub(crate) fn note_background(
        &self,
        (what, timeline): (Background, Option<&TimelineId>),
        began: Instant<Wall>,
        has_failed: bool,
    ) {
        let Some(traces) = self.background.get() else { return };
        let (ended, timeline_id) = (self.ports.clock.now(), timeline.cloned());
        traces.done(BackgroundWork { what, timeline_id, began, ended, has_failed });
    }

    pub(crate) fn new(
        ports: Ports,
        options: Options,
        heads: &Heads,
        ended: Vec<EndedTimeline>,
        (newest_at_start, host_clock): (Instant<Wall>, HostClock),
        has_others: bool,
    ) -> Self {
        let mut published = Published::default();
        published.set_rows(Arc::clone(&heads.rows));
        for ended in ended {
            published.end(ended);
        }
        let mut timing = if has_others { Timing::shared(type_id("service", uuid(&ports))) } else { Timing::default() };
        if ports.webhooks.is_some() {
            timing.send_webhooks();
        }
        heads.all().for_each(|state| timing.published(None, state));
        let going = heads.all().filter(|state| state.head.timers.advance.is_some());
        going.for_each(|state| timing.leases().resume(&state.head.id, ports.clock.now()));
        heads.all().for_each(|state| _ = published.insert(Arc::clone(state)));
        let long_work = LongWork::new(ports.long_work.clone());
        let following = Following::since(ports.clock.now());
        Self {
            ports,
            options,
            live: Live::default(),
            attempts: Attempts::default(),
            counted_refusals: CountedRefusals::default(),
            views: Views::default(),
            scans: ScanPlaces::default(),
            long_work,
            sweeping: tokio::sync::Mutex::default(),
            delay: BatchDelay::default(),
            queue: QueueState::default(),
            sealing: AtomicUsize::new(0),
            keeper: Keeper::default(),
            timelines: RwLock::new(published),
            directory: ArcSwap::new(Arc::clone(&heads.directory)),
            failure: Mutex::new(None),
            is_refused: AtomicBool::new(false),
            entries: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            commit_times: Arc::new(CommitTimes::new()),
            newest_at_start,
            host_clock,
            level: AtomicU64::new(FEATURE_LEVEL),
            following,
            tending: tokio::sync::Mutex::default(),
            witnessed: Witnessed::default(),
            timing: Arc::new(timing),
            follower_registry: FollowerRegistry::default(),
            background: OnceLock::new(),
        }
    }

    /// Publishes durable and signed state to readers.
    pub(crate) fn publish(&self, committed: Committed) {
        let Committed { states, directory, rows, ended, entries_count } = committed;
        let over: Vec<_> = ended.iter().map(|ended| (ended.id.clone(), ended.key)).collect();
        let mut published = self.timelines.write();
        let mut permissions_changed = false;
        for state in states {
            self.timing.published(published.get(&state.head.id), &state);
            permissions_changed |= published.insert(state);
        }
        for ended in ended {
            published.end(ended);
        }
        published.set_rows(rows);
        drop(published);
        if !over.is_empty() {
            self.views.forget(|key| over.iter().any(|(_, ended)| *ended == key));
            for (timeline, _) in &over {
                self.live.wake(timeline);
            }
        }
        self.directory.store(directory);
        if permissions_changed {
            self.live.permit();
        }
        self.entries.fetch_add(entries_count, Ordering::Relaxed);
        // A group that only loaded commits of others, or changed nothing, does not count.
        self.groups.fetch_add(u64::from(entries_count > 0), Ordering::Relaxed);
    }

    pub(crate) fn fail(&self, reason: &str) {
        self.stop(Refusal::Unavailable(reason.to_owned()));
    }

    /// Like [`Shared::fail`], with the refusal for all later requests.
    pub(crate) fn stop(&self, refusal: Refusal) {
        self.failure.lock().get_or_insert(refusal);
    }

    /// The service was unreachable during the upgrade. Returns the refusal for all later requests.
    pub(crate) fn left_behind(&self, level: u64) -> Option<Refusal> {
        if level <= FEATURE_LEVEL {
            return None;
        }
        let reason = format!(
            "the services on the database were upgraded to the feature level {level}, but this version knows only \
             {FEATURE_LEVEL}; start the version of the other services"
        );
        tracing::error!(level, "{reason}");
        self.fail(&reason);
        Some(Refusal::Unavailable(reason))
    }

    /// Like [`Shared::left_behind`], if data by other services looks damaged: it may be of a newer version.
    pub(crate) async fn misread(&self, store: &dyn Store, refusal: &Refusal) -> Option<Refusal> {
        let (Refusal::Damaged(_) | Refusal::UnknownEntry(_)) = refusal else { return None };
        self.left_behind(store.feature_level().await.ok()?)
    }

    pub(crate) fn note_commit(&self, taken: bool) {
        if self.is_refused.swap(!taken, Ordering::AcqRel) && taken {
            tracing::info!("the store accepts writes again");
        }
    }

    /// Returns why the service is not ready, if so: writing has stopped, or witnesses have seen a different history.
    pub(crate) fn unfit(&self) -> Option<Refusal> {
        self.failure().or_else(|| self.witnessed.alarm().map(Refusal::Unavailable))
    }

    pub(crate) fn failure(&self) -> Option<Refusal> {
        self.failure.lock().clone()
    }
}

mod submitting;

use async_recursion::async_recursion as boxed;
use parking_lot::{Mutex, RwLock};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use timenav_core::access::{self, Demand, Denial};
use timenav_core::directory::Directory;
use timenav_core::ids::{TimelineId, UserId, type_id};
use timenav_core::text::counted;
use timenav_core::time::{Instant, Wall};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::access::directory;
use crate::clock::follower_registry::FollowerRegistry;
use crate::clock::host_clock::HostClock;
use crate::integrity::opening::loaded::Loaded;
use crate::integrity::opening::{self, OpenError};
use crate::integrity::witnessed::Witnessed;
use crate::ledger::action::{Action, Demanded};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::notes::keep_rotations;
use crate::ports::all::{Ports, uuid};
use crate::ports::store::{Health, Store};
use crate::ports::store_error::StoreError;
use crate::read::live::Growth;
use crate::read::long_work::LongWork;
use crate::requests::caller::{AuthFailure, Caller};
use crate::requests::code::Code;
use crate::requests::options::Options;
use crate::requests::rate_limited_log::RateLimitedLog;
use crate::requests::refusal::{Refusal, denial_code};
use crate::requests::stats::{EngineStats, behind_seconds};
use crate::writer::commit_times::CommitStats;
use crate::writer::committer::{Committer, QUEUE_SUBMISSIONS_MAX};
use crate::writer::deciding::logged::LogRefusal;
use crate::writer::draft::SaltPool;
use crate::writer::shared::Shared;
use crate::writer::submission::QueueItem;

/// The service without its HTTP layer. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    store: Arc<dyn Store>,
    committer: Arc<Mutex<Committer>>,
    submissions: RwLock<Option<mpsc::Sender<QueueItem>>>,
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
}

impl Engine {
    /// Opens the store. If it is empty, creates the first user, key and timelines.
    ///
    /// On the very first start, `keep_first_key` receives the operator's key before anything is committed. A crash at
    /// any point therefore cannot leave a service without a usable key.
    ///
    /// # Errors
    /// The store cannot be read, or is behind the checkpoints kept outside it.
    pub async fn open(
        store: Arc<dyn Store>,
        ports: Ports,
        options: Options,
        keep_first_key: impl FnOnce(&str) -> std::io::Result<()>,
    ) -> Result<Self, OpenError> {
        let stored_clock = store.host_clock().await?;
        let loaded = opening::loaded::load_or_begin(&*store, &ports, &options, keep_first_key).await?;
        let Loaded { heads, ended, findings, newest_at_start, clock_offset, is_unseen } = loaded;
        // An interrupted rotation is recovered while both keys are available.
        let states = heads.all().map(|state| &**state);
        keep_rotations(states, &*store, &ports, &options)
            .await
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        // Until the host clock has been checked, the newest entry from before the start is the lower bound.
        let host_clock = HostClock::known(stored_clock.unwrap_or(newest_at_start), stored_clock).after(newest_at_start);
        if let Some(offset) = clock_offset {
            host_clock.compared(offset);
        }
        let known_at = (newest_at_start, host_clock);
        let shared = Arc::new(Shared::new(ports, options, &heads, ended, known_at, store.has_others()));
        shared.following.is_unseen.store(is_unseen, Ordering::Release);
        let (sender, submissions) = mpsc::channel(QUEUE_SUBMISSIONS_MAX);
        let committer = Arc::new(Mutex::new(Committer {
            store: Arc::clone(&store),
            shared: Arc::clone(&shared),
            heads,
            runtime: Handle::current(),
            failures: RateLimitedLog::default(),
            salts: SaltPool::default(),
            is_in_task: false,
        }));
        let threads = Mutex::new(Committer::start(&committer, submissions).map_err(OpenError::Thread)?);
        let submissions = RwLock::new(Some(sender));
        let engine = Self(Arc::new(Inner { shared, store, committer, submissions, threads }));
        engine.log_accepted(findings).await?;
        Ok(engine)
    }

    /// Records the counted refusals, stops accepting submissions, and returns when all accepted ones are durable.
    #[boxed]
    pub async fn close(&self) {
        self.leave_timekeeping().await;
        // A failure to record them is logged.
        let _ = self.log_counted_refusals().await;
        self.0.submissions.write().take();
        self.0.shared.delay.ring();
        let threads: Vec<_> = self.0.threads.lock().drain(..).collect();
        let joined = tokio::task::spawn_blocking(move || threads.into_iter().all(|thread| thread.join().is_ok())).await;
        if !matches!(joined, Ok(true)) {
            tracing::error!("a writer thread panicked");
        }
    }

    /// Returns whether the service can serve requests: the store responds, and writing has not stopped.
    ///
    /// If the last write failed, each call retries one. Otherwise a load balancer that keeps requests away from a
    /// service that is not ready could never detect that it has recovered.
    ///
    /// # Errors
    /// The reason why it is not ready.
    #[boxed]
    pub async fn ready(&self) -> Result<(), Refusal> {
        let shared = &self.0.shared;
        if let Some(refusal) = shared.unfit() {
            return Err(refusal);
        }
        if let Some(seconds) = shared.commit_times.stalled_seconds(shared.ports.clock.measured()) {
            return Err(Refusal::Unavailable(format!(
                "a write has been waiting for the store for {}",
                counted(seconds, "second")
            )));
        }
        if let Some(offset) = shared.host_clock.apart() {
            return Err(Refusal::Unavailable(offset.to_string()));
        }
        if shared.is_refused.load(Ordering::Acquire) {
            self.0.store.health(Health::Writes).await?;
            shared.note_commit(true);
        }
        Ok(self.0.store.health(Health::Answers).await?)
    }

    #[must_use]
    pub fn commit_stats(&self) -> CommitStats {
        self.0.shared.commit_times.read()
    }

    #[must_use]
    pub fn stats(&self) -> EngineStats {
        let scans = self.0.shared.scans.counts();
        let (timelines, pending) = {
            let published = self.0.shared.timelines.read();
            (published.len() as u64, published.pending())
        };
        EngineStats {
            scans_running: scans.running,
            scans_finished: scans.finished,
            scans_cancelled: scans.cancelled,
            entries: self.0.shared.entries.load(Ordering::Relaxed),
            groups: self.0.shared.groups.load(Ordering::Relaxed),
            timelines,
            firings_pending: pending.firings,
            timelines_with_firings_pending: pending.timelines,
            host_clock_behind_seconds: behind_seconds(self.0.shared.newest_at_start, self.now()),
            is_host_clock_untrusted: self.host_clock().doubt(self.now()).is_some(),
            scheduler_polls: self.0.shared.timing.agenda().looks(),
        }
    }

    #[must_use]
    pub fn options(&self) -> &Options {
        &self.0.shared.options
    }

    #[must_use]
    pub fn now(&self) -> Instant<Wall> {
        self.ports().clock.now()
    }

    /// Returns a new id with a type prefix. Ids sort by host time.
    #[must_use]
    pub fn new_id(&self, prefix: &str) -> String {
        type_id(prefix, self.uuid())
    }

    /// Never before the last entry: a host clock set back between two starts does not turn a timeline's clock back.
    pub(crate) fn host(&self, state: &TimelineState) -> Instant<Wall> {
        self.now().max(state.head.recorded_at)
    }

    pub(crate) fn ports(&self) -> &Ports {
        &self.0.shared.ports
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    pub(crate) fn long_work(&self) -> &LongWork {
        &self.0.shared.long_work
    }

    pub(crate) fn failure(&self) -> Option<Refusal> {
        self.0.shared.failure()
    }

    /// Stops all writing until a restart. Every later request fails with `refusal`.
    pub(crate) fn stop_writing(&self, refusal: Refusal) {
        self.0.shared.stop(refusal);
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    pub(crate) fn follower_registry(&self) -> &FollowerRegistry {
        &self.0.shared.follower_registry
    }

    pub(crate) fn host_clock(&self) -> &HostClock {
        &self.0.shared.host_clock
    }

    pub(crate) fn witnessed(&self) -> &Witnessed {
        &self.0.shared.witnessed
    }

    /// Returns the fingerprint of a request that may be sent twice. Fingerprints are kept for a day, and a request may
    /// contain a secret: they are keyed, so that a secret cannot be guessed offline from its fingerprint.
    #[must_use]
    pub fn fingerprint(&self, request_digest: &[u8; 32]) -> [u8; 32] {
        self.ports().signer.authenticate("idempotency fingerprint", request_digest)
    }

    pub(crate) fn directory(&self) -> Arc<Directory> {
        self.0.shared.directory.load_full()
    }

    pub(crate) fn forks_of(&self, timeline: TimelineKey) -> HashSet<TimelineKey> {
        let timelines = self.0.shared.timelines.read();
        timelines.all().filter(|state| state.is_fork_of(timeline)).map(|state| state.head.key).collect()
    }

    pub(crate) fn state(&self, timeline: &TimelineId) -> Option<Arc<TimelineState>> {
        let state = self.0.shared.timelines.read().get(timeline).cloned();
        state.filter(|state| !self.has_expired(state))
    }

    pub(crate) fn existing_state(&self, timeline: &TimelineId) -> Result<Arc<TimelineState>, Refusal> {
        self.state(timeline).ok_or_else(|| Refusal::NotFound { what: "timeline", id: timeline.to_string() })
    }

    /// Returns the size of a ledger, with a signal for each change.
    pub(crate) fn growth_of(&self, timeline: &TimelineId) -> Growth {
        let size = || self.state(timeline).map_or(0, |state| state.head.frontier.size());
        self.0.shared.live.listen_to_growth(timeline, size)
    }

    pub(crate) fn states(&self) -> Vec<Arc<TimelineState>> {
        self.0.shared.timelines.read().all().cloned().collect()
    }

    /// Returns up to `items_max` timelines after one, by name: those on which a user has a role, or all of them.
    pub(crate) fn states_after(
        &self,
        user: Option<&UserId>,
        after: Option<&TimelineId>,
        items_max: usize,
    ) -> Vec<Arc<TimelineState>> {
        let user = user.map(|user| (user, self.now()));
        self.0.shared.timelines.read().page(user, after, items_max)
    }

    pub(crate) fn has_ended(&self, timeline: &TimelineId) -> bool {
        let timelines = self.0.shared.timelines.read();
        timelines.has_ended(timeline) || timelines.get(timeline).is_some_and(|state| self.has_expired(state))
    }

    fn has_expired(&self, state: &TimelineState) -> bool {
        state.head.expires_at.is_some() && state.head.has_expired(self.host_clock().sure(self.now()))
    }

    /// Any caller may learn that the name was used, because creating a timeline of that name reveals it too.
    pub(crate) fn check_exists(&self, timeline: &TimelineId) -> Result<(), Refusal> {
        if self.has_ended(timeline) {
            return Err(Refusal::Ended { timeline_id: timeline.to_string() });
        }
        Ok(())
    }

    pub(crate) fn uuid(&self) -> [u8; 16] {
        uuid(self.ports())
    }

    /// Checks that the caller's API key is still valid, or that their session has not ended.
    ///
    /// # Errors
    /// The credentials are no longer valid. The error does not reveal why.
    pub(crate) fn check_live(&self, caller: &Caller) -> Result<(), AuthFailure> {
        directory::check_live(&self.directory(), caller, (self.now(), self.for_expiry()), self.session_spans())
    }

    pub(crate) fn decide(&self, caller: &Caller, timeline: &TimelineId, demand: Demand) -> Result<(), Denial> {
        let state = self.state(timeline);
        access::decide(directory::caller_access(&self.directory(), caller, state.as_deref(), self.for_expiry()), demand)
    }

    pub(crate) fn for_expiry(&self) -> Instant<Wall> {
        self.host_clock().for_expiry(self.now())
    }

    /// Authorizes a caller on a timeline. A rejected attempt is logged.
    pub(crate) async fn admit(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        demand: Demand,
        operation: &str,
    ) -> Result<Arc<TimelineState>, Refusal> {
        // An authorized caller is checked again when their entry is decided. Before rejecting one, read what other
        // services have written in the meantime.
        if self.has_others() && !self.is_admitted_later(caller, timeline, demand) {
            self.catch_up_with(timeline).await?;
        }
        self.admit_as_known(caller, timeline, demand, operation).await
    }

    /// Like [`Engine::admit`], by the state in memory. Requests that are computed from the state before they are decided
    /// must catch up with other services first.
    pub(crate) async fn admit_as_known(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        demand: Demand,
        operation: &str,
    ) -> Result<Arc<TimelineState>, Refusal> {
        if self.check_live(caller).is_err() {
            return Err(self.refuse_ended(caller, timeline, operation).await);
        }
        if let Err(refused) = self.check_exists(timeline) {
            let log = LogRefusal::new(operation, Code::TimelineEnded.as_str(), &refused);
            self.submit(caller, timeline.clone(), log, None).await?;
            return Err(refused);
        }
        if let Err(denial) = self.decide(caller, timeline, demand) {
            let log = LogRefusal::new(operation, denial_code(denial), &denial);
            self.submit(caller, timeline.clone(), log, None).await?;
            return Err(Refusal::from(denial).about(timeline));
        }
        self.existing_state(timeline)
    }

    /// Rejects a write to a timeline that does not exist, if the caller does not want it created.
    ///
    /// A name is never used twice, so a timeline that is found here can only end before the write is decided.
    ///
    /// # Errors
    /// The timeline does not exist, the caller may not write to it, or the attempt cannot be logged.
    #[boxed]
    pub async fn expect_timeline(&self, caller: &Caller, timeline: &TimelineId, action: Action) -> Result<(), Refusal> {
        let Demanded::All(demands) = action.demands() else { return Ok(()) };
        for demand in demands {
            self.admit(caller, timeline, *demand, action.word()).await?;
        }
        Ok(())
    }
}

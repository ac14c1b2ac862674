//! The single writer.
//!
//! Submissions wait in a bounded queue. The committer takes all of them, decides them in order, and commits them as one
//! group on a dedicated thread. If no caller waits for any of them, it briefly waits for more. Then it publishes the new
//! state and sends the responses, and the keeper keeps the group's checkpoints outside the database a moment later.
//!
//! Without a lag, a second thread, the sealer, keeps them outside before it publishes and responds, while the committer
//! works on the next group. If no other submission waits, the committer does that itself, because waking another thread
//! would take longer.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as threads;

use timenav_core::ids::TimelineId;
use timenav_core::time::Span;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::integrity::opening::catch_up::ReloadReason;
use crate::integrity::opening::moved::{Moved, SomeMoved};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::notes::keep_both;
use crate::ports::store::{Locked, Store};
use crate::ports::store_error::StoreError;
use crate::requests::rate_limited_log::RateLimitedLog;
use crate::requests::refusal::Refusal;
use crate::writer::batch_delay::LINGER;
use crate::writer::batch_delay::collect;
use crate::writer::deciding::catching_up::CatchUp;
use crate::writer::draft::SaltPool;
use crate::writer::gathering::known;
use crate::writer::group::{Finished, Group};
use crate::writer::heads::Heads;
use crate::writer::locking::{is_nothing, to_lock};
use crate::writer::sealing::{Sealed, keep_later, keep_or_defer, seal_all, seal_together};
use crate::writer::shared::{Committed, Shared};
use crate::writer::submission::{QueueItem, Recorded, Submission};

mod timed;

/// Size of the queue. Senders wait if it is full.
pub const QUEUE_SUBMISSIONS_MAX: usize = 4_096;
const GROUP_SUBMISSIONS_MAX: usize = 512;
/// Events after which a group is closed, so that an import does not delay others.
const GROUP_EVENTS_MAX: usize = 2_048;
/// How often a group is decided again if other writers are faster each time.
const DECIDED_AGAIN_MAX: usize = 100;
/// Groups that may be committed but not yet sealed.
const SEALING_GROUPS_MAX: usize = 4;

pub(crate) struct Committer {
    pub(crate) submissions: mpsc::Receiver<QueueItem>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) heads: Heads,
    pub(crate) runtime: Handle,
    /// When a failure of the store was last logged: any client can trigger another attempt.
    pub(crate) failures: RateLimitedLog,
}

impl Committer {
    /// Starts its threads. They end when every sender of submissions is dropped.
    pub(crate) fn start(self) -> std::io::Result<Vec<std::thread::JoinHandle<()>>> {
        let (sender, receiver) = threads::sync_channel(SEALING_GROUPS_MAX);
        let shared = Arc::clone(&self.shared);
        let sealer =
            std::thread::Builder::new().name("sealer".to_owned()).spawn(move || seal_all(&receiver, &shared))?;
        let shared = Arc::clone(&self.shared);
        let keeper = std::thread::Builder::new().name("keeper".to_owned()).spawn(move || keep_later(&shared))?;
        let committer = std::thread::Builder::new().name("committer".to_owned()).spawn(move || self.run(&sender))?;
        Ok(vec![committer, sealer, keeper])
    }

    fn run(mut self, to_seal: &threads::SyncSender<Sealed>) {
        let mut salts = SaltPool::default();
        let shared = Arc::clone(&self.shared);
        loop {
            let company = (&shared.delay, LINGER);
            let item = collect(&mut self.submissions, GROUP_SUBMISSIONS_MAX, QueueItem::is_awaited, company);
            let mut rest = QueueItem::each_of(item).peekable();
            if rest.peek().is_none() {
                return;
            }
            let mut put_off = Vec::new();
            while !put_off.is_empty() || rest.peek().is_some() {
                let group = if put_off.is_empty() { take_group(&mut rest) } else { std::mem::take(&mut put_off) };
                let Some(grouped) = self.commit_timed(group, std::mem::take(&mut salts)) else { continue };
                let sealed = grouped.sealed;
                (put_off, salts) = (grouped.later, grouped.salts);
                let is_last = put_off.is_empty() && rest.peek().is_none() && self.submissions.is_empty();
                // Groups are sealed in order, so this must be the only one. With a lag, nothing waits for the disk.
                let is_quick = is_last || shared.options.checkpoint_lag > Span::ZERO;
                if is_quick && self.shared.sealing.load(Ordering::Acquire) == 0 {
                    seal_together(vec![sealed], &self.shared);
                    continue;
                }
                self.shared.sealing.fetch_add(1, Ordering::AcqRel);
                if to_seal.send(sealed).is_err() {
                    return;
                }
            }
        }
    }

    /// `None` on failure, after all submitters were notified.
    fn commit(&mut self, mut submissions: Vec<Submission>, mut salts: SaltPool) -> Option<Grouped> {
        let shared = Arc::clone(&self.shared);
        let mut also = BTreeSet::new();
        for _ in 0..DECIDED_AGAIN_MAX {
            match self.try_commit(&mut submissions, salts, &mut also) {
                Ok(Finished { states, directory, rows, ended, responses, entries_count, salts, .. }) => {
                    let committed = Committed { states, directory, rows, ended, entries_count };
                    let (mut answers, mut later) = (Vec::with_capacity(responses.len()), Vec::new());
                    for (submission, response) in submissions.into_iter().zip(responses) {
                        match response {
                            Some(response) => answers.push((submission.command, response)),
                            None => later.push(submission),
                        }
                    }
                    return Some(Grouped { sealed: Sealed { answers, committed }, later, salts });
                }
                Err(NotCommitted::Moved) => {
                    shared.following.retries.fetch_add(1, Ordering::Relaxed);
                    salts = SaltPool::default();
                }
                Err(NotCommitted::Refused(refusal)) => {
                    refuse(submissions, &refusal);
                    return None;
                }
            }
        }
        let now = shared.ports.clock.now();
        if let Some(suppressed) = self.failures.record(now) {
            tracing::error!(
                suppressed,
                "a group was decided {DECIDED_AGAIN_MAX} times, but other writers always committed first"
            );
        }
        let reason = "other writers kept committing first; try again".to_owned();
        refuse(submissions, &Refusal::Unavailable(reason));
        None
    }

    /// Other writers may have moved the heads in the meantime.
    fn try_commit(
        &mut self,
        submissions: &mut [Submission],
        salts: SaltPool,
        also: &mut BTreeSet<TimelineId>,
    ) -> Result<Finished, NotCommitted> {
        let shared = Arc::clone(&self.shared);
        if let Some(refusal) = shared.failure() {
            return Err(refusal.into());
        }
        let locked = if self.store.has_others() && self.catch_up(submissions)? {
            // Nothing is written, so nothing is locked.
            Some(BTreeSet::new())
        } else {
            self.lock(submissions, also)?
        };
        let mut finished = match self.decide_timed(submissions, salts, locked.as_ref(), also) {
            Ok(finished) => finished,
            Err(not) => {
                if locked.is_some() {
                    self.runtime.block_on(self.store.release());
                }
                return Err(not);
            }
        };
        let mut commit = std::mem::take(&mut finished.commit);
        if locked.is_some() {
            // Locked timelines cannot have moved, and of `system` only the directory matters.
            commit.relied.retain(|(_, size)| size.is_none());
            commit.decided_against = Some(self.heads.directory().version);
            if is_nothing(&commit) {
                self.runtime.block_on(self.store.release());
                self.wait_for_open_steps(submissions, &finished)?;
                return Ok(finished);
            }
        } else if !self.store.is_shared() {
            commit.relied.clear();
        }
        // If the directory changes, the store itself waits for them.
        let is_directory_changed = !commit.directory.is_empty();
        let committed = self.store_commit(commit);
        if let Err(StoreError::Moved(timeline)) = &committed {
            // With locks, the next lock shows what has moved.
            return Err(if locked.is_some() { NotCommitted::Moved } else { self.go_on_from_others(timeline) });
        }
        shared.note_commit(committed.is_ok());
        committed.map_err(|error| {
            if let Some(suppressed) = self.failures.record(shared.ports.clock.now()) {
                tracing::error!(%error, suppressed, "a group could not be committed");
            }
            match error {
                StoreError::Unknown(reason) => {
                    shared.following.outcomes_unknown.fetch_add(1, Ordering::Relaxed);
                    Refusal::OutcomeUnknown(reason)
                }
                error => Refusal::Unavailable(error.to_string()),
            }
        })?;
        if !is_directory_changed {
            self.wait_for_open_steps(submissions, &finished)?;
        }
        let (directory, rows) = (Arc::clone(&finished.directory), Arc::clone(&finished.rows));
        self.heads.take_over(finished.states.iter().cloned(), directory, rows);
        self.heads.end(&finished.ended);
        Ok(finished)
    }

    /// Waits for steps that may have been decided before a revocation, if a group repeats that request: the service
    /// that revoked may have been interrupted while it waited.
    fn wait_for_open_steps(&self, submissions: &[Submission], finished: &Finished) -> Result<(), Refusal> {
        let is_missing =
            |response: &Option<Result<Recorded, Refusal>>| !matches!(response, Some(Err(Refusal::Denied(_))) | None);
        let mut responses = submissions.iter().zip(&finished.responses);
        if !responses.any(|(submission, response)| submission.command.spec().action().revokes() && is_missing(response))
        {
            return Ok(());
        }
        Ok(self.runtime.block_on(self.store.wait_for_open_steps())?)
    }

    /// On a shared store, all timelines that the group writes to must be locked.
    fn decide(
        &self,
        submissions: &mut [Submission],
        salts: SaltPool,
        locked: Option<&BTreeSet<TimelineKey>>,
        also: &mut BTreeSet<TimelineId>,
    ) -> Result<Finished, NotCommitted> {
        let shared = Arc::clone(&self.shared);
        let known = self.runtime.block_on(known(&*self.store, &self.heads, submissions));
        let known = known.map_err(|error| self.not_read(error))?;
        let outside = (&shared.ports, &shared.options, shared.level.load(Ordering::Relaxed));
        let mut group = Group::new(&self.heads, &known, outside, &shared.host_clock, salts);
        group.decide_all(submissions);
        // Only an invalid key or origin leads here, and startup has checked both.
        let finished = group.finish(submissions).inspect_err(|refusal| {
            tracing::error!(%refusal, "a group could not be signed");
            shared.fail(&refusal.to_string());
        })?;
        if let Some(locked) = locked {
            let written = finished.commit.timelines.iter().filter(|one| one.expected_size.is_some());
            let unlocked = written.filter(|one| !locked.contains(&one.head.key)).map(|one| one.head.id.clone());
            let unlocked: Vec<TimelineId> = unlocked.collect();
            if !unlocked.is_empty() {
                also.extend(unlocked);
                return Err(NotCommitted::Moved);
            }
        }
        Ok(finished)
    }

    fn not_read(&self, error: StoreError) -> Refusal {
        if let Some(suppressed) = self.failures.record(self.shared.ports.clock.now()) {
            tracing::error!(%error, suppressed, "the store cannot be read");
        }
        error.into()
    }

    /// Also loads the changes of other services. Returns the lock; `None` if none is needed.
    fn lock(
        &mut self,
        submissions: &[Submission],
        also: &BTreeSet<TimelineId>,
    ) -> Result<Option<BTreeSet<TimelineKey>>, NotCommitted> {
        if !self.store.is_shared() {
            return Ok(None);
        }
        let keys = to_lock(&self.heads, submissions, also);
        let requested: Vec<TimelineKey> = keys.keys().copied().collect();
        let locked = self.lock_heads(&requested).map_err(|error| self.not_read(error))?;
        let Some(Locked { sizes, system: (system_size, version), level }) = locked else { return Ok(None) };
        if let Some(refusal) = self.shared.left_behind(level) {
            self.runtime.block_on(self.store.release());
            return Err(refusal.into());
        }
        self.shared.level.store(level, Ordering::Relaxed);
        let is_moved = |(key, size): &(&TimelineKey, &u64)| sizes.get(*key) != Some(*size);
        let mut moved: BTreeSet<TimelineKey> = keys.iter().filter(is_moved).map(|(key, _)| *key).collect();
        if let Some(system) = self.heads.get(&TimelineId::system())
            && (system.head.frontier.size(), self.heads.directory().version) != (system_size, version)
        {
            moved.insert(system.head.key);
        }
        // Timelines that this group writes to get a newer checkpoint shortly.
        let is_written = submissions.iter().any(|submission| submission.command.spec().catches_up().is_none());
        let to_grow: BTreeSet<TimelineKey> = requested.iter().copied().filter(|_| is_written).collect();
        let taken =
            if moved.is_empty() { Ok(None) } else { self.take_over(&moved.into_iter().collect::<Vec<_>>(), &to_grow) };
        // Timelines that others have created must be locked too, and ended ones no longer.
        let is_locked = |heads: &Heads| to_lock(heads, submissions, also).keys().eq(&requested);
        if matches!(taken, Ok(None)) && is_locked(&self.heads) {
            return Ok(Some(requested.into_iter().collect()));
        }
        self.runtime.block_on(self.store.release());
        match taken? {
            // No lock is held in the meantime.
            Some(reload_reason) => Err(self.load(reload_reason).err().unwrap_or(NotCommitted::Moved)),
            None => Err(NotCommitted::Moved),
        }
    }

    /// Returns whether catching up is all the group is for.
    fn catch_up(&mut self, submissions: &[Submission]) -> Result<bool, NotCommitted> {
        let catches_up = |submission: &Submission| submission.command.spec().catches_up();
        let is_all = submissions.iter().all(|submission| catches_up(submission).is_some());
        if submissions.iter().any(|submission| catches_up(submission) == Some(CatchUp::All)) {
            self.catch_up_with_all()?;
        }
        let mut keys = BTreeSet::new();
        for catches_up in submissions.iter().filter_map(catches_up) {
            match catches_up {
                CatchUp::Some(named) => keys.extend(named.iter().copied()),
                CatchUp::Aimed | CatchUp::All => {}
            }
        }
        if is_all {
            let aimed = submissions.iter().filter(|submission| catches_up(submission) == Some(CatchUp::Aimed));
            let system = TimelineId::system();
            let aimed = aimed.flat_map(|submission| [&submission.timeline, &system]);
            keys.extend(aimed.filter_map(|id| Some(self.heads.get(id)?.head.key)));
        }
        if !keys.is_empty() {
            self.take_over_or_load(&keys.into_iter().collect::<Vec<_>>())?;
        }
        Ok(is_all)
    }

    fn catch_up_with_all(&mut self) -> Result<(), NotCommitted> {
        let now = self.shared.ports.clock.now();
        let sizes = self.runtime.block_on(self.store.sizes()).map_err(|error| self.not_read(error))?;
        self.shared.following.note_lag(&self.heads, &sizes);
        let sizes: HashMap<TimelineKey, u64> = sizes.into_iter().collect();
        let is_moved = |state: &&Arc<TimelineState>| sizes.get(&state.head.key) != Some(&state.head.frontier.size());
        let moved: Vec<TimelineKey> = self.heads.all().filter(is_moved).map(|state| state.head.key).collect();
        if !moved.is_empty() || sizes.keys().any(|key| !self.heads.knows(*key)) {
            self.take_over_or_load(&moved)?;
        }
        self.shared.following.caught_up(now);
        Ok(())
    }

    /// Loads the commits of others on some timelines, and new timelines. Returns why a full reload is needed, if so.
    fn take_over(
        &mut self,
        moved: &[TimelineKey],
        to_grow: &BTreeSet<TimelineKey>,
    ) -> Result<Option<ReloadReason>, NotCommitted> {
        match self.some_moved(moved) {
            Ok(SomeMoved::Moved(moved)) => self.go_on(Ok(moved), to_grow).map(|()| None),
            Ok(SomeMoved::ReloadReason(reload_reason)) => Ok(Some(reload_reason)),
            Err(refusal) => self.go_on(Err(refusal), to_grow).map(|()| None),
        }
    }

    /// Like `take_over`, without locks and with a full reload if needed.
    fn take_over_or_load(&mut self, moved: &[TimelineKey]) -> Result<(), NotCommitted> {
        match self.take_over(moved, &BTreeSet::new())? {
            Some(reload_reason) => self.load(reload_reason),
            None => Ok(()),
        }
    }

    /// Slow if there are many timelines.
    fn load(&mut self, reload_reason: ReloadReason) -> Result<(), NotCommitted> {
        self.shared.following.loads.fetch_add(1, Ordering::Relaxed);
        tracing::info!(reason = %reload_reason, "reloading all timelines to apply the commits of other writers");
        let moved = self.heads_moved();
        self.go_on(moved, &BTreeSet::new())
    }

    /// If the store is not shared, it was tampered with: all writing stops, so that nothing of it is signed.
    fn go_on_from_others(&mut self, timeline: &TimelineId) -> NotCommitted {
        let moved = if self.store.is_shared() {
            self.heads_moved()
        } else {
            Err(Refusal::Damaged(format!(
                "timeline `{timeline}` was modified by another program while the service ran"
            )))
        };
        self.go_on(moved, &BTreeSet::new()).err().unwrap_or(NotCommitted::Moved)
    }

    /// Continues from the commits of others. Their checkpoints are kept outside before readers see the state, except
    /// those of known timelines that are about to grow.
    fn go_on(&mut self, moved: Result<Moved, Refusal>, to_grow: &BTreeSet<TimelineKey>) -> Result<(), NotCommitted> {
        let shared = Arc::clone(&self.shared);
        let Moved { heads, directory, states, ended } = match moved {
            Ok(moved) => moved,
            Err(refusal @ (Refusal::Unavailable(_) | Refusal::OutcomeUnknown(_))) => return Err(refusal.into()),
            Err(refusal) => {
                if let Some(refusal) = self.runtime.block_on(shared.misread(&*self.store, &refusal)) {
                    return Err(refusal.into());
                }
                tracing::error!(%refusal, "nothing is written until a restart");
                let described = match refusal {
                    Refusal::Diverged(divergence) => {
                        let known = self.heads.get(&divergence.timeline).map(|known| &**known);
                        keep_both(&divergence, known, &shared.ports, &shared.options);
                        Refusal::Diverged(divergence)
                    }
                    refusal => Refusal::Unavailable(refusal.to_string()),
                };
                shared.stop(described.clone());
                return Err(described.into());
            }
        };
        if heads.is_none() && states.is_empty() {
            return Ok(());
        }
        // Readers must see changes in order: first those committed here that are not yet sealed.
        while shared.sealing.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
        let grows =
            |state: &TimelineState| to_grow.contains(&state.head.key) && self.heads.get(&state.head.id).is_some();
        let to_keep = states.iter().filter(|state| !grows(state));
        keep_or_defer(to_keep, &shared)?;
        self.forget_views(&states);
        let is_reported = directory.is_some();
        if let Some(heads) = heads {
            self.heads = heads;
        } else {
            let known = || (Arc::clone(self.heads.directory()), Arc::clone(self.heads.rows()));
            let (directory, rows) = directory.unwrap_or_else(known);
            self.heads.take_over(states.iter().cloned(), directory, rows);
            self.heads.end(&ended);
        }
        let sizes = states.iter().map(|state| (state.head.id.clone(), state.head.frontier.size()));
        let sizes: Vec<(TimelineId, u64)> = sizes.collect();
        let (directory, rows) = (Arc::clone(self.heads.directory()), Arc::clone(self.heads.rows()));
        shared.publish(Committed { states, directory, rows, ended, entries_count: 0 });
        shared.live.grow(&sizes);
        if is_reported {
            // The rows of `system` were not read.
            shared.following.rows_moved.notify_one();
        }
        Ok(())
    }

    /// Events may have been erased on timelines that have moved; their own views detect that themselves.
    fn forget_views(&self, moved: &[Arc<TimelineState>]) {
        let moved: BTreeSet<TimelineKey> = moved.iter().map(|state| state.head.key).collect();
        let is_fork = |state: &&Arc<TimelineState>| state.ancestors.iter().any(|layer| moved.contains(&layer.timeline));
        let forks: BTreeSet<TimelineKey> = self.heads.all().filter(is_fork).map(|state| state.head.key).collect();
        if !forks.is_empty() {
            self.shared.views.forget(|timeline| forks.contains(&timeline));
        }
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.shared.keeper.close();
    }
}

enum NotCommitted {
    /// Others have written in the meantime, and their changes were loaded: decide it again.
    Moved,
    Refused(Refusal),
}

impl From<Refusal> for NotCommitted {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

struct Grouped {
    sealed: Sealed,
    later: Vec<Submission>,
    salts: SaltPool,
}

fn take_group(rest: &mut std::iter::Peekable<std::vec::IntoIter<Submission>>) -> Vec<Submission> {
    let mut events_count = 0;
    let mut group = Vec::new();
    while let Some(submission) = rest.next_if(|_| events_count < GROUP_EVENTS_MAX) {
        events_count += submission.command.spec().events_count();
        group.push(submission);
    }
    group
}

fn refuse(submissions: Vec<Submission>, refusal: &Refusal) {
    for submission in submissions {
        submission.command.respond(Err(refusal.clone()));
    }
}

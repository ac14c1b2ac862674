//! The single writer.
//!
//! Submissions wait in a bounded queue. The committer takes all of them, decides them in order, and commits them as one
//! group on a dedicated thread. If no caller waits for any of them, it briefly waits for more. Then it publishes the new
//! state and sends the responses, and the keeper keeps the group's checkpoints outside the database a moment later.
//!
//! If a submission comes alone and commits are quick, its caller commits it ([`Committer::commit_alone`]): to wake two
//! threads takes about as long as the disk.
//!
//! Without a lag, a second thread, the sealer, keeps them outside before it publishes and responds, while the committer
//! works on the next group. If no other submission waits, the committer does that itself, because waking another thread
//! would take longer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as threads;

use parking_lot::Mutex;
use timenav_core::ids::TimelineId;
use timenav_core::time::Span;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::ledger::head::TimelineKey;
use crate::ports::store::{Locked, Store};
use crate::ports::store_error::StoreError;
use crate::requests::rate_limited_log::RateLimitedLog;
use crate::requests::refusal::Refusal;
use crate::writer::batch_delay::{LINGER, collect};
use crate::writer::draft::SaltPool;
use crate::writer::gathering::known;
use crate::writer::group::{Finished, Group};
use crate::writer::heads::Heads;
use crate::writer::locking::{is_nothing, to_lock};
use crate::writer::sealing::{Sealed, keep_later, seal_all, seal_together};
use crate::writer::shared::{Committed, Shared};
use crate::writer::submission::{QueueItem, Recorded, Submission};

mod alone;
mod catching_up;
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
    pub(crate) store: Arc<dyn Store>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) heads: Heads,
    pub(crate) runtime: Handle,
    /// When a failure of the store was last logged: any client can trigger another attempt.
    pub(crate) failures: RateLimitedLog,
    pub(crate) salts: SaltPool,
    /// Whether a task of the runtime commits at the moment, and not the committer's thread.
    pub(crate) is_in_task: bool,
}

impl Committer {
    /// Starts its threads. They end when every sender of submissions is dropped.
    pub(crate) fn start(
        committer: &Arc<Mutex<Self>>,
        submissions: mpsc::Receiver<QueueItem>,
    ) -> std::io::Result<Vec<std::thread::JoinHandle<()>>> {
        let (sender, receiver) = threads::sync_channel(SEALING_GROUPS_MAX);
        let shared = &committer.lock().shared;
        let of_sealer = Arc::clone(shared);
        let sealer =
            std::thread::Builder::new().name("sealer".to_owned()).spawn(move || seal_all(&receiver, &of_sealer))?;
        let of_keeper = Arc::clone(shared);
        let keeper = std::thread::Builder::new().name("keeper".to_owned()).spawn(move || keep_later(&of_keeper))?;
        let (committer, shared) = (Arc::clone(committer), Arc::clone(shared));
        let committer = std::thread::Builder::new()
            .name("committer".to_owned())
            .spawn(move || run(&committer, submissions, &CloseKeeper(shared), &sender))?;
        Ok(vec![committer, sealer, keeper])
    }

    /// Commits submissions in groups. Returns `false` if the sealer is gone.
    fn commit_all(
        &mut self,
        submissions: Vec<QueueItem>,
        is_queue_empty: impl Fn() -> bool,
        to_seal: &threads::SyncSender<Sealed>,
    ) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut rest = QueueItem::each_of(submissions).peekable();
        let mut put_off = Vec::new();
        while !put_off.is_empty() || rest.peek().is_some() {
            let group = if put_off.is_empty() { take_group(&mut rest) } else { std::mem::take(&mut put_off) };
            let Some(grouped) = self.commit_timed(group) else { continue };
            let sealed = grouped.sealed;
            put_off = grouped.later;
            let is_last = put_off.is_empty() && rest.peek().is_none() && is_queue_empty();
            // Groups are sealed in order, so this must be the only one. With a lag, nothing waits for the disk.
            let is_quick = is_last || shared.options.checkpoint_lag > Span::ZERO;
            if is_quick && shared.sealing.load(Ordering::Acquire) == 0 {
                seal_together(vec![sealed], &shared);
                continue;
            }
            shared.sealing.fetch_add(1, Ordering::AcqRel);
            if to_seal.send(sealed).is_err() {
                return false;
            }
        }
        true
    }

    /// `None` on failure, after all submitters were notified.
    fn commit(&mut self, mut submissions: Vec<Submission>) -> Option<Grouped> {
        let shared = Arc::clone(&self.shared);
        let mut also = BTreeSet::new();
        for _ in 0..DECIDED_AGAIN_MAX {
            let salts = std::mem::take(&mut self.salts);
            match self.try_commit(&mut submissions, salts, &mut also) {
                Ok(Finished { states, directory, rows, ended, responses, entries_count, salts, .. }) => {
                    self.salts = salts;
                    let committed = Committed { states, directory, rows, ended, entries_count };
                    let (mut answers, mut later) = (Vec::with_capacity(responses.len()), Vec::new());
                    for (submission, response) in submissions.into_iter().zip(responses) {
                        match response {
                            Some(response) => answers.push((submission.command, response)),
                            None => later.push(submission),
                        }
                    }
                    return Some(Grouped { sealed: Sealed { answers, committed }, later });
                }
                Err(NotCommitted::Moved) => {
                    shared.following.retries.fetch_add(1, Ordering::Relaxed);
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
                    self.wait_for(self.store.release());
                }
                return Err(not);
            }
        };
        let mut commit = std::mem::take(&mut finished.commit);
        if locked.is_some() {
            // Locked timelines cannot have moved, and of `system` only the directory matters.
            commit.relied.retain(|(_, size)| size.is_none());
            commit.decided_against = Some(self.heads.directory.version);
            if is_nothing(&commit) {
                self.wait_for(self.store.release());
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
        if !responses.any(|(submission, response)| submission.command.spec().action.revokes() && is_missing(response)) {
            return Ok(());
        }
        Ok(self.wait_for(self.store.wait_for_open_steps())?)
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
        let known = self.wait_for(known(&*self.store, &self.heads, submissions));
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
            self.wait_for(self.store.release());
            return Err(refusal.into());
        }
        self.shared.level.store(level, Ordering::Relaxed);
        let is_moved = |(key, size): &(&TimelineKey, &u64)| sizes.get(*key) != Some(*size);
        let mut moved: BTreeSet<TimelineKey> = keys.iter().filter(is_moved).map(|(key, _)| *key).collect();
        if let Some(system) = self.heads.get(&TimelineId::system())
            && (system.head.frontier.size(), self.heads.directory.version) != (system_size, version)
        {
            moved.insert(system.head.key);
        }
        // Timelines that this group writes to get a newer checkpoint shortly.
        let is_written = submissions.iter().any(|submission| submission.command.spec().catches_up.is_none());
        let to_grow: BTreeSet<TimelineKey> = requested.iter().copied().filter(|_| is_written).collect();
        let taken =
            if moved.is_empty() { Ok(None) } else { self.take_over(&moved.into_iter().collect::<Vec<_>>(), &to_grow) };
        // Timelines that others have created must be locked too, and ended ones no longer.
        let is_locked = |heads: &Heads| to_lock(heads, submissions, also).keys().eq(&requested);
        if matches!(taken, Ok(None)) && is_locked(&self.heads) {
            return Ok(Some(requested.into_iter().collect()));
        }
        self.wait_for(self.store.release());
        match taken? {
            // No lock is held in the meantime.
            Some(reload_reason) => Err(self.load(reload_reason).err().unwrap_or(NotCommitted::Moved)),
            None => Err(NotCommitted::Moved),
        }
    }
}

/// Closes the keeper when the committer's thread ends.
struct CloseKeeper(Arc<Shared>);

impl Drop for CloseKeeper {
    fn drop(&mut self) {
        self.0.keeper.close();
    }
}

/// Takes submissions from the queue, until every sender is dropped.
fn run(
    committer: &Mutex<Committer>,
    mut submissions: mpsc::Receiver<QueueItem>,
    CloseKeeper(shared): &CloseKeeper,
    to_seal: &threads::SyncSender<Sealed>,
) {
    loop {
        let company = (&shared.delay, LINGER);
        let items = collect(&mut submissions, GROUP_SUBMISSIONS_MAX, QueueItem::is_awaited, company);
        let count = items.len();
        let is_going_on = count > 0 && committer.lock().commit_all(items, || submissions.is_empty(), to_seal);
        shared.queue.note_taken(count);
        if !is_going_on {
            return;
        }
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
}

fn take_group(rest: &mut std::iter::Peekable<std::vec::IntoIter<Submission>>) -> Vec<Submission> {
    let mut events_count = 0;
    let mut group = Vec::new();
    while let Some(submission) = rest.next_if(|_| events_count < GROUP_EVENTS_MAX) {
        events_count += submission.command.spec().events_count;
        group.push(submission);
    }
    group
}

fn refuse(submissions: Vec<Submission>, refusal: &Refusal) {
    for submission in submissions {
        submission.command.respond(Err(refusal.clone()));
    }
}

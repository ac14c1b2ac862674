//! The one writer.
//!
//! Submissions wait in a bounded queue. The committer takes all that wait, decides them in turn,
//! and commits them as one group on a thread of its own. A second thread keeps the group's
//! checkpoints outside the database, and only then lets readers see the new state and answers.
//! While it does, the committer works on the next group. Where nobody waits there is no next
//! group, and the committer seals by itself: waking another thread would only take longer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as threads;

use timenav_core::ids::{EventId, TimelineId};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::asked::{Asked, Submission, Told};
use crate::deciding::Needs;
use crate::draft::{Known, SaltPool};
use crate::facts::{Asker, Facts, Wanted};
use crate::group::{Finished, Group};
use crate::head::{Layer, TimelineKey, TimelineState};
use crate::heads::Heads;
use crate::notes::newest_note;
use crate::opening::moved::{Moved, heads_moved};
use crate::outside::{KeptOutside, system_last};
use crate::refusal::Refusal;
use crate::rows::KnownEvent;
use crate::seldom::Seldom;
use crate::shared::{Committed, Shared};
use crate::store::Store;
use crate::store_error::StoreError;

/// Submissions that may wait before senders have to.
pub const QUEUE_SUBMISSIONS_MAX: usize = 4_096;
/// Most submissions in one group.
const GROUP_SUBMISSIONS_MAX: usize = 512;
/// Events after which a group is closed, so that an import does not hold up others.
const GROUP_EVENTS_MAX: usize = 2_048;
/// How often a group is decided where other writers are faster each time.
const DECIDED_AGAIN_MAX: usize = 100;
/// Groups that may be committed but not yet sealed.
const SEALING_GROUPS_MAX: usize = 4;

pub(crate) struct Committer {
    pub(crate) submissions: mpsc::Receiver<Submission>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) heads: Heads,
    pub(crate) runtime: Handle,
    /// When it was last told that the store fails: anybody can have it tried again.
    pub(crate) failures: Seldom,
}

impl Committer {
    /// Starts both threads. They end when every sender of submissions is gone.
    pub(crate) fn start(self) -> std::io::Result<Vec<std::thread::JoinHandle<()>>> {
        let (sender, receiver) = threads::sync_channel(SEALING_GROUPS_MAX);
        let shared = Arc::clone(&self.shared);
        let sealer =
            std::thread::Builder::new().name("sealer".to_owned()).spawn(move || seal_all(&receiver, &shared))?;
        let committer = std::thread::Builder::new().name("committer".to_owned()).spawn(move || self.run(&sender))?;
        Ok(vec![committer, sealer])
    }

    fn run(mut self, to_seal: &threads::SyncSender<Sealed>) {
        let mut waiting = Vec::with_capacity(GROUP_SUBMISSIONS_MAX);
        let mut salts = SaltPool::default();
        while self.submissions.blocking_recv_many(&mut waiting, GROUP_SUBMISSIONS_MAX) > 0 {
            let mut rest = waiting.drain(..).peekable();
            let mut put_off = Vec::new();
            while !put_off.is_empty() || rest.peek().is_some() {
                let group = if put_off.is_empty() { take_group(&mut rest) } else { std::mem::take(&mut put_off) };
                let Some(grouped) = self.commit(group, std::mem::take(&mut salts)) else { continue };
                let sealed = grouped.sealed;
                (put_off, salts) = (grouped.later, grouped.salts);
                let is_last = put_off.is_empty() && rest.peek().is_none() && self.submissions.is_empty();
                // Groups are sealed in order, so only where no earlier one is still on its way.
                if is_last && self.shared.sealing.load(Ordering::Acquire) == 0 {
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

    /// Decides and commits one group. `None` where that failed: everybody in it has been told.
    fn commit(&mut self, mut submissions: Vec<Submission>, mut salts: SaltPool) -> Option<Grouped> {
        let shared = Arc::clone(&self.shared);
        for _ in 0..DECIDED_AGAIN_MAX {
            match self.try_commit(&mut submissions, salts) {
                Ok(Finished { states, directory, rows, ended, told, entries_count, salts, .. }) => {
                    let committed = Committed { states, directory, rows, ended, entries_count };
                    let (mut answers, mut later) = (Vec::with_capacity(told.len()), Vec::new());
                    for (submission, told) in submissions.into_iter().zip(told) {
                        match told {
                            Some(told) => answers.push((submission.asked, told)),
                            None => later.push(submission),
                        }
                    }
                    return Some(Grouped { sealed: Sealed { answers, committed }, later, salts });
                }
                Err(NotCommitted::Moved) => salts = SaltPool::default(),
                Err(NotCommitted::Refused(refusal)) => {
                    refuse(submissions, &refusal);
                    return None;
                }
            }
        }
        let now = shared.doors.clock.now();
        if let Some(untold) = self.failures.tell(now) {
            tracing::error!(untold, "a group was decided {DECIDED_AGAIN_MAX} times, and others were always faster");
        }
        let reason = "other writes kept getting in first; try again".to_owned();
        refuse(submissions, &Refusal::Unavailable(reason));
        None
    }

    /// Decides and commits one group, on heads that may have been moved by others.
    fn try_commit(&mut self, submissions: &mut [Submission], salts: SaltPool) -> Result<Finished, NotCommitted> {
        let shared = Arc::clone(&self.shared);
        if let Some(reason) = shared.failure() {
            return Err(Refusal::Unavailable(reason).into());
        }
        let known = self.runtime.block_on(known(&*self.store, &self.heads, submissions)).map_err(|error| {
            if let Some(untold) = self.failures.tell(shared.doors.clock.now()) {
                tracing::error!(%error, untold, "the store cannot be read");
            }
            Refusal::from(error)
        })?;
        let mut group = Group::new(&self.heads, &known, (&shared.doors, &shared.options), &shared.host_clock, salts);
        group.decide_all(submissions);
        let mut finished = group.finish(submissions).inspect_err(|refusal| {
            // Only an invalid key or origin leads here, and opening has checked both.
            tracing::error!(%refusal, "a group could not be signed");
            shared.fail(&refusal.to_string());
        })?;
        let mut commit = std::mem::take(&mut finished.commit);
        if !self.store.is_shared() {
            commit.relied.clear();
        }
        let committed = self.runtime.block_on(self.store.commit(commit));
        if let Err(StoreError::Moved(timeline)) = &committed {
            return Err(self.go_on_from_others(timeline));
        }
        shared.note_commit(committed.is_ok());
        committed.map_err(|error| {
            if let Some(untold) = self.failures.tell(shared.doors.clock.now()) {
                tracing::error!(%error, untold, "a group could not be committed");
            }
            Refusal::Unavailable(error.to_string())
        })?;
        let (directory, rows) = (Arc::clone(&finished.directory), Arc::clone(&finished.rows));
        self.heads.take_over(finished.states.iter().cloned(), directory, rows);
        self.heads.end(finished.ended.iter().map(|ended| &ended.id));
        Ok(finished)
    }

    /// Takes over what others have committed, where others may. Otherwise another hand has written to the store, and
    /// nothing is written any more: what it wrote must not be signed.
    fn go_on_from_others(&mut self, timeline: &TimelineId) -> NotCommitted {
        let shared = &self.shared;
        let moved = if self.store.is_shared() {
            self.runtime.block_on(heads_moved(&*self.store, &self.heads, &shared.doors, &shared.options))
        } else {
            Err(Refusal::Damaged(format!(
                "timeline `{timeline}` was modified by another program while the service ran"
            )))
        };
        match moved {
            Ok(Moved { heads, states, ended }) => {
                let sizes: Vec<_> =
                    states.iter().map(|state| (state.head.id.clone(), state.head.frontier.size())).collect();
                // Readers see what happened in its order: first what was committed here and is still to be sealed.
                while shared.sealing.load(Ordering::Acquire) > 0 {
                    std::thread::yield_now();
                }
                let (directory, rows) = (Arc::clone(heads.directory()), Arc::clone(heads.rows()));
                shared.publish(Committed { states, directory, rows, ended, entries_count: 0 });
                shared.live.grow(&sizes);
                self.heads = heads;
                NotCommitted::Moved
            }
            Err(refusal @ Refusal::Unavailable(_)) => refusal.into(),
            Err(refusal) => {
                tracing::error!(%refusal, "nothing is written until a restart");
                shared.fail(&refusal.to_string());
                Refusal::Unavailable(refusal.to_string()).into()
            }
        }
    }
}

/// Why a group was not committed.
enum NotCommitted {
    /// Others have written meanwhile, and what they wrote was taken over: it is to be decided again.
    Moved,
    Refused(Refusal),
}

impl From<Refusal> for NotCommitted {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What came of a group.
struct Grouped {
    sealed: Sealed,
    /// What is to be decided in a group of its own.
    later: Vec<Submission>,
    salts: SaltPool,
}

/// What is committed, and may be told once its checkpoints are kept outside.
struct Sealed {
    answers: Vec<(Box<dyn Asked>, Result<Told, Refusal>)>,
    committed: Committed,
}

fn take_group(rest: &mut std::iter::Peekable<std::vec::Drain<'_, Submission>>) -> Vec<Submission> {
    let mut events_count = 0;
    let mut group = Vec::new();
    while let Some(submission) = rest.next_if(|_| events_count < GROUP_EVENTS_MAX) {
        events_count += submission.asked.asking().events_count();
        group.push(submission);
    }
    group
}

fn refuse(submissions: Vec<Submission>, refusal: &Refusal) {
    for submission in submissions {
        submission.asked.tell(Err(refusal.clone()));
    }
}

/// Asks the store, in one call and of one moment, for what this group's decisions need.
async fn known(store: &dyn Store, heads: &Heads, submissions: &[Submission]) -> Result<Known, StoreError> {
    let mut wanted = Wanted::default();
    let mut events: HashMap<&TimelineId, Vec<EventId>> = HashMap::new();
    let mut ended_on: HashSet<&TimelineId> = HashSet::new();
    for submission in submissions {
        let Needs { events: asked, forks, outcomes, endings, data, entry } = submission.asked.asking().needs();
        wanted.outcomes.extend(submission.idempotency.map(|asked| asked.key));
        let aimed = heads.get(&submission.timeline);
        if outcomes && let Some(aimed) = aimed {
            let event_ids: Vec<EventId> = asked.iter().copied().cloned().collect();
            let is_fork =
                |state: &&Arc<TimelineState>| state.ancestors.iter().any(|layer| layer.timeline == aimed.head.key);
            for state in heads.all().filter(is_fork).chain([aimed]) {
                let id = &state.head.id;
                if forks && id != &submission.timeline {
                    events.entry(id).or_default().extend(event_ids.iter().cloned());
                }
                wanted.outcomes_of.push((id.clone(), event_ids.clone()));
            }
        }
        wanted.entries.extend(entry.zip(aimed).map(|(position, aimed)| (aimed.head.key, position)));
        if endings {
            ended_on.insert(&submission.timeline);
        }
        if !asked.is_empty() {
            events.entry(&submission.timeline).or_default().extend(asked.into_iter().cloned());
        }
        wanted.data.extend(data.cloned());
    }
    // A timeline that this group makes has no events yet, unless it is a fork. What was forked in this very group is
    // refused where it is asked for: nobody was told of it.
    let mut asked = Vec::new();
    for (timeline, event_ids) in events {
        let Some(state) = heads.get(timeline) else { continue };
        let layers = state.layers(u64::MAX);
        asked.push(EventsAsked {
            key: state.head.key,
            layers: Arc::clone(&layers),
            endings: ended_on.contains(timeline),
        });
        wanted.events.push((layers, event_ids));
    }
    if wanted.is_empty() { Ok(Known::default()) } else { find(store, wanted, asked).await }
}

/// On which timeline events are asked for, and whether the entries that ended them are too.
struct EventsAsked {
    key: TimelineKey,
    layers: Arc<[Layer]>,
    endings: bool,
}

/// `asked` says on which timelines the events are that are wanted.
async fn find(store: &dyn Store, wanted: Wanted, asked: Vec<EventsAsked>) -> Result<Known, StoreError> {
    let (outcomes_asked, entries_asked) = (wanted.outcomes_of.clone(), wanted.entries.clone());
    let Facts { events, outcomes, outcomes_of, entries, data, .. } = store.facts(wanted, Asker::Writer).await?;
    let data = data.into_iter().flatten().filter(|(_, record)| record.erased.is_none());
    let entries = entries_asked.into_iter().zip(entries);
    let mut known = Known {
        outcomes: outcomes.into_iter().flatten().map(|record| (record.key, record)).collect(),
        data: data.map(|(on, record)| (record.data_id, (on, record.position))).collect(),
        entries: entries.filter_map(|(of, found)| Some((of, found?))).collect(),
        ..Known::default()
    };
    for ((timeline, event_ids), found) in outcomes_asked.iter().zip(outcomes_of) {
        known.add_outcomes(timeline, event_ids, found);
    }
    let mut endings = Vec::new();
    for (EventsAsked { key, layers, endings: are_wanted }, found) in asked.into_iter().zip(events) {
        let ended = found.values().filter(|_| are_wanted).filter_map(KnownEvent::ending);
        endings.extend(ended.filter_map(|(layer, position)| Some((layers.get(layer)?.timeline, position))));
        known.events.extend(found.into_iter().map(|(id, event)| ((key, id), event)));
    }
    add_endings(&mut known, store, endings).await?;
    Ok(known)
}

/// Adds the entries that ended events. Where they stand is known by then only, and no entry ever changes.
async fn add_endings(
    known: &mut Known,
    store: &dyn Store,
    mut endings: Vec<(TimelineKey, u64)>,
) -> Result<(), StoreError> {
    endings.retain(|of| !known.entries.contains_key(of));
    if endings.is_empty() {
        return Ok(());
    }
    let wanted = Wanted { entries: endings.clone(), ..Wanted::default() };
    let found = store.facts(wanted, Asker::Writer).await?.entries;
    known.entries.extend(endings.into_iter().zip(found).filter_map(|(of, entry)| Some((of, entry?))));
    Ok(())
}

fn seal_all(groups: &threads::Receiver<Sealed>, shared: &Shared) {
    while let Ok(first) = groups.recv() {
        // One durable append serves every group that is waiting.
        let sealing: Vec<Sealed> = std::iter::once(first).chain(groups.try_iter()).collect();
        let count = sealing.len();
        seal_together(sealing, shared);
        shared.sealing.fetch_sub(count, Ordering::AcqRel);
    }
}

fn seal_together(sealing: Vec<Sealed>, shared: &Shared) {
    let kept = match shared.failure() {
        None => keep_newest(&sealing, shared),
        Some(reason) => Err(reason),
    };
    if let Err(reason) = &kept {
        tracing::error!(reason, "checkpoints could not be kept outside; nothing is written until a restart");
        shared.fail(reason);
    }
    for sealed in sealing {
        seal(sealed, &kept, shared);
    }
}

/// Signs the newest checkpoint of each timeline that has grown, since it is known now that it has, and keeps it outside.
fn keep_newest(sealing: &[Sealed], shared: &Shared) -> Result<(), String> {
    let states = sealing.iter().flat_map(|sealed| &sealed.committed.states);
    let newest: HashMap<&TimelineId, &TimelineState> = states.map(|state| (&state.head.id, &**state)).collect();
    let sealed = |(id, state): (&TimelineId, &TimelineState)| {
        let note = newest_note(state, &shared.doors, &shared.options).map_err(|refusal| refusal.to_string())?;
        Ok(KeptOutside::seal(id.clone(), note, &*shared.doors.signer))
    };
    let mut checkpoints = newest.into_iter().map(sealed).collect::<Result<Vec<_>, String>>()?;
    if checkpoints.is_empty() {
        return Ok(());
    }
    system_last(&mut checkpoints);
    shared.doors.outside.keep(&checkpoints).map_err(|error| error.to_string())
}

fn seal(sealed: Sealed, kept: &Result<(), String>, shared: &Shared) {
    if let Err(reason) = kept {
        for (asked, _) in sealed.answers {
            asked.tell(Err(Refusal::Unavailable(reason.clone())));
        }
        return;
    }
    let sizes = sealed.committed.states.iter().map(|state| (state.head.id.clone(), state.head.frontier.size()));
    let sizes: Vec<(TimelineId, u64)> = sizes.collect();
    shared.publish(sealed.committed);
    shared.live.grow(&sizes);
    for (asked, told) in sealed.answers {
        asked.tell(told);
    }
}

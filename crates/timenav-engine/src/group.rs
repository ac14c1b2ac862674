//! One group of submissions, decided in turn against the newest state.
//!
//! A group becomes one [`Commit`]. Until that has succeeded nobody else sees what was decided;
//! where it fails, [`Undo`] puts the world back.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use timenav_core::ids::{DataId, EventId, TimelineId, UserId};
use timenav_core::ledger::{Checkpoint, Hash, Leaf, Salt, leaf_hash, origin, payload_hash};
use timenav_core::time::Instant;
use tokio::sync::oneshot;

use crate::action::Action;
use crate::anchor::Anchor;
use crate::command::{Actor, Answer, Change, LedgerPosition, Submission};
use crate::directory::Directory;
use crate::doors::Doors;
use crate::head::{TimelineKey, TimelineState};
use crate::idempotency::Idempotency;
use crate::json::json;
use crate::live::ClockChange;
use crate::options::Options;
use crate::outcome::OutcomeRecord;
use crate::payload::AttemptRecord;
use crate::refusal::Refusal;
use crate::rows::{
    DataRecord, DirectoryChange, Erasure, EventEnd, EventRow, IdempotencyRecord, InterventionRow, KnownEvent,
    StoredEntry,
};
use crate::signer::Signer;
use crate::store::{Commit, TimelineCommit};
use crate::wall_clock::Host;
use crate::world::World;

mod access;
mod data;
mod decide;
mod history;
mod identity;
mod record;
mod rotation;
mod sessions;
mod standing;
#[cfg(test)]
mod tests;

/// What the store knew before the group, gathered in one go.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) events: HashMap<(TimelineKey, EventId), KnownEvent>,
    pub(crate) outcomes: HashMap<[u8; 32], IdempotencyRecord>,
    /// Sealed records that are not erased: on which timeline, and the position that tells of them.
    pub(crate) data: HashMap<DataId, (TimelineId, u64)>,
}

/// Everything decided so far.
pub(crate) struct Group<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) doors: &'a Doors,
    pub(crate) options: &'a Options,
    known: Known,
    salts: SaltPool,
    timelines_before: HashMap<TimelineId, Option<Arc<TimelineState>>>,
    directory_before: Arc<Directory>,
    touched: BTreeMap<TimelineId, Touched>,
    directory: Vec<DirectoryChange>,
    clock_changes: Vec<ClockChange>,
    decided: Vec<Decided>,
    /// Whether fingerprints of requests were made with a key that goes.
    forget_fingerprints: bool,
    /// The first entry that could not be appended.
    broken: Option<String>,
}

/// What happened to one timeline so far.
#[derive(Default)]
struct Touched {
    expected_size: Option<u64>,
    permissions_changed: bool,
    entries: Vec<StoredEntry>,
    ends: Vec<EventEnd>,
    events: Vec<EventRow>,
    interventions: Vec<InterventionRow>,
    anchors: Vec<Anchor>,
    data: Vec<DataRecord>,
    erasures: Vec<Erasure>,
    /// Whether the key that is to sign from here on signs too.
    is_signed_by_next: bool,
}

/// A submission's outcome, before the tree that holds it is signed.
struct Decided {
    answer: Option<oneshot::Sender<Result<Answer, Refusal>>>,
    outcome: Result<Outcome, Refusal>,
    idempotency: Option<Idempotency>,
}

enum Outcome {
    /// It happened now.
    Done { timeline_id: TimelineId, change: Change, position: u64 },
    /// It happened earlier; this is what was answered.
    Replayed(Answer),
    /// It happened earlier in this group, as that number.
    Same(usize),
}

/// How things stood before a submission that may make a timeline.
struct Savepoint {
    timeline: TimelineId,
    system: Option<(TimelineId, Arc<TimelineState>)>,
    system_entries_count: Option<usize>,
}

/// Who waits, and what for.
pub(crate) type Reply = (oneshot::Sender<Result<Answer, Refusal>>, Result<Answer, Refusal>);

/// Answers that may be given once the commit is durable and its checkpoints are kept outside.
pub(crate) struct Sealed {
    pub(crate) answers: Vec<Reply>,
    pub(crate) timelines: Vec<Arc<TimelineState>>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) clock_changes: Vec<ClockChange>,
    pub(crate) entries_count: u64,
}

/// Salts, made by the block: one call to the source of randomness serves many entries.
#[derive(Default)]
pub(crate) struct SaltPool {
    bytes: Vec<u8>,
}

impl SaltPool {
    const BLOCK_BYTES: usize = 4_096;

    pub(crate) fn next(&mut self, doors: &Doors) -> Salt {
        if self.bytes.len() < Salt::BYTES {
            self.bytes = vec![0; Self::BLOCK_BYTES];
            doors.entropy.fill(&mut self.bytes);
        }
        let rest = self.bytes.split_off(self.bytes.len() - Salt::BYTES);
        let mut salt = [0; Salt::BYTES];
        salt.copy_from_slice(&rest);
        Salt::from_bytes(salt)
    }
}

impl<'a> Group<'a> {
    pub(crate) fn new(
        world: &'a mut World,
        doors: &'a Doors,
        options: &'a Options,
        known: Known,
        salts: SaltPool,
    ) -> Self {
        let directory_before = Arc::clone(&world.directory);
        Self {
            world,
            doors,
            options,
            known,
            salts,
            timelines_before: HashMap::new(),
            directory_before,
            touched: BTreeMap::new(),
            directory: Vec::new(),
            clock_changes: Vec::new(),
            decided: Vec::new(),
            forget_fingerprints: false,
            broken: None,
        }
    }

    /// Decides one submission. What it changes counts for the next one.
    pub(crate) fn decide(&mut self, submission: Submission) {
        let Submission { actor, timeline, command, idempotency, answer } = submission;
        let outcome = match self.check_live(&actor, &timeline, &command) {
            Err(refusal) => Err(refusal),
            Ok(()) => match idempotency.and_then(|asked| self.repeated(asked)) {
                Some(Ok(earlier)) => self.decide_again(&actor, &timeline, &command, earlier),
                Some(Err(refusal)) => Err(refusal),
                None => self.decide_new(&actor, &timeline, command),
            },
        };
        // A replayed outcome is kept already.
        let idempotency = idempotency.filter(|_| matches!(outcome, Ok(Outcome::Done { .. })));
        self.decided.push(Decided { answer, outcome, idempotency });
    }

    fn repeated(&self, asked: Idempotency) -> Option<Result<Outcome, Refusal>> {
        let now = self.doors.clock.now();
        let in_group =
            self.decided.iter().position(|decided| decided.idempotency.is_some_and(|one| one.key == asked.key));
        if let Some(number) = in_group {
            let earlier = self.decided[number].idempotency?;
            let same = earlier.fingerprint == asked.fingerprint;
            return Some(if same { Ok(Outcome::Same(number)) } else { Err(Refusal::KeyReused) });
        }
        let record = self.known.outcomes.get(&asked.key).filter(|record| now < record.expires_at)?;
        if ![asked.fingerprint, Idempotency::FINGERPRINT_FORGOTTEN].contains(&record.fingerprint) {
            return Some(Err(Refusal::KeyReused));
        }
        let answer = serde_json::from_str::<OutcomeRecord>(&record.outcome).ok().and_then(|outcome| outcome.answer());
        Some(answer.map(Outcome::Replayed).ok_or_else(|| Refusal::Damaged("a kept outcome cannot be read".to_owned())))
    }

    /// Returns host time for a timeline: never before its last entry.
    fn host(&self, timeline: &TimelineId) -> Host {
        let now = self.doors.clock.now();
        self.world.timelines.get(timeline).map_or(now, |state| now.max(state.head.recorded_at))
    }

    /// Returns a timeline's state to be changed, after making sure that it can be put back.
    fn change(&mut self, timeline: &TimelineId) -> Option<&mut TimelineState> {
        self.touch(timeline).map(|(state, _)| state)
    }

    /// As [`Group::change`], with what happened to the timeline so far.
    fn touch(&mut self, timeline: &TimelineId) -> Option<(&mut TimelineState, &mut Touched)> {
        let state = self.world.timelines.get_mut(timeline)?;
        let touched = self.touched.entry(timeline.clone()).or_insert_with(|| {
            self.timelines_before.insert(timeline.clone(), Some(Arc::clone(state)));
            Touched { expected_size: Some(state.head.frontier.size()), ..Touched::default() }
        });
        Some((Arc::make_mut(state), touched))
    }

    /// Brings a new timeline in.
    fn add_timeline(&mut self, state: TimelineState) {
        let id = state.head.id.clone();
        self.timelines_before.entry(id.clone()).or_insert(None);
        self.touched.insert(id.clone(), Touched { permissions_changed: true, ..Touched::default() });
        self.world.add(Arc::new(state));
    }

    /// Returns what is needed to take back a timeline that this submission may make.
    fn savepoint(&self, timeline: &TimelineId) -> Savepoint {
        let system = self.world.timelines.iter().find(|(id, _)| id.is_system());
        Savepoint {
            timeline: timeline.clone(),
            system: system.map(|(id, state)| (id.clone(), Arc::clone(state))),
            system_entries_count: system.and_then(|(id, _)| self.touched.get(id)).map(|touched| touched.entries.len()),
        }
    }

    /// Takes back a timeline that a refused submission made.
    fn roll_back(&mut self, savepoint: Savepoint) {
        self.world.take_out(&savepoint.timeline);
        self.touched.remove(&savepoint.timeline);
        self.timelines_before.remove(&savepoint.timeline);
        let Some((system, state)) = savepoint.system else { return };
        if let Some(count) = savepoint.system_entries_count {
            if let Some(touched) = self.touched.get_mut(&system) {
                touched.entries.truncate(count);
            }
        } else {
            self.touched.remove(&system);
            self.timelines_before.remove(&system);
        }
        self.world.timelines.insert(system, state);
    }

    /// Appends an entry and returns its position. Where there is no such timeline the group is broken: it fails as a
    /// whole, and no tree is signed over an entry that is not there.
    fn append(
        &mut self,
        timeline: &TimelineId,
        actor: &str,
        action: Action,
        subject: &str,
        payload: String,
        host: Host,
    ) -> u64 {
        let salt = self.salts.next(self.doors);
        let hash = payload_hash(&salt, payload.as_bytes());
        self.append_hashed(timeline, (actor, action, subject), (salt, hash, payload.into_bytes()), host)
    }

    fn append_hashed(
        &mut self,
        timeline: &TimelineId,
        (actor, action, subject): (&str, Action, &str),
        (salt, hash, payload): (Salt, Hash, Vec<u8>),
        host: Host,
    ) -> u64 {
        let Some((state, touched)) = self.touch(timeline) else {
            self.broken
                .get_or_insert_with(|| format!("`{}` on timeline `{timeline}`, which is not there", action.word()));
            return 0;
        };
        let head = &mut state.head;
        let seq = head.frontier.size();
        let leaf = Leaf {
            timeline_id: timeline.as_str(),
            seq,
            recorded_at: &host.to_string(),
            clock_time: &head.clock.now(host).to_string(),
            actor,
            action: action.word(),
            subject,
            payload_hash: hash,
        }
        .encode();
        head.frontier.push(leaf_hash(&leaf));
        head.recorded_at = host;
        let (events_count, clock_entry) = (head.events_count, head.clock_entry);
        touched.entries.push(StoredEntry { seq, leaf, salt, payload, events_count, clock_entry });
        seq
    }

    /// Logs a refused attempt where it was aimed, or on `system` where there is no such timeline.
    fn log_refusal(
        &mut self,
        actor: &Actor,
        aimed: &TimelineId,
        operation: &str,
        code: &str,
        detail: &str,
    ) -> (TimelineId, u64) {
        let timeline = if self.world.timelines.contains_key(aimed) { aimed.clone() } else { TimelineId::system() };
        let host = self.host(&timeline);
        let payload =
            json(&AttemptRecord { operation: operation.to_owned(), code: code.to_owned(), detail: detail.to_owned() });
        let position = self.append(&timeline, actor.name(), Action::Attempt, operation, payload, host);
        (timeline, position)
    }

    /// Returns the first refusal so far, if anything was refused.
    pub(crate) fn refused(&self) -> Option<&Refusal> {
        self.decided.iter().find_map(|decided| decided.outcome.as_ref().err())
    }

    /// Returns why the group cannot be committed, if an entry of it could not be appended.
    pub(crate) fn broken(&self) -> Option<Refusal> {
        let entry = self.broken.as_ref()?;
        Some(Refusal::Damaged(format!("an entry cannot be appended: {entry}")))
    }

    /// Tells everybody in the group that it has failed.
    pub(crate) fn refuse_all(self, refusal: &Refusal) {
        for answer in self.decided.into_iter().filter_map(|decided| decided.answer) {
            // A receiver that is gone does not wait for an answer.
            let _ = answer.send(Err(refusal.clone()));
        }
    }

    /// Signs every tree that grew and returns the one atomic step, and what to do after it.
    ///
    /// # Errors
    /// An entry could not be appended, or a tree cannot be signed.
    pub(crate) fn finish(mut self) -> Result<(Commit, Sealed, SaltPool), Refusal> {
        if let Some(refusal) = self.broken() {
            return Err(refusal);
        }
        let mut commit = Commit {
            directory: std::mem::take(&mut self.directory),
            forget_fingerprints: self.forget_fingerprints,
            ..Commit::default()
        };
        let mut timelines = Vec::with_capacity(self.touched.len());
        let mut entries_count = 0;
        for (id, touched) in std::mem::take(&mut self.touched) {
            let state = self.world.timelines.get_mut(&id);
            let state = state.ok_or_else(|| Refusal::Damaged(format!("timeline `{id}` is gone")))?;
            let next = self.doors.next_signer.as_deref().filter(|_| touched.is_signed_by_next);
            sign(Arc::make_mut(state), &*self.doors.signer, next, &self.options.service_name)?;
            entries_count += touched.entries.len() as u64;
            timelines.push(Arc::clone(state));
            commit.timelines.push(TimelineCommit {
                expected_size: touched.expected_size,
                head: state.head.clone(),
                permissions_changed: touched.permissions_changed,
                entries: touched.entries,
                ends: touched.ends,
                events: touched.events,
                interventions: touched.interventions,
                anchors: touched.anchors,
                data: touched.data,
                erasures: touched.erasures,
            });
        }
        let answers = self.answers(&mut commit);
        let directory = Arc::clone(&self.world.directory);
        let clock_changes = std::mem::take(&mut self.clock_changes);
        let sealed = Sealed { answers, timelines, directory, clock_changes, entries_count };
        Ok((commit, sealed, self.salts))
    }

    fn answers(&mut self, commit: &mut Commit) -> Vec<Reply> {
        let now = self.doors.clock.now();
        let mut results: Vec<Result<Answer, Refusal>> = Vec::with_capacity(self.decided.len());
        let mut waiting = Vec::with_capacity(self.decided.len());
        for decided in std::mem::take(&mut self.decided) {
            let result = match decided.outcome {
                Ok(Outcome::Done { timeline_id, change, position }) => self.answer(timeline_id, change, position),
                Ok(Outcome::Replayed(answer)) => Ok(answer),
                Ok(Outcome::Same(number)) => results[number].clone().map(|answer| Answer { replayed: true, ..answer }),
                Err(refusal) => Err(refusal),
            };
            if let (Some(idempotency), Ok(answer)) = (decided.idempotency, &result) {
                commit.outcomes.push(IdempotencyRecord {
                    key: idempotency.key,
                    fingerprint: idempotency.fingerprint,
                    expires_at: now.checked_add(Idempotency::KEPT).unwrap_or(Instant::MAX),
                    outcome: json(&OutcomeRecord::of(answer)),
                });
            }
            waiting.push(decided.answer);
            results.push(result);
        }
        if !commit.outcomes.is_empty() {
            commit.forget_outcomes_before = Some(now);
        }
        waiting.into_iter().zip(results).filter_map(|(answer, result)| Some((answer?, result))).collect()
    }

    fn answer(&self, timeline_id: TimelineId, change: Change, position: u64) -> Result<Answer, Refusal> {
        let state = self.world.timelines.get(&timeline_id);
        let state = state.ok_or_else(|| Refusal::Damaged(format!("timeline `{timeline_id}` is gone")))?;
        let ledger = LedgerPosition { position, size: state.head.frontier.size(), root: state.root };
        Ok(Answer { timeline_id, change, ledger, replayed: false })
    }
}

/// Puts the world back to what it was before a group that could not be committed.
pub(crate) struct Undo {
    timelines: HashMap<TimelineId, Option<Arc<TimelineState>>>,
    directory: Arc<Directory>,
}

impl Undo {
    pub(crate) fn of(group: &Group<'_>) -> Self {
        Self { timelines: group.timelines_before.clone(), directory: Arc::clone(&group.directory_before) }
    }

    pub(crate) fn apply(self, world: &mut World) {
        for (id, before) in self.timelines {
            match before {
                Some(state) => {
                    world.timelines.insert(id, state);
                }
                None => world.take_out(&id),
            }
        }
        world.directory = self.directory;
    }
}

/// Signs the tree of a timeline, with the next key too where that is to take the place of the one that signs.
fn sign(
    state: &mut TimelineState,
    signer: &dyn Signer,
    next: Option<&dyn Signer>,
    service_name: &str,
) -> Result<(), Refusal> {
    let damaged = |error: &dyn std::fmt::Display| Refusal::Damaged(format!("a checkpoint cannot be signed: {error}"));
    let timeline = &state.head.id;
    state.root = state.head.frontier.root();
    let checkpoint = Checkpoint {
        origin: origin(service_name, timeline.as_str()),
        size: state.head.frontier.size(),
        root: state.root,
        extensions: Vec::new(),
    };
    let key = signer.ledger_key(service_name, timeline).map_err(|error| damaged(&error))?;
    let mut note = checkpoint.sign(&key, |message| signer.sign(message)).map_err(|error| damaged(&error))?;
    if let Some(next) = next {
        let key = next.ledger_key(service_name, timeline).map_err(|error| damaged(&error))?;
        note = note.countersign(&key, |message| next.sign(message)).map_err(|error| damaged(&error))?;
    }
    state.head.checkpoint = note.to_string().into();
    Ok(())
}

impl Actor {
    /// Returns how the actor stands in the ledger.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Caller(caller) => caller.user_id.as_str(),
            Self::Unknown => UserId::UNKNOWN,
            Self::Service => TimelineId::SYSTEM,
        }
    }
}

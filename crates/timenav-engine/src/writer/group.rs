//! One group of submissions, decided in order against the newest state.
//!
//! A group becomes one [`Commit`]. Until that has succeeded, its decisions are invisible. If it fails, there is nothing
//! to roll back: the heads are unchanged, and the submissions can be decided again.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use timenav_core::directory::Directory;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, ReadsDraft};

use crate::access::directory::{DirectoryChange, check_live};
use crate::access::directory_rows::DirectoryRows;
use crate::clock::host_clock::HostClock;
use crate::ledger::action::Action;
use crate::ledger::changes::{LedgerPosition, OutcomeRecord, is_forgotten};
use crate::ledger::head::{EndedTimeline, TimelineState};
use crate::ledger::statement::{self, Covers};
use crate::ports::all::Ports;
use crate::ports::signer::Signer;
use crate::ports::store::{Commit, TimelineCommit};
use crate::ports::timer_rows::TimerQuery;
use crate::ports::wall_clock::Host;
use crate::requests::actor::Actor;
use crate::requests::code::Code;
use crate::requests::idempotency::Idempotency;
use crate::requests::options::Options;
use crate::requests::refusal::{Refusal, denial_code};
use crate::writer::deciding::{Aim, TimersNeeded, admission};
use crate::writer::draft::{
    Accepted, DecisionContext, Done, Draft, Drafted, DraftedRead, GatheredReads, Known, SaltPool, Step,
};
use crate::writer::heads::Heads;
use crate::writer::submission::{Recorded, Submission};

use self::stored_outcome::{forgotten, stored_outcome};

mod stored_outcome;
#[cfg(test)]
mod tests;

pub(crate) struct Group<'a> {
    heads: &'a Heads,
    known: &'a Known,
    ports: &'a Ports,
    options: &'a Options,
    level: u64,
    host_clock: &'a HostClock,
    salts: SaltPool,
    accepted: Accepted,
    /// The result of each submission, in order; `None` for submissions that are decided later, in this group or
    /// another.
    decided: Vec<Option<Decided>>,
    /// The reading of the host's clock for the current submission.
    now: Host,
    /// Timelines with an end that is postponed to a later group.
    put_off: BTreeSet<TimelineId>,
    by_key: HashMap<[u8; 32], usize>,
    /// Why a read cannot be logged, if so. The whole group is dropped then.
    withheld: Option<Refusal>,
}

/// A submission's outcome, before the tree that includes it is signed.
struct Decided {
    outcome: Result<Outcome, Refusal>,
    idempotency: Option<Idempotency>,
}

enum Outcome {
    /// It was carried out now.
    Done { timeline_id: TimelineId, position: u64, timeline_created: bool, is_reported: bool },
    /// It was carried out earlier, at this position.
    Replayed { timeline_id: TimelineId, ledger: LedgerPosition },
    /// It was carried out earlier in this group, as the submission with that index.
    Same(usize),
}

pub(crate) struct Finished {
    pub(crate) commit: Commit,
    pub(crate) states: Vec<Arc<TimelineState>>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) rows: Arc<DirectoryRows>,
    pub(crate) ended: Vec<EndedTimeline>,
    /// The response to each submission, in order; `None` for submissions that are postponed to a later group.
    pub(crate) responses: Vec<Option<Result<Recorded, Refusal>>>,
    pub(crate) entries_count: u64,
    pub(crate) salts: SaltPool,
}

impl<'a> Group<'a> {
    pub(crate) fn new(
        heads: &'a Heads,
        known: &'a Known,
        (ports, options, level): (&'a Ports, &'a Options, u64),
        host_clock: &'a HostClock,
        salts: SaltPool,
    ) -> Self {
        let (accepted, now) = (Accepted::nothing(heads), ports.clock.now());
        Self {
            heads,
            known,
            ports,
            options,
            level,
            host_clock,
            salts,
            accepted,
            decided: Vec::new(),
            now,
            put_off: BTreeSet::new(),
            by_key: HashMap::new(),
            withheld: None,
        }
    }

    /// Decides submissions. Reads come first, so that the reads of a group share one entry and see the state before the
    /// group. All others are decided in order, each on top of the previous ones.
    pub(crate) fn decide_all(&mut self, submissions: &mut [Submission]) {
        self.decided.resize_with(submissions.len(), || None);
        self.decide_each(submissions, true);
        self.write_reads();
        self.decide_each(submissions, false);
    }

    fn decide_each(&mut self, submissions: &mut [Submission], reads: bool) {
        for number in 0..submissions.len() {
            let (earlier, rest) = submissions.split_at_mut(number);
            let Some(submission) = rest.first_mut() else { return };
            if (submission.command.spec().action == Action::Reads) != reads {
                continue;
            }
            if self.is_early(submission) {
                continue;
            }
            let outcome = self.decide(earlier, submission);
            // A replayed outcome is stored already.
            let is_new = matches!(outcome, Ok(Outcome::Done { .. }));
            let idempotency = submission.idempotency.filter(|_| is_new);
            if let Some(idempotency) = idempotency {
                self.by_key.insert(idempotency.key, number);
                if let Some(event_id) = submission.command.event() {
                    let of = (submission.timeline.clone(), event_id);
                    self.accepted.outcomes_of.entry(of).or_default().push(idempotency.key);
                }
            }
            self.decided[number] = Some(Decided { outcome, idempotency });
        }
    }

    /// Returns whether to postpone a submission to a later group. The entry of a timeline's end includes its last
    /// checkpoint, and uncommitted entries have none. Later requests for that timeline wait with it.
    fn is_early(&mut self, submission: &Submission) -> bool {
        let timeline = &submission.timeline;
        let is_end = submission.command.spec().aim == Aim::TimelineToEnd;
        if is_end && self.accepted.steps.contains_key(timeline) {
            self.put_off.insert(timeline.clone());
        }
        // Rows of timers were prefetched before the group.
        let has_moved = |step: &&Step| !step.timers.is_empty();
        if let Some(step) = self.accepted.steps.get(timeline).filter(has_moved)
            && self.is_late(step, &submission.command.needs().timers)
        {
            self.put_off.insert(timeline.clone());
        }
        self.put_off.contains(timeline)
    }

    fn is_late(&self, step: &Step, TimersNeeded { queries, is_exact }: &TimersNeeded) -> bool {
        let key = step.state.head.key;
        let found = |queries: &TimerQuery| {
            let known = self.known.timers.iter().find(|(of, known, _)| *of == key && known == queries);
            known.map(|(_, _, found)| found.firings.as_slice()).unwrap_or_default()
        };
        let is_changed = |queries: &TimerQuery| {
            queries.may_change_by(&step.timers, || self.accepted.has_settled(key, found(queries)))
        };
        // The name of a removed timer has become free.
        let has_left = !step.timers.removed.is_empty();
        if *is_exact { queries.iter().any(is_changed) } else { has_left && !queries.is_empty() }
    }

    /// These entries must precede the next one, because their positions were already returned.
    fn write_reads(&mut self) {
        for (timeline, gathered) in std::mem::take(&mut self.accepted.reads) {
            self.write_reads_of(&timeline, gathered);
        }
    }

    fn write_reads_of(&mut self, timeline: &TimelineId, gathered: GatheredReads) {
        let (context, salts) = self.parts();
        let mut draft = Draft::new(context, &Actor::Service, timeline, salts);
        let written = draft.aimed().map(|ledger| draft.append_reads(ledger, gathered));
        let drafted = draft.into_drafted();
        self.accepted.accept(drafted);
        self.withheld = written.err().or(self.withheld.take());
    }

    fn accept(&mut self, mut drafted: Drafted) -> Result<(), Refusal> {
        let read = drafted.read.take();
        self.accepted.accept(drafted);
        read.map_or(Ok(()), |read| self.gather(read))
    }

    fn gather(&mut self, drafted: DraftedRead) -> Result<(), Refusal> {
        let DraftedRead { timeline, host, read } = drafted;
        let is_full = |gathered: &GatheredReads| !gathered.reads.has_room_for(&read);
        if self.accepted.reads.get(&timeline).is_some_and(is_full)
            && let Some(full) = self.accepted.reads.remove(&timeline)
        {
            self.write_reads_of(&timeline, full);
        }
        let Self { accepted, salts, ports, .. } = self;
        let gathered = accepted.reads.entry(timeline).or_insert_with(|| {
            let salt = salts.next(ports);
            GatheredReads { host, salt, reads: ReadsDraft::new(salt) }
        });
        gathered.reads.push(&read).map_err(|error| Refusal::Damaged(format!("a read cannot be logged: {error}")))
    }

    fn decide(&mut self, earlier: &[Submission], submission: &mut Submission) -> Result<Outcome, Refusal> {
        self.now = self.ports.clock.now();
        self.check_live(submission)?;
        if let Some(idempotency) = submission.idempotency
            && let Some(outcome) = self.repeated(idempotency, earlier, submission)?
        {
            self.check_output(submission)?;
            return outcome;
        }
        let Submission { actor, timeline, command, .. } = &mut *submission;
        let (context, salts) = self.parts();
        let mut draft = Draft::new(context, actor, timeline, salts);
        let timeline_created = command.spec().aim == Aim::TimelineOrNew && draft.look(timeline).is_none();
        let admitted = admission::admit(&mut draft, &command.spec());
        // A hidden resource on `system` may be a user or a key, unless the request is for that timeline itself.
        let is_about_the_timeline = admitted.is_err() || !timeline.is_system();
        let decided = admitted.and_then(|()| command.decide(&mut draft));
        match decided {
            Ok(Done { timeline_id, position, change: () }) => {
                let drafted = draft.into_drafted();
                let is_reported = drafted.is_reported;
                self.accept(drafted)?;
                Ok(Outcome::Done { timeline_id, position, timeline_created, is_reported })
            }
            Err(refusal) => {
                self.log_refused(submission, &refusal)?;
                Err(if is_about_the_timeline { refusal.about(&submission.timeline) } else { refusal })
            }
        }
    }

    /// Identification may be long ago: a body may be slow, and a key may be revoked in the meantime.
    fn check_live(&mut self, submission: &Submission) -> Result<(), Refusal> {
        let Actor::Caller(caller) = &submission.actor else { return Ok(()) };
        if !submission.command.spec().needs_credential {
            return Ok(());
        }
        let times = (self.now, self.host_clock.for_expiry(self.now));
        let Err(failure) = check_live(&self.accepted.directory, caller, times, self.options.session_spans()) else {
            return Ok(());
        };
        self.log_refusal(submission, failure.code(), &failure.to_string())?;
        Err(failure.into())
    }

    /// Stores the earlier outcome in the submission, and returns its position; an error if it was erased.
    fn repeated(
        &self,
        idempotency: Idempotency,
        earlier: &[Submission],
        submission: &mut Submission,
    ) -> Result<Option<Result<Outcome, Refusal>>, Refusal> {
        if let Some(number) = self.by_key.get(&idempotency.key).copied() {
            let is_same = |first: Idempotency| first.fingerprint == idempotency.fingerprint;
            let first = self.decided.get(number).and_then(Option::as_ref);
            if !first.and_then(|first| first.idempotency).is_some_and(is_same) {
                return Err(Refusal::KeyReused);
            }
            let outcome_record = earlier.get(number).and_then(|first| first.command.keep()).unwrap_or_default();
            submission.command.repeat(&outcome_record)?;
            return Ok(Some(Ok(Outcome::Same(number))));
        }
        // Expired outcomes are ignored, and the request is carried out again.
        let sure = self.host_clock.sure(self.now);
        let record = self.known.outcomes.get(&idempotency.key).filter(|record| sure < record.expires_at);
        let Some(record) = record else { return Ok(None) };
        if ![idempotency.fingerprint, Idempotency::FINGERPRINT_FORGOTTEN].contains(&record.fingerprint) {
            return Err(Refusal::KeyReused);
        }
        let unreadable = || Refusal::Damaged("a stored outcome cannot be read".to_owned());
        let record: OutcomeRecord = serde_json::from_str(&record.outcome).map_err(|_| unreadable())?;
        let (timeline_id, ledger, outcome_record) = record.parts().ok_or_else(unreadable)?;
        if is_forgotten(outcome_record) {
            let (timeline_id, position) = (timeline_id.to_string(), ledger.position);
            return Ok(Some(Err(Refusal::AnswerErased { timeline_id, position })));
        }
        submission.command.repeat(outcome_record)?;
        Ok(Some(Ok(Outcome::Replayed { timeline_id, ledger })))
    }

    /// Checks whether a repeated request may get the stored response. The response is withheld if the caller is no
    /// longer authorized, if the key was not created for it, or if the timeline has ended since, in which case only
    /// that is reported.
    fn check_output(&mut self, submission: &Submission) -> Result<(), Refusal> {
        let Submission { actor, timeline, command, .. } = submission;
        let (context, salts) = self.parts();
        let draft = Draft::new(context, actor, timeline, salts);
        let spec = command.spec();
        let admitted_output = if spec.aim == Aim::TimelineToEnd { Ok(()) } else { draft.check_exists(timeline) };
        let allowed = || Ok(admission::check(&draft, &spec).and_then(|()| command.check_output(&draft))?);
        let Err(refusal) = admitted_output.and_then(|()| allowed()) else { return Ok(()) };
        self.log_refused(submission, &refusal)?;
        Err(refusal)
    }

    /// Logs a refusal that is about the caller, or about a timeline that has ended. Other refusals have no entry.
    fn log_refused(&mut self, submission: &Submission, refusal: &Refusal) -> Result<(), Refusal> {
        match (refusal, &submission.actor) {
            (Refusal::Denied(denial), _) => self.log_refusal(submission, denial_code(*denial), &denial.to_string()),
            (Refusal::Ended { .. }, Actor::Caller(_)) => {
                self.log_refusal(submission, Code::TimelineEnded.as_str(), &refusal.to_string())
            }
            _ => Ok(()),
        }
    }

    /// Logs a rejected attempt on its timeline, or on `system` if that does not exist.
    fn log_refusal(&mut self, submission: &Submission, code: &str, detail: &str) -> Result<(), Refusal> {
        self.write_reads();
        let Submission { actor, timeline, command, .. } = submission;
        let (context, salts) = self.parts();
        let mut draft = Draft::new(context, actor, timeline, salts);
        draft.append_refusal(command.spec().operation, code, detail)?;
        let drafted = draft.into_drafted();
        self.accepted.accept(drafted);
        Ok(())
    }

    fn parts(&mut self) -> (DecisionContext<'_>, &mut SaltPool) {
        let Self { heads, known, ports, options, level, host_clock, accepted, salts, now, .. } = self;
        let (sure, for_expiry) = (host_clock.sure(*now), host_clock.for_expiry(*now));
        (DecisionContext { heads, known, accepted, ports, options, level: *level, now: *now, sure, for_expiry }, salts)
    }

    pub(crate) fn refused(&self) -> Option<&Refusal> {
        self.decided.iter().flatten().find_map(|decided| decided.outcome.as_ref().err())
    }

    /// Signs every tree that grew, and returns the atomic step and the state after it.
    ///
    /// # Errors
    /// A tree cannot be signed, or a read cannot be logged.
    pub(crate) fn finish(self, submissions: &[Submission]) -> Result<Finished, Refusal> {
        let Self { heads, ports, options, level, host_clock, salts, accepted, decided, withheld, .. } = self;
        if let Some(refusal) = withheld {
            return Err(refusal);
        }
        let Accepted { steps, directory, directory_changes, forget_fingerprints, outcomes_erased, .. } = accepted;
        let rows = if directory_changes.is_empty() {
            Arc::clone(&heads.rows)
        } else {
            Arc::new(heads.rows.after(&directory_changes))
        };
        let ended = directory_changes.iter().filter_map(DirectoryChange::ended).cloned().collect();
        let mut commit = Commit { directory: directory_changes, forget_fingerprints, ..Commit::default() };
        let mut states: HashMap<TimelineId, Arc<TimelineState>> = HashMap::with_capacity(steps.len());
        let (mut entries_count, covers) = (0, Covers::at(level));
        for (id, mut step) in steps {
            let next = ports.next_signer.as_deref().filter(|_| step.is_signed_by_next);
            step.state.head.directory = directory.version;
            sign(&mut step.state, (&*ports.signer, next), rows.root(), (&options.service_name, covers))?;
            entries_count += step.entries.len() as u64;
            let (committed, state) = committed(step);
            commit.timelines.push(committed);
            states.insert(id, state);
        }
        // Refusals depend on the state of a timeline too. Authorization depends on the directory, and `system`
        // records all changes to it.
        let system = TimelineId::system();
        let aimed = submissions.iter().map(|submission| &submission.timeline).chain([&system]);
        let relied: BTreeSet<&TimelineId> = aimed.filter(|aimed| !states.contains_key(*aimed)).collect();
        let size = |timeline: &TimelineId| heads.get(timeline).map(|state| state.head.frontier.size());
        commit.relied = relied.into_iter().map(|timeline| (timeline.clone(), size(timeline))).collect();
        let now = ports.clock.now();
        let mut responses: Vec<Option<Result<Recorded, Refusal>>> = Vec::with_capacity(decided.len());
        for (decided, submission) in decided.into_iter().zip(submissions) {
            let Some(Decided { outcome, idempotency }) = decided else {
                responses.push(None);
                continue;
            };
            let is_withheld = matches!(outcome, Ok(Outcome::Done { is_reported: false, .. }));
            let one = match outcome {
                Ok(Outcome::Done { timeline_id, position, timeline_created, .. }) => {
                    let state = states.get(&timeline_id).or_else(|| heads.get(&timeline_id));
                    let state = state.ok_or_else(|| Refusal::Damaged(format!("timeline `{timeline_id}` is gone")));
                    state.map(|state| {
                        let (size, root) = (state.head.frontier.size(), state.root);
                        let ledger = LedgerPosition { position, size, root, timeline_created };
                        Recorded { timeline_id, ledger, replayed: false }
                    })
                }
                Ok(Outcome::Replayed { timeline_id, ledger }) => Ok(Recorded { timeline_id, ledger, replayed: true }),
                Ok(Outcome::Same(number)) => {
                    let nothing = || Err(Refusal::Damaged("nothing was decided".to_owned()));
                    responses[number]
                        .clone()
                        .unwrap_or_else(nothing)
                        .map(|recorded| Recorded { replayed: true, ..recorded })
                }
                Err(refusal) => Err(refusal),
            };
            if let (Some(idempotency), Ok(recorded)) = (idempotency, &one) {
                let is_erased = outcomes_erased.contains_key(&idempotency.key);
                let command = &*submission.command;
                commit.outcomes.push(stored_outcome((idempotency, command), (recorded, is_withheld), is_erased, now)?);
            }
            responses.push(Some(one));
        }
        commit.outcomes_erased = outcomes_erased.values().flatten().map(forgotten).collect();
        if !commit.outcomes.is_empty() {
            commit.outcomes_expired_by = Some(host_clock.sure(now));
        }
        let states = states.into_values().collect();
        Ok(Finished { commit, states, directory, rows, ended, responses, entries_count, salts })
    }
}

fn committed(step: Step) -> (TimelineCommit, Arc<TimelineState>) {
    let state = Arc::new(step.state);
    let committed = TimelineCommit {
        expected_size: step.expected_size,
        head: state.head.clone(),
        permissions_changed: step.permissions_changed,
        entries: step.entries,
        ends: step.ends,
        events: step.events,
        interventions: step.interventions,
        anchors: step.anchors,
        data: step.data,
        erasures: step.erasures,
        policies: step.policies,
        sweeps: step.sweeps,
        timers: step.timers,
    };
    (committed, state)
}

/// Signs with the next key too if it is about to take over. The checkpoint is signed after the commit.
fn sign(
    state: &mut TimelineState,
    (signer, next): (&dyn Signer, Option<&dyn Signer>),
    directory_root: Hash,
    stating: (&str, Covers),
) -> Result<(), Refusal> {
    state.root = state.head.frontier.root();
    state.note = OnceLock::new();
    state.head.carried_note = Arc::default();
    state.directory_root = state.head.id.is_system().then_some(directory_root);
    let signers: Vec<&dyn Signer> = std::iter::once(signer).chain(next).collect();
    state.head.statement = statement::state(state, directory_root, &signers, stating)?;
    Ok(())
}

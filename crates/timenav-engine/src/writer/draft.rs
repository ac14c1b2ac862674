//! One submission while it is being decided.
//!
//! A [`Draft`] holds the heads, new entries and rows of one submission. Ledgers are opened first, so that appending
//! entries cannot fail. A draft is invisible to others until it is accepted as a whole, or dropped.

use std::collections::HashMap;

use timenav_core::anchor::Anchor;
use timenav_core::directory::Directory;
use timenav_core::ids::{DataId, EventId, KeyId, TimelineId, UserId};
use timenav_core::ledger::{Authority, Hash, Leaf, Read, ReadParameters, Retention, Salt, leaf_hash, payload_hash};

use crate::access::directory::DirectoryChange;
use crate::ledger::action::Action;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::payload::AttemptRecord;
use crate::ports::all::Ports;
use crate::ports::rows::{
    DataRecord, Erasure, EventEnd, EventRow, IdempotencyRecord, InterventionRow, KnownEvent, StoredEntry, SweepRow,
};
use crate::ports::shared_leases::{ActivityQuery, AtWork};
use crate::ports::timer_rows::{TimerQuery, TimerRows, TimersFound};
use crate::ports::wall_clock::Host;
use crate::requests::actor::Actor;
use crate::requests::json::json;
use crate::requests::options::Options;
use crate::requests::refusal::Refusal;

mod accepted;
mod erasing;
mod events;
mod recorded;
mod returned;
mod salts;
mod timers;

pub(crate) use accepted::{Accepted, DecisionContext, DraftedRead, GatheredReads};
pub(crate) use events::NewVersion;
pub(crate) use salts::SaltPool;

#[derive(Default)]
pub(crate) struct Known {
    pub(crate) events: HashMap<(TimelineKey, EventId), KnownEvent>,
    pub(crate) outcomes: HashMap<[u8; 32], IdempotencyRecord>,
    pub(crate) outcomes_of: HashMap<(TimelineId, EventId), Vec<IdempotencyRecord>>,
    /// Sealed records that are not erased: timeline and position of their entry.
    pub(crate) data: HashMap<DataId, (TimelineId, u64)>,
    pub(crate) entries: HashMap<(TimelineKey, u64), StoredEntry>,
    pub(crate) timers: Vec<(TimelineKey, TimerQuery, TimersFound)>,
    pub(crate) at_work: Vec<(ActivityQuery, AtWork)>,
}

impl Known {
    /// Adds all stored outcomes that contain content of these events of a timeline.
    pub(crate) fn add_outcomes(&mut self, timeline: &TimelineId, event_ids: &[EventId], all: Vec<IdempotencyRecord>) {
        for event_id in event_ids {
            self.outcomes_of.insert((timeline.clone(), event_id.clone()), Vec::new());
        }
        for record in all {
            if let Some(of) = record.event.clone() {
                self.outcomes_of.entry(of).or_default().push(record);
            }
        }
    }
}

pub(crate) struct Step {
    pub(crate) expected_size: Option<u64>,
    pub(crate) state: TimelineState,
    pub(crate) permissions_changed: bool,
    pub(crate) entries: Vec<StoredEntry>,
    pub(crate) ends: Vec<EventEnd>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) interventions: Vec<InterventionRow>,
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) data: Vec<DataRecord>,
    pub(crate) erasures: Vec<Erasure>,
    pub(crate) policies: Vec<(u64, Retention)>,
    pub(crate) sweeps: Vec<SweepRow>,
    pub(crate) timers: TimerRows,
    /// Whether the next signing key signs too.
    pub(crate) is_signed_by_next: bool,
}

impl Step {
    fn new(expected_size: Option<u64>, state: TimelineState) -> Self {
        Self {
            expected_size,
            state,
            permissions_changed: expected_size.is_none(),
            entries: Vec::new(),
            ends: Vec::new(),
            events: Vec::new(),
            interventions: Vec::new(),
            anchors: Vec::new(),
            data: Vec::new(),
            erasures: Vec::new(),
            policies: Vec::new(),
            sweeps: Vec::new(),
            timers: TimerRows::default(),
            is_signed_by_next: false,
        }
    }

    fn extend(&mut self, later: Self) {
        self.state = later.state;
        self.permissions_changed |= later.permissions_changed;
        self.entries.extend(later.entries);
        self.ends.extend(later.ends);
        self.events.extend(later.events);
        self.interventions.extend(later.interventions);
        self.anchors.extend(later.anchors);
        self.data.extend(later.data);
        self.erasures.extend(later.erasures);
        self.policies.extend(later.policies);
        self.sweeps.extend(later.sweeps);
        self.timers.extend(later.timers);
        self.is_signed_by_next |= later.is_signed_by_next;
    }
}

/// Handle to a ledger that a draft has opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ledger(usize);

pub(crate) struct Draft<'a> {
    context: DecisionContext<'a>,
    actor: &'a Actor,
    timeline: &'a TimelineId,
    salts: &'a mut SaltPool,
    drafted: Drafted,
}

#[derive(Default)]
pub(crate) struct Drafted {
    steps: Vec<Step>,
    directory_changes: Vec<DirectoryChange>,
    keys_expired: Vec<KeyId>,
    events: HashMap<(TimelineKey, EventId), KnownEvent>,
    data_erased: Vec<DataId>,
    /// Remaining payloads of entries of reads after single reads were erased.
    reads_left: HashMap<(TimelineKey, u64), Vec<u8>>,
    outcomes_erased: HashMap<[u8; 32], Option<IdempotencyRecord>>,
    forget_fingerprints: bool,
    pub(crate) read: Option<DraftedRead>,
    pub(crate) is_reported: bool,
}

pub(crate) struct Done<C> {
    pub(crate) timeline_id: TimelineId,
    pub(crate) position: u64,
    pub(crate) change: C,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        context: DecisionContext<'a>,
        actor: &'a Actor,
        timeline: &'a TimelineId,
        salts: &'a mut SaltPool,
    ) -> Self {
        Self { context, actor, timeline, salts, drafted: Drafted::default() }
    }

    pub(crate) fn into_drafted(self) -> Drafted {
        self.drafted
    }

    pub(crate) const fn actor(&self) -> &'a Actor {
        self.actor
    }

    /// Returns the timeline of the request, which may not exist.
    pub(crate) const fn timeline(&self) -> &'a TimelineId {
        self.timeline
    }

    pub(crate) const fn ports(&self) -> &'a Ports {
        self.context.ports
    }

    pub(crate) const fn options(&self) -> &'a Options {
        self.context.options
    }

    /// Returns the feature level of the database, which limits what a service may write.
    pub(crate) const fn level(&self) -> u64 {
        self.context.level
    }

    pub(crate) fn directory(&self) -> &'a Directory {
        &self.context.accepted.directory
    }

    pub(crate) fn now(&self) -> Host {
        self.context.now
    }

    /// Returns the host time for destructive decisions: anything that has not expired by then is kept.
    pub(crate) fn sure(&self) -> Host {
        self.context.sure
    }

    pub(crate) fn for_expiry(&self) -> Host {
        self.context.for_expiry
    }

    /// Returns the state of a timeline, including the changes of this draft so far.
    pub(crate) fn look(&self, timeline: &TimelineId) -> Option<&TimelineState> {
        let opened = self.drafted.steps.iter().find(|step| step.state.head.id == *timeline);
        opened.map(|step| &step.state).or_else(|| self.context.state(timeline))
    }

    /// Returns whether the timeline of that name has ended or expired. Only the service itself writes to it then.
    pub(crate) fn has_ended(&self, timeline: &TimelineId) -> bool {
        self.context.has_ended(timeline) || self.look(timeline).is_some_and(|state| state.head.has_expired(self.sure()))
    }

    /// For the service itself, which ends expired timelines, an expired timeline is still open.
    pub(crate) fn check_exists(&self, timeline: &TimelineId) -> Result<(), Refusal> {
        let is_over = match self.actor {
            Actor::Service => self.context.has_ended(timeline),
            Actor::Caller(_) | Actor::Unknown => self.has_ended(timeline),
        };
        if is_over { Err(Refusal::Ended { timeline_id: timeline.to_string() }) } else { Ok(()) }
    }

    pub(crate) fn timelines_count(&self) -> usize {
        self.context.heads.counted + self.context.accepted.made
    }

    pub(crate) fn made_by(&self, user_id: &UserId) -> usize {
        self.context.heads.made_by(user_id) + self.context.accepted.made_by.get(user_id).copied().unwrap_or(0)
    }

    pub(crate) fn aimed(&mut self) -> Result<Ledger, Refusal> {
        self.ledger(self.timeline)
    }

    pub(crate) fn system(&mut self) -> Result<Ledger, Refusal> {
        self.ledger(&TimelineId::system())
    }

    /// Rejects timelines that do not exist or were handed over.
    pub(crate) fn ledger(&mut self, timeline: &TimelineId) -> Result<Ledger, Refusal> {
        if self.look(timeline).is_some_and(|state| state.head.is_handed_over) {
            return Err(Refusal::HandedOver { timeline_id: timeline.to_string() });
        }
        self.ledger_of_service(timeline)
    }

    /// Opens the ledger of a timeline for entries that the service itself writes, even if the timeline was handed over.
    pub(crate) fn ledger_of_service(&mut self, timeline: &TimelineId) -> Result<Ledger, Refusal> {
        if let Some(at) = self.drafted.steps.iter().position(|step| step.state.head.id == *timeline) {
            return Ok(Ledger(at));
        }
        self.check_exists(timeline)?;
        let state = self.context.state(timeline);
        let state = state.ok_or_else(|| Refusal::NotFound { what: "timeline", id: timeline.to_string() })?;
        Ok(self.open(Step::new(Some(state.head.frontier.size()), state.clone())))
    }

    /// Opens the ledger of a new timeline. `make` receives its store key.
    pub(crate) fn new_ledger(&mut self, make: impl FnOnce(TimelineKey) -> TimelineState) -> Ledger {
        let new = self.drafted.steps.iter().filter(|step| step.expected_size.is_none()).count();
        let new = i64::try_from(new).unwrap_or(i64::MAX);
        let key = TimelineKey(self.context.accepted.last_key + new + 1);
        self.open(Step::new(None, make(key)))
    }

    fn open(&mut self, step: Step) -> Ledger {
        self.drafted.steps.push(step);
        Ledger(self.drafted.steps.len() - 1)
    }

    pub(crate) fn state(&self, ledger: Ledger) -> &TimelineState {
        &self.drafted.steps[ledger.0].state
    }

    pub(crate) fn state_mut(&mut self, ledger: Ledger) -> &mut TimelineState {
        &mut self.drafted.steps[ledger.0].state
    }

    pub(crate) fn step_mut(&mut self, ledger: Ledger) -> &mut Step {
        &mut self.drafted.steps[ledger.0]
    }

    /// Returns host time for a ledger, which is never before its last entry.
    pub(crate) fn host(&self, ledger: Ledger) -> Host {
        self.now().max(self.state(ledger).head.recorded_at)
    }

    pub(crate) fn last_position(&self, ledger: Ledger) -> u64 {
        self.state(ledger).head.frontier.size().saturating_sub(1)
    }

    pub(crate) fn own_layer(&self, ledger: Ledger) -> usize {
        self.state(ledger).ancestors.len()
    }

    pub(crate) fn append(&mut self, ledger: Ledger, action: Action, subject: &str, payload: String, host: Host) -> u64 {
        let contents = self.hashed(payload);
        self.append_hashed(ledger, (action, subject), contents, host)
    }

    pub(crate) fn hashed(&mut self, payload: String) -> (Salt, Hash, Vec<u8>) {
        let salt = self.salts.next(self.context.ports);
        let hash = payload_hash(&salt, payload.as_bytes());
        (salt, hash, payload.into_bytes())
    }

    pub(crate) fn append_hashed(
        &mut self,
        ledger: Ledger,
        (action, subject): (Action, &str),
        contents: (Salt, Hash, Vec<u8>),
        host: Host,
    ) -> u64 {
        let actor = self.actor;
        self.append_by(ledger, (actor.name(), actor.credential()), (action, subject), contents, host)
    }

    /// Adds a read to the next entry of reads of its ledger, and returns the position of that entry.
    pub(crate) fn append_read(&mut self, ledger: Ledger, operation: &str, parameters: &str) -> u64 {
        let head = &self.state(ledger).head;
        let gathered = self.context.accepted.reads.get(&head.id);
        let host = gathered.map_or_else(|| self.host(ledger), |gathered| gathered.host);
        let clock_time = head.clock.now(host);
        let read = Read {
            action: operation.into(),
            clock_time,
            host_time: host,
            key: self.actor.credential().into(),
            parameters: ReadParameters::of(parameters),
            user: self.actor.name().into(),
        };
        let is_full = gathered.is_some_and(|gathered| !gathered.reads.has_room_for(&read));
        let position = head.frontier.size() + u64::from(is_full);
        self.drafted.read = Some(DraftedRead { timeline: head.id.clone(), host, read: read.into_owned() });
        position
    }

    /// Appends an entry of reads. Each read names its caller; the entry itself has no actor.
    pub(crate) fn append_reads(&mut self, ledger: Ledger, gathered: GatheredReads) {
        let GatheredReads { host, salt, reads } = gathered;
        let (payload, hash) = reads.finish();
        self.append_by(ledger, ("", ""), (Action::Reads, ""), (salt, hash, payload), host);
    }

    fn append_by(
        &mut self,
        ledger: Ledger,
        (actor, key): (&str, &str),
        (action, subject): (Action, &str),
        (salt, hash, payload): (Salt, Hash, Vec<u8>),
        host: Host,
    ) -> u64 {
        let authority = Authority { key: key.into(), directory: self.context.accepted.directory.version };
        self.drafted.is_reported = true;
        let step = &mut self.drafted.steps[ledger.0];
        let head = &mut step.state.head;
        let seq = head.frontier.size();
        let leaf = Leaf {
            timeline_id: head.id.as_str(),
            seq,
            recorded_at: &host.to_string(),
            clock_time: &head.clock.now(host).to_string(),
            actor,
            action: action.word(),
            subject,
            payload_hash: hash,
        }
        .encode_v2(&authority);
        head.frontier.push(leaf_hash(&leaf));
        head.recorded_at = host;
        let (events_count, clock_entry) = (head.events_count, head.clock_entry);
        step.entries.push(StoredEntry { seq, leaf, salt, payload, events_count, clock_entry });
        seq
    }

    /// Appends the entry of a rejected attempt: to its timeline, or to `system` if that does not exist.
    pub(crate) fn append_refusal(
        &mut self,
        operation: &str,
        code: &str,
        detail: &str,
    ) -> Result<(Ledger, u64), Refusal> {
        let ledger = self.aimed().or_else(|_| self.system())?;
        let host = self.host(ledger);
        let payload =
            json(&AttemptRecord { operation: operation.to_owned(), code: code.to_owned(), detail: detail.to_owned() });
        Ok((ledger, self.append(ledger, Action::Attempt, operation, payload, host)))
    }

    pub(crate) fn known_event(&self, ledger: Ledger, event_id: &EventId) -> Option<&KnownEvent> {
        let key = (self.state(ledger).head.key, event_id.clone());
        let DecisionContext { known, accepted, .. } = self.context;
        let found =
            self.drafted.events.get(&key).or_else(|| accepted.events.get(&key)).or_else(|| known.events.get(&key));
        found.filter(|event| !event.versions.is_empty())
    }

    pub(crate) fn known_event_mut(&mut self, ledger: Ledger, event_id: &EventId) -> &mut KnownEvent {
        let key = (self.state(ledger).head.key, event_id.clone());
        let DecisionContext { known, accepted, .. } = self.context;
        let before = || accepted.events.get(&key).or_else(|| known.events.get(&key)).cloned().unwrap_or_default();
        if !self.drafted.events.contains_key(&key) {
            let before = before();
            self.drafted.events.insert(key.clone(), before);
        }
        self.drafted.events.entry(key).or_default()
    }

    pub(crate) fn known_data(&self, data_id: &DataId) -> Option<&'a (TimelineId, u64)> {
        let DecisionContext { known, accepted, .. } = self.context;
        known.data.get(data_id).filter(|_| !accepted.data_erased.contains(data_id))
    }

    pub(crate) fn erase_data(&mut self, data_id: DataId) {
        self.drafted.data_erased.push(data_id);
    }

    /// Takes effect after this draft.
    pub(crate) fn change_directory(&mut self, change: DirectoryChange) {
        self.drafted.directory_changes.push(change);
    }

    /// Removes expired keys from memory. The store keeps them.
    pub(crate) fn forget_keys(&mut self, key_ids: Vec<KeyId>) {
        self.drafted.keys_expired.extend(key_ids);
    }

    /// Marks the stored fingerprints of requests for deletion, because the key that computed them is removed.
    pub(crate) const fn forget_fingerprints(&mut self) {
        self.drafted.forget_fingerprints = true;
    }

    pub(crate) fn done<C>(&self, ledger: Ledger, position: u64, change: C) -> Done<C> {
        Done { timeline_id: self.state(ledger).head.id.clone(), position, change }
    }
}

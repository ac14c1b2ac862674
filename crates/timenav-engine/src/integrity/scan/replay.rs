//! Replays entries to compute the state that follows from them: clock, permissions, anchors, events, users, keys,
//! timelines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timenav_core::access::Permissions;
use timenav_core::anchor::Anchor;
use timenav_core::clock::Clock;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{EventsErased, LeafRecord, ReadsErased, RetentionPolicies, Sweep};
use timenav_core::scan::{FactKey, Findings};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use super::directory::RecordedDirectory;
use super::facts::RowFacts;
use super::powers::Powers;
use crate::ledger::action::Action;
use crate::ledger::head::Origin;
use crate::ledger::payload::{ClockPayload, ForkRecord, LaterEntry};
use crate::ports::archive::EntryMarks;
use crate::requests::json::read;

pub(crate) mod timer_sums;
mod carried;
mod clocks;
mod compare;
mod erased;
mod events;
mod missing;
mod heads;
mod marks;
mod projected;
mod recorded;
mod rights;
mod signing_keys;
mod stated;
mod timelines;
mod timers;

pub(super) use clocks::Marked;
use erased::erasures;
pub(super) use heads::RecordedHeads;
use marks::Marks;
use missing::MissingData;
pub(super) use recorded::{EntryData, ForgottenOutcomes, Recorded, RecordedData, RecordedEvent};
use recorded::{Erased, Followed};
use signing_keys::SigningKeys;
use timelines::{Ended, ForkedFrom};
use timers::RecordedTimers;
pub(super) use timers::{TimerSums, is_of_timers};

#[derive(Default)]
pub(super) struct Replay {
    timeline_id: String,
    from_the_start: bool,
    pub(super) first: u64,
    clock: Option<Clock>,
    permissions: Option<Permissions>,
    first_recorded_at: Option<Instant<Wall>>,
    first_actor: Option<String>,
    recorded_at: Option<Instant<Wall>>,
    anchors: Vec<Anchor>,
    marked: Marked,
    anchors_count: u64,
    /// Current events according to payloads, excluding erased ones.
    events_count: i64,
    pub(super) event_rows: u64,
    pub(super) interventions_count: u64,
    overrides_count: u64,
    clock_entry: u64,
    pub(super) fork: Option<ForkRecord>,
    /// For `system`: users and their credentials.
    directory: RecordedDirectory,
    /// For other timelines: who was authorized when; `None` if this is not checked.
    powers: Option<Arc<Powers>>,
    pub(super) authorities_count: u64,
    /// The first entry that was decided here, not by the service that the timeline was adopted from.
    decided_from: u64,
    /// Whether the last entry is of version 2, whose state is signed.
    is_stated: bool,
    signing_keys: SigningKeys,
    timelines: BTreeSet<TimelineId>,
    ended: BTreeMap<TimelineId, Ended>,
    forked: BTreeMap<TimelineId, ForkedFrom>,
    expires_at: Option<Instant<Wall>>,
    pub(super) data_count: u64,
    policies: RetentionPolicies,
    sweeps: BTreeSet<u64>,
    pub(super) pruned_count: u64,
    missing: MissingData,
    /// The erasing entry according to the row of each sealed record, by the record's position.
    erased_data: BTreeMap<u64, u64>,
    /// Erasures according to entries, by the erased position.
    erased: BTreeMap<u64, Erased>,
    /// The same, for entries after the scan began.
    erased_later: BTreeMap<u64, Erased>,
    forgotten: Vec<ForgottenOutcomes>,
    /// Commitments of `heads` entries since they were last taken.
    heads: Vec<RecordedHeads>,
    accepted: heads::RecordedAcceptances,
    pub(super) changes_count: u64,
    pub(super) recorded_layers: Vec<u64>,
    timers: RecordedTimers,
    marks: Marks,
    origins: Vec<Origin>,
    /// The entry that handed the timeline over, unless a later one adopted it.
    handed_over: Option<u64>,
    /// The expected event rows, if they are compared with all stored rows.
    pub(super) facts: Option<RowFacts>,
    pub(super) blind: Option<String>,
    pub(super) findings: Findings,
}

impl Replay {
    /// `powers` is the history of permissions; on `system`, they follow from its own entries.
    pub(super) fn new(timeline: &TimelineId, first: u64, powers: Option<Arc<Powers>>) -> Self {
        let (timeline_id, marks) = (timeline.to_string(), Marks::new(first));
        Self { timeline_id, from_the_start: first == 0, first, powers, marks, ..Self::default() }
    }

    pub(super) fn erased_count(&self) -> u64 {
        self.missing.count() + self.erased_data.len() as u64
    }

    pub(super) fn pruned_later(&mut self, position: u64) {
        self.pruned_count += u64::from(self.missing.pruned(position));
    }

    fn events_count(&self) -> i64 {
        // Events erased during the scan were current when it began, and their payloads may already be missing.
        let unseen = |(position, erased): &(&u64, &Erased)| erased.was_active && self.missing.contains(**position);
        let unseen = self.erased_later.iter().filter(unseen).count();
        self.events_count.saturating_add_unsigned(unseen as u64)
    }

    pub(super) fn add_erased_data(&mut self, position: u64, by: u64) {
        self.erased_data.insert(position, by);
    }

    pub(super) fn take_forgotten(&mut self) -> Vec<ForgottenOutcomes> {
        std::mem::take(&mut self.forgotten)
    }

    pub(super) fn lose(&mut self, position: u64) {
        self.blind.get_or_insert_with(|| format!("the entry at position {position} cannot be trusted"));
    }

    /// Collects event rows as keyed digests. Events that were recorded and not changed are not returned then.
    pub(super) fn with_facts(mut self, key: Option<FactKey>) -> Self {
        self.facts = key.map(RowFacts::new);
        self
    }

    /// The authorization of earlier entries is unknown here.
    pub(super) const fn was_adopted(mut self, position: u64) -> Self {
        self.decided_from = position;
        self
    }

    /// `stored` is the stored data next to the entry, if it is to be compared.
    pub(super) fn entry(
        &mut self,
        record: &LeafRecord<'_>,
        EntryData { position, payload, readers }: EntryData<'_>,
        stored: Option<EntryMarks>,
        is_pruned: bool,
    ) -> Option<Recorded> {
        let Ok(recorded_at) = parse_timestamp::<Wall>(&record.recorded_at) else {
            self.lose(position);
            return None;
        };
        self.first_recorded_at.get_or_insert(recorded_at);
        self.first_actor.get_or_insert_with(|| record.actor.to_string());
        self.check_authority(record, (position, recorded_at), (payload, readers));
        self.is_stated = record.authority.is_some();
        let before = self.recorded_at.replace(recorded_at);
        if is_pruned {
            self.pruned_count += 1;
        } else {
            self.missing.entry(record, position, payload);
        }
        let events_before = self.events_count;
        let followed = match Action::of(record) {
            Some(Action::Adopt) => self.adopted(record, position, (before, recorded_at), payload),
            Some(action) => self.follow(action, record, (position, recorded_at), payload),
            None => self.follow_unknown(position, payload),
        };
        self.check_handed_over(record, position);
        self.changes_count += u64::from(!matches!(followed, Some(Followed::Nothing | Followed::Row(_))));
        if followed.is_none() {
            self.missing.is_needed |= payload.is_none();
            let why = format!("the payload of `{}` at position {position} cannot be read", record.action);
            self.blind.get_or_insert(why);
        }
        let recorded = match followed {
            Some(Followed::Row(recorded)) => Some(recorded),
            Some(Followed::State | Followed::Nothing) | None => None,
        };
        self.check_reading(record, position, recorded_at);
        self.check_marks(record, position, payload, self.events_count - events_before, stored);
        recorded
    }

    /// Returns `None` if it cannot be parsed.
    #[expect(clippy::too_many_lines, reason = "an arm for each action")]
    fn follow(
        &mut self,
        action: Action,
        record: &LeafRecord<'_>,
        (position, recorded_at): (u64, Instant<Wall>),
        payload: Option<&[u8]>,
    ) -> Option<Followed> {
        match action {
            Action::RecordEvent => return Some(self.event_recorded(record, position, payload)),
            Action::CorrectEvent => return self.corrected(record, position, payload).map(Followed::Row),
            Action::ManipulateEvent => return self.intervened(record, position, payload).map(Followed::Row),
            Action::Read
            | Action::Reads
            | Action::Attempt
            | Action::AttemptsCounted
            | Action::AcceptHostClock
            | Action::DecryptData
            | Action::DetectTampering => return Some(Followed::Nothing),
            Action::AcceptRollback => {
                self.accept_rollback(position, payload);
                return Some(Followed::Nothing);
            }
            Action::LayerErased => {
                LaterEntry::decode_later(payload?).ok()?;
                self.recorded_layers.push(position);
                return Some(Followed::Nothing);
            }
            Action::Heads => return self.committed(record, position, payload?).map(|()| Followed::Nothing),
            Action::CreateTimeline => {
                self.list_timeline(record, payload?)?;
                // On `system`, creating another timeline does not change the state.
                if record.subject == self.timeline_id {
                    self.project(action, record, (position, recorded_at), payload?)?;
                }
            }
            Action::EndTimeline => {
                self.directory.take(action, record, recorded_at, payload)?;
                self.end_timeline(recorded_at, payload?)?;
            }
            Action::Travel
            | Action::PauseTime
            | Action::ResumeTime
            | Action::FastForward
            | Action::Rewind
            | Action::SetRate
            | Action::ReturnToAnchor
            | Action::EndAdvance
            | Action::SetTimer
            | Action::ChangeTimer
            | Action::CancelTimer
            | Action::FireTimers
            | Action::SettleFirings
            | Action::RestoreTimers
            | Action::SetAccessControl
            | Action::SetAnchor
            | Action::EncryptData
            | Action::SetFault
            | Action::SetRetention => return self.project(action, record, (position, recorded_at), payload?),
            Action::CreateUser
            | Action::RestrictTimeTravel
            | Action::DeleteUser
            | Action::CreateApiKey
            | Action::RevokeApiKey
            | Action::LogIn
            | Action::RenewSession
            | Action::LogOut
            | Action::EndSession
            | Action::SetPassword => self.directory.take(action, record, recorded_at, payload)?,
            Action::RotateSigningKey => self.signing_keys.rotated(record, position, payload?, &mut self.findings)?,
            Action::Sweep => {
                Sweep::decode(payload?).ok()?;
                self.sweeps.insert(position);
            }
            Action::EraseData => self.erased.extend(erasures(&read(payload?)?, position)),
            Action::EraseEvents => {
                let erased = EventsErased::decode(payload?).ok()?;
                if position >= self.decided_from && !erased.outcomes.is_empty() {
                    self.forgotten.push(ForgottenOutcomes { position, recorded_at, names: erased.outcomes.clone() });
                }
                self.missing.events_erased((position, self.first), &erased, &mut self.findings);
            }
            Action::EraseReads => {
                let erased = ReadsErased::decode(payload?).ok()?;
                self.missing.reads_erased(position, &erased);
            }
            // Handled where it is read, because it needs the time of the previous entry.
            Action::Adopt => return None,
            Action::HandedOver => self.hand_over(position, payload?)?,
        }
        Some(Followed::State)
    }

    /// Applies an entry of an action unknown to this version: it has changed the clock if it records one, and nothing
    /// else that this replay knows.
    fn follow_unknown(&mut self, position: u64, payload: Option<&[u8]>) -> Option<Followed> {
        if let Some(clock_payload) = read::<ClockPayload>(payload?)
            && let Some(clock) = clock_payload.clock()
        {
            self.check_generation(&clock, clock_payload.is_change(), position);
            self.set_clock(clock, position);
        }
        Some(Followed::State)
    }
}

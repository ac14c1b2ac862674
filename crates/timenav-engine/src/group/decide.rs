//! Clocks, anchors, timelines, and what is done with every command.

use std::sync::Arc;

use timenav_core::access::Permissions;
use timenav_core::clock::{self, Clock, ClockCommand, ClockMoved, Moment};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Frontier, empty_root};
use timenav_core::limits::{ANCHORS_PER_TIMELINE_MAX, DESCRIPTION_BYTES_MAX};
use timenav_core::time::{Instant, Virtual};

use super::{Group, Outcome};
use crate::action::Action;
use crate::anchor::Anchor;
use crate::command::{Actor, Change, Command, ForkPoint, HistoryRestored, of_clock};
use crate::head::{Head, TimelineKey, TimelineState};
use crate::json::json;
use crate::live::ClockChange;
use crate::location::zone_of;
use crate::payload::{
    AnchorSet, ClockChanged, ClockRecord, DataDecrypted, ForkRecord, PermissionsRecord, RollbackAccepted, ScanAsked,
    TimelineCreated,
};
use crate::refusal::{Refusal, denial_code};
use crate::wall_clock::Host;

impl Group<'_> {
    pub(super) fn decide_new(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        command: Command,
    ) -> Result<Outcome, Refusal> {
        let action = command.action();
        let is_new = command.makes_timeline() && !self.world.timelines.contains_key(timeline);
        let savepoint = is_new.then(|| self.savepoint(timeline));
        let decided = self.admit(actor, timeline, &command).and_then(|()| self.carry_out(actor, timeline, command));
        if let (Err(_), Some(savepoint)) = (&decided, savepoint) {
            self.roll_back(savepoint);
        }
        if let Err(Refusal::Denied(denial)) = &decided {
            self.log_refusal(actor, timeline, action.word(), denial_code(*denial), &denial.to_string());
        }
        decided
    }

    fn carry_out(&mut self, actor: &Actor, timeline: &TimelineId, command: Command) -> Result<Outcome, Refusal> {
        match command {
            Command::Clock(change) => self.change_clock(actor, timeline, &change, None),
            Command::ReturnToAnchor { anchor, history } => self.return_to(actor, timeline, &anchor, history),
            Command::SetAnchor { anchor_id, timestamp, description, fixed } => {
                let anchor = Draft { anchor_id, timestamp, description, fixed };
                self.set_anchor(actor, timeline, anchor)
            }
            Command::Record { events, each } => self.record(actor, timeline, events, each),
            Command::Correct { event, expected } => self.correct(actor, timeline, event, expected.as_deref()),
            Command::Intervene(intervention) => self.intervene(actor, timeline, *intervention),
            Command::Encrypt { data_id, kind, sealed } => self.encrypt(actor, timeline, data_id, kind, sealed),
            Command::EraseData { data_id } => self.erase_data(actor, timeline, &data_id),
            Command::EraseEvent { event_id } => self.erase_event(actor, timeline, &event_id),
            Command::CreateTimeline { fork } => {
                let position = self.create_timeline(actor, timeline, fork.as_deref())?;
                Ok(done(timeline, Change::Timeline, position))
            }
            Command::SetPermissions(change) => self.set_permissions(actor, timeline, change),
            Command::Restrict { user_id, level } => self.restrict(actor, timeline, &user_id, level),
            Command::CreateUser { user_id, operator } => self.create_user(actor, user_id, operator),
            Command::DeleteUser { user_id } => self.delete_user(actor, &user_id),
            Command::CreateKey(key) => self.create_key(actor, key),
            Command::RevokeKey { key_id, owner } => self.revoke_key(actor, &key_id, owner),
            Command::Session(command) => self.about_session(actor, *command),
            Command::LogRead { operation, parameters } => {
                let host = self.host(timeline);
                let position = self.append(timeline, actor.name(), Action::Read, operation, parameters, host);
                Ok(done(timeline, Change::Logged, position))
            }
            Command::LogScan { depth } => {
                let host = self.host(timeline);
                let payload = json(&ScanAsked { scan_depth: depth });
                let who = (actor.name(), Action::DetectTampering, timeline.as_str());
                let position = self.append(timeline, who.0, who.1, who.2, payload, host);
                Ok(done(timeline, Change::Logged, position))
            }
            Command::LogDecryption { data_id } => {
                let host = self.host(timeline);
                let payload = json(&DataDecrypted { data_id: data_id.to_string() });
                let who = (actor.name(), Action::DecryptData, data_id.as_str());
                let position = self.append(timeline, who.0, who.1, who.2, payload, host);
                Ok(done(timeline, Change::Logged, position))
            }
            Command::LogRollbackAccepted { findings } => {
                let host = self.host(timeline);
                let payload = json(&RollbackAccepted { findings });
                let position =
                    self.append(timeline, actor.name(), Action::AcceptRollback, timeline.as_str(), payload, host);
                Ok(done(timeline, Change::Logged, position))
            }
            Command::RotateSigningKey => self.rotate_signing_key(actor, timeline),
            Command::LogRefusal { operation, code, detail } => {
                let (timeline, position) = self.log_refusal(actor, timeline, &operation, code, &detail);
                Ok(done(&timeline, Change::Logged, position))
            }
            // Nobody asked before.
            Command::Again(_) => Err(Refusal::ChangedMeanwhile),
            Command::LogRefusals { payload } => {
                let host = self.host(timeline);
                let who = (actor.name(), Action::AttemptsCounted, UserId::UNKNOWN);
                let position = self.append(timeline, who.0, who.1, who.2, payload, host);
                Ok(done(timeline, Change::Logged, position))
            }
        }
    }

    /// Makes a timeline, its first entry, and the entry on `system` that says so.
    pub(super) fn create_timeline(
        &mut self,
        actor: &Actor,
        id: &TimelineId,
        fork: Option<&ForkPoint>,
    ) -> Result<u64, Refusal> {
        if self.world.timelines.contains_key(id) {
            return Err(Refusal::AlreadyExists { what: "timeline", id: id.to_string() });
        }
        let host = self.doors.clock.now();
        if self.world.timelines.len() >= self.options.timelines_max {
            return Err(Refusal::LimitReached { what: "timelines", max: self.options.timelines_max });
        }
        let created_by = UserId::new(actor.name()).map_err(|error| Refusal::id("user_id", error))?;
        let max = self.options.timelines_per_user_max;
        if matches!(actor, Actor::Caller(_)) && self.world.made_by(&created_by) >= max {
            return Err(Refusal::LimitReached { what: "timelines that you have made", max });
        }
        if let Some(fork) = fork {
            // To make a clock that stands at a moment is a way to go there.
            let clock = fork.clock_from(host);
            self.admit_clock(actor, &clock.moment(host), clock.rate())?;
        }
        self.world.last_key += 1;
        let key = self.world.last_key;
        let permissions = match actor {
            Actor::Caller(caller) => Permissions::of_creator(caller.user_id.clone()),
            Actor::Unknown | Actor::Service => {
                Permissions { admin: self.world.directory.users.keys().cloned().collect(), ..Permissions::default() }
            }
        };
        let head = Head {
            key: TimelineKey(key),
            id: id.clone(),
            created_at: host,
            clock: fork.map_or_else(|| Clock::new(host), |fork| fork.clock_from(host)),
            permissions: Arc::new(permissions),
            frontier: Frontier::default(),
            checkpoint: Arc::from(""),
            recorded_at: host,
            events_count: fork.map_or(0, |fork| fork.events_count),
            anchors_count: 0,
            clock_entry: 0,
            fork: fork.map(|fork| fork.fork),
            overrides_count: 0,
            created_by,
            data_count: 0,
        };
        let payload = json(&TimelineCreated {
            timeline_id: id.to_string(),
            clock: ClockRecord::of(&head.clock),
            permissions: PermissionsRecord::of(&head.permissions),
            fork: fork.map(ForkPoint::record),
        });
        let ancestors = fork.map_or_else(|| Arc::from([]), |fork| Arc::clone(&fork.ancestors));
        let lineage = fork.map_or_else(|| Arc::from([]), |fork| Arc::clone(&fork.lineage));
        self.add_timeline(TimelineState { head, root: empty_root(), ancestors, lineage, events_changed_at: 0 });
        let system = TimelineId::system();
        if *id != system {
            let host = self.host(&system);
            self.append(&system, actor.name(), Action::CreateTimeline, id.as_str(), payload.clone(), host);
        }
        Ok(self.append(id, actor.name(), Action::CreateTimeline, id.as_str(), payload, host))
    }

    fn change_clock(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        command: &ClockCommand,
        anchor: Option<&Anchor>,
    ) -> Result<Outcome, Refusal> {
        let host = self.host(timeline);
        let before = self.clock(timeline)?;
        let moved = clock::decide(&before, command, &zone_of(self.doors, before.location.as_deref()), host)?;
        if let Some(moved) = &moved {
            self.admit_clock(actor, &moved.moment, before.rate())?;
        }
        let after = moved.as_ref().map_or_else(|| before.clone(), |moved| clock::apply(&before, moved));
        if let Some(state) = self.change(timeline).filter(|_| moved.is_some()) {
            state.head.clock = after.clone();
            self.clock_changes.push(ClockChange { timeline_id: timeline.clone(), clock: after.clone(), host });
        }
        let duration = match command {
            ClockCommand::FastForward(by) | ClockCommand::Rewind(by) => Some(by.to_string()),
            ClockCommand::Travel { .. }
            | ClockCommand::Pause
            | ClockCommand::Resume
            | ClockCommand::SetRate(_)
            | ClockCommand::Restore(_) => None,
        };
        let payload = json(&ClockChanged {
            clock: ClockRecord::of(&after),
            changed: moved.is_some(),
            duration,
            anchor_id: anchor.map(|anchor| anchor.anchor_id.to_string()),
        });
        let subject = anchor.map_or("clock", |anchor| anchor.anchor_id.as_str());
        if let Some(state) = self.change(timeline) {
            state.head.clock_entry = state.head.frontier.size();
        }
        let position = self.append(timeline, actor.name(), of_clock(command), subject, payload, host);
        let current_time = after.now(host);
        Ok(done(timeline, Change::Clock { clock: after, current_time, changed: moved.is_some() }, position))
    }

    /// Takes the clock back to an anchor, and history before it: what was changed since is changed
    /// back while the clock still shows when.
    fn return_to(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        anchor: &Anchor,
        history: Option<HistoryRestored>,
    ) -> Result<Outcome, Refusal> {
        if let Some(HistoryRestored { compensations, guard }) = history {
            self.check_unchanged(timeline, Some(guard))?;
            // Asked before anything is appended: what is refused leaves no entry but that of its refusal.
            let moment = Moment { at: anchor.timestamp, ..anchor.moment.clone() };
            self.admit_clock(actor, &moment, self.clock(timeline)?.rate())?;
            self.restore_history(actor, timeline, anchor, compensations)?;
        }
        let moment = Moment { at: anchor.timestamp, ..anchor.moment.clone() };
        self.change_clock(actor, timeline, &ClockCommand::Restore(moment), Some(anchor))
    }

    fn set_anchor(&mut self, actor: &Actor, timeline: &TimelineId, draft: Draft) -> Result<Outcome, Refusal> {
        if draft.description.len() > DESCRIPTION_BYTES_MAX {
            let detail = format!("a description has at most {DESCRIPTION_BYTES_MAX} bytes");
            return Err(Refusal::invalid("description", detail));
        }
        let host = self.host(timeline);
        let clock = self.clock(timeline)?;
        let timestamp = draft.timestamp.unwrap_or_else(|| clock.now(host));
        self.admit_moment(actor, timestamp)?;
        let Some(state) = self.change(timeline) else { return Err(gone(timeline)) };
        if state.head.anchors_count >= ANCHORS_PER_TIMELINE_MAX as u64 {
            return Err(Refusal::LimitReached { what: "anchors on this timeline", max: ANCHORS_PER_TIMELINE_MAX });
        }
        state.head.anchors_count += 1;
        let anchor = Anchor {
            anchor_id: draft.anchor_id,
            position: state.head.frontier.size(),
            set_at: host,
            timestamp,
            description: draft.description,
            fixed: draft.fixed,
            moment: clock.moment(host),
        };
        let payload = json(&AnchorSet::of(&anchor));
        let change = Change::Anchor { anchor_id: anchor.anchor_id.clone(), timestamp };
        let position = self.append(timeline, actor.name(), Action::SetAnchor, anchor.anchor_id.as_str(), payload, host);
        if let Some(touched) = self.touched.get_mut(timeline) {
            touched.anchors.push(anchor);
        }
        Ok(done(timeline, change, position))
    }

    fn clock(&self, timeline: &TimelineId) -> Result<Clock, Refusal> {
        self.world.timelines.get(timeline).map(|state| state.head.clock.clone()).ok_or_else(|| gone(timeline))
    }
}

impl ForkPoint {
    /// Returns the clock of the fork: as it stood, and on from there.
    fn clock_from(&self, host: Host) -> Clock {
        let now = self.clock.moment(host);
        let moment = Moment { at: self.at.unwrap_or(now.at), ..now };
        Clock { generation: 0, ..clock::apply(&self.clock, &ClockMoved { host, moment }) }
    }

    fn record(&self) -> ForkRecord {
        ForkRecord {
            fork_of: self.of.to_string(),
            size: self.fork.size,
            root: self.root.to_hex(),
            checkpoint: self.checkpoint.to_string(),
            events_count: self.events_count,
        }
    }
}

/// An anchor to be set.
struct Draft {
    anchor_id: timenav_core::ids::AnchorId,
    timestamp: Option<Instant<Virtual>>,
    description: String,
    fixed: bool,
}

pub(super) fn done(timeline: &TimelineId, change: Change, position: u64) -> Outcome {
    Outcome::Done { timeline_id: timeline.clone(), change, position }
}

pub(super) fn gone(timeline: &TimelineId) -> Refusal {
    Refusal::NotFound { what: "timeline", id: timeline.to_string() }
}

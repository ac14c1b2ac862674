use std::sync::{Arc, OnceLock};

use timenav_core::access::{Demand, Permissions};
use timenav_core::clock::{self, Clock, ClockMoved, Moment};
use timenav_core::fault::Faults;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Frontier, Hash, empty_root};
use timenav_core::time::{Instant, Span, Virtual};

use super::{Aim, Command, CommandSpec};
use crate::ledger::action::Action;
use crate::ledger::changes::TimelineMade;
use crate::ledger::head::{Fork, Head, Layer, TimelineState};
use crate::ledger::payload::{
    ClockRecord, ForkRecord, PermissionsRecord, StatePayload, TimelineCreated, faults_record,
};
use crate::ports::wall_clock::Host;
use crate::requests::actor::Actor;
use crate::requests::options::LEVEL_OF_SENDING_FORKS;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::timers::restoring::{Restored, Restoring, restore};
use crate::writer::draft::{Done, Draft, Ledger};

pub(crate) mod ends;
pub(crate) mod retention;

#[derive(Default)]
pub(crate) struct CreateTimeline {
    pub(crate) fork: Option<Box<ForkPoint>>,
    /// Its lifetime in host time, if it expires.
    pub(crate) expires_in: Option<Span>,
}

impl Command for CreateTimeline {
    type Output = TimelineMade;

    fn spec(&self) -> CommandSpec<'_> {
        let relies_on = self.fork.as_ref().map(|fork| &fork.of);
        CommandSpec { relies_on, ..CommandSpec::of(Action::CreateTimeline, Aim::NewTimeline) }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimelineMade>, Refusal> {
        let (ledger, position) = make_timeline(draft, self)?;
        let expires_at = draft.state(ledger).head.expires_at;
        Ok(draft.done(ledger, position, TimelineMade { expires_at }))
    }
}

pub(crate) struct ForkPoint {
    pub(crate) of: TimelineId,
    pub(crate) fork: Fork,
    pub(crate) root: Hash,
    /// A checkpoint of the origin that covers them.
    pub(crate) checkpoint: Arc<str>,
    pub(crate) events_count: u64,
    pub(crate) clock: Clock,
    /// Its reading at that point; `None` to fork now.
    pub(crate) at: Option<Instant<Virtual>>,
    pub(crate) ancestors: Arc<[Layer]>,
    pub(crate) lineage: Arc<[TimelineId]>,
    pub(crate) carried: Carried,
    /// The first of them whose webhooks the service sends, if the caller wants that.
    pub(crate) sends_from: Option<u64>,
    pub(crate) faults: Arc<Faults>,
}

/// As [`ForkPoint::demand`].
pub(crate) const fn demand_to_fork(deliver_webhooks: bool) -> Demand {
    if deliver_webhooks { Demand::Record } else { Demand::Look }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) restoring: Restoring,
    /// The first position for timers set on the fork; 0 if there were no timers before.
    pub(crate) base: u64,
    /// The last entry of the origin about timers before the fork.
    pub(crate) last: Option<u64>,
}

impl ForkPoint {
    /// Rejects a name that an adopted layer of the fork has, because a bundle of it would have two layers of the same
    /// name.
    fn check_name(&self, id: &TimelineId) -> Result<(), Refusal> {
        let mut layers = self.lineage.iter().filter(|layer| layer.adopting_fork().is_some());
        let Some(layer) = layers.find(|layer| layer.entry_name() == *id) else { return Ok(()) };
        let detail =
            format!("the fork cannot have this name: it would continue from `{layer}`, which has the same name");
        Err(Refusal::invalid("timeline_id", detail))
    }

    /// Rejects a fork that a running service of the previous version would misread.
    const fn check_level(&self, level: u64) -> Result<(), Refusal> {
        if self.sends_from.is_none() || level >= LEVEL_OF_SENDING_FORKS {
            return Ok(());
        }
        Err(Refusal::NotUpgraded { what: "`deliver_webhooks` of a fork", level: LEVEL_OF_SENDING_FORKS })
    }

    /// Sending the origin's webhooks has the same external effect as setting its timers.
    pub(crate) const fn demand(&self) -> Demand {
        demand_to_fork(self.sends_from.is_some())
    }

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
            timers_base: Some(self.carried.base).filter(|base| *base > 0),
            timers_last: self.carried.last,
            webhooks_from: self.sends_from,
            faults: faults_record(&self.faults),
        }
    }
}

/// Creates the request's timeline with its first entry, and records it on `system`.
///
/// # Errors
/// It exists, a limit is reached, or the actor may not create such a clock.
pub(crate) fn make_timeline(draft: &mut Draft<'_>, command: &CreateTimeline) -> Result<(Ledger, u64), Refusal> {
    let CreateTimeline { fork, expires_in } = command;
    let (fork, id) = (fork.as_deref(), draft.timeline().clone());
    let created_by = check_new(draft, 1)?;
    let host = draft.now();
    if let Some(fork) = fork {
        fork.check_name(&id)?;
        fork.check_level(draft.level())?;
        draft.admit_to_fork(&fork.of, fork.demand())?;
        // Creating a clock at some instant is a form of time travel.
        let clock = fork.clock_from(host);
        draft.admit_clock(&clock.moment(host), clock.rate())?;
    }
    let expires_at = expires_in.map(|span| host.checked_add(span).unwrap_or(Instant::MAX));
    let permissions = first_permissions(draft);
    let clock = fork.map_or_else(|| Clock::new(host), |fork| fork.clock_from(host));
    let payload = StatePayload::Created(TimelineCreated {
        timeline_id: id.to_string(),
        clock: ClockRecord::of(&clock),
        permissions: PermissionsRecord::of(&permissions),
        fork: fork.map(ForkPoint::record),
        expires_at: expires_at.map(|at| at.to_string()),
    });
    // `system` records every other timeline, before that timeline's own first entry.
    if !id.is_system() {
        let system = draft.system()?;
        let host = draft.host(system);
        draft.append(system, Action::CreateTimeline, id.as_str(), payload.written(), host);
    }
    let ledger = draft.new_ledger(|key| {
        let head = Head {
            key,
            id: id.clone(),
            created_at: host,
            clock,
            permissions: Arc::new(permissions),
            frontier: Frontier::default(),
            carried_note: Arc::default(),
            recorded_at: host,
            events_count: fork.map_or(0, |fork| fork.events_count),
            anchors_count: 0,
            clock_entry: 0,
            fork: fork.map(|fork| fork.fork),
            overrides_count: 0,
            created_by,
            data_count: 0,
            directory: 0,
            statement: Arc::from([]),
            origins: Arc::from([]),
            is_handed_over: false,
            expires_at,
            retention: Arc::default(),
            timers: Arc::default(),
        };
        let ancestors = fork.map_or_else(|| Arc::from([]), |fork| Arc::clone(&fork.ancestors));
        let lineage = fork.map_or_else(|| Arc::from([]), |fork| Arc::clone(&fork.lineage));
        let fork_root = fork.map(|fork| fork.root);
        TimelineState {
            head,
            root: empty_root(),
            fork_root,
            directory_root: None,
            ancestors,
            lineage,
            events_changed_at: 0,
            note: OnceLock::new(),
        }
    });
    let position = draft.record(ledger, (Action::CreateTimeline, id.as_str()), &payload, host)?;
    if let Some(fork) = fork {
        restore(draft, ledger, &fork.carried.restoring, Restored::Fork)?;
    }
    Ok((ledger, position))
}

fn first_permissions(draft: &Draft<'_>) -> Permissions {
    match draft.actor() {
        Actor::Caller(caller) => Permissions::of_creator(caller.user_id.clone()),
        Actor::Unknown | Actor::Service => {
            Permissions { admin: draft.directory().users.keys().cloned().collect(), ..Permissions::default() }
        }
    }
}

/// Checks that the request's timeline may be created, and returns its owner. `counted` is the number it counts as:
/// itself and each adopted layer.
///
/// # Errors
/// It exists, or a limit is reached.
pub(super) fn check_new(draft: &Draft<'_>, counted: usize) -> Result<UserId, Refusal> {
    let id = draft.timeline();
    if draft.has_ended(id) {
        return Err(Refusal::NameEnded { timeline_id: id.to_string() });
    }
    if draft.look(id).is_some() {
        return Err(Refusal::AlreadyExists { what: "timeline", id: id.to_string() });
    }
    let max = draft.options().timelines_max;
    if draft.timelines_count() + counted > max {
        return Err(Refusal::LimitReached { what: "timelines", max });
    }
    let created_by = UserId::new(draft.actor().name()).map_err(|error| Refusal::id("user_id", error))?;
    let max = draft.options().timelines_per_user_max;
    if matches!(draft.actor(), Actor::Caller(_)) && draft.made_by(&created_by) + counted > max {
        return Err(Refusal::LimitReached { what: "timelines that you created", max });
    }
    Ok(created_by)
}

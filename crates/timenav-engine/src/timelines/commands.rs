use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::{Demand, Role};
use timenav_core::as_of::AsOf;
use timenav_core::clock::{Clock, ClockState};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::LeafRecord;
use timenav_core::limits::FORK_DEPTH_MAX;
use timenav_core::time::{Instant, Span, Virtual, Wall, parse_timestamp};

use crate::access::directory;
use crate::clock::clocks::ClockView;
use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::TimelineMade;
use crate::ledger::head::{Fork, TimelineState};
use crate::ledger::notes::newest_note;
use crate::ledger::payload::{Reading, clock_in};
use crate::ledger::tree::SignedTree;
use crate::ports::archive::EntryRow;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::repeated::RepeatedRequest;
use crate::writer::deciding::timelines::{CreateTimeline, ForkPoint, demand_to_fork};
use crate::writer::submission::Answer;

#[derive(Clone, Debug)]
pub struct TimelineView {
    pub state: Arc<TimelineState>,
    pub checkpoint: Arc<str>,
    /// Its current clock; `None` for `system`, whose clock is the host's, and if a restriction hides clocks from the
    /// caller.
    pub clock: Option<ClockView>,
    pub forked_from: Option<TimelineId>,
    /// The caller's role; `None` for an operator without one.
    pub role: Option<Role>,
    pub role_end: Option<Instant<Wall>>,
}

#[derive(Clone, Debug)]
pub struct NewTimeline {
    pub timeline_id: TimelineId,
    /// Its lifetime in host time; `None` if it does not expire.
    pub expires_in: Option<Span>,
    /// Whether the service sends webhooks of timers that a fork inherits.
    pub deliver_webhooks: bool,
}

impl From<TimelineId> for NewTimeline {
    fn from(timeline_id: TimelineId) -> Self {
        Self { timeline_id, expires_in: None, deliver_webhooks: false }
    }
}

impl Engine {
    /// Creates a timeline, with the caller as its admin and an optional expiry.
    ///
    /// # Errors
    /// It exists already, the caller is not authorized, or the ledger cannot be written.
    pub async fn create_timeline(
        &self,
        caller: &Caller,
        timeline: impl Into<NewTimeline>,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<TimelineMade>, Refusal> {
        let NewTimeline { timeline_id, expires_in, .. } = timeline.into();
        let command = CreateTimeline { fork: None, expires_in };
        self.submit(caller, timeline_id, command, idempotency).await
    }

    /// Forks a timeline at an instant, or now. Earlier entries are shared, and later ones are independent. Nothing is
    /// copied except timers. The caller becomes its admin, and it expires like any other timeline. To send webhooks of
    /// inherited timers, the caller must be allowed to set timers on the origin.
    ///
    /// # Errors
    /// It exists already, there is no such instant, the caller may not read the origin, or the ledger cannot be
    /// written.
    pub async fn fork_timeline(
        &self,
        caller: &Caller,
        timeline: impl Into<NewTimeline>,
        of: &TimelineId,
        at: Option<&AsOf>,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<TimelineMade>, Refusal> {
        self.fork_as(caller, timeline.into(), of, at, idempotency).await
    }

    #[boxed]
    async fn fork_as(
        &self,
        caller: &Caller,
        timeline: NewTimeline,
        of: &TimelineId,
        at: Option<&AsOf>,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<TimelineMade>, Refusal> {
        let NewTimeline { timeline_id: timeline, expires_in, deliver_webhooks } = timeline;
        let demand = demand_to_fork(deliver_webhooks);
        // Include everything that another service has acknowledged.
        self.catch_up_with(of).await?;
        let parent = self.admit_as_known(caller, of, demand, Action::CreateTimeline.word()).await?;
        if of.is_system() {
            return Err(Refusal::invalid(
                "fork_of",
                "`system` holds data about the service itself and cannot be forked",
            ));
        }
        let again = RepeatedRequest::<TimelineMade>::of(Action::CreateTimeline, &[Demand::Create]);
        if let Some(answer) = self.answered_before(caller, &timeline, again, idempotency).await? {
            return Ok(answer);
        }
        let reading = Reading::Fork { timeline_id: timeline.to_string() };
        self.log_read(caller, of, &[Demand::Look], &reading).await?;
        let fork = self.fork_point(caller, &parent, (at, deliver_webhooks)).await.map_err(|refusal| match refusal {
            Refusal::Invalid { field, detail } if field == "as_of" => Refusal::invalid("at", detail),
            other => other,
        })?;
        let command = CreateTimeline { fork: Some(fork), expires_in };
        self.submit(caller, timeline, command, idempotency).await
    }

    /// The cost depends only on the number of inherited timers and the changes of timers since then.
    async fn fork_point(
        &self,
        caller: &Caller,
        parent: &TimelineState,
        (at, deliver_webhooks): (Option<&AsOf>, bool),
    ) -> Result<Box<ForkPoint>, Refusal> {
        let layers = self.layers_at(parent, at).await?;
        let last = layers.last().filter(|last| last.as_of > 0);
        let last = *last.ok_or_else(|| Refusal::invalid("at", "the timeline did not exist at that time"))?;
        if layers.len() > FORK_DEPTH_MAX {
            return Err(Refusal::LimitReached { what: "forks of forks", max: FORK_DEPTH_MAX });
        }
        let lineage: Arc<[TimelineId]> = parent.names_of(&layers).into();
        if let Some(layer) = lineage.last().filter(|name| name.adopting_fork().is_some()) {
            let detail = format!(
                "that moment belongs to `{layer}`, which was adopted from another service with a fork of it: it cannot \
                 be forked"
            );
            return Err(Refusal::invalid("at", detail));
        }
        if let Some(ended) = lineage.last().filter(|name| self.has_ended(name)) {
            let detail = format!("that moment belongs to the timeline `{ended}`, which has ended: it cannot be forked");
            return Err(Refusal::invalid("at", detail));
        }
        let forked = lineage.last().and_then(|name| self.state(name));
        let forked = forked.ok_or_else(|| Refusal::Damaged("a timeline is missing".to_owned()))?;
        let (of, size, tree) = (forked.head.id.clone(), last.as_of, SignedTree::of(&forked));
        let (engine, named) = (self.clone(), of.clone());
        let carrying = async move { engine.timers_carried(&named, size).await };
        let carried = self.long_work().in_turn(caller, carrying).await?;
        // A fork cannot send webhooks that its origin does not send. Otherwise, a user who may write only to the fork
        // could trigger them.
        let sends_from = deliver_webhooks.then(|| forked.head.timers.sends_from.min(carried.base));
        let faults = self.faults_at(&forked, size).await?.into();
        let now = at.is_none();
        let (events_count, clock, at) = if now {
            (parent.head.events_count, parent.head.clock.clone(), None)
        } else {
            self.state_at(&tree, last.as_of - 1).await?
        };
        Ok(Box::new(ForkPoint {
            of,
            fork: Fork { of: last.timeline, size },
            root: tree.root_at(self.store(), last.as_of).await?,
            checkpoint: newest_note(&forked, self.ports(), self.options())?,
            events_count,
            clock,
            at,
            ancestors: layers,
            lineage,
            carried,
            sends_from,
            faults,
        }))
    }

    /// Returns the number of current events after an entry, the clock, and its reading. The clock comes from a signed
    /// entry that matches the reading: the unsigned marks only say which entry that is.
    async fn state_at(
        &self,
        tree: &SignedTree,
        position: u64,
    ) -> Result<(u64, Clock, Option<Instant<Virtual>>), Refusal> {
        let damaged = |what: &str| tree.damaged(position, what);
        let EntryRow { leaf, marks, .. } = tree.leaf(self.store(), position).await?;
        let record = LeafRecord::decode(&leaf).map_err(|error| damaged(&error.to_string()))?;
        let at: Instant<Virtual> = parse_timestamp(&record.clock_time).map_err(|error| damaged(&error.to_string()))?;
        let recorded_at = parse_timestamp(&record.recorded_at).map_err(|error| damaged(&error.to_string()))?;
        let marked = u64::try_from(marks.events_count).ok().zip(u64::try_from(marks.clock_entry).ok());
        let (events_count, clock_entry) = marked.ok_or_else(|| damaged("is stored with negative numbers"))?;
        let clock_row = tree.entry(self.store(), clock_entry.min(position)).await?;
        let clock = clock_in(&clock_row.payload).ok_or_else(|| damaged("is stored with an entry without a clock"))?;
        if Action::of(&record) == Some(Action::Adopt) {
            // An adopted clock arrives paused, which the next entry records.
            let state = ClockState::Paused { since: recorded_at, at, rate: clock.rate() };
            return Ok((events_count, Clock { state, ..clock }, Some(at)));
        }
        if clock.now(recorded_at) != at {
            return Err(damaged("is stored with an entry that has another clock"));
        }
        Ok((events_count, clock, Some(at)))
    }

    /// Reads a timeline.
    ///
    /// # Errors
    /// The caller can see no such timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn timeline(&self, caller: &Caller, timeline: &TimelineId) -> Result<TimelineView, Refusal> {
        let look = self.look(caller, timeline.clone(), Demand::Inspect, Reading::Timeline {}).await?;
        self.view(caller, look.state)
    }

    /// Returns a page of the timelines that the caller may read, ordered by name.
    ///
    /// # Errors
    /// The cursor belongs to another query, or the ledger cannot be written.
    #[boxed]
    pub async fn timelines(
        &self,
        caller: &Caller,
        items_max: usize,
        after: Option<&TimelineId>,
    ) -> Result<(Vec<TimelineView>, Option<TimelineId>), Refusal> {
        // No permission is required, because only readable timelines are listed.
        self.log_read(caller, &TimelineId::system(), &[], &Reading::Timelines {}).await?;
        self.catch_up_all().await?;
        let mut seen = self.readable_after(caller, after, items_max + 1);
        let more = seen.len() > items_max;
        seen.truncate(items_max);
        let next = seen.last().filter(|_| more).map(|state| state.head.id.clone());
        let views = seen.into_iter().map(|state| self.view(caller, state));
        Ok((views.collect::<Result<_, _>>()?, next))
    }

    /// Returns up to `items_max` timelines after one, by name, that a caller may read. Does not examine others.
    fn readable_after(&self, caller: &Caller, after: Option<&TimelineId>, items_max: usize) -> Vec<Arc<TimelineState>> {
        let is_operator = self.directory().users.get(&caller.user_id).is_some_and(|user| user.operator);
        let user = (!is_operator).then_some(&caller.user_id);
        // One more to make up for `system`, which only operators may read, regardless of its permissions.
        let mut seen = self.states_after(user, after, items_max + 1);
        seen.retain(|state| {
            !self.has_ended(&state.head.id) && self.decide(caller, &state.head.id, Demand::Inspect).is_ok()
        });
        seen.truncate(items_max);
        seen
    }

    fn view(&self, caller: &Caller, state: Arc<TimelineState>) -> Result<TimelineView, Refusal> {
        let clock = self.view_clock(state.head.id.clone(), state.head.clock.clone(), self.host(&state));
        let is_visible = !state.head.id.is_system() && self.decide(caller, &state.head.id, Demand::Look).is_ok();
        let clock = is_visible.then_some(clock);
        let host = self.for_expiry();
        let role = directory::caller_access(&self.directory(), caller, Some(&state), host).role;
        let role_end = role.and_then(|_| state.head.permissions.role_end(&caller.user_id, host));
        let forked_from = state.lineage.last().cloned();
        let checkpoint = newest_note(&state, self.ports(), self.options())?;
        Ok(TimelineView { state, checkpoint, clock, forked_from, role, role_end })
    }
}

impl TimelineView {
    #[must_use]
    pub fn sees_permissions(&self) -> bool {
        // `None` is an operator: any other caller without a role cannot see the timeline at all.
        self.role.is_none_or(|role| role == Role::Admin)
    }
}

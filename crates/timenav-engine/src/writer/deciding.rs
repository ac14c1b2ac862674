//! Requests to the writer. Each is a value, and its decision is a function that only borrows it.
//!
//! A request can therefore be decided again whenever other writers have changed the state it was decided on.

use timenav_core::access::{Demand, Denial};
use timenav_core::ids::{DataId, EventId, FiringId, TimelineId};

use self::catching_up::CatchUp;
use crate::ledger::action::{Action, Demanded};
use crate::ledger::changes::{Change, LookUp};
use crate::ports::timer_rows::TimerQuery;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft};

pub(crate) mod access;
pub(crate) mod anchors;
pub(crate) mod catching_up;
pub(crate) mod clocks;
pub(crate) mod data;
pub(crate) mod erasing;
pub(crate) mod events;
pub(crate) mod faults;
pub(crate) mod heads;
pub(crate) mod history;
pub(crate) mod logged;
pub(crate) mod repeated;
pub(crate) mod rotation;
pub(crate) mod admission;
pub(crate) mod timelines;
mod outcomes;
mod recording;
pub(crate) mod timers;
pub(crate) mod undoing;

/// A request to the writer.
pub(crate) trait Command: Send + Sync + 'static {
    /// The response, which is also returned for a repeated request.
    type Output: Change;

    fn spec(&self) -> CommandSpec<'_>;

    fn needs(&self) -> Needs<'_> {
        Needs::default()
    }

    /// Decides the request. On success, the draft is applied; otherwise it is dropped.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Self::Output>, Refusal>;

    /// Checks whether the response of an earlier request may be returned to the caller.
    fn check_output(&self, _draft: &Draft<'_>, _output: &Self::Output) -> Result<(), Denial> {
        Ok(())
    }
}

/// The properties of a command, independent of the type of its response.
pub(crate) struct CommandSpec<'a> {
    pub(crate) action: Action,
    pub(crate) aim: Aim,
    /// All are required. Empty if they depend on more, and are checked as part of the decision.
    pub(crate) demands: &'static [Demand],
    /// The name of the operation in entries about rejected attempts.
    pub(crate) operation: &'a str,
    pub(crate) needs_credential: bool,
    /// Whether it only looks up the response to an earlier request.
    pub(crate) is_repeat_only: bool,
    /// Whether it only asks whether something is allowed: it changes nothing, but may create the timeline.
    pub(crate) is_check_only: bool,
    /// The state to catch up with, if that is its only purpose.
    pub(crate) catches_up: Option<&'a CatchUp>,
    /// Another timeline that the decision depends on.
    pub(crate) relies_on: Option<&'a TimelineId>,
    pub(crate) events_count: usize,
}

impl CommandSpec<'_> {
    /// Returns the properties of a command with an entry of that action, which is also the name of its operation.
    pub(crate) const fn of(action: Action, aim: Aim) -> Self {
        let demands = match action.demands() {
            Demanded::All(demands) => demands,
            Demanded::Own | Demanded::Reading | Demanded::Nothing | Demanded::Service => &[],
        };
        Self {
            action,
            aim,
            demands,
            operation: action.word(),
            needs_credential: true,
            is_repeat_only: false,
            is_check_only: false,
            catches_up: None,
            relies_on: None,
            events_count: 0,
        }
    }
}

pub(crate) const fn alone(demand: Demand) -> &'static [Demand] {
    match demand {
        Demand::Look => &[Demand::Look],
        Demand::Inspect => &[Demand::Inspect],
        Demand::Steer => &[Demand::Steer],
        Demand::SetRate => &[Demand::SetRate],
        Demand::Record => &[Demand::Record],
        Demand::Intervene => &[Demand::Intervene],
        Demand::Administer => &[Demand::Administer],
        Demand::Erase => &[Demand::Erase],
        Demand::Operate => &[Demand::Operate],
        Demand::Create => &[Demand::Create],
        Demand::Own => &[Demand::Own],
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// An existing timeline of users.
    Timeline,
    /// A timeline of users, which is created if it does not exist.
    TimelineOrNew,
    /// A timeline that must not exist yet.
    NewTimeline,
    /// Any ledger, including `system`.
    Ledger,
    /// An existing timeline of users, to be ended. A repeated request succeeds although it no longer exists.
    TimelineToEnd,
}

impl Aim {
    /// Returns whether a missing timeline is created.
    pub(crate) const fn makes_timeline(self) -> bool {
        matches!(self, Self::TimelineOrNew | Self::NewTimeline)
    }

    /// Returns whether it must be a timeline of users, which `system` is not.
    pub(crate) const fn is_about_a_timeline(self) -> bool {
        matches!(self, Self::Timeline | Self::TimelineOrNew | Self::TimelineToEnd)
    }
}

#[derive(Default)]
pub(crate) struct Needs<'a> {
    pub(crate) events: Vec<&'a EventId>,
    /// Whether to fetch these events on every fork too.
    pub(crate) forks: bool,
    /// Whether to fetch outcomes that contain these events, including those of forks.
    pub(crate) outcomes: bool,
    /// Whether to fetch what ended those events that are not current.
    pub(crate) endings: bool,
    pub(crate) data: Option<&'a DataId>,
    pub(crate) entry: Option<u64>,
    pub(crate) timers: TimersNeeded,
    /// The activity on the request's timeline, if several services share the store.
    pub(crate) at_work: Option<NeedsAtWork<'a>>,
}

impl<'a> Needs<'a> {
    /// Returns the state needed for events that timers will record.
    pub(crate) fn with_lookup(look_up: &'a LookUp) -> Self {
        Self { events: look_up.event_ids.iter().collect(), endings: true, ..Self::default() }
    }
}

/// A query for the activity on a timeline, which is locked until the step ends.
#[derive(Default)]
pub(crate) struct NeedsAtWork<'a> {
    /// Set to find out whether firings that were created at or after that position are held.
    pub(crate) open_since: Option<u64>,
    pub(crate) firings: &'a [FiringId],
}

#[derive(Default)]
pub(crate) struct TimersNeeded {
    pub(crate) queries: Vec<TimerQuery>,
    /// Whether they must be current: the decision then waits for the next group if this one has changed any timer.
    pub(crate) is_exact: bool,
}

impl TimersNeeded {
    pub(crate) const fn exactly(queries: Vec<TimerQuery>) -> Self {
        Self { queries, is_exact: true }
    }
}

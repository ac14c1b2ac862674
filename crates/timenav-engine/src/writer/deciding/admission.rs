use timenav_core::access::{self, Demand, Denial, Role};
use timenav_core::clock::{Moment, Rate};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::time::{Instant, Virtual};

use super::timelines::{CreateTimeline, make_timeline};
use super::{Aim, CommandSpec};
use crate::access::directory;
use crate::requests::actor::Actor;
use crate::requests::refusal::{Refusal, denial_code};
use crate::writer::draft::Draft;

/// Authorizes a request, and creates its timeline if this is the first write to the name.
pub(crate) fn admit(draft: &mut Draft<'_>, spec: &CommandSpec<'_>) -> Result<(), Refusal> {
    // For a repeated request, this is checked when there is a response to return.
    if !matches!(draft.actor(), Actor::Caller(_)) || spec.demands.is_empty() || spec.is_repeat_only {
        return Ok(());
    }
    let (timeline, aim) = (draft.timeline(), spec.aim);
    if aim != Aim::NewTimeline {
        draft.check_exists(timeline)?;
    }
    check(draft, spec)?;
    if timeline.is_system() && aim.is_about_a_timeline() {
        let detail = "`system` holds data about the service itself; its clock is host time, and it has no events";
        return Err(Refusal::invalid("timeline_id", detail));
    }
    if aim != Aim::TimelineOrNew || draft.look(timeline).is_some() {
        return Ok(());
    }
    if !draft.options().timelines_by_first_write {
        return Err(Denial::Hidden.into());
    }
    make_timeline(draft, &CreateTimeline::default()).map(|_| ())
}

/// Authorizes a request. Requests without fixed demands are authorized as part of their decision.
pub(crate) fn check(draft: &Draft<'_>, spec: &CommandSpec<'_>) -> Result<(), Denial> {
    let (Actor::Caller(caller), demands) = (draft.actor(), spec.demands) else { return Ok(()) };
    let state = draft.look(draft.timeline());
    let mut caller_access = directory::caller_access(draft.directory(), caller, state, draft.for_expiry());
    let is_ended = spec.aim == Aim::TimelineToEnd && draft.has_ended(draft.timeline());
    if state.is_none() && (spec.aim.makes_timeline() || is_ended) {
        // The creator of a timeline becomes its admin, and whoever ended it was one.
        caller_access.role = Some(Role::Admin);
    }
    demands.iter().try_for_each(|demand| access::decide(caller_access, *demand))
}

impl Draft<'_> {
    /// Returns whether a timeline exists, as far as the actor may know. The one of their credentials always does.
    pub(crate) fn is_in_sight(&self, timeline: &TimelineId) -> bool {
        let Actor::Caller(caller) = self.actor() else { return self.look(timeline).is_some() };
        if caller.timeline(None) == *timeline {
            return true;
        }
        let Some(state) = self.look(timeline) else { return false };
        access::decide(directory::caller_access(self.directory(), caller, Some(state), self.for_expiry()), Demand::Look)
            != Err(Denial::Hidden)
    }

    /// Re-checks that a timeline to fork has not ended, and that the actor may still read it.
    pub(crate) fn admit_to_fork(&self, of: &TimelineId, demand: Demand) -> Result<(), Refusal> {
        self.check_exists(of)?;
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let caller_access = directory::caller_access(self.directory(), caller, self.look(of), self.for_expiry());
        access::decide(caller_access, demand).map_err(|denial| Refusal::from(denial).about(of))
    }

    /// Measures from the host's clock, not from the newest entry, which is later if that clock was set back.
    pub(crate) fn admit_moment(&self, to: Instant<Virtual>) -> Result<(), Denial> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let level = directory::caller_access(self.directory(), caller, None, self.now()).restriction;
        access::decide_moment(level, to, self.now(), self.options().limited_access_window_days)
    }

    /// Checks whether the actor may leave a clock in this state, or create one.
    pub(crate) fn admit_clock(&self, clock: &Moment, rate: Rate) -> Result<(), Denial> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let level = directory::caller_access(self.directory(), caller, None, self.now()).restriction;
        access::decide_clock(level, clock, rate, self.now(), self.options().limited_access_window_days)
    }

    /// Checks whether the actor could still read a response. Returns the code and the reason if not.
    pub(crate) fn check_reader(&self, demands: &[Demand]) -> Result<(), (&'static str, String)> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let times = (self.now(), self.for_expiry());
        let live = directory::check_live(self.directory(), caller, times, self.options().session_spans());
        live.map_err(|failure| (failure.code(), failure.to_string()))?;
        let caller_access = directory::caller_access(self.directory(), caller, self.look(self.timeline()), self.now());
        let mut decided = demands.iter().map(|demand| access::decide(caller_access, *demand));
        decided.try_for_each(|one| one).map_err(|denial| (denial_code(denial), denial.to_string()))
    }

    /// A user's own resources require no role; those of other users require an operator.
    pub(crate) fn admit_own(&self, owner: Option<&UserId>) -> Result<(), Denial> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let own = owner == Some(&caller.user_id);
        let caller_access = directory::caller_access(self.directory(), caller, None, self.now());
        access::decide(caller_access, if own { Demand::Own } else { Demand::Operate })
    }
}

/// Hides whether a resource of another user exists.
pub(crate) const fn hidden(denial: Denial) -> Denial {
    match denial {
        Denial::OperatorOnly => Denial::Hidden,
        denial => denial,
    }
}

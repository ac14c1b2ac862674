//! Whether somebody may, asked when a draft is made: of core.

use timenav_core::access::{self, Demand, Denial, Role};
use timenav_core::clock::{Moment, Rate};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::time::{Instant, Virtual};

use super::timelines::{CreateTimeline, make_timeline};
use super::{Aim, Asking};
use crate::actor::Actor;
use crate::directory;
use crate::draft::Draft;
use crate::refusal::{Refusal, denial_code};

/// Lets what is asked for into a draft, and makes the timeline where a first write names it.
///
/// # Errors
/// The actor may not, or not there.
pub(crate) fn admit(draft: &mut Draft<'_>, asking: &dyn Asking) -> Result<(), Refusal> {
    // Whoever asks again is asked when there is something to be told.
    if !matches!(draft.actor(), Actor::Caller(_)) || asking.demands().is_empty() || asking.is_asked_again() {
        return Ok(());
    }
    let (timeline, aim) = (draft.timeline(), asking.aim());
    if aim != Aim::NewTimeline {
        draft.check_standing(timeline)?;
    }
    check(draft, asking)?;
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

/// Asks core whether the actor may do what is asked for. What has no demand is decided where it is carried out.
///
/// # Errors
/// They may not.
pub(crate) fn check(draft: &Draft<'_>, asking: &dyn Asking) -> Result<(), Denial> {
    let (Actor::Caller(caller), demands) = (draft.actor(), asking.demands()) else { return Ok(()) };
    let state = draft.look(draft.timeline());
    let mut standing = directory::standing(draft.directory(), caller, state, draft.for_expiry());
    let is_ended = asking.aim() == Aim::TimelineToEnd && draft.has_ended(draft.timeline());
    if state.is_none() && (asking.aim().makes_timeline() || is_ended) {
        // Who makes a timeline administers it, and so did who ended it.
        standing.role = Some(Role::Admin);
    }
    demands.iter().try_for_each(|demand| access::decide(standing, *demand))
}

impl Draft<'_> {
    /// Returns whether there is a timeline of that name, as far as the actor may know. The one that they ask with is.
    pub(crate) fn is_in_sight(&self, timeline: &TimelineId) -> bool {
        let Actor::Caller(caller) = self.actor() else { return self.look(timeline).is_some() };
        if caller.timeline(None) == *timeline {
            return true;
        }
        let Some(state) = self.look(timeline) else { return false };
        access::decide(directory::standing(self.directory(), caller, Some(state), self.for_expiry()), Demand::Look)
            != Err(Denial::Hidden)
    }

    /// Asks whether a timeline that another one is to go on from still stands, and core whether the actor may still look at
    /// it. Both were so when the actor was let on to it.
    pub(crate) fn admit_to_fork(&self, of: &TimelineId, demand: Demand) -> Result<(), Refusal> {
        self.check_standing(of)?;
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let standing = directory::standing(self.directory(), caller, self.look(of), self.for_expiry());
        access::decide(standing, demand).map_err(|denial| Refusal::from(denial).about(of))
    }

    /// Asks core whether the actor may mark a moment. How far it is from host time is a question to the host's clock,
    /// not to the newest entry, which may be later where that clock was set back.
    pub(crate) fn admit_moment(&self, to: Instant<Virtual>) -> Result<(), Denial> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let level = directory::standing(self.directory(), caller, None, self.now()).restriction;
        access::decide_moment(level, to, self.now(), self.options().limited_access_window_days)
    }

    /// Asks core whether the actor may leave a clock like this that went at that rate, or be given one.
    pub(crate) fn admit_clock(&self, clock: &Moment, rate: Rate) -> Result<(), Denial> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let level = directory::standing(self.directory(), caller, None, self.now()).restriction;
        access::decide_clock(level, clock, rate, self.now(), self.options().limited_access_window_days)
    }

    /// Asks whether the actor could still read what was answered. Returns the code and the reason against it.
    pub(crate) fn check_reader(&self, demands: &[Demand]) -> Result<(), (&'static str, String)> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let times = (self.now(), self.for_expiry());
        let live = directory::check_live(self.directory(), caller, times, self.options().session_spans());
        live.map_err(|failure| (failure.code(), failure.to_string()))?;
        let standing = directory::standing(self.directory(), caller, self.look(self.timeline()), self.now());
        let mut decided = demands.iter().map(|demand| access::decide(standing, *demand));
        decided.try_for_each(|one| one).map_err(|denial| (denial_code(denial), denial.to_string()))
    }

    /// What is one's own is one's own business, that of others an operator's.
    pub(crate) fn admit_own(&self, owner: Option<&UserId>) -> Result<(), Denial> {
        let Actor::Caller(caller) = self.actor() else { return Ok(()) };
        let own = owner == Some(&caller.user_id);
        let standing = directory::standing(self.directory(), caller, None, self.now());
        access::decide(standing, if own { Demand::Own } else { Demand::Operate })
    }
}

/// Whether what is another user's exists is not told.
pub(crate) const fn hidden(denial: Denial) -> Denial {
    match denial {
        Denial::OperatorOnly => Denial::Hidden,
        denial => denial,
    }
}

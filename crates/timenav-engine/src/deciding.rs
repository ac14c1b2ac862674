//! What can be asked of the writer: a value each, which a pure decision borrows.
//!
//! A value that only borrows can be decided again, as often as other writers have changed what it was decided on.

use timenav_core::access::{Demand, Denial};
use timenav_core::ids::{DataId, EventId, FiringId, TimelineId};

use self::catching_up::CatchUp;
use crate::action::{Action, Demanded};
use crate::changes::{Change, LookUp};
use crate::draft::{Done, Draft};
use crate::refusal::Refusal;
use crate::timer_rows::TimersWanted;

pub(crate) mod access;
pub(crate) mod anchors;
pub(crate) mod catching_up;
pub(crate) mod clocks;
pub(crate) mod data;
pub(crate) mod ends;
pub(crate) mod erasing;
pub(crate) mod events;
pub(crate) mod faults;
pub(crate) mod heads;
pub(crate) mod history;
pub(crate) mod identity;
pub(crate) mod logged;
pub(crate) mod repeated;
pub(crate) mod restoring;
pub(crate) mod redelivering;
pub(crate) mod retention;
pub(crate) mod rotation;
pub(crate) mod sessions;
pub(crate) mod standing;
pub(crate) mod timelines;
mod upcoming;
mod outcomes;
mod recording;
pub(crate) mod timers;
pub(crate) mod advances;
pub(crate) mod undoing;

/// What is asked for, as far as it does not matter what is answered.
pub(crate) trait Asking: Send + Sync + 'static {
    /// Returns how it stands in the ledger.
    fn action(&self) -> Action;

    /// Returns what whoever asks must be allowed to do: all of it. Empty where that depends on more, and is decided
    /// with the rest.
    fn demands(&self) -> &'static [Demand] {
        match self.action().demands() {
            Demanded::All(demands) => demands,
            Demanded::Own | Demanded::Reading | Demanded::Nothing | Demanded::Service => &[],
        }
    }

    /// Returns what it is aimed at.
    fn aim(&self) -> Aim;

    /// Returns what is attempted, as an entry about a refusal names it.
    fn operation(&self) -> &str {
        self.action().word()
    }

    /// Returns what must be known of the store before it can be decided.
    fn needs(&self) -> Needs<'_> {
        Needs::default()
    }

    /// Returns whether it counts that what the caller showed is still good.
    fn needs_credential(&self) -> bool {
        true
    }

    /// Returns whether it only asks what was answered before.
    fn is_asked_again(&self) -> bool {
        false
    }

    /// Returns whether it only asks what may or would be done: it tells of nothing that happened, unless it made the timeline.
    fn only_asks(&self) -> bool {
        false
    }

    /// Returns what it only catches up with, where that is all that it is for.
    fn catches_up(&self) -> Option<CatchUp> {
        None
    }

    /// Returns another timeline that it relies on.
    fn relies_on(&self) -> Option<&TimelineId> {
        None
    }

    /// Returns how many events it carries.
    fn events_count(&self) -> usize {
        0
    }
}

/// What is asked for, and how it is decided.
pub(crate) trait Deciding: Asking {
    /// What is answered, and what a repetition of the request is answered with.
    type Change: Change;

    /// Decides. What is in the draft happens if this succeeds, and nothing of it otherwise.
    ///
    /// # Errors
    /// Why it does not happen.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<Self::Change>, Refusal>;

    /// Lets a change that happened earlier be told to whoever asks again.
    ///
    /// # Errors
    /// They may not do it any more.
    fn check_told(&self, _draft: &Draft<'_>, _change: &Self::Change) -> Result<(), Denial> {
        Ok(())
    }
}

/// Returns a demand as all that is demanded.
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

/// What is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A timeline of users that is there.
    Timeline,
    /// A timeline of users; naming one that is not there makes it.
    TimelineOrNew,
    /// A timeline that is not there yet.
    NewTimeline,
    /// Any ledger, `system` too.
    Ledger,
    /// A timeline of users that is there, to be ended. Who asks again is told although it is not there any more.
    TimelineToEnd,
}

impl Aim {
    /// Returns whether a timeline that is not there is made.
    pub(crate) const fn makes_timeline(self) -> bool {
        matches!(self, Self::TimelineOrNew | Self::NewTimeline)
    }

    /// Returns whether it is for timelines that belong to users, which `system` does not.
    pub(crate) const fn is_about_a_timeline(self) -> bool {
        matches!(self, Self::Timeline | Self::TimelineOrNew | Self::TimelineToEnd)
    }
}

/// What must be known before something can be decided.
#[derive(Default)]
pub(crate) struct Needs<'a> {
    /// Events of the timeline that is aimed at.
    pub(crate) events: Vec<&'a EventId>,
    /// Whether these events are to be known on every fork of that timeline too.
    pub(crate) forks: bool,
    /// Whether the outcomes that hold the content of these events are to be known, those of forks too.
    pub(crate) outcomes: bool,
    /// Whether it is to be known of those of them that do not stand what ended them.
    pub(crate) endings: bool,
    /// A sealed record.
    pub(crate) data: Option<&'a DataId>,
    /// The position of an entry of the timeline that is aimed at.
    pub(crate) entry: Option<u64>,
    /// What is to be known of timers of the timeline that is aimed at.
    pub(crate) timers: TimersNeeded,
    /// Who is at work on the timeline that is aimed at, where several services share the store.
    pub(crate) at_work: Option<NeedsAtWork<'a>>,
}

impl<'a> Needs<'a> {
    /// Returns what must be known of events that timers are to record.
    pub(crate) fn looked_up(look_up: &'a LookUp) -> Self {
        Self { events: look_up.event_ids.iter().collect(), endings: true, ..Self::default() }
    }
}

/// What must be known of who is at work on a timeline. Nobody begins or ends any work there until the step ends.
#[derive(Default)]
pub(crate) struct NeedsAtWork<'a> {
    /// Whether something holds firings that were made by an entry at that position or a later one.
    pub(crate) open_since: Option<u64>,
    /// Firings of which it is needed who has them.
    pub(crate) firings: &'a [FiringId],
}

/// What must be known of timers before something can be decided.
#[derive(Default)]
pub(crate) struct TimersNeeded {
    pub(crate) wanted: Vec<TimersWanted>,
    /// Whether it must be as it is right before this is decided: then it waits for the next group where this one has
    /// changed any timer.
    pub(crate) is_exact: bool,
}

impl TimersNeeded {
    pub(crate) const fn exactly(wanted: Vec<TimersWanted>) -> Self {
        Self { wanted, is_exact: true }
    }
}

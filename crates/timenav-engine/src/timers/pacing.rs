//! The retry delay of failed attempts.

use std::collections::HashMap;

use timenav_core::ids::FiringId;
use timenav_core::limits::WEBHOOK_RETRY_BACKLOG_MAX;
use timenav_core::timers::FiringState;
use timenav_core::timers::retries::Pace;

use crate::ledger::head::TimelineState;

#[derive(Clone, Debug)]
pub(crate) struct KnownFiring {
    pub(crate) firing_id: FiringId,
    pub(crate) state: FiringState,
    /// The position of the entry that created it.
    pub(crate) made: u64,
}

pub(crate) struct Paces {
    known: HashMap<FiringId, Pace>,
    other: Pace,
}

impl Paces {
    pub(crate) fn of(state: &TimelineState, known: &[KnownFiring]) -> Self {
        let pace = |firing: &KnownFiring| (firing.firing_id.clone(), pace(state, Some(firing.made)));
        Self { known: known.iter().map(pace).collect(), other: pace_of_ended(state) }
    }

    pub(crate) fn pace(&self, firing_id: &FiringId) -> Pace {
        self.known.get(firing_id).copied().unwrap_or(self.other)
    }
}

/// Returns the retry delay of a firing whose lease expired, for which nothing else is known.
pub(crate) fn pace_of_ended(state: &TimelineState) -> Pace {
    pace(state, None)
}

/// An advance only waits for the firings of its current instant.
fn pace(state: &TimelineState, made: Option<u64>) -> Pace {
    let (clock, timers) = (&state.head.clock, &state.head.timers);
    let is_running = match &timers.advance {
        Some(advance) if made.is_none_or(|made| made >= advance.stepped) => return Pace::Hurried,
        Some(advance) => advance.is_running,
        None => clock.is_running(),
    };
    if is_running && timers.pending <= WEBHOOK_RETRY_BACKLOG_MAX { Pace::Patient } else { Pace::Steady }
}

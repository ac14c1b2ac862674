use serde::{Deserialize, Serialize};
use timenav_core::ids::{EventId, FiringId};
use timenav_core::limits::FIRINGS_AT_ONCE_MAX;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::FiringState;
use timenav_core::timers::holds::Hold;

use crate::ports::timer_rows::{TimerQuery, TimerRow};
use crate::requests::stored;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimerAfter {
    #[serde(flatten)]
    pub(crate) timer: TimerRow,
    pub(crate) changed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FiringsAfter {
    #[serde(with = "stored")]
    pub(crate) firings: Vec<(FiringId, FiringState)>,
    /// Whether they are only retried, so that no entry was written.
    #[serde(default, rename = "untold", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_withheld: bool,
}

/// No entry records a hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AdvancesHeld {
    #[serde(flatten, with = "stored")]
    pub(crate) hold: Hold,
}

/// How many of the next timers to read. If more fall due at once, they are read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A few: usually no more fall due at once.
    #[default]
    Few,
    More,
    /// The maximum that may fall due at once.
    Many,
}

impl Reach {
    pub(crate) const fn enough_for(count: u64) -> Self {
        if count <= Self::Few.timers_max() as u64 {
            Self::Few
        } else if count <= Self::More.timers_max() as u64 {
            Self::More
        } else {
            Self::Many
        }
    }

    pub(crate) const fn timers_max(self) -> usize {
        match self {
            Self::Few => 24,
            Self::More => 128,
            Self::Many => FIRINGS_AT_ONCE_MAX,
        }
    }

    /// Reads one timer more than can fire, to know the next one.
    pub(crate) const fn query(self) -> TimerQuery {
        TimerQuery::Earliest(self.timers_max() + 1)
    }
}

/// Prefetched state for firing timers.
#[derive(Clone, Debug, Default)]
pub(crate) struct LookUp {
    pub(crate) reach: Reach,
    /// The clock's reading: later timers are not due.
    pub(crate) now: Option<Instant<Virtual>>,
    pub(crate) event_ids: Vec<EventId>,
}

impl LookUp {
    pub(crate) fn of_many(&self) -> Self {
        Self { reach: Reach::Many, ..self.clone() }
    }
}

/// Timers fired, or an advance moved on. Only the service itself requests this.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TimersMoved {
    pub(crate) fired: u64,
    pub(crate) ended: bool,
    /// What to prefetch before trying again, if that is why nothing was decided.
    #[serde(skip)]
    pub(crate) look_up: Option<LookUp>,
}

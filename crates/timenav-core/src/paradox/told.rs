//! A paradox as it is told.

use std::fmt;

use super::kinds::{Grade, Kind, Severity};
use super::stream::Jumped;
use super::uncertain::Uncertain;
use crate::event::CauseKind;
use crate::ids::{AnchorId, EventId, TimerId};
use crate::time::{Instant, Span, Virtual};

/// A paradox, or an observation about the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Paradox {
    /// What kind.
    pub kind: Kind,
    /// How sure.
    pub grade: Grade,
    /// How bad.
    pub severity: Severity,
    /// Whether it is only an observation. A cause that stays unrecorded longer than the grace is
    /// more than that.
    pub is_observation: bool,
    /// The events, interventions and firings involved, in order.
    pub events: Vec<EventId>,
    /// What about them shows it.
    pub witness: Witness,
    /// An explanation in a sentence.
    pub explanation: String,
    /// Position of the first of the records that show it.
    pub first: u64,
    /// Position of the last of the records that show it: since then it is there.
    pub since: u64,
    /// Which one it is.
    pub key: Key,
}

/// Says which paradox one is. Two lists of one timeline are compared by these; how a paradox is
/// told, and with which of several shortest cycles, is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub(super) String);

impl Key {
    /// Returns the key as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One edge of a cycle, and why it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was the reason.
    pub cause: EventId,
    /// What it was the reason for.
    pub effect: EventId,
    /// How strong a reason.
    pub kind: CauseKind,
    /// How much later the effect is than the cause; negative if it is earlier.
    pub gap: Span,
}

/// The timer of a firing that is a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerTold {
    /// Its name, if an entry tells it.
    pub timer_id: Option<TimerId>,
    /// The moment of the firing.
    pub due: Instant<Virtual>,
    /// How the moment was taken back, if it was.
    pub taken: Option<Taken>,
}

/// How the moment of a firing was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The timer was cancelled while the clock showed an earlier moment.
    Cancelled(Instant<Virtual>),
    /// The timer was changed while the clock showed an earlier moment, and does not have this one any more.
    Changed(Instant<Virtual>),
    /// It comes again, in another round.
    ComesAgain,
    /// History returned to an anchor that was set before.
    Returned,
}

impl Taken {
    /// Returns the word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled(_) => "cancelled",
            Self::Changed(_) => "changed",
            Self::ComesAgain => "comes_again",
            Self::Returned => "returned",
        }
    }
}

/// What shows a paradox.
#[derive(Clone, Debug, PartialEq)]
pub enum Witness {
    /// P01: an effect and its cause, and when they may have been.
    Edge {
        /// What was the reason.
        cause: EventId,
        /// What it was the reason for.
        effect: EventId,
        /// When the cause may have been; when it may have been over, where effects wait for that.
        cause_time: Uncertain,
        /// When the effect may have been.
        effect_time: Uncertain,
        /// By how much the effect is earlier, as the times were given.
        gap: Span,
        /// The timer, where the cause is a firing.
        timer: Option<TimerTold>,
    },
    /// P02, P03: one shortest cycle.
    Cycle {
        /// The first edges of it: at most [`super::PATH_EVENTS_MAX`].
        steps: Vec<Step>,
        /// How many edges it has.
        length: usize,
        /// How many events cause each other in circles there.
        component_size: usize,
    },
    /// P04: how an event led to the intervention that took it away.
    Path {
        /// The event that was taken away.
        event: EventId,
        /// The intervention.
        intervention: EventId,
        /// The way from one to the other, both included: at most [`super::PATH_EVENTS_MAX`].
        path: Vec<EventId>,
        /// How many nodes it has.
        length: usize,
    },
    /// P05: an event, and what it requires and lost.
    Orphan {
        /// The event that stands.
        effect: EventId,
        /// What it requires.
        cause: EventId,
        /// Where in the ledger that was taken away.
        cancelled_at: Option<u64>,
        /// What took it away.
        intervention: Option<EventId>,
        /// How many events that stand hang on the orphan, up to [`super::IMPACT_EVENTS_MAX`].
        impact: usize,
        /// The timer, where what it requires is a firing.
        timer: Option<TimerTold>,
    },
    /// P06: an event, and what it names and nobody recorded.
    Dangling {
        /// The event that stands.
        effect: EventId,
        /// What it names.
        cause: EventId,
        /// Whether it waits for longer than the grace.
        is_overdue: bool,
    },
    /// P07: two events of one actor.
    Apart {
        /// Who.
        actor: String,
        /// Where.
        pair: [EventId; 2],
        /// How far apart they are in metres, radii taken off; `None` where only names differ.
        metres: Option<f64>,
        /// The most time there was to get there if it is definite, else the least.
        gap: Span,
        /// How fast that would have been; `None` where there was no time at all, or no distance.
        needed_kmh: Option<f64>,
        /// The names of the places, where only names differ.
        names: Option<[String; 2]>,
    },
    /// P08: two events that assert different values.
    Contradiction {
        /// Which.
        pair: [EventId; 2],
        /// About what.
        subject: String,
        /// What is said of it.
        predicate: String,
        /// What each says: JSON.
        values: [String; 2],
        /// The first moment of which both tell.
        from: Instant<Virtual>,
        /// The first moment after that of which not both tell.
        until: Instant<Virtual>,
    },
    /// P09: two events that tell the same.
    Duplicate {
        /// Which. By which rule is the grade.
        pair: [EventId; 2],
    },
    /// P10: an event, and what the clock showed when it was recorded.
    Future {
        /// Which.
        event: EventId,
        /// When it was, at the earliest.
        time: Instant<Virtual>,
        /// What the clock showed.
        clock_at: Instant<Virtual>,
    },
    /// P11: an event that its source recorded after a later one.
    Late {
        /// The one recorded before.
        previous: EventId,
        /// This one.
        event: EventId,
        /// How much earlier it happened, at least.
        lateness: Span,
    },
    /// P12: a jump of a clock between two records.
    Jump {
        /// Where they are in the ledger.
        positions: [u64; 2],
        /// Which clock, and between which readings.
        jumped: Jumped,
    },
    /// P13: an anchor, and an event that stood when it was set.
    Anchor {
        /// Which anchor.
        anchor_id: AnchorId,
        /// The moment it marks.
        timestamp: Instant<Virtual>,
        /// Which event.
        event: EventId,
        /// Where in the ledger it was changed last.
        changed_at: u64,
    },
    /// P14: numbers that a source did not use.
    Gap {
        /// Which source.
        source: Option<String>,
        /// The first missing one.
        first: u64,
        /// The last missing one.
        last: u64,
    },
    /// P14: a number that a source used twice.
    Repeat {
        /// Which source.
        source: Option<String>,
        /// Which number.
        sequence: u64,
        /// For what.
        pair: [EventId; 2],
    },
    /// P15: an event that ends before it begins.
    Inverted {
        /// Which.
        event: EventId,
        /// When it begins.
        time: Instant<Virtual>,
        /// When it ends.
        end: Instant<Virtual>,
    },
    /// P15: an event whose versions do not follow each other.
    Unlinked {
        /// Which.
        event: EventId,
    },
}

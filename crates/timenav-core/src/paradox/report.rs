use std::fmt;

use super::kinds::{Grade, Kind, Severity};
use crate::event::CauseKind;
use crate::ids::{AnchorId, EventId, TimerId};
use crate::paradox::rules::stream::Jumped;
use crate::paradox::rules::uncertain::Uncertain;
use crate::time::{Instant, Span, Virtual};

#[derive(Clone, Debug, PartialEq)]
pub struct Paradox {
    pub kind: Kind,
    pub grade: Grade,
    pub severity: Severity,
    /// Whether it is only an observation. A cause that is unrecorded for longer than the grace period is a paradox.
    pub is_observation: bool,
    /// The events, interventions and firings involved, in order.
    pub events: Vec<EventId>,
    pub witness: Witness,
    pub explanation: String,
    /// Position of the first record that shows it.
    pub first: u64,
    /// Position of the last record that shows it. It exists since then.
    pub since: u64,
    pub key: Key,
}

/// The identity of a paradox, for comparing two lists of one timeline. It does not depend on the explanation, nor on
/// which of several shortest cycles is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub(super) String);

impl Key {
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub cause: EventId,
    pub effect: EventId,
    pub kind: CauseKind,
    /// Time from the cause to the effect; negative if the effect is earlier.
    pub gap: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerDetail {
    /// The timer's id, if an entry records it.
    pub timer_id: Option<TimerId>,
    pub due: Instant<Virtual>,
    pub taken: Option<Taken>,
}

/// How the moment of a firing was revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The timer was canceled at this earlier moment of the clock.
    Cancelled(Instant<Virtual>),
    /// The timer was changed at this earlier moment of the clock, and its new schedule does not include the firing's.
    Changed(Instant<Virtual>),
    /// It recurs, in another round.
    ComesAgain,
    /// History returned to an anchor that was set before it.
    Returned,
}

impl Taken {
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

#[derive(Clone, Debug, PartialEq)]
pub enum Witness {
    /// P01: an effect and its cause, with their possible times.
    Edge {
        cause: EventId,
        effect: EventId,
        /// The possible times of the cause, or of its end if effects must wait for that.
        cause_time: Uncertain,
        effect_time: Uncertain,
        /// How much earlier the effect is, by the recorded times.
        gap: Span,
        /// The timer, if the cause is a firing.
        timer: Option<TimerDetail>,
    },
    /// P02, P03: a shortest cycle.
    Cycle {
        /// Its first edges, up to [`super::PATH_EVENTS_MAX`].
        steps: Vec<Step>,
        /// Its number of edges.
        length: usize,
        /// Number of events in the strongly connected component.
        component_size: usize,
    },
    /// P04: how an event led to the intervention that removed it.
    Path {
        event: EventId,
        intervention: EventId,
        /// The path between them, including both, up to [`super::PATH_EVENTS_MAX`] nodes.
        path: Vec<EventId>,
        /// The full number of nodes.
        length: usize,
    },
    /// P05: an event, and a required cause that was removed.
    Orphan {
        effect: EventId,
        cause: EventId,
        /// The ledger position of the removal.
        cancelled_at: Option<u64>,
        intervention: Option<EventId>,
        /// Number of live events that depend on the orphan, up to [`super::IMPACT_EVENTS_MAX`].
        impact: usize,
        timer: Option<TimerDetail>,
    },
    /// P06: an event, and a cause that was never recorded.
    Dangling {
        effect: EventId,
        cause: EventId,
        /// Whether the cause is unrecorded for longer than the grace period.
        is_overdue: bool,
    },
    /// P07: two events of one actor.
    Apart {
        actor: String,
        pair: [EventId; 2],
        /// Distance in meters, minus the radii; `None` if only names differ.
        metres: Option<f64>,
        /// The time available for traveling: the longest possible for a definite paradox, otherwise the shortest.
        gap: Span,
        /// The required speed; `None` if there was no time, or the distance is unknown.
        needed_kmh: Option<f64>,
        /// The names of the places, if only names differ.
        names: Option<[String; 2]>,
    },
    /// P08: two events that assert different values.
    Contradiction {
        pair: [EventId; 2],
        subject: String,
        predicate: String,
        /// The asserted values, as JSON.
        values: [String; 2],
        from: Instant<Virtual>,
        /// The end of the overlap, excluded.
        until: Instant<Virtual>,
    },
    /// P09: two events with the same content.
    Duplicate {
        /// The grade says by which rule they are duplicates.
        pair: [EventId; 2],
    },
    /// P10: an event, and the clock when it was recorded.
    Future {
        event: EventId,
        /// The earliest possible time of the event.
        time: Instant<Virtual>,
        clock_at: Instant<Virtual>,
    },
    /// P11: an event that its source recorded after a later one.
    Late {
        /// The later event, recorded first.
        previous: EventId,
        event: EventId,
        /// How much earlier it happened, at least.
        lateness: Span,
    },
    /// P12: a clock jump between two records.
    Jump { positions: [u64; 2], jumped: Jumped },
    /// P13: an anchor, and an earlier event that was changed.
    Anchor {
        anchor_id: AnchorId,
        timestamp: Instant<Virtual>,
        event: EventId,
        /// The ledger position of the last change.
        changed_at: u64,
    },
    /// P14: missing sequence numbers of a source.
    Gap { source: Option<String>, first: u64, last: u64 },
    /// P14: a repeated sequence number of a source.
    Repeat { source: Option<String>, sequence: u64, pair: [EventId; 2] },
    /// P15: an event that ends before it starts.
    Inverted { event: EventId, time: Instant<Virtual>, end: Instant<Virtual> },
    /// P15: an event whose versions do not form a valid sequence.
    Unlinked { event: EventId },
}

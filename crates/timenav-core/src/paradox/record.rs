//! What a view is fed: the records of one timeline that matter to it, in the order of the ledger.

use crate::clock::ClockMoved;
use crate::event::{Cause, EventDraft};
use crate::ids::{AnchorId, EventId, TimerId};
use crate::time::{Instant, Virtual, Wall};
use crate::timers::{Fallen, Schedule};

/// One record of a ledger, as far as paradoxes are concerned.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A version of an event came to stand, in place of the one before it.
    Version(Version<'a>),
    /// An event ceased to stand.
    Cancelled(Cancelled<'a>),
    /// Somebody intervened. What that did to the event is another record, which follows.
    Intervention(Intervention<'a>),
    /// An anchor was set.
    AnchorSet(AnchorSet<'a>),
    /// The clock was changed, which explains where it stands from here on.
    ClockMoved {
        /// Position in the ledger.
        position: u64,
        /// Where it went.
        moved: &'a ClockMoved,
    },
    /// Something happened to timers. When it was recorded is told by another record.
    Timers(TimerRecord<'a>),
    /// Any other record: only when it was recorded matters.
    Other(Stamp),
}

/// Where and when something was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Position in the ledger.
    pub position: u64,
    /// When, by the host.
    pub recorded_at: Instant<Wall>,
    /// What the timeline's clock showed.
    pub clock_at: Instant<Virtual>,
}

/// A version of an event that came to stand.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// Which event.
    pub event_id: &'a EventId,
    /// Where and when it was recorded.
    pub stamp: Stamp,
    /// What it says. Its `event_id` is not looked at.
    pub draft: &'a EventDraft,
    /// How it came.
    pub came: Came,
}

/// How a version came to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// The event was recorded.
    Recorded,
    /// The event was corrected.
    Corrected,
    /// An intervention changed it.
    Changed,
    /// It was put back: whatever took it away does so no more.
    Restored,
}

/// An event that ceased to stand.
#[derive(Clone, Copy, Debug)]
pub struct Cancelled<'a> {
    /// Which event.
    pub event_id: &'a EventId,
    /// Where and when it was recorded.
    pub stamp: Stamp,
    /// The intervention that took it away.
    pub intervention_id: Option<&'a EventId>,
}

/// An intervention. It is part of the history like an event: it has causes, and can be one.
#[derive(Clone, Copy, Debug)]
pub struct Intervention<'a> {
    /// Its own name.
    pub intervention_id: &'a EventId,
    /// Where and when it was recorded.
    pub stamp: Stamp,
    /// When it happened.
    pub time: Instant<Virtual>,
    /// The event it acts on.
    pub event_id: &'a EventId,
    /// Whether it takes that event away. A later [`Came::Restored`] undoes that.
    pub negates: bool,
    /// What it happened because of.
    pub causes: &'a [Cause],
}

/// An anchor that was set.
#[derive(Clone, Copy, Debug)]
pub struct AnchorSet<'a> {
    /// Its name.
    pub anchor_id: &'a AnchorId,
    /// Position in the ledger.
    pub position: u64,
    /// The moment it marks.
    pub timestamp: Instant<Virtual>,
    /// Whether what lies before that moment should stay as it is.
    pub is_fixed: bool,
}

impl Record<'_> {
    /// Returns the position in the ledger.
    #[must_use]
    pub const fn position(&self) -> u64 {
        match self {
            Self::Version(version) => version.stamp.position,
            Self::Cancelled(cancelled) => cancelled.stamp.position,
            Self::Intervention(intervention) => intervention.stamp.position,
            Self::AnchorSet(anchor) => anchor.position,
            Self::ClockMoved { position, .. } => *position,
            Self::Timers(record) => record.position(),
            Self::Other(stamp) => stamp.position,
        }
    }
}

/// What happened to timers, as far as paradoxes are concerned.
#[derive(Clone, Copy, Debug)]
pub enum TimerRecord<'a> {
    /// A timeline begins, whose own timers have positions from here on.
    Begins {
        /// What is added to the position of an entry that sets a timer.
        base: u64,
    },
    /// An entry at a position of its timeline set a timer.
    Set {
        /// The position of the entry.
        entry: u64,
        /// Its name.
        timer_id: &'a TimerId,
    },
    /// A moment of a timer fell due.
    Fired {
        /// Position in the ledger.
        position: u64,
        /// The name of the firing.
        firing_id: &'a EventId,
        /// The timer, the moment and the round.
        fallen: Fallen,
    },
    /// A timer was cancelled or got another schedule, while the clock showed a moment.
    Changed {
        /// Position in the ledger.
        position: u64,
        /// The position of the timer.
        timer: u64,
        /// What the clock showed.
        clock_at: Instant<Virtual>,
        /// When it falls due from here on; `None` if it was cancelled.
        schedule: Option<&'a Schedule>,
    },
    /// A firing without an outcome was superseded.
    Superseded {
        /// Position in the ledger.
        position: u64,
        /// Which.
        fallen: Fallen,
    },
    /// A timer went back to a moment, in another round.
    Rearmed {
        /// Position in the ledger.
        position: u64,
        /// The position of the timer.
        timer: u64,
        /// The moment.
        next: Instant<Virtual>,
        /// The round.
        round: u32,
    },
    /// Timers stand as they stood when an anchor was set.
    Returned {
        /// Position in the ledger.
        position: u64,
        /// Which anchor.
        anchor_id: &'a AnchorId,
    },
}

impl TimerRecord<'_> {
    /// Returns the position in the ledger; of a timeline that begins and a timer that is set, in the timeline's own.
    #[must_use]
    pub const fn position(&self) -> u64 {
        match self {
            Self::Begins { .. } => 0,
            Self::Set { entry, .. } => *entry,
            Self::Fired { position, .. }
            | Self::Changed { position, .. }
            | Self::Superseded { position, .. }
            | Self::Rearmed { position, .. }
            | Self::Returned { position, .. } => *position,
        }
    }
}

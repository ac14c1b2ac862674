//! The input of a view: the relevant records of one timeline, in ledger order.

use crate::clock::ClockMoved;
use crate::event::{Cause, EventDraft};
use crate::ids::{AnchorId, EventId, TimerId};
use crate::time::{Instant, Virtual, Wall};
use crate::timers::{DueFiring, Schedule};

#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A new version of an event became current.
    Version(Version<'a>),
    Cancelled(Cancelled<'a>),
    /// An intervention. Its effect on the event is a separate record that follows.
    Intervention(Intervention<'a>),
    AnchorSet(AnchorSet<'a>),
    /// The clock was changed, which explains where it is from here on.
    ClockMoved {
        position: u64,
        moved: &'a ClockMoved,
    },
    /// Something happened to timers. A separate record has the time of recording.
    Timers(TimerRecord<'a>),
    /// Any other record. Only its stamp is relevant.
    Other(Stamp),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub position: u64,
    pub recorded_at: Instant<Wall>,
    pub clock_at: Instant<Virtual>,
}

#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    pub event_id: &'a EventId,
    pub stamp: Stamp,
    /// The content. Its `event_id` is ignored.
    pub draft: &'a EventDraft,
    pub origin: VersionOrigin,
}

/// Why a version became current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionOrigin {
    Recorded,
    Corrected,
    /// An intervention changed the event.
    Changed,
    /// The event was restored: all interventions that removed it are undone.
    Restored,
}

#[derive(Clone, Copy, Debug)]
pub struct Cancelled<'a> {
    pub event_id: &'a EventId,
    pub stamp: Stamp,
    /// The intervention that canceled it.
    pub intervention_id: Option<&'a EventId>,
}

/// An intervention. Like an event, it is part of the history: it has causes, and can be one.
#[derive(Clone, Copy, Debug)]
pub struct Intervention<'a> {
    pub intervention_id: &'a EventId,
    pub stamp: Stamp,
    pub time: Instant<Virtual>,
    pub event_id: &'a EventId,
    /// Whether it removes the event. A later [`VersionOrigin::Restored`] undoes that.
    pub negates: bool,
    pub causes: &'a [Cause],
}

#[derive(Clone, Copy, Debug)]
pub struct AnchorSet<'a> {
    pub anchor_id: &'a AnchorId,
    pub position: u64,
    pub timestamp: Instant<Virtual>,
    /// Whether events before that moment should not change.
    pub is_fixed: bool,
}

impl Record<'_> {
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

#[derive(Clone, Copy, Debug)]
pub enum TimerRecord<'a> {
    /// Start of a timeline. Its own timers have positions from here on.
    Begins {
        /// Added to the position of an entry that sets a timer.
        base: u64,
    },
    Set {
        entry: u64,
        timer_id: &'a TimerId,
    },
    /// A moment of a timer fell due.
    Fired {
        position: u64,
        firing_id: &'a EventId,
        /// The timer, the moment and the round.
        due_firing: DueFiring,
    },
    /// A timer was canceled or got another schedule.
    Changed {
        position: u64,
        timer: u64,
        clock_at: Instant<Virtual>,
        /// The new schedule; `None` if it was canceled.
        schedule: Option<&'a Schedule>,
    },
    Superseded {
        position: u64,
        due_firing: DueFiring,
    },
    /// A timer returned to a moment, in another round.
    Rearmed {
        position: u64,
        timer: u64,
        next: Instant<Virtual>,
        round: u32,
    },
    /// The timers returned to their state when an anchor was set.
    Returned {
        position: u64,
        anchor_id: &'a AnchorId,
    },
}

impl TimerRecord<'_> {
    /// Returns the ledger position. For `Begins` and `Set` it is a position of the timeline itself.
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

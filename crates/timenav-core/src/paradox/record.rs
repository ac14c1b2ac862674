//! What a view is fed: the records of one timeline that matter to it, in the order of the ledger.

use crate::clock::ClockMoved;
use crate::event::{Cause, EventDraft};
use crate::ids::{AnchorId, EventId};
use crate::time::{Instant, Virtual, Wall};

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
            Self::Other(stamp) => stamp.position,
        }
    }
}

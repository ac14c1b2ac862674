//! Timers, their firings and advances as they are kept, and what can be asked of them.

use std::sync::Arc;

use timenav_core::ids::{AdvanceId, FiringId, QueueId, TimerId};
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_core::timers::{Fallen, FiringState};

/// A timer as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerRow {
    /// Position of the entry that set it.
    pub position: u64,
    /// Its name.
    pub timer_id: TimerId,
    /// Its next moment, if it has one.
    pub next: Option<Instant<Virtual>>,
    /// Grows where moments that fell due come again.
    pub round: u32,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
    /// When it falls due, as JSON.
    pub schedule: Arc<str>,
    /// Where its firings go, as JSON.
    pub deliver: Arc<str>,
    /// The queue that they wait in.
    pub queue: QueueId,
    /// Firings of one key are worked on one after the other.
    pub order_key: Option<String>,
    /// What is handed to whoever claims a firing, as JSON. Empty where it was not asked for.
    pub payload: Arc<str>,
    /// Who set it.
    pub set_by: String,
    /// When, by the host.
    pub set_at: Instant<Wall>,
}

impl TimerRow {
    /// Returns how many bytes its texts have.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.schedule.len() + self.deliver.len() + self.payload.len() + self.timer_id.as_str().len()
    }
}

/// Where a timer goes on as it falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerMove {
    /// The timer.
    pub position: u64,
    /// Its next moment, if it has one.
    pub next: Option<Instant<Virtual>>,
    /// Its round.
    pub round: u32,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
}

/// A firing as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiringRow {
    /// The timer, the moment and the round.
    pub fallen: Fallen,
    /// Its name.
    pub firing_id: FiringId,
    /// The name of the timer.
    pub timer_id: TimerId,
    /// The queue that it waits in.
    pub queue: QueueId,
    /// Firings of one key are worked on one after the other.
    pub order_key: Option<String>,
    /// What became of it.
    pub state: FiringState,
    /// Position of the entry that made it.
    pub made: u64,
    /// Position of the entry that tells of its outcome.
    pub settled: Option<u64>,
    /// Position of the entry that began the advance that it was made in.
    pub advance: Option<u64>,
    /// Why it failed.
    pub reason: Option<String>,
}

/// The outcome of a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiringEnd {
    /// Which firing.
    pub fallen: Fallen,
    /// What became of it.
    pub state: FiringState,
    /// Position of the entry that tells of it.
    pub settled: u64,
    /// Why it failed.
    pub reason: Option<String>,
}

/// An advance that has ended, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceRow {
    /// Position of the entry that began it.
    pub position: u64,
    /// Its name.
    pub advance_id: AdvanceId,
    /// Position of the entry that ended it.
    pub ended: u64,
    /// What came of it, as JSON.
    pub record: Arc<str>,
}

/// What happens to rows of timers in one step.
#[derive(Clone, Debug, Default)]
pub struct TimerRows {
    /// Timers that are there no more, by position. They go before others come.
    pub gone: Vec<u64>,
    /// Timers that are new, or were changed: in the place of those at the same position.
    pub set: Vec<TimerRow>,
    /// Timers that go on to another moment.
    pub moved: Vec<TimerMove>,
    /// New firings.
    pub fired: Vec<FiringRow>,
    /// Outcomes of firings that were there before the step, or are in it.
    pub settled: Vec<FiringEnd>,
    /// Advances that have ended.
    pub advances: Vec<AdvanceRow>,
}

impl TimerRows {
    /// Returns whether nothing happens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { gone, set, moved, fired, settled, advances } = self;
        gone.is_empty()
            && set.is_empty()
            && moved.is_empty()
            && fired.is_empty()
            && settled.is_empty()
            && advances.is_empty()
    }

    /// Goes on with what happens later.
    pub(crate) fn extend(&mut self, later: Self) {
        let Self { gone, set, moved, fired, settled, advances } = later;
        self.gone.extend(gone);
        self.set.extend(set);
        self.moved.extend(moved);
        self.fired.extend(fired);
        self.settled.extend(settled);
        self.advances.extend(advances);
    }
}

/// Which timers are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerStanding {
    /// Those with a next moment, by it.
    Armed,
    /// Those without one that were not cancelled, by position.
    Done,
    /// Those that were cancelled, by position.
    Cancelled,
}

/// What is asked of the timers of one timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimersWanted {
    /// The timer of a name.
    Named(TimerId),
    /// The timers at these positions, in their order.
    At(Vec<u64>),
    /// At most so many armed timers by next moment and position, without what they hand over.
    Earliest(usize),
    /// At most so many armed timers up to a moment, after one, by next moment and position, without what they hand over.
    ArmedUntil(Instant<Virtual>, Option<(Instant<Virtual>, u64)>, usize),
    /// At most so many timers in one state, after one: by next moment and position where they are armed, otherwise by
    /// position.
    Listed(TimerStanding, Option<(Instant<Virtual>, u64)>, usize),
    /// At most so many armed timers by name, after one.
    ArmedByName(Option<TimerId>, usize),
    /// At most so many timers by position, after one.
    ByPosition(Option<u64>, usize),
    /// The firings of these names.
    Firings(Vec<FiringId>),
    /// At most so many firings of the timer at a position, the newest first.
    FiringsOf(u64, usize),
    /// At most so many firings of the timer at a position in their order, after one.
    FiringsOfAfter(u64, Option<Fallen>, usize),
    /// At most so many firings without an outcome in their order, after one.
    PendingAfter(Option<Fallen>, usize),
    /// At most so many firings of a queue that have no outcome, in the order in which they are offered.
    Pending(QueueId, usize),
    /// At most so many firings without an outcome that were made by an entry at a position or a later one.
    PendingSince(u64, usize),
    /// At most so many firings of the advance that began at a position, which passed from one moment to another.
    OfAdvance(u64, Instant<Virtual>, Instant<Virtual>, usize),
    /// At most so many firings in their order, after one.
    FiringsAfter(Option<Fallen>, usize),
    /// The advance of a name, if it has ended.
    Advance(AdvanceId),
    /// At most so many advances by position, after one.
    Advances(Option<u64>, usize),
}

impl TimersWanted {
    /// Returns whether a step may change what is found. `has_outcome` tells whether one of the firings that were found by
    /// their names has come to its outcome since.
    pub(crate) fn may_change_by(&self, rows: &TimerRows, has_outcome: impl Fn() -> bool) -> bool {
        let TimerRows { gone, set, moved, fired, settled, advances } = rows;
        match self {
            Self::Named(_)
            | Self::At(_)
            | Self::Earliest(_)
            | Self::ArmedUntil(..)
            | Self::Listed(..)
            | Self::ArmedByName(..)
            | Self::ByPosition(..) => !(gone.is_empty() && set.is_empty() && moved.is_empty()),
            Self::Firings(_) => !fired.is_empty() || has_outcome(),
            Self::FiringsOf(..)
            | Self::FiringsOfAfter(..)
            | Self::PendingAfter(..)
            | Self::Pending(..)
            | Self::PendingSince(..)
            | Self::OfAdvance(..)
            | Self::FiringsAfter(..) => !(fired.is_empty() && settled.is_empty()),
            Self::Advance(_) | Self::Advances(..) => !advances.is_empty(),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimersFound {
    /// Timers.
    pub timers: Vec<TimerRow>,
    /// Firings.
    pub firings: Vec<FiringRow>,
    /// Advances.
    pub advances: Vec<AdvanceRow>,
}

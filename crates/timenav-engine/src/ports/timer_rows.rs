use std::sync::Arc;

use serde::{Deserialize, Serialize};
use timenav_core::ids::{AdvanceId, FiringId, QueueId, TimerId};
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_core::timers::{DueFiring, FiringState};

use crate::requests::stored;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerRow {
    /// Position of the entry that set it.
    pub position: u64,
    #[serde(with = "stored")]
    pub timer_id: TimerId,
    #[serde(with = "stored")]
    pub next: Option<Instant<Virtual>>,
    /// Incremented when due times recur that have fired already.
    pub round: u32,
    #[serde(rename = "cancelled")]
    pub is_cancelled: bool,
    /// The schedule, as JSON.
    #[serde(with = "stored")]
    pub schedule: Arc<str>,
    /// The delivery, as JSON.
    #[serde(with = "stored")]
    pub deliver: Arc<str>,
    #[serde(with = "stored")]
    pub queue: QueueId,
    /// Firings with the same key are worked on one after the other.
    pub order_key: Option<String>,
    /// The payload handed to workers, as JSON. Empty if it was not requested.
    #[serde(with = "stored")]
    pub payload: Arc<str>,
    pub set_by: String,
    #[serde(with = "stored")]
    pub set_at: Instant<Wall>,
}

impl TimerRow {
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.schedule.len() + self.deliver.len() + self.payload.len() + self.timer_id.as_str().len()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerMove {
    pub position: u64,
    pub next: Option<Instant<Virtual>>,
    pub round: u32,
    pub is_cancelled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiringRow {
    /// Timer, due time and round.
    pub due_firing: DueFiring,
    pub firing_id: FiringId,
    pub timer_id: TimerId,
    pub queue: QueueId,
    pub order_key: Option<String>,
    pub state: FiringState,
    /// Position of the entry that created it.
    pub made: u64,
    /// Position of the entry that settled it.
    pub settled: Option<u64>,
    /// Position of the entry that began the advance in which it was created.
    pub advance: Option<u64>,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiringEnd {
    pub due_firing: DueFiring,
    pub state: FiringState,
    pub settled: u64,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceRow {
    pub position: u64,
    pub advance_id: AdvanceId,
    pub ended: u64,
    /// Its result, as JSON.
    pub record: Arc<str>,
}

#[derive(Clone, Debug, Default)]
pub struct TimerRows {
    /// Positions of deleted timers. They are deleted before others are inserted.
    pub removed: Vec<u64>,
    /// New and changed timers, which replace those at the same position.
    pub set: Vec<TimerRow>,
    pub moved: Vec<TimerMove>,
    pub fired: Vec<FiringRow>,
    /// Outcomes of firings that existed before the step or are created by it.
    pub settled: Vec<FiringEnd>,
    pub advances: Vec<AdvanceRow>,
}

impl TimerRows {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { removed, set, moved, fired, settled, advances } = self;
        removed.is_empty()
            && set.is_empty()
            && moved.is_empty()
            && fired.is_empty()
            && settled.is_empty()
            && advances.is_empty()
    }

    pub(crate) fn extend(&mut self, later: Self) {
        let Self { removed, set, moved, fired, settled, advances } = later;
        self.removed.extend(removed);
        self.set.extend(set);
        self.moved.extend(moved);
        self.fired.extend(fired);
        self.settled.extend(settled);
        self.advances.extend(advances);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerStatus {
    /// Timers with a next due time, ordered by it.
    Armed,
    /// Timers without one that were not canceled, by position.
    Done,
    /// Canceled timers, by position.
    Cancelled,
}

/// A query for timer rows of one timeline. A `usize` is the maximum number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimerQuery {
    Named(TimerId),
    /// The timers at these positions, in order.
    At(Vec<u64>),
    /// Armed timers by due time and position, without their payloads.
    Earliest(usize),
    /// Armed timers up to an instant, after a given one, by due time and position, without their payloads.
    ArmedUntil(Instant<Virtual>, Option<(Instant<Virtual>, u64)>, usize),
    /// Timers in one state, after a given one: armed ones by due time and position, others by position.
    Listed(TimerStatus, Option<(Instant<Virtual>, u64)>, usize),
    /// Armed timers by name, after a given one.
    ArmedByName(Option<TimerId>, usize),
    /// Timers by position, after a given one.
    ByPosition(Option<u64>, usize),
    Firings(Vec<FiringId>),
    /// Firings of the timer at a position, the newest first.
    FiringsOf(u64, usize),
    /// Firings of the timer at a position in order, after a given one.
    FiringsOfAfter(u64, Option<DueFiring>, usize),
    /// Pending firings in order, after a given one.
    PendingAfter(Option<DueFiring>, usize),
    /// Pending firings of a queue in the order of delivery.
    Pending(QueueId, usize),
    /// Pending firings created by an entry at or after a position.
    PendingSince(u64, usize),
    /// Firings of the advance that began at a position, with due times in a range.
    OfAdvance(u64, Instant<Virtual>, Instant<Virtual>, usize),
    /// Firings in order, after a given one.
    FiringsAfter(Option<DueFiring>, usize),
    /// The advance with that id, if it has ended.
    Advance(AdvanceId),
    /// Advances by position, after a given one.
    Advances(Option<u64>, usize),
}

impl TimerQuery {
    /// `has_outcome` reports whether a firing found by id was settled in the meantime.
    pub(crate) fn may_change_by(&self, rows: &TimerRows, has_outcome: impl Fn() -> bool) -> bool {
        let TimerRows { removed, set, moved, fired, settled, advances } = rows;
        match self {
            Self::Named(_)
            | Self::At(_)
            | Self::Earliest(_)
            | Self::ArmedUntil(..)
            | Self::Listed(..)
            | Self::ArmedByName(..)
            | Self::ByPosition(..) => !(removed.is_empty() && set.is_empty() && moved.is_empty()),
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimersFound {
    pub timers: Vec<TimerRow>,
    pub firings: Vec<FiringRow>,
    pub advances: Vec<AdvanceRow>,
}

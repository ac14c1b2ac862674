use serde::{Deserialize, Serialize};
use timenav_core::ids::{EventId, FiringId, LeaseId, QueueId, TimerId};
use timenav_core::limits::FIRINGS_AT_ONCE_MAX;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::FiringState;
use timenav_core::timers::holds::Hold;

use super::Change;
use crate::ports::timer_rows::{TimerQuery, TimerRow};

#[derive(Clone, Debug)]
pub(crate) struct TimerAfter {
    pub(crate) timer: TimerRow,
    pub(crate) changed: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct TimerAfterRecord {
    position: u64,
    timer_id: String,
    next: Option<i64>,
    round: u32,
    cancelled: bool,
    schedule: String,
    deliver: String,
    queue: String,
    order_key: Option<String>,
    payload: String,
    set_by: String,
    set_at: i64,
    changed: bool,
}

impl Change for TimerAfter {
    const KIND: &'static str = "timer";
    type Record = TimerAfterRecord;

    fn record(&self) -> TimerAfterRecord {
        let Self { timer, changed } = self;
        TimerAfterRecord {
            position: timer.position,
            timer_id: timer.timer_id.to_string(),
            next: timer.next.map(Instant::micros),
            round: timer.round,
            cancelled: timer.is_cancelled,
            schedule: timer.schedule.to_string(),
            deliver: timer.deliver.to_string(),
            queue: timer.queue.to_string(),
            order_key: timer.order_key.clone(),
            payload: timer.payload.to_string(),
            set_by: timer.set_by.clone(),
            set_at: timer.set_at.micros(),
            changed: *changed,
        }
    }

    fn of(record: TimerAfterRecord) -> Option<Self> {
        let next = match record.next {
            Some(micros) => Some(Instant::from_micros(micros)?),
            None => None,
        };
        let timer = TimerRow {
            position: record.position,
            timer_id: TimerId::new(&record.timer_id).ok()?,
            next,
            round: record.round,
            is_cancelled: record.cancelled,
            schedule: record.schedule.into(),
            deliver: record.deliver.into(),
            queue: QueueId::new(&record.queue).ok()?,
            order_key: record.order_key,
            payload: record.payload.into(),
            set_by: record.set_by,
            set_at: Instant::from_micros(record.set_at)?,
        };
        Some(Self { timer, changed: record.changed })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FiringsAfter {
    pub(crate) firings: Vec<(FiringId, FiringState)>,
    /// Whether they are only retried, so that no entry was written.
    pub(crate) is_withheld: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FiringsAfterRecord {
    firings: Vec<(String, String)>,
    #[serde(default, rename = "untold", skip_serializing_if = "std::ops::Not::not")]
    is_withheld: bool,
}

impl Change for FiringsAfter {
    const KIND: &'static str = "firings";
    type Record = FiringsAfterRecord;

    fn record(&self) -> FiringsAfterRecord {
        let one = |(id, state): &(FiringId, FiringState)| (id.to_string(), state.as_str().to_owned());
        FiringsAfterRecord { firings: self.firings.iter().map(one).collect(), is_withheld: self.is_withheld }
    }

    fn of(record: FiringsAfterRecord) -> Option<Self> {
        let one = |(id, state): (String, String)| Some((FiringId::new(&id).ok()?, FiringState::parse(&state)?));
        let is_withheld = record.is_withheld;
        Some(Self { firings: record.firings.into_iter().map(one).collect::<Option<_>>()?, is_withheld })
    }
}

/// No entry records a hold.
#[derive(Clone, Debug)]
pub(crate) struct AdvancesHeld {
    pub(crate) hold: Hold,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AdvancesHeldRecord {
    lease_id: String,
    owner: String,
    reason: String,
    until: i64,
}

impl Change for AdvancesHeld {
    const KIND: &'static str = "advances_held";
    type Record = AdvancesHeldRecord;

    fn record(&self) -> AdvancesHeldRecord {
        let Hold { lease_id, owner, reason, until } = self.hold.clone();
        AdvancesHeldRecord { lease_id: lease_id.to_string(), owner, reason, until: until.micros() }
    }

    fn of(record: AdvancesHeldRecord) -> Option<Self> {
        let AdvancesHeldRecord { lease_id, owner, reason, until } = record;
        let (lease_id, until) = (LeaseId::new(&lease_id).ok()?, Instant::from_micros(until)?);
        Some(Self { hold: Hold { lease_id, owner, reason, until } })
    }
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

impl Change for TimersMoved {
    const KIND: &'static str = "timers_moved";
    type Record = Self;

    fn record(&self) -> Self {
        self.clone()
    }

    fn of(record: Self) -> Option<Self> {
        Some(record)
    }
}

//! Computes the restoration of timers when a clock goes back, outside of the writer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timenav_core::access::Demand;
use timenav_core::clock::{self, ClockCommand};
use timenav_core::ids::TimelineId;
use timenav_core::limits::FIRINGS_AT_ONCE_MAX;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{DueFiring, FiringState, Room, Timer};

use crate::engine::Engine;
use crate::events::location::zone_of;
use crate::ledger::action::Action;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::payload::schedule_of;
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow};
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;
use crate::timers::timing::Settling;
use crate::writer::deciding::timers::restoring::{GoingBack, Restoring, TimerChanged};

const BLOCK_ROWS: usize = 1_000;

/// Firings read at a time: more than one entry creates.
const BLOCK_FIRINGS: usize = 2 * FIRINGS_AT_ONCE_MAX + 1;

/// A timer that may be restored, and its earliest recurring due time.
struct Candidate {
    row: TimerRow,
    /// `None` if it does not fire any more.
    timer: Option<Timer>,
    to: Option<Instant<Virtual>>,
}

impl Candidate {
    fn of(row: TimerRow) -> Result<Self, Refusal> {
        let schedule = schedule_of(&row);
        let schedule = schedule.ok_or_else(|| Refusal::Damaged("a stored timer cannot be read".to_owned()))?;
        let timer = Timer { position: row.position, schedule, next: row.next, round: row.round };
        Ok(Self { timer: (!row.is_cancelled).then_some(timer), row, to: None })
    }

    /// Adds a past due time of the timer, in order. Returns whether it recurs.
    fn take(&mut self, due: Instant<Virtual>, destination: Instant<Virtual>) -> bool {
        let comes_again = self.timer.as_ref().is_some_and(|timer| timer.returns_to(due, destination));
        if comes_again {
            self.to.get_or_insert(due);
        }
        comes_again
    }

    fn changed(self) -> Option<TimerChanged> {
        let Self { row, to, .. } = self;
        let is = TimerRow { next: Some(to?), round: row.round + 1, ..row.clone() };
        Some(TimerChanged { was: Some(row), is: Some(is) })
    }
}

impl Engine {
    /// Computes which timers a clock change restores. `None` if the clock does not go back.
    pub(crate) async fn refiring(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        command: &ClockCommand,
    ) -> Result<Option<GoingBack>, Refusal> {
        // Another service may have moved the clock, which determines whether it goes back.
        self.catch_up_with(timeline).await?;
        if self.state(timeline).is_none() {
            return Ok(None);
        }
        let action = if matches!(command, ClockCommand::Travel { .. }) { Action::Travel } else { Action::Rewind };
        let state = self.admit(caller, timeline, Demand::Steer, action.word()).await?;
        self.going_back(caller, state, command).await
    }

    /// Like [`Engine::refiring`], for an authorized caller.
    pub(crate) async fn going_back(
        &self,
        caller: &Caller,
        state: Arc<TimelineState>,
        command: &ClockCommand,
    ) -> Result<Option<GoingBack>, Refusal> {
        let (clock, host) = (&state.head.clock, self.host(&state));
        let now = clock.now(host);
        // Errors of the clock are reported when the change is decided.
        let Ok(moved) = clock::decide(clock, command, &zone_of(self.ports(), clock.location.as_deref()), host) else {
            return Ok(None);
        };
        let Some(destination) = moved.map(|moved| moved.moment.at).filter(|destination| *destination < now) else {
            return Ok(None);
        };
        let seen = Arc::clone(&state.head.timers);
        let engine = self.clone();
        let working = async move { engine.coming_again(&state, destination).await };
        let restoring = self.long_work().in_turn(caller, working).await?;
        Ok(Some(GoingBack { restoring, seen, destination: Some(destination) }))
    }

    async fn coming_again(&self, state: &TimelineState, destination: Instant<Virtual>) -> Result<Restoring, Refusal> {
        let (key, timers) = (state.head.key, &state.head.timers);
        let mut room = Room::default();
        let mut candidates: BTreeMap<u64, Candidate> = BTreeMap::new();
        let mut superseded = Vec::new();
        // Start after all firings at the target itself.
        let mut after = DueFiring { due: destination, position: i64::MAX.unsigned_abs(), round: u32::MAX };
        while timers.last.is_some() {
            let query = TimerQuery::FiringsAfter(Some(after), BLOCK_ROWS);
            let firings = self.store().timer_rows(key, query).await?.firings;
            let Some(last) = firings.last() else { break };
            after = last.due_firing;
            room.look(firings.len())?;
            let positions: BTreeSet<u64> = firings.iter().map(|firing| firing.due_firing.position).collect();
            let unknown = positions.into_iter().filter(|position| !candidates.contains_key(position)).collect();
            for row in self.timers_at(key, unknown, &mut room).await? {
                candidates.insert(row.position, Candidate::of(row)?);
            }
            for firing in firings {
                // Firings of removed timers do not recur.
                let Some(candidate) = candidates.get_mut(&firing.due_firing.position) else { continue };
                if candidate.take(firing.due_firing.due, destination) && firing.state == FiringState::Pending {
                    room.firing()?;
                    superseded.push(firing);
                }
            }
        }
        let changed: Vec<TimerChanged> = candidates.into_values().filter_map(Candidate::changed).collect();
        let moments = changed.iter().filter_map(|timer| timer.is.as_ref()?.next);
        let next = timers.next.into_iter().chain(moments).min();
        Ok(Restoring { timers: changed, superseded, fired: Vec::new(), next })
    }

    pub(crate) async fn timers_at(
        &self,
        key: TimelineKey,
        positions: Vec<u64>,
        room: &mut Room,
    ) -> Result<Vec<TimerRow>, Refusal> {
        let mut found = Vec::with_capacity(positions.len());
        for some in positions.chunks(BLOCK_ROWS) {
            let rows = self.store().timer_rows(key, TimerQuery::At(some.to_vec())).await?.timers;
            rows.iter().try_for_each(|row| room.timer(row.bytes()))?;
            found.extend(rows);
        }
        Ok(found)
    }

    pub(crate) async fn pending_firings(
        &self,
        key: TimelineKey,
        room: &mut Room,
    ) -> Result<BTreeMap<DueFiring, FiringRow>, Refusal> {
        let (mut found, mut made) = (BTreeMap::new(), 0);
        loop {
            let rows = self.store().timer_rows(key, TimerQuery::PendingSince(made, BLOCK_FIRINGS)).await?.firings;
            let is_all = rows.len() < BLOCK_FIRINGS;
            // One entry creates fewer firings than are read at a time, so the next ones are from a later entry.
            made = rows.last().map_or(made, |last| last.made);
            for row in rows {
                if found.insert(row.due_firing, row).is_none() {
                    room.firing()?;
                }
            }
            if is_all {
                return Ok(found);
            }
        }
    }

    /// Revokes the leases of firings once they are superseded.
    pub(crate) fn superseding<'a>(&'a self, timeline: &'a TimelineId, restoring: &Restoring) -> Settling<'a> {
        let named = |firing: &FiringRow| firing.firing_id.clone();
        Settling::begin(self.timing(), timeline, restoring.superseded.iter().map(named).collect())
    }
}

//! What would fire on the way of a clock, before it is moved.

use std::collections::HashMap;

use timenav_core::access::Demand;
use timenav_core::clock::{self, ClockCommand, Surroundings};
use timenav_core::ids::{QueueId, TimelineId, TimerId};
use timenav_core::limits::{FIRINGS_PER_ADVANCE_MAX, FORESEEN_FIRINGS_MAX};
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{Fallen, Timer, foresee};

use crate::caller::Caller;
use crate::clocks::ClockView;
use crate::engine::Engine;
use crate::head::TimelineState;
use crate::location::zone_of;
use crate::payload::{Reading, schedule_of};
use crate::refusal::Refusal;
use crate::timer_rows::{TimerRow, TimersWanted};

/// Rows of timers read at a time.
const BLOCK_TIMERS: usize = 1_000;

/// A firing that would be.
#[derive(Clone, Debug)]
pub struct ForeseenFiring {
    /// The timer.
    pub timer_id: TimerId,
    /// The moment.
    pub due: Instant<Virtual>,
    /// The queue that it would wait in; `None` where it would be recorded as an event.
    pub queue: Option<QueueId>,
}

/// What would fire.
#[derive(Clone, Debug)]
pub struct Foresight {
    /// The clock as it stands.
    pub view: ClockView,
    /// Where it would go.
    pub to: Instant<Virtual>,
    /// The first firings, in their order.
    pub firings: Vec<ForeseenFiring>,
    /// How many there would be, as far as was counted.
    pub count: u64,
    /// How many there would be of each timer.
    pub by_timer: Vec<(TimerId, u64)>,
    /// Whether all were counted.
    pub is_complete: bool,
}

impl Engine {
    /// Foresees what would fire if a clock were moved. Nothing moves.
    ///
    /// # Errors
    /// The caller may not move it there, the clock refuses, or the ledger cannot be written.
    pub async fn foresee(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        command: &ClockCommand,
    ) -> Result<Foresight, Refusal> {
        let look = self.look(caller, timeline, Demand::Steer, Reading::Foresee {}).await?;
        let to = self.destination(&look.state, command)?;
        let view = self.view_clock(look.timeline(), look.state.head.clock.clone(), look.host);
        let (foreseen, rows) = self.foreseen(&look.state, to).await?;
        let named = |position: u64| rows.get(&position);
        let firing = |one: &Fallen| {
            let row = named(one.position)?;
            let queue = Some(&row.queue).filter(|queue| **queue != QueueId::of_timeline()).cloned();
            Some(ForeseenFiring { timer_id: row.timer_id.clone(), due: one.due, queue })
        };
        let counted = |(position, count): &(u64, u64)| Some((named(*position)?.timer_id.clone(), *count));
        Ok(Foresight {
            view,
            to,
            firings: foreseen.firings.iter().filter_map(firing).collect(),
            count: foreseen.count,
            by_timer: foreseen.by_timer.iter().filter_map(counted).collect(),
            is_complete: foreseen.is_complete,
        })
    }

    /// Lets a clock be moved that does not pass too much on its way.
    pub(crate) async fn check_firings(&self, timeline: &TimelineId, command: &ClockCommand) -> Result<(), Refusal> {
        let Some(state) = self.state(timeline) else { return Ok(()) };
        // Whoever may not move it is told so where it is decided, and so is what the clock refuses.
        let Ok(to) = self.destination(&state, command) else { return Ok(()) };
        if !state.head.timers.is_between(state.head.clock.now(self.host(&state)), to) {
            return Ok(());
        }
        let (foreseen, rows) = self.foreseen(&state, to).await?;
        if foreseen.count <= FIRINGS_PER_ADVANCE_MAX {
            return Ok(());
        }
        let most = foreseen.by_timer.iter().max_by_key(|(_, count)| *count);
        let timer_id = most.and_then(|(position, _)| rows.get(position)).map(|row| row.timer_id.to_string());
        let (timer_id, count) = (timer_id.unwrap_or_default(), foreseen.count);
        Err(Refusal::TooManyFirings { timer_id, count, max: FIRINGS_PER_ADVANCE_MAX })
    }

    fn destination(&self, state: &TimelineState, command: &ClockCommand) -> Result<Instant<Virtual>, Refusal> {
        let (clock, host) = (&state.head.clock, self.host(state));
        let zone = zone_of(self.doors(), clock.location.as_deref());
        let moved = clock::decide(clock, command, Surroundings { zone: &zone, next: state.head.timers.next }, host)?;
        Ok(moved.map_or_else(|| clock.now(host), |moved| moved.moment.at))
    }

    async fn foreseen(
        &self,
        state: &TimelineState,
        to: Instant<Virtual>,
    ) -> Result<(timenav_core::timers::Foreseen, HashMap<u64, TimerRow>), Refusal> {
        let (mut timers, mut rows, mut after) = (Vec::new(), HashMap::new(), None);
        loop {
            let wanted = TimersWanted::ArmedUntil(to, after, BLOCK_TIMERS);
            let found = self.store().timer_rows(state.head.key, wanted).await?.timers;
            let Some(last) = found.last() else { break };
            after = last.next.map(|next| (next, last.position));
            for row in found {
                let unreadable = || Refusal::Damaged("a timer that is kept cannot be read".to_owned());
                let schedule = schedule_of(&row).ok_or_else(unreadable)?;
                timers.push(Timer { position: row.position, schedule, next: row.next, round: row.round });
                rows.insert(row.position, row);
            }
        }
        Ok((foresee(timers, to, (FORESEEN_FIRINGS_MAX, FIRINGS_PER_ADVANCE_MAX)), rows))
    }
}

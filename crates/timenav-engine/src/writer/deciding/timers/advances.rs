use std::collections::HashSet;

use timenav_core::clock::{Clock, ClockMoved, ClockState, Moment};
use timenav_core::ids::{AdvanceId, QueueId};
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_core::timers::{Advance, AdvanceState, Coming, Counts, Move};

use crate::ledger::action::Action;
use crate::ledger::changes::{LookUp, Reach, TimersMoved};
use crate::ledger::head::Head;
use crate::ledger::payload::{AdvanceEnded, AdvanceOver, ClockRecord, StatePayload};
use crate::ports::shared_leases::{AtWork, Keeper};
use crate::requests::refusal::Refusal;
use crate::writer::deciding::recording::Recording;
use crate::writer::deciding::timers::upcoming::Upcoming;
use crate::writer::deciding::timers::{fire, look_up_first};
use crate::writer::deciding::{Aim, Command, CommandSpec, Needs, NeedsAtWork, TimersNeeded};
use crate::writer::draft::{Done, Draft, Ledger};

/// Maximum number of instants passed by one decision if nothing listens to the firings there.
const STEPS_AT_ONCE_MAX: usize = 128;

/// Move an advance on to its next instant, or to its end.
pub(crate) struct StepAdvance {
    pub(crate) advance_id: AdvanceId,
    pub(crate) listening: HashSet<QueueId>,
    /// Whether every queue counts as having one.
    pub(crate) is_resumed: bool,
    pub(crate) look_up: LookUp,
    /// The instant to leave. No other may be left.
    pub(crate) left: SeenInstant,
    /// The timekeeper, if several services share the store. The queues above are then incomplete, and other services
    /// may hold the instant.
    pub(crate) keeper: Option<Keeper>,
    /// Kept until the outcome of the step is known, so that nothing begins to hold the instant.
    pub(crate) _lasting: Option<Box<dyn Send + Sync>>,
}

/// An advance's instant as it was observed. It changes when more timers fall due there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenInstant {
    stepped: u64,
    fired: u64,
    /// Whether all of them must be settled. Otherwise, pending ones do not hold the instant.
    is_settled: bool,
    /// Firings created at or after this position hold the instant, as far as other services know.
    open_since: u64,
}

impl SeenInstant {
    /// Returns the instant of an advance that nothing holds. The caller or the store has checked that.
    pub(crate) const fn unheld(advance: &Advance) -> Self {
        Self { stepped: advance.stepped, fired: advance.at_instant, is_settled: false, open_since: advance.stepped }
    }

    /// Returns the instant of an advance whose firings will be settled when the step is decided, on a ledger of that
    /// size.
    pub(crate) const fn settled(advance: &Advance, size: u64) -> Self {
        Self { stepped: advance.stepped, fired: advance.at_instant, is_settled: true, open_since: size }
    }

    /// Returns whether an advance is still at this instant, and its firings are as required.
    fn is_that_of(&self, advance: &Advance) -> bool {
        let is_there = (self.stepped, self.fired) == (advance.stepped, advance.at_instant);
        is_there && (!self.is_settled || advance.open == 0)
    }
}

impl Command for StepAdvance {
    type Output = TimersMoved;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::FireTimers, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        let open_since = Some(self.left.open_since);
        let at_work = self.keeper.as_ref().map(|_| NeedsAtWork { open_since, firings: &[] });
        let timers = TimersNeeded::exactly(vec![self.look_up.reach.query()]);
        Needs { timers, at_work, ..Needs::with_lookup(&self.look_up) }
    }

    /// Continues as long as nothing listens to the firings, because there is nothing to wait for.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimersMoved>, Refusal> {
        let ledger = draft.aimed()?;
        let at_work = self.check_left(draft, ledger)?;
        let mut upcoming = Upcoming::of(draft, ledger, self.look_up.reach)?;
        let advance = draft.state(ledger).head.timers.advance.as_ref();
        let first = upcoming.next().filter(|next| advance.is_some_and(|advance| *next <= advance.to));
        if self.look_up.reach != Reach::Many && first.is_some_and(|first| !upcoming.knows(first)) {
            return Ok(look_up_first(draft, ledger, self.look_up.of_many()));
        }
        let coming = (advance.map_or(Instant::MIN, |advance| advance.to), Coming::OneByOne);
        let recording = match Recording::of(draft, ledger, &upcoming, coming, &self.look_up)? {
            Ok(recording) => recording,
            Err(look_up) => return Ok(look_up_first(draft, ledger, look_up)),
        };
        let (mut fired, mut last) = (0, None);
        for _ in 0..STEPS_AT_ONCE_MAX {
            let head = &draft.state(ledger).head;
            let going = head.timers.advance.as_ref().filter(|advance| advance.advance_id == self.advance_id);
            // A stuck advance is stopped by the caller of this step.
            let Some(advance) = going.filter(|advance| !advance.is_stuck()) else { break };
            let host = draft.host(ledger);
            let here = head.clock.now(host);
            let Move::To(next) = advance.next_move(upcoming.next()) else {
                let position = end(draft, ledger, AdvanceState::Settled, None)?;
                return Ok(draft.done(ledger, position, TimersMoved { fired, ended: true, look_up: None }));
            };
            let instant = next.max(here);
            // The prefetched state is incomplete beyond this point.
            if last.is_some() && !(upcoming.knows(next) && recording.knows(instant)) {
                break;
            }
            let clock = clock_at(head, instant, host);
            let fell = upcoming.fall_due(instant, Coming::OneByOne);
            let (position, queues) = fire(draft, ledger, &upcoming, (&fell, Some(clock)), host)?;
            fired += fell.due_firing.len() as u64;
            last = Some(position);
            let has_listener = |queue: &QueueId| {
                self.listening.contains(queue) || at_work.is_some_and(|at_work| at_work.listening.contains(queue))
            };
            if self.is_resumed || queues.iter().any(has_listener) {
                break;
            }
        }
        let position = last.ok_or(Refusal::ChangedMeanwhile)?;
        Ok(draft.done(ledger, position, TimersMoved { fired, ..TimersMoved::default() }))
    }
}

impl StepAdvance {
    /// Checks that the advance is at the observed instant, that the requesting service keeps the time, and that no
    /// service holds the instant.
    fn check_left<'a>(&self, draft: &Draft<'a>, ledger: Ledger) -> Result<Option<&'a AtWork>, Refusal> {
        let at_work = draft.check_keeper(ledger, self.keeper.as_ref(), Some(self.left.open_since))?;
        let is_held = at_work.is_some_and(|at_work| at_work.held.is_some());
        let advance = draft.state(ledger).head.timers.advance.as_ref();
        if is_held || !advance.is_some_and(|advance| self.left.is_that_of(advance)) {
            return Err(Refusal::ChangedMeanwhile);
        }
        Ok(at_work)
    }
}

/// Returns the paused clock at an instant. Its generation does not change during an advance.
fn clock_at(head: &Head, instant: Instant<Virtual>, host: Instant<Wall>) -> Clock {
    let clock = head.clock.clone();
    let rate = clock.rate();
    if instant <= clock.now(host) {
        return clock;
    }
    Clock { state: ClockState::Paused { since: host, at: instant, rate }, ..clock }
}

/// End an advance early, or at its target if nothing is left on the way.
pub(crate) struct StopAdvance {
    pub(crate) advance_id: AdvanceId,
    /// `Settled` if nothing is left.
    pub(crate) state: AdvanceState,
    pub(crate) held_by: Option<String>,
    /// The instant to stop at, if the advance may have moved on since.
    pub(crate) at: Option<SeenInstant>,
    pub(crate) keeper: Option<Keeper>,
    /// Set if no service may hold the instant: the position of the entry that records the instant to leave.
    pub(crate) unless_held: Option<u64>,
}

impl Command for StopAdvance {
    type Output = TimersMoved;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::EndAdvance, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        let is_needed = self.keeper.is_some() || self.unless_held.is_some();
        let at_work = is_needed.then_some(NeedsAtWork { open_since: self.unless_held, firings: &[] });
        Needs { at_work, ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimersMoved>, Refusal> {
        let ledger = draft.aimed()?;
        if draft.is_held(ledger, self.unless_held) {
            return Err(Refusal::ChangedMeanwhile);
        }
        draft.check_keeper(ledger, self.keeper.as_ref(), None)?;
        let timers = &draft.state(ledger).head.timers;
        let may_end = |advance: &Advance| self.state != AdvanceState::Settled || advance.is_done(timers.next);
        let is_there = |advance: &Advance| self.at.is_none_or(|at| at.is_that_of(advance));
        let is_match =
            |advance: &Advance| advance.advance_id == self.advance_id && is_there(advance) && may_end(advance);
        if !timers.advance.as_ref().is_some_and(is_match) {
            return Err(Refusal::ChangedMeanwhile);
        }
        let position = end(draft, ledger, self.state, self.held_by.clone())?;
        Ok(draft.done(ledger, position, TimersMoved { ended: true, ..TimersMoved::default() }))
    }
}

fn end(draft: &mut Draft<'_>, ledger: Ledger, state: AdvanceState, held_by: Option<String>) -> Result<u64, Refusal> {
    let host = draft.host(ledger);
    let head = &draft.state(ledger).head;
    let advance = head.timers.advance.clone().ok_or(Refusal::ChangedMeanwhile)?;
    let clock = advance.over(&head.clock, state, host);
    let ended = AdvanceEnded::of(&advance, state, clock.now(host), held_by);
    let payload = StatePayload::AdvanceEnded(AdvanceOver { clock: ClockRecord::of(&clock), changed: true, ended });
    let subject = advance.advance_id.to_string();
    draft.record(ledger, (Action::EndAdvance, subject.as_str()), &payload, host)
}

/// Returns the advance that begins at a position of a ledger: from the clock's reading to the target of a command.
pub(in crate::writer::deciding) fn begin(
    advance_id: AdvanceId,
    from: Instant<Virtual>,
    moved: &ClockMoved,
    (position, host): (u64, Instant<Wall>),
) -> Advance {
    let Moment { at, running, location, .. } = &moved.moment;
    Advance {
        advance_id,
        position,
        from,
        to: *at,
        location: location.clone(),
        is_running: *running,
        step: 0,
        stepped: position,
        held_since: host,
        at_instant: 0,
        open: 0,
        counts: Counts::default(),
    }
}

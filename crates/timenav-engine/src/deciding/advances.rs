//! Clock changes that pass timers one by one: begun, taken on, ended.

use std::collections::HashSet;
use std::sync::Arc;

use timenav_core::clock::{ClockMoved, ClockState, Moment};
use timenav_core::ids::{AdvanceId, QueueId};
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_core::timers::{Advance, AdvanceState, Coming, Counts, Move};

use super::recording::Recording;
use super::timers::{count_armed, fire, look_up_first};
use super::upcoming::Upcoming;
use super::{Aim, Asking, Deciding, Needs, NeedsAtWork, TimersNeeded};
use crate::action::Action;
use crate::changes::{LookUp, Reach, TimersMoved};
use crate::draft::{Done, Draft, Ledger};
use crate::json::json;
use crate::leasing_door::{AtWork, Keeper};
use crate::payload::{AdvanceEnded, AdvanceOver, ClockRecord};
use crate::refusal::Refusal;
use crate::timer_rows::AdvanceRow;

/// Most instants that one decision passes where nobody listens to what fires there.
const STEPS_AT_ONCE_MAX: usize = 128;

/// Take an advance on to its next instant, or to its end.
pub(crate) struct StepAdvance {
    pub(crate) advance_id: AdvanceId,
    /// The queues that somebody listens to.
    pub(crate) heard: HashSet<QueueId>,
    /// Whether that counts for every queue.
    pub(crate) is_resumed: bool,
    /// What was looked up before.
    pub(crate) look_up: LookUp,
    /// The instant that is to be left. Nothing else may be.
    pub(crate) left: SeenInstant,
    /// Who keeps the time, where several services share the store: then the queues above are not all, and something may
    /// hold the instant.
    pub(crate) keeper: Option<Keeper>,
    /// What lasts until it is known what came of the step: nobody begins to hold the instant.
    pub(crate) _lasting: Option<Box<dyn Send + Sync>>,
}

/// The instant that an advance stands at, as it was seen: it is another one once other timers have fallen due there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenInstant {
    /// The position of the entry that tells of it.
    stepped: u64,
    /// How many firings were made there.
    fired: u64,
    /// Whether none of them may be without an outcome. Otherwise nothing holds those that are.
    is_settled: bool,
    /// Firings hold it that were made by an entry at that position or a later one, as far as other services know.
    open_since: u64,
}

impl SeenInstant {
    /// Returns the instant of an advance that nothing holds, as whoever asks has made sure, or the store does.
    pub(crate) const fn unheld(advance: &Advance) -> Self {
        Self { stepped: advance.stepped, fired: advance.at_instant, is_settled: false, open_since: advance.stepped }
    }

    /// Returns the instant of an advance whose firings have come to their outcomes once the step is decided, on a ledger of
    /// that size.
    pub(crate) const fn settled(advance: &Advance, size: u64) -> Self {
        Self { stepped: advance.stepped, fired: advance.at_instant, is_settled: true, open_since: size }
    }

    /// Returns whether an advance still stands there, and its firings are as they have to be.
    fn is_that_of(&self, advance: &Advance) -> bool {
        let is_there = (self.stepped, self.fired) == (advance.stepped, advance.at_instant);
        is_there && (!self.is_settled || advance.open == 0)
    }
}

impl Asking for StepAdvance {
    fn action(&self) -> Action {
        Action::FireTimers
    }

    fn aim(&self) -> Aim {
        Aim::Timeline
    }

    fn needs(&self) -> Needs<'_> {
        let open_since = Some(self.left.open_since);
        let at_work = self.keeper.as_ref().map(|_| NeedsAtWork { open_since, firings: &[] });
        let timers = TimersNeeded::exactly(vec![self.look_up.reach.wanted()]);
        Needs { timers, at_work, ..Needs::looked_up(&self.look_up) }
    }
}

impl Deciding for StepAdvance {
    type Change = TimersMoved;

    /// Goes on while nobody listens to what fires: nothing would be waited for.
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
            // Whoever takes it on stops it there.
            let Some(advance) = going.filter(|advance| !advance.is_stuck()) else { break };
            let host = draft.host(ledger);
            let here = head.clock.now(host);
            let Move::To(next) = advance.next_move(upcoming.next()) else {
                count_armed(draft, ledger, &upcoming);
                let position = end(draft, ledger, AdvanceState::Settled, None)?;
                return Ok(draft.done(ledger, position, TimersMoved { fired, ended: true, look_up: None }));
            };
            let instant = next.max(here);
            // What could fall due there is not known to the end.
            if last.is_some() && !(upcoming.knows(next) && recording.knows(instant)) {
                break;
            }
            come_to(draft, ledger, (here, instant), host);
            let fell = upcoming.fall_due(instant, Coming::OneByOne);
            let (position, queues) = fire(draft, ledger, &upcoming, &fell, host);
            fired += fell.fallen.len() as u64;
            last = Some(position);
            let is_heard = |queue: &QueueId| {
                self.heard.contains(queue) || at_work.is_some_and(|at_work| at_work.heard.contains(queue))
            };
            if self.is_resumed || queues.iter().any(is_heard) {
                break;
            }
        }
        count_armed(draft, ledger, &upcoming);
        let position = last.ok_or(Refusal::ChangedMeanwhile)?;
        Ok(draft.done(ledger, position, TimersMoved { fired, ..TimersMoved::default() }))
    }
}

impl StepAdvance {
    /// Makes sure that the clock is where it was seen, that the service that asks keeps the time, and that nothing holds the
    /// instant at any service.
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

/// The clock comes to an instant and stands there. Its generation stays: that of the whole advance.
fn come_to(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    (here, instant): (Instant<Virtual>, Instant<Virtual>),
    host: Instant<Wall>,
) {
    let head = &mut draft.state_mut(ledger).head;
    let position = head.frontier.size();
    let rate = head.clock.rate();
    if instant > here {
        head.clock.state = ClockState::Paused { since: host, at: instant, rate };
    }
    if let Some(advance) = &mut Arc::make_mut(&mut head.timers).advance {
        advance.step_to(instant > here, position, host);
    }
}

/// End an advance before its destination, or at it where nothing is left on the way.
pub(crate) struct StopAdvance {
    pub(crate) advance_id: AdvanceId,
    /// `Settled` where nothing is left.
    pub(crate) state: AdvanceState,
    /// Who held its instant.
    pub(crate) held_by: Option<String>,
    /// The instant that it is to be stopped at, if it may have gone on since.
    pub(crate) at: Option<SeenInstant>,
    /// Who keeps the time, where several services share the store.
    pub(crate) keeper: Option<Keeper>,
    /// Where nothing may hold it at any service: the position of the entry that tells of the instant that is to be left.
    pub(crate) unless_held: Option<u64>,
}

impl Asking for StopAdvance {
    fn action(&self) -> Action {
        Action::EndAdvance
    }

    fn aim(&self) -> Aim {
        Aim::Timeline
    }

    fn needs(&self) -> Needs<'_> {
        let is_needed = self.keeper.is_some() || self.unless_held.is_some();
        let at_work = is_needed.then_some(NeedsAtWork { open_since: self.unless_held, firings: &[] });
        Needs { at_work, ..Needs::default() }
    }
}

impl Deciding for StopAdvance {
    type Change = TimersMoved;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimersMoved>, Refusal> {
        let ledger = draft.aimed()?;
        if draft.is_held(ledger, self.unless_held) {
            return Err(Refusal::ChangedMeanwhile);
        }
        draft.check_keeper(ledger, self.keeper.as_ref(), None)?;
        let timers = &draft.state(ledger).head.timers;
        let may_end = |advance: &Advance| self.state != AdvanceState::Settled || advance.is_done(timers.next);
        let is_there = |advance: &Advance| self.at.is_none_or(|at| at.is_that_of(advance));
        let is_meant =
            |advance: &Advance| advance.advance_id == self.advance_id && is_there(advance) && may_end(advance);
        if !timers.advance.as_ref().is_some_and(is_meant) {
            return Err(Refusal::ChangedMeanwhile);
        }
        let position = end(draft, ledger, self.state, self.held_by.clone())?;
        Ok(draft.done(ledger, position, TimersMoved { ended: true, ..TimersMoved::default() }))
    }
}

/// Ends the advance of a ledger by an entry of its own.
fn end(draft: &mut Draft<'_>, ledger: Ledger, state: AdvanceState, held_by: Option<String>) -> Result<u64, Refusal> {
    let host = draft.host(ledger);
    let head = &draft.state(ledger).head;
    let advance = head.timers.advance.clone().ok_or(Refusal::ChangedMeanwhile)?;
    let clock = advance.over(&head.clock, state, host);
    let ended = AdvanceEnded::of(&advance, state, clock.now(host), held_by);
    let payload = json(&AdvanceOver { clock: ClockRecord::of(&clock), changed: true, ended: ended.clone() });
    let head = &mut draft.state_mut(ledger).head;
    head.clock_entry = head.frontier.size();
    head.clock = clock;
    let subject = advance.advance_id.to_string();
    let position = draft.append(ledger, Action::EndAdvance, &subject, payload, host);
    forget(draft, ledger, &advance, &ended, position);
    Ok(position)
}

/// Takes an advance out that an entry has ended, and keeps what came of it.
pub(super) fn forget(draft: &mut Draft<'_>, ledger: Ledger, advance: &Advance, ended: &AdvanceEnded, position: u64) {
    let step = draft.step_mut(ledger);
    Arc::make_mut(&mut step.state.head.timers).advance = None;
    step.timers.advances.push(AdvanceRow {
        position: advance.position,
        advance_id: advance.advance_id.clone(),
        ended: position,
        record: json(ended).into(),
    });
}

/// Returns the advance that begins at a position of a ledger: from where its clock stands to where a command would have
/// taken it.
pub(super) fn begin(
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

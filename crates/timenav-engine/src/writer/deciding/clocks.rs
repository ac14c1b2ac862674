use timenav_core::access::{Demand, Denial};
use timenav_core::anchor::Anchor;
use timenav_core::clock::{self, ClockCommand, ClockMoved, Moment, Surroundings};
use timenav_core::ids::AdvanceId;
use timenav_core::time::Duration;
use timenav_core::timers::AdvanceState;

use super::history::{HistoryRestored, check_unchanged, restore_history};
use super::{Aim, Command, CommandSpec, Needs, NeedsAtWork};
use crate::events::location::zone_of;
use crate::ledger::action::Action;
use crate::ledger::changes::ClockAfter;
use crate::ledger::payload::{AdvanceBegun, AdvanceEnded, ClockChanged, ClockRecord, StatePayload};
use crate::requests::expected::Expected;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::timers::advances::begin;
use crate::writer::deciding::timers::restoring::{GoingBack, Restored, restore};
use crate::writer::draft::{Done, Draft, Ledger};

pub(crate) struct ChangeClock {
    pub(crate) command: ClockCommand,
    pub(crate) expected: Option<Expected>,
    pub(crate) advance_context: AdvanceContext,
    pub(crate) refire: Option<GoingBack>,
}

#[derive(Clone, Debug)]
pub(crate) struct AdvanceContext {
    /// The id of a new advance. `None` if the clock jumps, so that timers fire afterwards.
    pub(crate) advance_id: Option<AdvanceId>,
    /// Whether the request comes from the handler of a firing, which the advance may be waiting for.
    pub(crate) is_inside: bool,
}

/// Returns the activity to lock if firings are superseded: they must not be claimed in the meantime.
fn to_supersede(going_back: Option<&GoingBack>) -> Option<NeedsAtWork<'static>> {
    let is_needed = going_back.is_some_and(|going_back| !going_back.restoring.superseded.is_empty());
    is_needed.then_some(NeedsAtWork::default())
}

impl ChangeClock {
    const fn action(&self) -> Action {
        match &self.command {
            ClockCommand::Travel { .. } => Action::Travel,
            ClockCommand::Pause => Action::PauseTime,
            ClockCommand::Resume => Action::ResumeTime,
            // An entry records the effect on the clock, not the reason.
            ClockCommand::FastForward(_) | ClockCommand::Elapse { .. } | ClockCommand::ToNext { .. } => {
                Action::FastForward
            }
            ClockCommand::Rewind(_) => Action::Rewind,
            ClockCommand::SetRate(_) => Action::SetRate,
            ClockCommand::Restore(_) => Action::ReturnToAnchor,
        }
    }
}

impl Command for ChangeClock {
    type Output = ClockAfter;

    fn spec(&self) -> CommandSpec<'_> {
        // A precondition requires an existing clock.
        // So do two commands that make no sense on a new clock: it runs, so no time can be spent on it, and it has no
        // timers to go to.
        let is_there = self.expected.is_some()
            || matches!(self.command, ClockCommand::Elapse { .. } | ClockCommand::ToNext { .. });
        CommandSpec::of(self.action(), if is_there { Aim::Timeline } else { Aim::TimelineOrNew })
    }

    fn needs(&self) -> Needs<'_> {
        Needs { at_work: to_supersede(self.refire.as_ref()), ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<ClockAfter>, Refusal> {
        let ledger = draft.aimed()?;
        check_expected(draft, ledger, self.expected.as_ref())?;
        let done = change_clock(draft, ledger, &self.command, (self.action(), None), &self.advance_context)?;
        if let Some(refire) = &self.refire {
            // The clock is now at its target, or still at its old reading.
            refire.check(&draft.state(ledger).head.timers, done.change.current_time)?;
            restore(draft, ledger, &refire.restoring, Restored::Rewind)?;
        }
        Ok(done)
    }

    fn check_output(&self, draft: &Draft<'_>, change: &ClockAfter) -> Result<(), Denial> {
        check_clock_output(draft, change)
    }
}

/// Return a clock to an anchor, and history too if there are compensations.
pub(crate) struct ReturnToAnchor {
    pub(crate) anchor: Anchor,
    pub(crate) history: Option<HistoryRestored>,
    pub(crate) timers: Option<GoingBack>,
    pub(crate) expected: Option<Expected>,
    pub(crate) is_inside: bool,
}

impl ReturnToAnchor {
    pub(crate) const CLOCK_DEMANDS: &'static [Demand] = &[Demand::Steer];
    pub(crate) const ALL_DEMANDS: &'static [Demand] = &[Demand::Steer, Demand::Intervene];
}

impl Command for ReturnToAnchor {
    type Output = ClockAfter;

    fn spec(&self) -> CommandSpec<'_> {
        let demands = if self.history.is_some() { Self::ALL_DEMANDS } else { Self::CLOCK_DEMANDS };
        CommandSpec { demands, ..CommandSpec::of(Action::ReturnToAnchor, Aim::Timeline) }
    }

    fn needs(&self) -> Needs<'_> {
        let compensations = self.history.iter().flat_map(|history| &history.compensations);
        let events = compensations.map(|one| &one.event_id).collect();
        Needs { events, at_work: to_supersede(self.timers.as_ref()), ..Needs::default() }
    }

    /// Changes are reverted before the clock moves, so that their entries show the old reading.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<ClockAfter>, Refusal> {
        let ledger = draft.aimed()?;
        check_expected(draft, ledger, self.expected.as_ref())?;
        let advance_context = AdvanceContext { advance_id: None, is_inside: self.is_inside };
        check_movable(draft, ledger, &advance_context)?;
        if let Some(HistoryRestored { compensations, guard }) = &self.history {
            check_unchanged(draft, ledger, Some(*guard))?;
            restore_history(draft, ledger, &self.anchor, compensations)?;
        }
        let back = ClockCommand::Restore(self.anchor.restored());
        let done = change_clock(draft, ledger, &back, (Action::ReturnToAnchor, Some(&self.anchor)), &advance_context)?;
        if let Some(timers) = &self.timers {
            timers.check(&draft.state(ledger).head.timers, done.change.current_time)?;
            let why = Restored::Return(self.anchor.anchor_id.as_str());
            restore(draft, ledger, &timers.restoring, why)?;
        }
        Ok(done)
    }

    fn check_output(&self, draft: &Draft<'_>, change: &ClockAfter) -> Result<(), Denial> {
        check_clock_output(draft, change)
    }
}

/// Checks the precondition on a clock. Its tag is the generation, which each change increments.
fn check_expected(draft: &Draft<'_>, ledger: Ledger, expected: Option<&Expected>) -> Result<(), Refusal> {
    Expected::check(expected, draft.state(ledger).head.clock.generation.to_string())
}

/// Checks whether the caller may still move the clock to the returned reading.
pub(crate) fn check_clock_output(draft: &Draft<'_>, change: &ClockAfter) -> Result<(), Denial> {
    let host =
        draft.look(draft.timeline()).map_or_else(|| draft.now(), |state| draft.now().max(state.head.recorded_at));
    let displayed = change.clock.moment(host);
    draft.admit_clock(&Moment { at: change.current_time, ..displayed }, change.clock.rate())
}

fn change_clock(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    command: &ClockCommand,
    (action, anchor): (Action, Option<&Anchor>),
    advance_context: &AdvanceContext,
) -> Result<Done<ClockAfter>, Refusal> {
    let is_pause = matches!(command, ClockCommand::Pause);
    if is_pause && draft.state(ledger).head.timers.advance.is_some() {
        return pause_advance(draft, ledger);
    }
    check_movable(draft, ledger, advance_context)?;
    let host = draft.host(ledger);
    let before = draft.state(ledger).head.clock.clone();
    let zone = zone_of(draft.ports(), before.location.as_deref());
    let next = draft.state(ledger).head.timers.next;
    let moved = clock::decide(&before, command, Surroundings { zone: &zone, next }, host)?;
    if let Some(moved) = &moved {
        draft.admit_clock(&moved.moment, before.rate())?;
    }
    let position = draft.state(ledger).head.frontier.size();
    let advance = match (&moved, &advance_context.advance_id) {
        (Some(moved), Some(advance_id))
            if draft.state(ledger).head.timers.is_between(before.now(host), moved.moment.at) =>
        {
            Some(begin(advance_id.clone(), before.now(host), moved, (position, host)))
        }
        _ => None,
    };
    let to = moved.as_ref().map(|moved| moved.moment.at);
    // It pauses at its current reading, and then moves step by step.
    let moved = match &advance {
        Some(_) => Some(ClockMoved { host, moment: Moment { running: false, ..before.moment(host) } }),
        None => moved,
    };
    let after = moved.as_ref().map_or_else(|| before.clone(), |moved| clock::apply(&before, moved));
    let moved_by = to.map(|to| to.since(before.now(host)));
    let duration = match command {
        ClockCommand::FastForward(by) | ClockCommand::Rewind(by) | ClockCommand::Elapse { by, since: None } => {
            Some(by.to_string())
        }
        // For these commands, the actual distance: the part that no other caller has spent, or the distance to the next
        // due time.
        ClockCommand::Elapse { since: Some(_), .. } | ClockCommand::ToNext { .. } => {
            moved_by.and_then(|span| Duration::new(0, span)).map(|by| by.to_string())
        }
        ClockCommand::Travel { .. }
        | ClockCommand::Pause
        | ClockCommand::Resume
        | ClockCommand::SetRate(_)
        | ClockCommand::Restore(_) => None,
    };
    let payload = StatePayload::Clock(ClockChanged {
        clock: ClockRecord::of(&after),
        changed: moved.is_some(),
        duration,
        anchor_id: anchor.map(|anchor| anchor.anchor_id.to_string()),
        advance: advance.as_ref().map(AdvanceBegun::of),
        ended: None,
    });
    let advance_id = advance.map(|advance| advance.advance_id);
    let subject = anchor.map_or("clock", |anchor| anchor.anchor_id.as_str());
    let position = draft.record(ledger, (action, subject), &payload, host)?;
    let current_time = after.now(host);
    let change = ClockAfter { clock: after, current_time, changed: moved.is_some(), advance_id };
    Ok(draft.done(ledger, position, change))
}

/// Checks that no advance is running, and that timers have fired up to the clock's reading.
fn check_movable(draft: &Draft<'_>, ledger: Ledger, advance_context: &AdvanceContext) -> Result<(), Refusal> {
    let head = &draft.state(ledger).head;
    if let Some(advance) = &head.timers.advance {
        let advance_id = advance.advance_id.to_string();
        return Err(Refusal::AdvanceInProgress { advance_id, is_inside: advance_context.is_inside });
    }
    if head.timers.is_behind(head.clock.now(draft.host(ledger))) {
        return Err(Refusal::TimersBehind);
    }
    Ok(())
}

fn pause_advance(draft: &mut Draft<'_>, ledger: Ledger) -> Result<Done<ClockAfter>, Refusal> {
    let host = draft.host(ledger);
    let head = &draft.state(ledger).head;
    let Some(advance) = head.timers.advance.clone() else { return Err(Refusal::ChangedMeanwhile) };
    let moment = head.clock.moment(host);
    draft.admit_clock(&moment, head.clock.rate())?;
    let ended = AdvanceEnded::of(&advance, AdvanceState::Stopped, moment.at, None);
    let after = clock::apply(&head.clock, &ClockMoved { host, moment });
    let payload = StatePayload::Clock(ClockChanged {
        clock: ClockRecord::of(&after),
        changed: true,
        duration: None,
        anchor_id: None,
        advance: None,
        ended: Some(ended),
    });
    let position = draft.record(ledger, (Action::PauseTime, "clock"), &payload, host)?;
    let current_time = after.now(host);
    Ok(draft.done(ledger, position, ClockAfter { clock: after, current_time, changed: true, advance_id: None }))
}

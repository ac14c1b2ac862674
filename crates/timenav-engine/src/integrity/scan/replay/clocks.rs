use std::collections::BTreeMap;

use timenav_core::anchor::Anchor;
use timenav_core::clock::{self, Clock, ClockCommand, ClockMoved, ClockState, Moment};
use timenav_core::ids::AnchorId;
use timenav_core::ledger::LeafRecord;
use timenav_core::scan::FindingKind;
use timenav_core::time::{Duration, Instant, Span, Virtual, Wall, Zone, parse_duration, parse_timestamp};
use timenav_core::timers::AdvanceState;

use super::Replay;
use crate::ledger::action::{Action, OnClock};
use crate::ledger::payload::{AdvanceOver, ClockChanged, ClockRecord, StatePayload};

/// Maximum difference of month arithmetic in different zones: the zones are less than two days apart, and months differ
/// by up to three days.
const CALENDARS_DIFFER_MAX: Span = Span::from_micros(5 * 86_400 * 1_000_000);

#[derive(Default)]
pub(in crate::integrity::scan) struct Marked {
    own: BTreeMap<AnchorId, Moment>,
    /// The reading after a return to an anchor of an ancestor, and the first such entry.
    inherited: BTreeMap<AnchorId, (u64, Moment)>,
}

impl Marked {
    pub(super) fn set(&mut self, anchor: &Anchor) {
        self.own.insert(anchor.anchor_id.clone(), anchor.restored());
    }
}

impl Replay {
    /// Checks that the virtual time of an entry is the clock's reading at its host time.
    pub(super) fn check_reading(&mut self, record: &LeafRecord<'_>, position: u64, recorded_at: Instant<Wall>) {
        let Some(clock) = self.clock.as_ref().filter(|_| self.blind.is_none()) else { return };
        let expected = clock.now(recorded_at);
        if Instant::written(&record.clock_time) != Some(expected) {
            let evidence = format!("the entry says the clock showed {}, but it showed {expected}", record.clock_time);
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
    }

    /// Checks that the clock of an entry follows from the clock before it.
    pub(super) fn check_clock(
        &mut self,
        action: Action,
        payload: &StatePayload<'_>,
        (position, host): (u64, Instant<Wall>),
    ) {
        match payload {
            StatePayload::Clock(changed) => {
                self.check_change(action, (position, host), changed);
                let Some(clock) = changed.clock.clock() else { return };
                self.check_generation(&clock, changed.changed, position);
            }
            StatePayload::AdvanceEnded(over) => {
                self.check_advanced(over, (position, host));
                let Some(clock) = over.clock.clock() else { return };
                self.check_generation(&clock, over.changed, position);
            }
            StatePayload::TimersFired(fired) => {
                if let Some(clock) = fired.clock.as_ref().and_then(ClockRecord::clock) {
                    self.check_step(&clock, (position, host));
                }
            }
            _ => {}
        }
    }

    /// Applies the action to the previous clock, as in its decision.
    fn check_change(&mut self, action: Action, (position, host): (u64, Instant<Wall>), change: &ClockChanged) {
        let before = self.clock.clone().filter(|_| self.blind.is_none());
        let (Some(before), Some(action)) = (before, action.on_clock()) else { return };
        let Some(after) = change.clock.clock().filter(|_| change.changed) else { return };
        if let Err(why) = self.follows(action, (&before, &after), change, (position, host)) {
            let evidence = format!("the clock shows {} after it, {why}", after.now(host));
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
    }

    /// Returns why a clock is not the result of an action on the previous one, as the end of a sentence.
    fn follows(
        &mut self,
        action: OnClock,
        (before, after): (&Clock, &Clock),
        change: &ClockChanged,
        (position, host): (u64, Instant<Wall>),
    ) -> Result<(), String> {
        let now = after.moment(host);
        let command = match action {
            OnClock::Travels => ClockCommand::Travel { to: reached(change, now.at), location: now.location.clone() },
            OnClock::Pauses if !before.is_running() => return stayed(before, after, host),
            OnClock::Pauses => ClockCommand::Pause,
            OnClock::Resumes => ClockCommand::Resume,
            OnClock::SetsRate => ClockCommand::SetRate(now.rate),
            OnClock::Returns => match self.marked_by(change, position, &now)? {
                Some(moment) => ClockCommand::Restore(moment),
                None => return Ok(()),
            },
            // Without a duration, the result is unknown.
            OnClock::GoesOn | OnClock::GoesBack => match change.duration.as_deref().map(parse_duration) {
                Some(Ok(by)) if action == OnClock::GoesBack => ClockCommand::Rewind(by),
                Some(Ok(by)) => ClockCommand::FastForward(by),
                Some(Err(error)) => return Err(format!("but {error}")),
                None => return Ok(()),
            },
        };
        let decided = clock::decide(before, &command, &Zone::utc(), host).map_err(|error| format!("but {error}"))?;
        let moved = decided.ok_or("but there was nothing to change")?;
        let to = nearby(&command, moved.moment.at, reached(change, now.at));
        let moved = ClockMoved { moment: Moment { at: to, ..moved.moment }, ..moved };
        let expected = match &change.advance {
            Some(begun) if parse_timestamp(&begun.to) != Ok(to) => {
                return Err(format!(
                    "and its timers are passed on the way to {}, but it says it goes to {to}",
                    begun.to
                ));
            }
            // It pauses at its current reading, and then moves step by step.
            Some(_) => {
                clock::apply(before, &ClockMoved { host, moment: Moment { running: false, ..before.moment(host) } })
            }
            None => clock::apply(before, &moved),
        };
        if expected == *after { Ok(()) } else { Err(differs(&expected, after, host)) }
    }

    fn marked_by(&mut self, change: &ClockChanged, position: u64, now: &Moment) -> Result<Option<Moment>, String> {
        let anchor_id = change.anchor_id.as_deref().and_then(|id| AnchorId::new(id).ok());
        let anchor_id = anchor_id.ok_or("but it names no anchor")?;
        if let Some(marked) = self.marked.own.get(&anchor_id) {
            return Ok(Some(marked.clone()));
        }
        if !self.from_the_start {
            return Ok(None);
        }
        if self.fork.is_none() {
            return Err(format!("but no entry before it set the anchor `{anchor_id}`"));
        }
        let (_, first) = self.marked.inherited.entry(anchor_id).or_insert_with(|| (position, now.clone()));
        Ok(Some(first.clone()))
    }

    /// Returns the anchors of ancestors that the clock was returned to, with the first such entry and the reading after
    /// it.
    pub(in crate::integrity::scan) fn inherited_returns(&self) -> BTreeMap<AnchorId, (u64, Moment)> {
        self.marked.inherited.clone()
    }

    fn check_advanced(&mut self, over: &AdvanceOver, (position, host): (u64, Instant<Wall>)) {
        let (Some(before), Some(advance)) = (self.clock.as_ref(), self.timers.advance()) else { return };
        let state = AdvanceState::parse(&over.ended.state).filter(|_| self.blind.is_none());
        let (Some(state), Some(after)) = (state, over.clock.clock()) else { return };
        let expected = advance.over(before, state, host);
        if expected != after {
            let evidence =
                format!("the clock shows {} after it, {}", after.now(host), differs(&expected, &after, host));
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
    }

    /// Checks the clock of an advance at another instant, which must not be earlier than before or beyond the target.
    fn check_step(&mut self, clock: &Clock, (position, host): (u64, Instant<Wall>)) {
        let Some(before) = &self.clock else { return };
        let (here, there) = (before.now(host), clock.now(host));
        let is_standing = matches!(clock.state, ClockState::Paused { .. }) && !before.is_running();
        let is_on_its_way = self.timers.advance().is_some_and(|advance| there <= advance.to);
        if !is_standing || clock.generation != before.generation || there < here || !is_on_its_way {
            let evidence = format!("the clock went from {here} to {there}, but no advance took it there");
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
    }

    pub(super) fn check_generation(&mut self, clock: &Clock, is_change: bool, position: u64) {
        let Some(before) = &self.clock else { return };
        let steps = u64::from(is_change);
        if clock.generation != before.generation + steps || (steps == 0 && clock != before) {
            let evidence = format!(
                "the clock went from generation {} to {} in a single change",
                before.generation, clock.generation
            );
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
    }

    pub(super) fn set_clock(&mut self, clock: Clock, position: u64) {
        self.clock = Some(clock);
        self.clock_entry = position;
        self.marks.clock_entry = Some(position.cast_signed());
    }
}

/// Returns the target of a change, which an advance reaches step by step.
fn reached(change: &ClockChanged, now: Instant<Virtual>) -> Instant<Virtual> {
    change.advance.as_ref().and_then(|begun| parse_timestamp(&begun.to).ok()).unwrap_or(now)
}

/// A paused clock is paused again when it is adopted, or when its advance is stopped.
fn stayed(before: &Clock, after: &Clock, host: Instant<Wall>) -> Result<(), String> {
    if before.moment(host) == after.moment(host) { Ok(()) } else { Err(differs(before, after, host)) }
}

/// Returns the target of a command: the one in the entry, if it is within the uncertainty of an unknown zone's
/// calendar.
fn nearby(command: &ClockCommand, decided: Instant<Virtual>, reached: Instant<Virtual>) -> Instant<Virtual> {
    let has_months = |by: &Duration| by.months() > 0;
    let is_by_calendar = matches!(command, ClockCommand::FastForward(by) | ClockCommand::Rewind(by) if has_months(by));
    let apart = reached.since(decided).micros().unsigned_abs();
    if is_by_calendar && apart <= CALENDARS_DIFFER_MAX.micros().unsigned_abs() { reached } else { decided }
}

fn differs(expected: &Clock, found: &Clock, host: Instant<Wall>) -> String {
    let (expected_time, found_time) = (expected.now(host), found.now(host));
    if expected_time == found_time {
        return format!("but the change leads to {expected:?}, not {found:?}");
    }
    format!("but the change leads to {expected_time}")
}

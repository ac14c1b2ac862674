//! Restores timers to an earlier state: the clock goes back, history returns to an anchor, a timeline is forked, or a
//! firing is redelivered.

use std::sync::Arc;

use timenav_core::limits::TIMERS_PER_TIMELINE_MAX;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::Timers;

use crate::ledger::action::Action;
use crate::ledger::payload::{FiredAgain, StatePayload, TimerRestored, TimersRestored, due_firing_record};
use crate::ports::timer_rows::{FiringRow, TimerRow};
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Draft, Ledger};
use crate::writer::project::KnownTimerRows;

/// Maximum number of timers and firings restored by one entry. More entries follow if needed.
const RESTORED_AT_ONCE_MAX: usize = 512;
const RESTORED_BYTES_MAX: usize = 512 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct TimerChanged {
    pub(crate) was: Option<TimerRow>,
    pub(crate) is: Option<TimerRow>,
}

impl TimerChanged {
    fn position(&self) -> u64 {
        self.is.as_ref().or(self.was.as_ref()).map_or(0, |row| row.position)
    }

    fn restored(&self) -> Option<TimerRestored<'_>> {
        TimerRestored::of(self.position(), self.was.as_ref(), self.is.as_ref())
    }

    fn bytes(&self) -> usize {
        self.was.iter().chain(&self.is).map(TimerRow::bytes).sum()
    }
}

/// The effect on timers, computed outside of the writer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restoring {
    pub(crate) timers: Vec<TimerChanged>,
    /// Pending firings whose due times recur, or were not reached.
    pub(crate) superseded: Vec<FiringRow>,
    /// Firings to create again. The entry that creates them is not known yet.
    pub(crate) fired: Vec<FiringRow>,
    pub(crate) next: Option<Instant<Virtual>>,
}

#[derive(Clone, Debug)]
pub(crate) struct GoingBack {
    pub(crate) restoring: Restoring,
    /// The timer state it was computed from. Every change of timers replaces that state.
    pub(crate) seen: Arc<Timers>,
    /// The target of the clock, if it matters. A running clock goes a little further.
    pub(crate) destination: Option<Instant<Virtual>>,
}

impl GoingBack {
    /// Rejects an effect computed for a different state or another target.
    pub(in crate::writer::deciding) fn check(&self, known: &Arc<Timers>, to: Instant<Virtual>) -> Result<(), Refusal> {
        let nothing = Timers::default();
        let is_seen = Arc::ptr_eq(&self.seen, known) || (*self.seen == nothing && **known == nothing);
        let Restoring { timers, superseded, .. } = &self.restoring;
        let earliest = timers.iter().filter_map(|timer| timer.is.as_ref()?.next);
        let earliest = earliest.chain(superseded.iter().map(|firing| firing.due_firing.due)).min();
        let holds = |from: Instant<Virtual>| from == to || (from < to && earliest.is_none_or(|earliest| to < earliest));
        if is_seen && self.destination.is_none_or(holds) { Ok(()) } else { Err(Refusal::ChangedMeanwhile) }
    }
}

#[derive(Clone, Copy, Debug)]
pub(in crate::writer::deciding) enum Restored<'a> {
    Rewind,
    Return(&'a str),
    Fork,
    Redeliver,
}

/// Applies the computed effect to the timers of a ledger.
///
/// # Errors
/// Too many timers would be armed.
pub(in crate::writer::deciding) fn restore(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    restoring: &Restoring,
    why: Restored<'_>,
) -> Result<(), Refusal> {
    let Restoring { timers, superseded, fired, next } = restoring;
    if timers.is_empty() && superseded.is_empty() && fired.is_empty() {
        return Ok(());
    }
    let is_armed = |row: &Option<TimerRow>| row.as_ref().is_some_and(|row| row.next.is_some());
    let count = |armed: fn(&TimerChanged) -> &Option<TimerRow>| {
        timers.iter().filter(|timer| is_armed(armed(timer))).count() as u64
    };
    let (before, after) = (count(|timer| &timer.was), count(|timer| &timer.is));
    let armed = (draft.state(ledger).head.timers.armed + after).saturating_sub(before);
    if armed > TIMERS_PER_TIMELINE_MAX as u64 {
        let what = "armed timers on this timeline";
        return Err(Refusal::LimitReached { what, max: TIMERS_PER_TIMELINE_MAX });
    }
    for some in superseded.chunks(RESTORED_AT_ONCE_MAX) {
        append(draft, ledger, (&[], some, &[]), why)?;
    }
    for some in Full::of(timers) {
        append(draft, ledger, (some, &[], &[]), why)?;
    }
    // A firing whose event was recorded right after the restored instant is not delivered.
    let fired: Vec<FiringRow> = fired.iter().filter(|firing| !firing.records_event()).cloned().collect();
    for some in fired.chunks(RESTORED_AT_ONCE_MAX) {
        append(draft, ledger, (&[], &[], some), why)?;
    }
    draft.set_next_timer(ledger, *next);
    Ok(())
}

struct Full<'a>(&'a [TimerChanged]);

impl<'a> Full<'a> {
    const fn of(timers: &'a [TimerChanged]) -> Self {
        Self(timers)
    }
}

impl<'a> Iterator for Full<'a> {
    type Item = &'a [TimerChanged];

    fn next(&mut self) -> Option<&'a [TimerChanged]> {
        let mut bytes = 0;
        let fits = |timer: &&TimerChanged| {
            let has_room = bytes < RESTORED_BYTES_MAX;
            bytes += timer.bytes();
            has_room
        };
        let count = self.0.iter().take(RESTORED_AT_ONCE_MAX).take_while(fits).count();
        let (some, rest) = self.0.split_at(count);
        self.0 = rest;
        (!some.is_empty()).then_some(some)
    }
}

fn append(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    (timers, superseded, fired): (&[TimerChanged], &[FiringRow], &[FiringRow]),
    why: Restored<'_>,
) -> Result<(), Refusal> {
    let host = draft.host(ledger);
    let head = &draft.state(ledger).head;
    let restored: Option<Vec<TimerRestored<'_>>> = timers.iter().map(TimerChanged::restored).collect();
    let restored = restored.ok_or_else(|| Refusal::Damaged("a stored timer is not JSON".to_owned()))?;
    let payload = StatePayload::TimersRestored(TimersRestored {
        anchor_id: match why {
            Restored::Return(anchor_id) => Some(anchor_id.to_owned()),
            Restored::Rewind | Restored::Fork | Restored::Redeliver => None,
        },
        inherited: matches!(why, Restored::Fork),
        timers: restored,
        superseded: superseded.iter().map(|firing| due_firing_record(&firing.due_firing)).collect(),
        fired: fired.iter().map(FiredAgain::of).collect(),
        before: head.timers.last,
    });
    let known = KnownTimerRows::of_timers(timers.iter().filter_map(|timer| timer.was.as_ref()));
    draft.record_on_timers(ledger, (Action::RestoreTimers, "timers"), &payload, &known, host)?;
    Ok(())
}

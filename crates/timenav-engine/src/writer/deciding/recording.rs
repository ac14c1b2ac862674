//! Events recorded by timers. Each firing of such a timer is an event, which is also its outcome.
//!
//! Other events may already have the firing ids, so events with these ids must be prefetched. The set of firing timers
//! is only known after a decision, so the first decision returns the ids to prefetch, and the next one uses the result.

use std::collections::HashSet;

use timenav_core::access::{self, Demand};
use timenav_core::ids::{EventId, UserId};
use timenav_core::limits::FIRINGS_AT_ONCE_MAX;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{Coming, DueFiring, FiringState};

use super::events::record_own;
use super::outcomes::{Outcome, record_outcomes};
use crate::events::location::columns_of;
use crate::ledger::changes::LookUp;
use crate::ports::timer_rows::{FiringRow, TimerRow};
use crate::ports::wall_clock::Host;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::timers::upcoming::Upcoming;
use crate::writer::draft::{Draft, Ledger};

/// The firings of one decision that record events, all of them prefetched.
pub(super) struct Recording {
    /// Firings at or after this instant are not completely known.
    until: Option<Instant<Virtual>>,
}

impl Recording {
    pub(super) fn of(
        draft: &Draft<'_>,
        ledger: Ledger,
        upcoming: &Upcoming,
        (upto, coming): (Instant<Virtual>, Coming),
        lookup_result: &LookUp,
    ) -> Result<Result<Self, LookUp>, Refusal> {
        let due_firing = upcoming.recording(upto, coming);
        if due_firing.is_empty() {
            return Ok(Ok(Self { until: None }));
        }
        let timeline = draft.state(ledger).head.id.entry_name();
        let event_id = |due_firing: &DueFiring| event_id(due_firing.firing_id(&timeline).as_str());
        let event_ids: Vec<EventId> = due_firing.iter().map(event_id).collect::<Result<_, _>>()?;
        let known: HashSet<&EventId> = lookup_result.event_ids.iter().collect();
        if !event_ids.iter().all(|event_id| known.contains(event_id)) {
            return Ok(Err(LookUp { reach: lookup_result.reach, now: Some(upto), event_ids }));
        }
        let is_cut = due_firing.len() >= FIRINGS_AT_ONCE_MAX;
        Ok(Ok(Self { until: due_firing.last().filter(|_| is_cut).map(|last| last.due) }))
    }

    pub(super) fn knows(&self, moment: Instant<Virtual>) -> bool {
        self.until.is_none_or(|until| moment < until)
    }
}

fn event_id(text: &str) -> Result<EventId, Refusal> {
    EventId::new(text).map_err(|error| Refusal::id("event_id", error))
}

/// Records the events of new firings, and their outcomes. Returns the position of the last entry, if there is one.
pub(super) fn record_events(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    upcoming: &Upcoming,
    firings: &[FiringRow],
    host: Host,
) -> Result<Option<u64>, Refusal> {
    let mut outcomes: Vec<Outcome<'_>> = Vec::new();
    for firing in firings.iter().filter(|firing| firing.records_event()) {
        let recorded = match upcoming.row(firing.due_firing.position) {
            Some((timer, _)) => record_event(draft, ledger, (timer, firing), host),
            None => Err("its timer is not there".to_owned()),
        };
        let state = if recorded.is_ok() { FiringState::Acknowledged } else { FiringState::Failed };
        outcomes.push(Outcome { firing, state, reason: recorded.err() });
    }
    if outcomes.is_empty() {
        return Ok(None);
    }
    record_outcomes(draft, ledger, &outcomes, host).map(Some)
}

fn record_event(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    (timer, firing): (&TimerRow, &FiringRow),
    host: Host,
) -> Result<(), String> {
    check_right(draft, ledger, timer)?;
    let event_id = event_id(firing.firing_id.as_str()).map_err(|refusal| refusal.to_string())?;
    let event = timer.event_of(&event_id, firing.due_firing.due).ok_or("the event of the timer cannot be read")?;
    let columns = columns_of(draft.ports().gazetteer.as_deref(), &event);
    let recorded = record_own(draft, ledger, (&event_id, &event, columns), host);
    recorded.map(|_| ()).ok_or_else(|| format!("event_exists: there is an event `{event_id}` already"))
}

/// Checks whether the user who set a timer may still record an event. For timers inherited by a fork, checks the user
/// who forked. For adopted timers, checks the user who adopted, because the one who set them is unknown here.
fn check_right(draft: &Draft<'_>, ledger: Ledger, timer: &TimerRow) -> Result<(), String> {
    let head = &draft.state(ledger).head;
    let adopted = head.origins.last().map_or(0, |origin| origin.end);
    let is_taken_along = timer.position < head.timers.position_of(adopted);
    let user_id = if is_taken_along { Ok(head.created_by.clone()) } else { UserId::new(&timer.set_by) };
    let user_id = user_id.map_err(|error| error.to_string())?;
    let caller_access = draft.directory().caller_access(&user_id, None, Some(&head.permissions), draft.for_expiry());
    let denied = |denial| format!("permission: `{user_id}` may not record events here ({denial})");
    access::decide(caller_access, Demand::Record).map_err(denied)
}

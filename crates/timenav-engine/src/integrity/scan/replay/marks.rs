//! The unsigned columns of entries that forks start from: the number of current events, and the entry that records the
//! clock.

use timenav_core::ledger::{EventsErased, LeafRecord};
use timenav_core::scan::FindingKind;

use super::Replay;
use crate::ledger::action::{Action, Erases, OnEvents};
use crate::ledger::payload::DataErased;
use crate::ports::archive::EntryMarks;
use crate::requests::json::read;

/// The previous entry's columns, as far as they are known: a replay that begins in the middle trusts those of its first
/// entry.
#[derive(Default)]
pub(super) struct Marks {
    events_count: Option<i64>,
    pub(super) clock_entry: Option<i64>,
}

impl Marks {
    pub(super) fn new(first: u64) -> Self {
        let nothing = (first == 0).then_some(0);
        Self { events_count: nothing, clock_entry: nothing }
    }
}

impl Replay {
    /// `counted` is the change in the number of current events, if the payload contains it.
    pub(super) fn check_marks(
        &mut self,
        record: &LeafRecord<'_>,
        position: u64,
        payload: Option<&[u8]>,
        counted: i64,
        stored: Option<EntryMarks>,
    ) {
        if self.blind.is_some() {
            return;
        }
        let Some(stored) = stored else {
            let before = self.marks.events_count.unwrap_or_default();
            // The effect of an erased intervention is determined by the code that computes the columns.
            self.marks.events_count = Some(before + stand_more(record, payload, counted).unwrap_or_default());
            return;
        };
        let mut differs = |what: &str, expected: i64, stored: i64| {
            if expected != stored {
                let evidence =
                    format!("table entries, {position}: {what} is {stored}, but the entries lead to {expected}");
                self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
            }
        };
        let clock_entry = *self.marks.clock_entry.get_or_insert(stored.clock_entry);
        differs("the entry of the clock", clock_entry, stored.clock_entry);
        let events_count = match (self.marks.events_count, stand_more(record, payload, counted)) {
            (Some(before), Some(more)) => before + more,
            // The effect of an erased intervention is unknown, but it concerns only one event.
            (Some(before), None) => {
                let most = events_touched(record, payload);
                stored.events_count.clamp(before.saturating_sub(most), before.saturating_add(most))
            }
            (None, _) => stored.events_count,
        };
        differs("the count of events", events_count, stored.events_count);
        self.marks.events_count = Some(events_count);
    }
}

/// Returns the maximum number of events whose state an entry may have changed.
fn events_touched(record: &LeafRecord<'_>, payload: Option<&[u8]>) -> i64 {
    let many = payload.filter(|_| Action::of(record) == Some(Action::EraseEvents));
    let count = |erased: EventsErased<'_>| i64::try_from(erased.events_count).unwrap_or(i64::MAX);
    many.map_or(1, |payload| EventsErased::decode(payload).map_or(0, count))
}

/// Returns the change in the number of current events; `None` if it is no longer known.
fn stand_more(record: &LeafRecord<'_>, payload: Option<&[u8]>, counted: i64) -> Option<i64> {
    let Some(action) = Action::of(record) else { return Some(counted) };
    match (action.on_events(), action.erases(), payload) {
        // It was current until it was erased.
        (Some(OnEvents::Records), _, None) => Some(1),
        (None, Some(Erases::Data), Some(payload)) => {
            let erased: DataErased = read(payload)?;
            Some(-i64::from(erased.is_event() && !erased.cancelled))
        }
        // The effect, and which of the events were current, is no longer known.
        (Some(OnEvents::Intervenes), _, None) | (None, Some(Erases::Events), Some(_)) => None,
        (Some(_) | None, _, _) => Some(counted),
    }
}

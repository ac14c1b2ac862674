use timenav_core::ids::{AnchorId, EventId, TimelineId, TimerId};
use timenav_core::ledger::LeafRecord;
use timenav_core::paradox::{Record, Stamp, TimerRecord};
use timenav_core::time::{Instant, Virtual, parse_timestamp};
use timenav_core::timers::{DueFiring, Schedule};

use crate::ledger::action::{Action, OnTimers};
use crate::ledger::payload::{
    FiredAgain, ScheduleRecord, TimelineCreated, TimerCancelled, TimerRestored, TimerSet, TimersFired, TimersRestored,
    due_firing_of,
};
use crate::ports::archive::EntryRow;
use crate::requests::json::read;

pub(super) enum Done {
    /// A timeline was created.
    Begun {
        base: u64,
    },
    Set(TimerId),
    Fired(Vec<(EventId, DueFiring)>),
    /// A timer was changed or canceled.
    Changed {
        timer: u64,
        schedule: Option<Schedule>,
    },
    /// Timers were restored.
    Restored(Restored),
}

pub(super) struct Restored {
    anchor_id: Option<AnchorId>,
    superseded: Vec<DueFiring>,
    /// Timers that were restored: position, due time and round.
    rearmed: Vec<(u64, Instant<Virtual>, u32)>,
    fired: Vec<(EventId, DueFiring)>,
}

/// Returns the effect of an entry on timers; `None` if there is none, or if it cannot be parsed.
pub(super) fn done(action: Action, leaf: &LeafRecord<'_>, row: &EntryRow) -> Option<Done> {
    let payload = row.payload.as_slice();
    let timeline = TimelineId::new(&leaf.timeline_id).ok();
    if action == Action::CreateTimeline {
        let fork = read::<TimelineCreated>(payload)?.fork;
        return Some(Done::Begun { base: fork.and_then(|fork| fork.timers_base).unwrap_or_default() });
    }
    match action.on_timers()? {
        OnTimers::Sets => Some(Done::Set(TimerId::new(&leaf.subject).ok()?)),
        OnTimers::Fires => {
            let fired = read::<TimersFired>(payload)?.fired;
            let fired = fired.iter().map(|(timer, due, round, _)| firing(timeline.as_ref()?, &(*timer, *due, *round)));
            Some(Done::Fired(fired.collect::<Option<_>>()?))
        }
        OnTimers::Cancels => Some(Done::Changed { timer: read::<TimerCancelled>(payload)?.position, schedule: None }),
        OnTimers::Changes => {
            let timer_set: TimerSet<'_> = read(payload)?;
            if !timer_set.has_another_schedule() {
                return None;
            }
            let schedule = read::<ScheduleRecord>(timer_set.schedule().as_bytes())?.schedule()?;
            Some(Done::Changed { timer: timer_set.changes()?, schedule: Some(schedule) })
        }
        OnTimers::Restores => {
            let timer_set: TimersRestored<'_> = read(payload)?;
            let again = |one: &FiredAgain| firing(timeline.as_ref()?, &(one.timer, one.due, one.round));
            Some(Done::Restored(Restored {
                anchor_id: timer_set.anchor_id.as_deref().map(AnchorId::new).transpose().ok()?,
                superseded: timer_set.superseded.iter().map(due_firing_of).collect::<Option<_>>()?,
                // Inherited timers are in that state on the origin already, and a return to an anchor is identified by
                // the anchor.
                rearmed: if timer_set.inherited || timer_set.anchor_id.is_some() { &[][..] } else { &timer_set.timers }
                    .iter()
                    .filter_map(rearmed)
                    .collect(),
                fired: timer_set.fired.iter().map(again).collect::<Option<_>>()?,
            }))
        }
        // The due time was reached regardless of the outcome.
        OnTimers::Settles => None,
    }
}

fn firing(timeline: &TimelineId, due_firing: &(u64, i64, u32)) -> Option<(EventId, DueFiring)> {
    let due_firing = due_firing_of(due_firing)?;
    Some((EventId::new(due_firing.firing_id(timeline).as_str()).ok()?, due_firing))
}

/// Returns the new due time of a restored timer. A redelivery does not change it.
fn rearmed(timer: &TimerRestored<'_>) -> Option<(u64, Instant<Virtual>, u32)> {
    let (was, is) = (timer.was.as_ref()?, timer.is.as_ref()?);
    let next = parse_timestamp(is.next()?).ok()?;
    (was.next() != is.next()).then_some((timer.position, next, is.round()))
}

impl Done {
    /// Passes the effect of an entry on timers to `take`, after its other records.
    pub(super) fn records(&self, stamp: Stamp, entry: u64, first: Record<'_>, take: &mut dyn FnMut(&[Record<'_>])) {
        let Stamp { position, clock_at, .. } = stamp;
        let mut records = vec![first];
        let mut add = |record| records.push(Record::Timers(record));
        match self {
            Self::Begun { base } => add(TimerRecord::Begins { base: *base }),
            Self::Set(timer_id) => add(TimerRecord::Set { entry, timer_id }),
            Self::Fired(fired) => fired.iter().for_each(|one| add(fired_record(position, one))),
            Self::Changed { timer, schedule } => {
                let (timer, schedule) = (*timer, schedule.as_ref());
                add(TimerRecord::Changed { position, timer, clock_at, schedule });
            }
            Self::Restored(Restored { anchor_id, superseded, rearmed, fired }) => {
                if let Some(anchor_id) = anchor_id {
                    add(TimerRecord::Returned { position, anchor_id });
                }
                for &due_firing in superseded {
                    add(TimerRecord::Superseded { position, due_firing });
                }
                for &(timer, next, round) in rearmed {
                    add(TimerRecord::Rearmed { position, timer, next, round });
                }
                for one in fired {
                    add(fired_record(position, one));
                }
            }
        }
        take(&records);
    }
}

const fn fired_record(position: u64, (firing_id, due_firing): &(EventId, DueFiring)) -> TimerRecord<'_> {
    TimerRecord::Fired { position, firing_id, due_firing: *due_firing }
}

//! Queries of timers, firings and advances. Both backends run them.

use std::borrow::Cow;

use timenav_core::ids::TimerId;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::DueFiring;
use timenav_engine::{TimelineKey, TimerQuery, TimerStatus};

use super::list::{ADVANCES, FIRINGS, TIMERS};
use super::{Field, Value};
use crate::persistence::values::sql;

pub(crate) struct TimersQuery {
    pub(crate) of: TimersTable,
    pub(crate) statement: String,
    pub(crate) values: Vec<Value<'static>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimersTable {
    Timers,
    /// Timers without their payload.
    ShortTimers,
    Firings,
    Advances,
}

use TimersTable::{Advances, Firings, ShortTimers, Timers};

/// A statement with parameters in the order of their first use, which is how SQLite numbers them.
type Select = (TimersTable, &'static str);

const NAMED: Select = (Timers, "SELECT * FROM timers WHERE timeline = $1 AND timer_id = $2");
const AT: Select = (Timers, "SELECT * FROM timers WHERE timeline = $1 AND position = $2");
const EARLIEST: Select =
    (ShortTimers, "SELECT * FROM timers WHERE timeline = $1 AND next IS NOT NULL ORDER BY next, position LIMIT $2");
const ARMED_UNTIL: Select = (
    ShortTimers,
    "SELECT * FROM timers WHERE timeline = $1 AND next IS NOT NULL
    AND (next, position) > ($2, $3) AND next <= $4 ORDER BY next, position LIMIT $5",
);
const ARMED: Select = (
    Timers,
    "SELECT * FROM timers WHERE timeline = $1 AND next IS NOT NULL AND (next, position) > ($2, $3)
    ORDER BY next, position LIMIT $4",
);
const AT_REST: Select = (
    Timers,
    "SELECT * FROM timers WHERE timeline = $1 AND next IS NULL AND cancelled = $2 AND position > $3
    ORDER BY position LIMIT $4",
);
const ARMED_BY_NAME: Select = (
    Timers,
    "SELECT * FROM timers WHERE timeline = $1 AND next IS NOT NULL AND timer_id > $2
    ORDER BY timer_id LIMIT $3",
);
const BY_POSITION: Select =
    (Timers, "SELECT * FROM timers WHERE timeline = $1 AND position > $2 ORDER BY position LIMIT $3");
const FIRING: Select = (Firings, "SELECT * FROM firings WHERE timeline = $1 AND firing_id = $2");
const FIRINGS_OF: Select = (
    Firings,
    "SELECT * FROM firings WHERE timeline = $1 AND position = $2
    ORDER BY due DESC, round DESC LIMIT $3",
);
const PENDING: Select = (
    Firings,
    "SELECT * FROM firings WHERE timeline = $1 AND queue = $2 AND state = 0
    ORDER BY due, position, round LIMIT $3",
);
const FIRINGS_OF_AFTER: Select = (
    Firings,
    "SELECT * FROM firings WHERE timeline = $1 AND position = $2
    AND (due, round) > ($3, $4) ORDER BY due, round LIMIT $5",
);
const PENDING_AFTER: Select = (
    Firings,
    "SELECT * FROM firings WHERE timeline = $1 AND state = 0
    AND (due, position, round) > ($2, $3, $4) ORDER BY due, position, round LIMIT $5",
);
const PENDING_SINCE: Select = (
    Firings,
    "SELECT * FROM firings WHERE timeline = $1 AND made >= $2 AND state = 0
    ORDER BY made LIMIT $3",
);
const OF_ADVANCE: Select = (
    Firings,
    "SELECT * FROM firings WHERE timeline = $1 AND due >= $2 AND due <= $3 AND advance = $4
    ORDER BY due, position, round LIMIT $5",
);
const FIRINGS_AFTER: Select = (
    Firings,
    "SELECT * FROM firings WHERE timeline = $1 AND (due, position, round) > ($2, $3, $4)
    ORDER BY due, position, round LIMIT $5",
);
const ADVANCE: Select = (Advances, "SELECT * FROM advances WHERE timeline = $1 AND advance_id = $2");
const ADVANCES_AFTER: Select =
    (Advances, "SELECT * FROM advances WHERE timeline = $1 AND position > $2 ORDER BY position LIMIT $3");

/// Returns the query of what is wanted, with one of the positions or ids if it is a list of them.
fn query(timer_query: &TimerQuery, one: Option<Value<'static>>) -> (Select, Vec<Value<'static>>) {
    let id = |id: &dyn ToString| Value::Word(Cow::Owned(id.to_string()));
    let whole = |number: u64| Value::Whole(sql(number));
    let limit = |items_max: usize| whole(items_max as u64);
    let after_position = |after: Option<u64>| Value::Whole(after.map_or(-1, sql));
    match timer_query {
        TimerQuery::At(_) => (AT, one.into_iter().collect()),
        TimerQuery::Firings(_) => (FIRING, one.into_iter().collect()),
        TimerQuery::Named(timer_id) => (NAMED, vec![id(timer_id)]),
        TimerQuery::Earliest(max) => (EARLIEST, vec![limit(*max)]),
        TimerQuery::ArmedUntil(until, after, max) => {
            let [next, position] = armed_place(*after);
            (ARMED_UNTIL, vec![next, position, Value::Whole(until.micros()), limit(*max)])
        }
        TimerQuery::Listed(TimerStatus::Armed, after, max) => {
            let [next, position] = armed_place(*after);
            (ARMED, vec![next, position, limit(*max)])
        }
        TimerQuery::Listed(status, after, max) => {
            let is_cancelled = Value::Whole((*status == TimerStatus::Cancelled).into());
            (AT_REST, vec![is_cancelled, after_position(after.map(|(_, position)| position)), limit(*max)])
        }
        TimerQuery::ArmedByName(after, max) => {
            (ARMED_BY_NAME, vec![id(&after.as_ref().map_or("", TimerId::as_str)), limit(*max)])
        }
        TimerQuery::ByPosition(after, max) => (BY_POSITION, vec![after_position(*after), limit(*max)]),
        TimerQuery::FiringsOf(of, max) => (FIRINGS_OF, vec![whole(*of), limit(*max)]),
        TimerQuery::Pending(queue, max) => (PENDING, vec![id(queue), limit(*max)]),
        TimerQuery::PendingSince(made, max) => (PENDING_SINCE, vec![whole(*made), limit(*max)]),
        TimerQuery::OfAdvance(advance, from, to, max) => {
            let (from, to) = (Value::Whole(from.micros()), Value::Whole(to.micros()));
            (OF_ADVANCE, vec![from, to, whole(*advance), limit(*max)])
        }
        TimerQuery::FiringsAfter(after, max) => {
            let [due, position, round] = firing_place(*after);
            (FIRINGS_AFTER, vec![due, position, round, limit(*max)])
        }
        TimerQuery::FiringsOfAfter(of, after, max) => {
            let [due, _, round] = firing_place(*after);
            (FIRINGS_OF_AFTER, vec![whole(*of), due, round, limit(*max)])
        }
        TimerQuery::PendingAfter(after, max) => {
            let [due, position, round] = firing_place(*after);
            (PENDING_AFTER, vec![due, position, round, limit(*max)])
        }
        TimerQuery::Advance(advance_id) => (ADVANCE, vec![id(advance_id)]),
        TimerQuery::Advances(after, max) => (ADVANCES_AFTER, vec![after_position(*after), limit(*max)]),
    }
}

/// Returns the sort key after which armed timers are read.
fn armed_place(after: Option<(Instant<Virtual>, u64)>) -> [Value<'static>; 2] {
    let place = after.map_or([i64::MIN, -1], |(next, position)| [next.micros(), sql(position)]);
    place.map(Value::Whole)
}

/// Returns the sort key after which firings are read: due time, position and round.
fn firing_place(after: Option<DueFiring>) -> [Value<'static>; 3] {
    let place = after.map_or([i64::MIN, -1, -1], |one| [one.due.micros(), sql(one.position), one.round.into()]);
    place.map(Value::Whole)
}

/// Returns the queries of what is wanted: one, or one for each position or id of a list.
pub(crate) fn queries(timeline: TimelineKey, timer_query: &TimerQuery) -> Vec<TimersQuery> {
    let query = |one: Option<Value<'_>>| {
        let ((of, statement), values) = query(timer_query, one.map(Value::into_owned));
        let statement = match of {
            Timers => TIMERS.select(statement),
            ShortTimers => TIMERS.select(statement).replacen("payload", "''", 1),
            Firings => FIRINGS.select(statement),
            Advances => ADVANCES.select(statement),
        };
        TimersQuery { of, statement, values: std::iter::once(timeline.stored().into_owned()).chain(values).collect() }
    };
    match timer_query {
        TimerQuery::At(positions) => positions.iter().map(|position| query(Some(position.stored()))).collect(),
        TimerQuery::Firings(ids) => ids.iter().map(|firing_id| query(Some(firing_id.stored()))).collect(),
        _ => vec![query(None)],
    }
}

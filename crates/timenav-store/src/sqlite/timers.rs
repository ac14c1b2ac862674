use rusqlite::{Connection, Transaction, params, params_from_iter};
use timenav_core::time::Instant;
use timenav_core::timers::DueFiring;
use timenav_engine::{StoreError, TimelineKey, TimerQuery, TimerRows, TimersFound};

use super::values::{insert, records, sql};
use crate::tables::Field;
use crate::tables::timers::{TimersTable, queries};

const DELETE_TIMER: &str = "DELETE FROM timers WHERE timeline = ?1 AND position = ?2";
const MOVE_TIMER: &str =
    "UPDATE timers SET next = ?3, round = ?4, cancelled = ?5 WHERE timeline = ?1 AND position = ?2";
const SETTLE_FIRING: &str = "UPDATE firings SET state = ?5, settled = ?6, reason = ?7
    WHERE timeline = ?1 AND due = ?2 AND position = ?3 AND round = ?4";
pub(super) fn put(transaction: &Transaction<'_>, timeline: TimelineKey, rows: &TimerRows) -> rusqlite::Result<()> {
    let TimerRows { removed, set, moved, fired, settled, advances } = rows;
    for position in removed {
        transaction.prepare_cached(DELETE_TIMER)?.execute(params![timeline.0, sql(*position)])?;
    }
    for timer in set {
        insert(transaction, Some(timeline), timer)?;
    }
    for one in moved {
        let (position, next) = (sql(one.position), one.next.map(Instant::micros));
        let mut update = transaction.prepare_cached(MOVE_TIMER)?;
        update.execute(params![timeline.0, position, next, one.round, one.is_cancelled])?;
    }
    for firing in fired {
        insert(transaction, Some(timeline), firing)?;
    }
    for end in settled {
        let DueFiring { due, position, round } = end.due_firing;
        let key = (timeline.0, due.micros(), sql(position));
        let mut settle = transaction.prepare_cached(SETTLE_FIRING)?;
        settle.execute(params![key.0, key.1, key.2, round, end.state.stored(), sql(end.settled), end.reason])?;
    }
    for advance in advances {
        insert(transaction, Some(timeline), advance)?;
    }
    Ok(())
}

pub(super) fn find(
    connection: &Connection,
    timeline: TimelineKey,
    timer_query: &TimerQuery,
) -> Result<TimersFound, StoreError> {
    let mut found = TimersFound::default();
    for query in queries(timeline, timer_query) {
        // Without the hint, SQLite reads all firings ever made, in their order, and filters the pending ones. There
        // are few pending firings of all queues, so they can be sorted.
        let hinted = |index: &str| query.statement.replacen("firings", &format!("firings INDEXED BY {index}"), 1);
        let statement = match timer_query {
            TimerQuery::Pending(..) => hinted("firings_pending"),
            TimerQuery::PendingAfter(..) => hinted("firings_open"),
            _ => query.statement,
        };
        let values = params_from_iter(&query.values);
        match query.of {
            TimersTable::Timers | TimersTable::ShortTimers => {
                found.timers.extend(records(connection, &statement, values)?);
            }
            TimersTable::Firings => found.firings.extend(records(connection, &statement, values)?),
            TimersTable::Advances => found.advances.extend(records(connection, &statement, values)?),
        }
    }
    Ok(found)
}

/// Limits a question that a few index rows usually answer to `rows_max` rows. Returns `None` for other questions.
pub(super) fn few(timer_query: &TimerQuery, rows_max: usize) -> Option<TimerQuery> {
    match timer_query {
        TimerQuery::At(positions) => (positions.len() <= rows_max).then(|| timer_query.clone()),
        TimerQuery::Firings(firing_ids) => (firing_ids.len() <= rows_max).then(|| timer_query.clone()),
        TimerQuery::Pending(queue, items_max) => Some(TimerQuery::Pending(queue.clone(), rows_max.min(*items_max))),
        TimerQuery::PendingSince(made, items_max) => Some(TimerQuery::PendingSince(*made, rows_max.min(*items_max))),
        TimerQuery::Named(_)
        | TimerQuery::Earliest(_)
        | TimerQuery::ArmedUntil(..)
        | TimerQuery::Listed(..)
        | TimerQuery::ArmedByName(..)
        | TimerQuery::ByPosition(..)
        | TimerQuery::FiringsOf(..)
        | TimerQuery::FiringsOfAfter(..)
        | TimerQuery::PendingAfter(..)
        | TimerQuery::OfAdvance(..)
        | TimerQuery::FiringsAfter(..)
        | TimerQuery::Advance(_)
        | TimerQuery::Advances(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use timenav_core::ids::{FiringId, QueueId, TimerId};
    use timenav_engine::TimerStatus;

    use super::*;
    use crate::sqlite::migrations;

    /// Many finished timers with acknowledged firings. One timer is armed, and one firing is pending.
    const LONG_HISTORY: &str =
        "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5000)
        INSERT INTO timers (timeline, position, timer_id, next, round, cancelled, schedule, deliver, queue, order_key,
            payload, set_by, set_at)
        SELECT 1, n, 'timer_' || n, iif(n = 5000, 90000, NULL), 0, n % 2, '{}', '{}', 'q', NULL, '{}', 'ada', 0
        FROM number;
        WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5000)
        INSERT INTO firings (timeline, due, position, round, firing_id, timer_id, queue, order_key, state, made,
            settled, advance, reason)
        SELECT 1, n, n, 0, 'firing_' || n, 'timer_' || n, 'q', NULL, n < 5000, 6000 + n, 12000 + n, 5500, NULL
        FROM number";
    /// SQLite virtual machine steps for a lookup of one row. It needs a few dozen.
    const STEPS_MAX: u64 = 1_000;

    /// Claims and steps each ask for a few of all rows that ever existed.
    #[test]
    fn timer_queries_do_not_scan_completed_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        connection.execute_batch(LONG_HISTORY).unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&steps);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.progress_handler(1, Some(count)).unwrap();
        let (early, late) = (Instant::from_micros(1).unwrap(), Instant::from_micros(90_000).unwrap());
        let firing_id = FiringId::new("firing_4000").unwrap();
        for (timer_query, found) in [
            (TimerQuery::Named(TimerId::new("timer_4000").unwrap()), 1),
            (TimerQuery::At(vec![4_000]), 1),
            (TimerQuery::Earliest(1), 1),
            (TimerQuery::ArmedUntil(late, None, 1), 1),
            (TimerQuery::Listed(TimerStatus::Armed, None, 1), 1),
            (TimerQuery::Listed(TimerStatus::Done, None, 1), 1),
            (TimerQuery::Listed(TimerStatus::Cancelled, None, 1), 1),
            (TimerQuery::ByPosition(Some(4_000), 1), 1),
            (TimerQuery::Firings(vec![firing_id]), 1),
            (TimerQuery::FiringsOf(4_000, 1), 1),
            (TimerQuery::Pending(QueueId::new("q").unwrap(), 10), 1),
            (TimerQuery::Pending(QueueId::new("nobody").unwrap(), 10), 0),
            (TimerQuery::PendingSince(6_000, 10), 1),
            (TimerQuery::OfAdvance(5_500, early, late, 1), 1),
            (TimerQuery::FiringsAfter(None, 1), 1),
            (TimerQuery::FiringsOfAfter(4_000, None, 10), 1),
            (TimerQuery::PendingAfter(None, 10), 1),
        ] {
            steps.store(0, Ordering::Relaxed);
            let rows = find(&connection, TimelineKey(1), &timer_query).unwrap();
            assert_eq!(rows.timers.len() + rows.firings.len(), found, "{timer_query:?}");
            let taken = steps.load(Ordering::Relaxed);
            assert!(taken < STEPS_MAX, "{timer_query:?} took {taken} steps");
        }
    }
}

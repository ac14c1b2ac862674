use rusqlite::types::Value;
use rusqlite::{Connection, Row, Transaction, params, params_from_iter};
use timenav_core::ids::{AdvanceId, FiringId, QueueId, TimerId};
use timenav_core::time::Instant;
use timenav_core::timers::{DueFiring, FiringState};
use timenav_engine::{
    AdvanceRow, FiringRow, StoreError, TimelineKey, TimerRow, TimerRows, TimerStanding, TimersFound, TimersWanted,
};

use super::values::{count, damaged, failed, id, instant, sql};

const PUT_TIMER: &str = "INSERT INTO timers (timeline, position, timer_id, next, round, cancelled, schedule, deliver,
    queue, order_key, payload, set_by, set_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    ON CONFLICT (timeline, position) DO UPDATE SET next = excluded.next, round = excluded.round,
    cancelled = excluded.cancelled, schedule = excluded.schedule, deliver = excluded.deliver, queue = excluded.queue,
    order_key = excluded.order_key, payload = excluded.payload";
const DELETE_TIMER: &str = "DELETE FROM timers WHERE timeline = ?1 AND position = ?2";
const MOVE_TIMER: &str =
    "UPDATE timers SET next = ?3, round = ?4, cancelled = ?5 WHERE timeline = ?1 AND position = ?2";
const INSERT_FIRING: &str =
    "INSERT INTO firings (timeline, due, position, round, firing_id, timer_id, queue, order_key,
    state, made, settled, advance, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
const SETTLE_FIRING: &str = "UPDATE firings SET state = ?5, settled = ?6, reason = ?7
    WHERE timeline = ?1 AND due = ?2 AND position = ?3 AND round = ?4";
const INSERT_ADVANCE: &str = "INSERT INTO advances (timeline, position, advance_id, ended, record)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const TIMER: &str = "SELECT position, timer_id, next, round, cancelled, schedule, deliver, queue, order_key, payload,
    set_by, set_at FROM timers WHERE timeline = ?1";
/// Without the payload.
const SHORT_TIMER: &str = "SELECT position, timer_id, next, round, cancelled, schedule, deliver, queue, order_key, '',
    set_by, set_at FROM timers WHERE timeline = ?1";
const FIRING: &str =
    "SELECT due, position, round, firing_id, timer_id, queue, order_key, state, made, settled, advance,
    reason FROM firings WHERE timeline = ?1";
/// Without the hint, SQLite reads all firings ever made, in their order, and filters the pending ones.
const PENDING: &str =
    "SELECT due, position, round, firing_id, timer_id, queue, order_key, state, made, settled, advance,
    reason FROM firings INDEXED BY firings_pending WHERE timeline = ?1
    AND queue = ?2 AND state = 0 ORDER BY due, position, round LIMIT ?3";
/// Like [`PENDING`], for all queues. There are few pending firings, so they can be sorted.
const PENDING_AFTER: &str =
    "SELECT due, position, round, firing_id, timer_id, queue, order_key, state, made, settled, advance,
    reason FROM firings INDEXED BY firings_open WHERE timeline = ?1 AND state = 0
    AND (due, position, round) > (?2, ?3, ?4) ORDER BY due, position, round LIMIT ?5";
const ADVANCE: &str = "SELECT position, advance_id, ended, record FROM advances WHERE timeline = ?1";

pub(super) fn put(transaction: &Transaction<'_>, timeline: TimelineKey, rows: &TimerRows) -> rusqlite::Result<()> {
    let TimerRows { gone, set, moved, fired, settled, advances } = rows;
    for position in gone {
        transaction.prepare_cached(DELETE_TIMER)?.execute(params![timeline.0, sql(*position)])?;
    }
    for timer in set {
        transaction.prepare_cached(PUT_TIMER)?.execute(params![
            timeline.0,
            sql(timer.position),
            timer.timer_id.as_str(),
            timer.next.map(Instant::micros),
            timer.round,
            timer.is_cancelled,
            &*timer.schedule,
            &*timer.deliver,
            timer.queue.as_str(),
            timer.order_key,
            &*timer.payload,
            timer.set_by,
            timer.set_at.micros(),
        ])?;
    }
    for one in moved {
        let (position, next) = (sql(one.position), one.next.map(Instant::micros));
        let mut update = transaction.prepare_cached(MOVE_TIMER)?;
        update.execute(params![timeline.0, position, next, one.round, one.is_cancelled])?;
    }
    for firing in fired {
        let DueFiring { due, position, round } = firing.due_firing;
        transaction.prepare_cached(INSERT_FIRING)?.execute(params![
            timeline.0,
            due.micros(),
            sql(position),
            round,
            firing.firing_id.as_str(),
            firing.timer_id.as_str(),
            firing.queue.as_str(),
            firing.order_key,
            number(firing.state),
            sql(firing.made),
            firing.settled.map(sql),
            firing.advance.map(sql),
            firing.reason,
        ])?;
    }
    for end in settled {
        let DueFiring { due, position, round } = end.due_firing;
        let key = (timeline.0, due.micros(), sql(position));
        let mut settle = transaction.prepare_cached(SETTLE_FIRING)?;
        settle.execute(params![key.0, key.1, key.2, round, number(end.state), sql(end.settled), end.reason])?;
    }
    for advance in advances {
        let AdvanceRow { position, advance_id, ended, record } = advance;
        let mut insert = transaction.prepare_cached(INSERT_ADVANCE)?;
        insert.execute(params![timeline.0, sql(*position), advance_id.as_str(), sql(*ended), &**record])?;
    }
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "an arm for each question")]
pub(super) fn find(
    connection: &Connection,
    timeline: TimelineKey,
    wanted: &TimersWanted,
) -> Result<TimersFound, StoreError> {
    let asker = Asker { connection, timeline };
    let limit = |items_max: &usize| Value::from(sql(*items_max as u64));
    match wanted {
        TimersWanted::Named(timer_id) => asker.timers(TIMER, "AND timer_id = ?2", vec![word(timer_id.as_str())]),
        TimersWanted::At(positions) => {
            let mut found = TimersFound::default();
            for position in positions {
                let one = asker.timers(TIMER, "AND position = ?2", vec![Value::from(sql(*position))])?;
                found.timers.extend(one.timers);
            }
            Ok(found)
        }
        TimersWanted::Earliest(items_max) => {
            let order = "AND next IS NOT NULL ORDER BY next, position LIMIT ?2";
            asker.timers(SHORT_TIMER, order, vec![limit(items_max)])
        }
        TimersWanted::ArmedUntil(until, after, items_max) => {
            let (next, position) = after.map_or((i64::MIN, -1), |(next, position)| (next.micros(), sql(position)));
            let order =
                "AND next IS NOT NULL AND (next, position) > (?2, ?3) AND next <= ?4 ORDER BY next, position LIMIT ?5";
            let values = vec![next.into(), position.into(), until.micros().into(), limit(items_max)];
            asker.timers(SHORT_TIMER, order, values)
        }
        TimersWanted::Listed(TimerStanding::Armed, after, items_max) => {
            let (next, position) = after.map_or((i64::MIN, -1), |(next, position)| (next.micros(), sql(position)));
            let order = "AND next IS NOT NULL AND (next, position) > (?2, ?3) ORDER BY next, position LIMIT ?4";
            asker.timers(TIMER, order, vec![next.into(), position.into(), limit(items_max)])
        }
        TimersWanted::Listed(standing, after, items_max) => {
            let cancelled = i64::from(*standing == TimerStanding::Cancelled);
            let after = after.map_or(-1, |(_, position)| sql(position));
            let order = "AND next IS NULL AND cancelled = ?2 AND position > ?3 ORDER BY position LIMIT ?4";
            asker.timers(TIMER, order, vec![cancelled.into(), after.into(), limit(items_max)])
        }
        TimersWanted::ArmedByName(after, items_max) => {
            let order = "AND next IS NOT NULL AND timer_id > ?2 ORDER BY timer_id LIMIT ?3";
            asker.timers(TIMER, order, vec![word(after.as_ref().map_or("", TimerId::as_str)), limit(items_max)])
        }
        TimersWanted::ByPosition(after, items_max) => {
            let order = "AND position > ?2 ORDER BY position LIMIT ?3";
            asker.timers(TIMER, order, vec![after.map_or(-1, sql).into(), limit(items_max)])
        }
        TimersWanted::Firings(firing_ids) => {
            let mut found = TimersFound::default();
            for firing_id in firing_ids {
                let one = asker.firings("AND firing_id = ?2", vec![word(firing_id.as_str())])?;
                found.firings.extend(one.firings);
            }
            Ok(found)
        }
        TimersWanted::FiringsOf(position, items_max) => {
            let order = "AND position = ?2 ORDER BY due DESC, round DESC LIMIT ?3";
            asker.firings(order, vec![sql(*position).into(), limit(items_max)])
        }
        TimersWanted::Pending(queue, items_max) => {
            let values = vec![word(queue.as_str()), limit(items_max)];
            Ok(TimersFound { firings: asker.rows(PENDING, values, firing)?, ..TimersFound::default() })
        }
        TimersWanted::PendingSince(made, items_max) => {
            let order = "AND made >= ?2 AND state = 0 ORDER BY made LIMIT ?3";
            asker.firings(order, vec![sql(*made).into(), limit(items_max)])
        }
        TimersWanted::OfAdvance(advance, from, to, items_max) => {
            let order = "AND due >= ?2 AND due <= ?3 AND advance = ?4 ORDER BY due, position, round LIMIT ?5";
            let range = [Value::from(from.micros()), to.micros().into(), sql(*advance).into()];
            asker.firings(order, range.into_iter().chain([limit(items_max)]).collect())
        }
        TimersWanted::FiringsAfter(after, items_max) => {
            let order = "AND (due, position, round) > (?2, ?3, ?4) ORDER BY due, position, round LIMIT ?5";
            let values = place(*after).into_iter().map(Value::from);
            asker.firings(order, values.chain([limit(items_max)]).collect())
        }
        TimersWanted::FiringsOfAfter(of, after, items_max) => {
            let order = "AND position = ?2 AND (due, round) > (?3, ?4) ORDER BY due, round LIMIT ?5";
            let [due, _, round] = place(*after);
            asker.firings(order, vec![sql(*of).into(), due.into(), round.into(), limit(items_max)])
        }
        TimersWanted::PendingAfter(after, items_max) => {
            let values = place(*after).into_iter().map(Value::from).chain([limit(items_max)]).collect();
            Ok(TimersFound { firings: asker.rows(PENDING_AFTER, values, firing)?, ..TimersFound::default() })
        }
        TimersWanted::Advance(advance_id) => asker.advances("AND advance_id = ?2", vec![word(advance_id.as_str())]),
        TimersWanted::Advances(after, items_max) => {
            let order = "AND position > ?2 ORDER BY position LIMIT ?3";
            asker.advances(order, vec![after.map_or(-1, sql).into(), limit(items_max)])
        }
    }
}

/// Limits a question that a few index rows usually answer to `rows_max` rows. Returns `None` for other questions.
pub(super) fn few(wanted: &TimersWanted, rows_max: usize) -> Option<TimersWanted> {
    match wanted {
        TimersWanted::At(positions) => (positions.len() <= rows_max).then(|| wanted.clone()),
        TimersWanted::Firings(firing_ids) => (firing_ids.len() <= rows_max).then(|| wanted.clone()),
        TimersWanted::Pending(queue, items_max) => Some(TimersWanted::Pending(queue.clone(), rows_max.min(*items_max))),
        TimersWanted::PendingSince(made, items_max) => {
            Some(TimersWanted::PendingSince(*made, rows_max.min(*items_max)))
        }
        TimersWanted::Named(_)
        | TimersWanted::Earliest(_)
        | TimersWanted::ArmedUntil(..)
        | TimersWanted::Listed(..)
        | TimersWanted::ArmedByName(..)
        | TimersWanted::ByPosition(..)
        | TimersWanted::FiringsOf(..)
        | TimersWanted::FiringsOfAfter(..)
        | TimersWanted::PendingAfter(..)
        | TimersWanted::OfAdvance(..)
        | TimersWanted::FiringsAfter(..)
        | TimersWanted::Advance(_)
        | TimersWanted::Advances(..) => None,
    }
}

/// Returns the sort key after which firings are read: due time, position and round.
fn place(after: Option<DueFiring>) -> [i64; 3] {
    after.map_or([i64::MIN, -1, -1], |one| [one.due.micros(), sql(one.position), i64::from(one.round)])
}

fn word(text: &str) -> Value {
    Value::from(text.to_owned())
}

struct Asker<'a> {
    connection: &'a Connection,
    timeline: TimelineKey,
}

impl Asker<'_> {
    fn rows<T>(
        &self,
        statement: &str,
        values: Vec<Value>,
        read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut select = self.connection.prepare_cached(statement).map_err(failed)?;
        let values = std::iter::once(Value::from(self.timeline.0)).chain(values);
        let mut rows = select.query(params_from_iter(values)).map_err(failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    fn timers(&self, select: &str, which: &str, values: Vec<Value>) -> Result<TimersFound, StoreError> {
        let timers = self.rows(&format!("{select} {which}"), values, timer)?;
        Ok(TimersFound { timers, ..TimersFound::default() })
    }

    fn firings(&self, which: &str, values: Vec<Value>) -> Result<TimersFound, StoreError> {
        let firings = self.rows(&format!("{FIRING} {which}"), values, firing)?;
        Ok(TimersFound { firings, ..TimersFound::default() })
    }

    fn advances(&self, which: &str, values: Vec<Value>) -> Result<TimersFound, StoreError> {
        let advances = self.rows(&format!("{ADVANCE} {which}"), values, advance)?;
        Ok(TimersFound { advances, ..TimersFound::default() })
    }
}

fn timer(row: &Row<'_>) -> Result<TimerRow, StoreError> {
    let text = |at: usize| row.get::<_, String>(at).map_err(failed);
    Ok(TimerRow {
        position: count(row.get(0).map_err(failed)?)?,
        timer_id: id(TimerId::new(&text(1)?))?,
        next: row.get::<_, Option<i64>>(2).map_err(failed)?.map(instant).transpose()?,
        round: row.get(3).map_err(failed)?,
        is_cancelled: row.get(4).map_err(failed)?,
        schedule: text(5)?.into(),
        deliver: text(6)?.into(),
        queue: id(QueueId::new(&text(7)?))?,
        order_key: row.get(8).map_err(failed)?,
        payload: text(9)?.into(),
        set_by: text(10)?,
        set_at: instant(row.get(11).map_err(failed)?)?,
    })
}

fn firing(row: &Row<'_>) -> Result<FiringRow, StoreError> {
    let text = |at: usize| row.get::<_, String>(at).map_err(failed);
    let position_or_none = |at: usize| row.get::<_, Option<i64>>(at).map_err(failed)?.map(count).transpose();
    Ok(FiringRow {
        due_firing: DueFiring {
            due: instant(row.get(0).map_err(failed)?)?,
            position: count(row.get(1).map_err(failed)?)?,
            round: row.get(2).map_err(failed)?,
        },
        firing_id: id(FiringId::new(&text(3)?))?,
        timer_id: id(TimerId::new(&text(4)?))?,
        queue: id(QueueId::new(&text(5)?))?,
        order_key: row.get(6).map_err(failed)?,
        state: state(row.get(7).map_err(failed)?)?,
        made: count(row.get(8).map_err(failed)?)?,
        settled: position_or_none(9)?,
        advance: position_or_none(10)?,
        reason: row.get(11).map_err(failed)?,
    })
}

fn advance(row: &Row<'_>) -> Result<AdvanceRow, StoreError> {
    Ok(AdvanceRow {
        position: count(row.get(0).map_err(failed)?)?,
        advance_id: id(AdvanceId::new(&row.get::<_, String>(1).map_err(failed)?))?,
        ended: count(row.get(2).map_err(failed)?)?,
        record: row.get::<_, String>(3).map_err(failed)?.into(),
    })
}

fn number(state: FiringState) -> i64 {
    let at = FiringState::ALL.iter().position(|one| *one == state);
    at.and_then(|at| i64::try_from(at).ok()).unwrap_or(0)
}

fn state(number: i64) -> Result<FiringState, StoreError> {
    let state = usize::try_from(number).ok().and_then(|at| FiringState::ALL.get(at).copied());
    state.ok_or_else(|| damaged("a firing in an unknown state"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

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
        for (wanted, found) in [
            (TimersWanted::Named(TimerId::new("timer_4000").unwrap()), 1),
            (TimersWanted::At(vec![4_000]), 1),
            (TimersWanted::Earliest(1), 1),
            (TimersWanted::ArmedUntil(late, None, 1), 1),
            (TimersWanted::Listed(TimerStanding::Armed, None, 1), 1),
            (TimersWanted::Listed(TimerStanding::Done, None, 1), 1),
            (TimersWanted::Listed(TimerStanding::Cancelled, None, 1), 1),
            (TimersWanted::ByPosition(Some(4_000), 1), 1),
            (TimersWanted::Firings(vec![firing_id]), 1),
            (TimersWanted::FiringsOf(4_000, 1), 1),
            (TimersWanted::Pending(QueueId::new("q").unwrap(), 10), 1),
            (TimersWanted::Pending(QueueId::new("nobody").unwrap(), 10), 0),
            (TimersWanted::PendingSince(6_000, 10), 1),
            (TimersWanted::OfAdvance(5_500, early, late, 1), 1),
            (TimersWanted::FiringsAfter(None, 1), 1),
            (TimersWanted::FiringsOfAfter(4_000, None, 10), 1),
            (TimersWanted::PendingAfter(None, 10), 1),
        ] {
            steps.store(0, Ordering::Relaxed);
            let rows = find(&connection, TimelineKey(1), &wanted).unwrap();
            assert_eq!(rows.timers.len() + rows.firings.len(), found, "{wanted:?}");
            let taken = steps.load(Ordering::Relaxed);
            assert!(taken < STEPS_MAX, "{wanted:?} took {taken} steps");
        }
    }
}

use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use timenav_core::ids::{AdvanceId, FiringId, QueueId, TimerId};
use timenav_core::time::Instant;
use timenav_core::timers::{DueFiring, FiringState};
use timenav_engine::{
    AdvanceRow, FiringRow, TimelineKey, TimerRow, TimerRows, TimerStanding, TimersFound, TimersWanted,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::values::{Failed, count, damaged, get, id, instant, number, sql, text, text_or_none};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};

const PUT_TIMERS: &str = "INSERT INTO timers (timeline, position, timer_id, next, round, cancelled, schedule, deliver,
    queue, order_key, payload, set_by, set_at) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[],
    $4::bigint[], $5::bigint[], $6::boolean[], $7::bytea[], $8::bytea[], $9::text[], $10::bytea[], $11::bytea[],
    $12::text[], $13::bigint[])
    ON CONFLICT (timeline, position) DO UPDATE SET next = excluded.next, round = excluded.round,
    cancelled = excluded.cancelled, schedule = excluded.schedule, deliver = excluded.deliver, queue = excluded.queue,
    order_key = excluded.order_key, payload = excluded.payload";
const DELETE_TIMERS: &str = "DELETE FROM timers WHERE timeline = $1 AND position = ANY($2::bigint[])";
const MOVE_TIMERS: &str = "UPDATE timers t SET next = n.next, round = n.round, cancelled = n.cancelled
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[])
    AS n (timeline, position, next, round, cancelled)
    WHERE t.timeline = n.timeline AND t.position = n.position";
const INSERT_FIRINGS: &str =
    "INSERT INTO firings (timeline, due, position, round, firing_id, timer_id, queue, order_key,
    state, made, settled, advance, reason) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
    $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
    $13::bytea[])";
const SETTLE_FIRINGS: &str = "UPDATE firings f SET state = n.state, settled = n.settled, reason = n.reason
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[])
    AS n (timeline, due, position, round, state, settled, reason)
    WHERE f.timeline = n.timeline AND f.due = n.due AND f.position = n.position AND f.round = n.round";
const INSERT_ADVANCE: &str = "INSERT INTO advances (timeline, position, advance_id, ended, record)
    VALUES ($1, $2, $3, $4, $5)";

macro_rules! timers {
    ($which:literal) => {
        concat!(
            "SELECT position, timer_id, next, round, cancelled, schedule, deliver, queue, order_key, payload, set_by,
            set_at FROM timers WHERE timeline = $1 ",
            $which
        )
    };
    (short $which:literal) => {
        concat!(
            "SELECT position, timer_id, next, round, cancelled, schedule, deliver, queue, order_key, ''::bytea, set_by,
            set_at FROM timers WHERE timeline = $1 ",
            $which
        )
    };
}
macro_rules! firings {
    ($which:literal) => {
        concat!(
            "SELECT due, position, round, firing_id, timer_id, queue, order_key, state, made, settled, advance, reason
            FROM firings WHERE timeline = $1 ",
            $which
        )
    };
}
const NAMED: &str = timers!("AND timer_id = $2");
const AT: &str = timers!("AND position = ANY($2) ORDER BY array_position($2, position)");
const EARLIEST: &str = timers!(short "AND next IS NOT NULL ORDER BY next, position LIMIT $2");
const ARMED: &str = timers!("AND next IS NOT NULL AND (next, position) > ($2, $3) ORDER BY next, position LIMIT $4");
const ARMED_UNTIL: &str = timers!(
    short "AND next IS NOT NULL AND (next, position) > ($2, $3) AND next <= $4 ORDER BY next, position LIMIT $5"
);
const AT_REST: &str = timers!("AND next IS NULL AND cancelled = $2 AND position > $3 ORDER BY position LIMIT $4");
const ARMED_BY_NAME: &str = timers!("AND next IS NOT NULL AND timer_id > $2 ORDER BY timer_id LIMIT $3");
const BY_POSITION: &str = timers!("AND position > $2 ORDER BY position LIMIT $3");
const FIRINGS: &str = firings!("AND firing_id = ANY($2)");
const FIRINGS_OF: &str = firings!("AND position = $2 ORDER BY due DESC, round DESC LIMIT $3");
const PENDING: &str = firings!("AND queue = $2 AND state = 0 ORDER BY due, position, round LIMIT $3");
const FIRINGS_OF_AFTER: &str = firings!("AND position = $2 AND (due, round) > ($3, $4) ORDER BY due, round LIMIT $5");
const PENDING_AFTER: &str =
    firings!("AND state = 0 AND (due, position, round) > ($2, $3, $4) ORDER BY due, position, round LIMIT $5");
const PENDING_SINCE: &str = firings!("AND made >= $2 AND state = 0 ORDER BY made LIMIT $3");
const OF_ADVANCE: &str =
    firings!("AND due >= $2 AND due <= $3 AND advance = $4 ORDER BY due, position, round LIMIT $5");
const FIRINGS_AFTER: &str =
    firings!("AND (due, position, round) > ($2, $3, $4) ORDER BY due, position, round LIMIT $5");
const ADVANCE: &str =
    "SELECT position, advance_id, ended, record FROM advances WHERE timeline = $1 AND advance_id = $2";
const ADVANCES: &str = "SELECT position, advance_id, ended, record FROM advances WHERE timeline = $1 AND position > $2
    ORDER BY position LIMIT $3";

pub(super) fn put<'a>(batch: &mut Batch<'a>, steps: &[(TimelineKey, &'a TimerRows)]) {
    if steps.iter().all(|(_, rows)| rows.is_empty()) {
        return;
    }
    // In order, because each may write the same row.
    for (key, rows) in steps {
        put_timers(batch, *key, rows);
    }
    let moved = || steps.iter().flat_map(|(key, rows)| rows.moved.iter().map(|one| (key.0, one)));
    if moved().next().is_some() {
        // If a timer moves several times, the last move counts.
        let last: BTreeMap<_, _> = moved().map(|(key, one)| ((key, one.position), one)).collect();
        batch.add(
            MOVE_TIMERS,
            values![
                last.keys().map(|(key, _)| *key).collect::<Vec<_>>(),
                last.keys().map(|(_, position)| sql(*position)).collect::<Vec<_>>(),
                last.values().map(|one| one.next.map(Instant::micros)).collect::<Vec<_>>(),
                last.values().map(|one| i64::from(one.round)).collect::<Vec<_>>(),
                last.values().map(|one| one.is_cancelled).collect::<Vec<_>>(),
            ],
        );
    }
    put_firings(batch, steps);
    for (key, rows) in steps {
        for AdvanceRow { position, advance_id, ended, record } in &rows.advances {
            let key = (key.0, sql(*position));
            batch.add(INSERT_ADVANCE, values![key.0, key.1, advance_id.as_str(), sql(*ended), record.as_bytes()]);
        }
    }
}

fn put_timers<'a>(batch: &mut Batch<'a>, key: TimelineKey, rows: &'a TimerRows) {
    let gone: Vec<i64> = rows.gone.iter().map(|position| sql(*position)).collect();
    if !gone.is_empty() {
        batch.add(DELETE_TIMERS, values![key.0, gone]);
    }
    // One statement can insert a row only once.
    let last: BTreeMap<u64, &TimerRow> = rows.set.iter().map(|one| (one.position, one)).collect();
    if last.is_empty() {
        return;
    }
    let all = || last.values().copied();
    batch.add(
        PUT_TIMERS,
        values![
            all().map(|_| key.0).collect::<Vec<_>>(),
            all().map(|one| sql(one.position)).collect::<Vec<_>>(),
            all().map(|one| one.timer_id.as_str()).collect::<Vec<_>>(),
            all().map(|one| one.next.map(Instant::micros)).collect::<Vec<_>>(),
            all().map(|one| i64::from(one.round)).collect::<Vec<_>>(),
            all().map(|one| one.is_cancelled).collect::<Vec<_>>(),
            all().map(|one| one.schedule.as_bytes()).collect::<Vec<_>>(),
            all().map(|one| one.deliver.as_bytes()).collect::<Vec<_>>(),
            all().map(|one| one.queue.as_str()).collect::<Vec<_>>(),
            all().map(|one| one.order_key.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
            all().map(|one| one.payload.as_bytes()).collect::<Vec<_>>(),
            all().map(|one| one.set_by.as_str()).collect::<Vec<_>>(),
            all().map(|one| one.set_at.micros()).collect::<Vec<_>>(),
        ],
    );
}

fn put_firings<'a>(batch: &mut Batch<'a>, steps: &[(TimelineKey, &'a TimerRows)]) {
    let fired = || steps.iter().flat_map(|(key, rows)| rows.fired.iter().map(|one| (key.0, one)));
    if fired().next().is_some() {
        batch.add(
            INSERT_FIRINGS,
            values![
                fired().map(|(key, _)| key).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.due_firing.due.micros()).collect::<Vec<_>>(),
                fired().map(|(_, one)| sql(one.due_firing.position)).collect::<Vec<_>>(),
                fired().map(|(_, one)| i64::from(one.due_firing.round)).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.firing_id.as_str()).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.timer_id.as_str()).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.queue.as_str()).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.order_key.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
                fired().map(|(_, one)| number_of(one.state)).collect::<Vec<_>>(),
                fired().map(|(_, one)| sql(one.made)).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.settled.map(sql)).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.advance.map(sql)).collect::<Vec<_>>(),
                fired().map(|(_, one)| one.reason.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
            ],
        );
    }
    let settled = || steps.iter().flat_map(|(key, rows)| rows.settled.iter().map(|one| (key.0, one)));
    if settled().next().is_some() {
        batch.add(
            SETTLE_FIRINGS,
            values![
                settled().map(|(key, _)| key).collect::<Vec<_>>(),
                settled().map(|(_, one)| one.due_firing.due.micros()).collect::<Vec<_>>(),
                settled().map(|(_, one)| sql(one.due_firing.position)).collect::<Vec<_>>(),
                settled().map(|(_, one)| i64::from(one.due_firing.round)).collect::<Vec<_>>(),
                settled().map(|(_, one)| number_of(one.state)).collect::<Vec<_>>(),
                settled().map(|(_, one)| sql(one.settled)).collect::<Vec<_>>(),
                settled().map(|(_, one)| one.reason.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
            ],
        );
    }
}

/// Returns the results in the order of the questions. All statements are sent before the first response is awaited.
pub(super) async fn named(on: &Object, wanted: &[(TimelineKey, TimersWanted)]) -> Result<Vec<TimersFound>, Failed> {
    let mut all = Vec::with_capacity(wanted.len());
    for (timeline, one) in wanted {
        all.push(find(on, *timeline, one).boxed());
    }
    try_join_all(all).await
}

pub(super) async fn find(on: &Object, timeline: TimelineKey, wanted: &TimersWanted) -> Result<TimersFound, Failed> {
    let key = timeline.0;
    let limit = |items_max: &usize| sql(*items_max as u64);
    match wanted {
        TimersWanted::Named(timer_id) => timers(on, NAMED, &[&key, &timer_id.as_str()]).await,
        TimersWanted::At(positions) => {
            let positions: Vec<i64> = positions.iter().map(|position| sql(*position)).collect();
            timers(on, AT, &[&key, &positions]).await
        }
        TimersWanted::Earliest(items_max) => timers(on, EARLIEST, &[&key, &limit(items_max)]).await,
        TimersWanted::ArmedUntil(until, after, items_max) => {
            let (next, position) = after.map_or((i64::MIN, -1), |(next, position)| (next.micros(), sql(position)));
            let until = until.micros();
            timers(on, ARMED_UNTIL, &[&key, &next, &position, &until, &limit(items_max)]).await
        }
        TimersWanted::Listed(TimerStanding::Armed, after, items_max) => {
            let (next, position) = after.map_or((i64::MIN, -1), |(next, position)| (next.micros(), sql(position)));
            timers(on, ARMED, &[&key, &next, &position, &limit(items_max)]).await
        }
        TimersWanted::Listed(standing, after, items_max) => {
            let is_cancelled = *standing == TimerStanding::Cancelled;
            let after = after.map_or(-1, |(_, position)| sql(position));
            timers(on, AT_REST, &[&key, &is_cancelled, &after, &limit(items_max)]).await
        }
        TimersWanted::ArmedByName(after, items_max) => {
            let after = after.as_ref().map_or("", TimerId::as_str);
            timers(on, ARMED_BY_NAME, &[&key, &after, &limit(items_max)]).await
        }
        TimersWanted::ByPosition(after, items_max) => {
            timers(on, BY_POSITION, &[&key, &after.map_or(-1, sql), &limit(items_max)]).await
        }
        TimersWanted::Firings(firing_ids) => {
            let firing_ids: Vec<&str> = firing_ids.iter().map(FiringId::as_str).collect();
            firings(on, FIRINGS, &[&key, &firing_ids]).await
        }
        TimersWanted::FiringsOf(position, items_max) => {
            firings(on, FIRINGS_OF, &[&key, &sql(*position), &limit(items_max)]).await
        }
        TimersWanted::Pending(queue, items_max) => {
            firings(on, PENDING, &[&key, &queue.as_str(), &limit(items_max)]).await
        }
        TimersWanted::PendingSince(made, items_max) => {
            firings(on, PENDING_SINCE, &[&key, &sql(*made), &limit(items_max)]).await
        }
        TimersWanted::OfAdvance(advance, from, to, items_max) => {
            let (from, to) = (from.micros(), to.micros());
            firings(on, OF_ADVANCE, &[&key, &from, &to, &sql(*advance), &limit(items_max)]).await
        }
        TimersWanted::FiringsOfAfter(of, after, items_max) => {
            let (due, _, round) = place(*after);
            firings(on, FIRINGS_OF_AFTER, &[&key, &sql(*of), &due, &round, &limit(items_max)]).await
        }
        TimersWanted::PendingAfter(after, items_max) => {
            let (due, position, round) = place(*after);
            firings(on, PENDING_AFTER, &[&key, &due, &position, &round, &limit(items_max)]).await
        }
        TimersWanted::FiringsAfter(after, items_max) => {
            let (due, position, round) = place(*after);
            firings(on, FIRINGS_AFTER, &[&key, &due, &position, &round, &limit(items_max)]).await
        }
        TimersWanted::Advance(advance_id) => advances(on, ADVANCE, &[&key, &advance_id.as_str()]).await,
        TimersWanted::Advances(after, items_max) => {
            advances(on, ADVANCES, &[&key, &after.map_or(-1, sql), &limit(items_max)]).await
        }
    }
}

/// Returns the sort key after which firings are read: due time, position and round.
fn place(after: Option<DueFiring>) -> (i64, i64, i64) {
    after.map_or((i64::MIN, -1, -1), |one| (one.due.micros(), sql(one.position), i64::from(one.round)))
}

async fn timers(on: &Object, statement: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<TimersFound, Failed> {
    let timers = rows(on, statement, values).await?.iter().map(timer).collect::<Result<_, _>>()?;
    Ok(TimersFound { timers, ..TimersFound::default() })
}

async fn firings(on: &Object, statement: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<TimersFound, Failed> {
    let firings = rows(on, statement, values).await?.iter().map(firing).collect::<Result<_, _>>()?;
    Ok(TimersFound { firings, ..TimersFound::default() })
}

async fn advances(on: &Object, statement: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<TimersFound, Failed> {
    let advances = rows(on, statement, values).await?.iter().map(advance).collect::<Result<_, _>>()?;
    Ok(TimersFound { advances, ..TimersFound::default() })
}

fn timer(row: &Row) -> Result<TimerRow, Failed> {
    Ok(TimerRow {
        position: number(row, 0)?,
        timer_id: id(TimerId::new(get(row, 1)?))?,
        next: get::<Option<i64>>(row, 2)?.map(instant).transpose()?,
        round: round(row, 3)?,
        is_cancelled: get(row, 4)?,
        schedule: text(row, 5)?.into(),
        deliver: text(row, 6)?.into(),
        queue: id(QueueId::new(get(row, 7)?))?,
        order_key: text_or_none(row, 8)?,
        payload: text(row, 9)?.into(),
        set_by: get(row, 10)?,
        set_at: instant(get(row, 11)?)?,
    })
}

/// Decodes a firing from the first columns of a row, in the order of `firings!`.
pub(super) fn firing(row: &Row) -> Result<FiringRow, Failed> {
    Ok(FiringRow {
        due_firing: DueFiring { due: instant(get(row, 0)?)?, position: number(row, 1)?, round: round(row, 2)? },
        firing_id: id(FiringId::new(get(row, 3)?))?,
        timer_id: id(TimerId::new(get(row, 4)?))?,
        queue: id(QueueId::new(get(row, 5)?))?,
        order_key: text_or_none(row, 6)?,
        state: state(get(row, 7)?)?,
        made: number(row, 8)?,
        settled: get::<Option<i64>>(row, 9)?.map(count).transpose()?,
        advance: get::<Option<i64>>(row, 10)?.map(count).transpose()?,
        reason: text_or_none(row, 11)?,
    })
}

fn advance(row: &Row) -> Result<AdvanceRow, Failed> {
    Ok(AdvanceRow {
        position: number(row, 0)?,
        advance_id: id(AdvanceId::new(get(row, 1)?))?,
        ended: number(row, 2)?,
        record: text(row, 3)?.into(),
    })
}

fn round(row: &Row, at: usize) -> Result<u32, Failed> {
    Ok(u32::try_from(get::<i64>(row, at)?).map_err(|_| damaged("a round that is out of range"))?)
}

fn number_of(state: FiringState) -> i64 {
    let at = FiringState::ALL.iter().position(|one| *one == state);
    at.and_then(|at| i64::try_from(at).ok()).unwrap_or(0)
}

fn state(number: i64) -> Result<FiringState, Failed> {
    let state = usize::try_from(number).ok().and_then(|at| FiringState::ALL.get(at).copied());
    Ok(state.ok_or_else(|| damaged("a firing in an unknown state"))?)
}

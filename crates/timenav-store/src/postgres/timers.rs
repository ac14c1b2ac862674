use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use timenav_core::ids::FiringId;
use timenav_core::time::Instant;
use timenav_engine::{TimelineKey, TimerQuery, TimerRow, TimerRows, TimersFound};
use tokio_postgres::types::ToSql;

use super::values::{Failed, sql};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, records, values};
use crate::tables::Field;
use crate::tables::timers::{TimersQuery, TimersTable, queries};

const DELETE_TIMERS: &str = "DELETE FROM timers WHERE timeline = $1 AND position = ANY($2::bigint[])";
const MOVE_TIMERS: &str = "UPDATE timers t SET next = n.next, round = n.round, cancelled = n.cancelled
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[])
    AS n (timeline, position, next, round, cancelled)
    WHERE t.timeline = n.timeline AND t.position = n.position";
const SETTLE_FIRINGS: &str = "UPDATE firings f SET state = n.state, settled = n.settled, reason = n.reason
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[])
    AS n (timeline, due, position, round, state, settled, reason)
    WHERE f.timeline = n.timeline AND f.due = n.due AND f.position = n.position AND f.round = n.round";
const AT: &str = "SELECT * FROM timers WHERE timeline = $1 AND position = ANY($2)
    ORDER BY array_position($2, position)";
const FIRINGS: &str = "SELECT * FROM firings WHERE timeline = $1 AND firing_id = ANY($2)";

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
        for advance in &rows.advances {
            batch.insert(Some(*key), advance);
        }
    }
}

fn put_timers<'a>(batch: &mut Batch<'a>, key: TimelineKey, rows: &'a TimerRows) {
    let removed: Vec<i64> = rows.removed.iter().map(|position| sql(*position)).collect();
    if !removed.is_empty() {
        batch.add(DELETE_TIMERS, values![key.0, removed]);
    }
    // One statement can insert a row only once.
    let last: BTreeMap<u64, &TimerRow> = rows.set.iter().map(|one| (one.position, one)).collect();
    batch.insert_all(last.into_values().map(|timer| (key, timer)));
}

fn put_firings<'a>(batch: &mut Batch<'a>, steps: &[(TimelineKey, &'a TimerRows)]) {
    batch.insert_all(steps.iter().flat_map(|(key, rows)| rows.fired.iter().map(|firing| (*key, firing))));
    let settled = || steps.iter().flat_map(|(key, rows)| rows.settled.iter().map(|one| (key.0, one)));
    if settled().next().is_some() {
        batch.add(
            SETTLE_FIRINGS,
            values![
                settled().map(|(key, _)| key).collect::<Vec<_>>(),
                settled().map(|(_, one)| one.due_firing.due.micros()).collect::<Vec<_>>(),
                settled().map(|(_, one)| sql(one.due_firing.position)).collect::<Vec<_>>(),
                settled().map(|(_, one)| i64::from(one.due_firing.round)).collect::<Vec<_>>(),
                settled().map(|(_, one)| one.state.stored()).collect::<Vec<_>>(),
                settled().map(|(_, one)| sql(one.settled)).collect::<Vec<_>>(),
                settled().map(|(_, one)| one.reason.as_deref().map(str::as_bytes)).collect::<Vec<_>>(),
            ],
        );
    }
}

/// Returns the results in the order of the questions. All statements are sent before the first response is awaited.
pub(super) async fn named(on: &Object, query: &[(TimelineKey, TimerQuery)]) -> Result<Vec<TimersFound>, Failed> {
    let mut all = Vec::with_capacity(query.len());
    for (timeline, one) in query {
        all.push(find(on, *timeline, one).boxed());
    }
    try_join_all(all).await
}

pub(super) async fn find(on: &Object, timeline: TimelineKey, query: &TimerQuery) -> Result<TimersFound, Failed> {
    let mut found = TimersFound::default();
    match query {
        TimerQuery::At(positions) => {
            let positions: Vec<i64> = positions.iter().map(|position| sql(*position)).collect();
            found.timers = records(on, AT, &[&timeline.0, &positions]).await?;
        }
        TimerQuery::Firings(firing_ids) => {
            let firing_ids: Vec<&str> = firing_ids.iter().map(FiringId::as_str).collect();
            found.firings = records(on, FIRINGS, &[&timeline.0, &firing_ids]).await?;
        }
        _ => {
            for TimersQuery { of, statement, values } in queries(timeline, query) {
                let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
                match of {
                    TimersTable::Timers | TimersTable::ShortTimers => {
                        found.timers = records(on, &statement, &values).await?;
                    }
                    TimersTable::Firings => found.firings = records(on, &statement, &values).await?,
                    TimersTable::Advances => found.advances = records(on, &statement, &values).await?,
                }
            }
        }
    }
    Ok(found)
}

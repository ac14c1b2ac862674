//! Timelines that arrive: rows under numbers that no timeline has, until one commit makes them stand.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use timenav_core::ids::TimelineId;
use timenav_engine::{Arrivals, ArrivingRows, StoreError, StrayArrivals, TimelineKey};

use super::arrived::given_up;
use super::values::{POSITION_BITS, POSITION_MAX, entry_key, failed, sql};
use super::{SqliteStore, commit, orphans};

/// The lowest number that the key of an entry has room for.
const NUMBER_MIN: i64 = i64::MIN >> POSITION_BITS;

/// The numbers below zero that are given.
const SELECT_GIVEN: &str = "SELECT timeline FROM timelines WHERE timeline < 0
    UNION SELECT timeline FROM ended_timelines WHERE timeline < 0
    UNION SELECT timeline FROM arrivals ORDER BY timeline DESC";
const INSERT: &str = "INSERT INTO arrivals (timeline, timeline_id, arrival, until, is_over) VALUES (?1, ?2, ?3, 0, 0)";
const SELECT_IN_HAND: &str = "SELECT count(*) FROM arrivals WHERE arrival = ?1 AND is_over = 0";
const IS_IN_HAND: &str = "SELECT 1 FROM arrivals WHERE arrival = ?1 AND timeline = ?2 AND is_over = 0";
const SELECT_LEFT: &str = "SELECT DISTINCT arrival FROM arrivals ORDER BY arrival";
const GIVE_UP: &str = "UPDATE arrivals SET is_over = 1 WHERE arrival = ?1 AND is_over = 0";
const SELECT_FIRST: &str = "SELECT timeline FROM arrivals WHERE arrival = ?1 ORDER BY timeline LIMIT 1";
const FORGET: &str = "DELETE FROM arrivals WHERE arrival = ?1 AND timeline = ?2";
const IS_LEFT: &str = "SELECT EXISTS (SELECT 1 FROM arrivals WHERE arrival = ?1)";
/// Whoever marks the number of a timeline must not have it emptied.
const IS_NO_ARRIVAL: &str = "SELECT ?1 >= 0 OR EXISTS (SELECT 1 FROM timelines WHERE timeline = ?1)
    OR EXISTS (SELECT 1 FROM ended_timelines WHERE timeline = ?1)";
/// Each takes away some rows of a table, found by its key. Only sealed records can be large, all of them.
const DELETE_SOME: [(&str, usize); 9] = [
    (
        "DELETE FROM events WHERE timeline = ?1 AND (cell, time, position) IN
            (SELECT cell, time, position FROM events WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
    (
        "DELETE FROM interventions WHERE timeline = ?1 AND (event_id, position) IN
            (SELECT event_id, position FROM interventions WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
    (
        "DELETE FROM anchors WHERE timeline = ?1 AND position IN
            (SELECT position FROM anchors WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
    (
        "DELETE FROM data_records WHERE timeline = ?1 AND position IN
            (SELECT position FROM data_records WHERE timeline = ?1 LIMIT ?2)",
        SEALED_ROWS_MAX,
    ),
    (
        "DELETE FROM sweeps WHERE timeline = ?1 AND position IN
            (SELECT position FROM sweeps WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
    (
        "DELETE FROM tiles WHERE timeline = ?1 AND (level, tile) IN
            (SELECT level, tile FROM tiles WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
    (
        "DELETE FROM rotation_notes WHERE timeline = ?1 AND position IN
            (SELECT position FROM rotation_notes WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
    (
        "DELETE FROM policies WHERE timeline = ?1 AND position IN
            (SELECT position FROM policies WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
    (
        "DELETE FROM permissions WHERE timeline = ?1 AND (user_id, role) IN
            (SELECT user_id, role FROM permissions WHERE timeline = ?1 LIMIT ?2)",
        usize::MAX,
    ),
];
const DELETE_ENTRIES: [&str; 2] = [
    "DELETE FROM contents WHERE entry IN (SELECT entry FROM contents WHERE entry BETWEEN ?1 AND ?2 LIMIT ?3)",
    "DELETE FROM entries WHERE entry IN (SELECT entry FROM entries WHERE entry BETWEEN ?1 AND ?2 LIMIT ?3)",
];
/// Sealed records that are taken away at a time: each can have a megabyte.
const SEALED_ROWS_MAX: usize = 16;

#[async_trait]
impl Arrivals for SqliteStore {
    async fn begin_arrival(&self, arrival: &str, timelines: Vec<TimelineId>) -> Result<Vec<TimelineKey>, StoreError> {
        let arrival = arrival.to_owned();
        self.write(move |connection| begin(connection, &arrival, &timelines)).await
    }

    async fn put_arriving(
        &self,
        arrival: &str,
        timeline: TimelineKey,
        size: u64,
        rows: ArrivingRows,
    ) -> Result<(), StoreError> {
        let arrival = arrival.to_owned();
        self.write(move |connection| put(connection, &arrival, (timeline, size), &rows)).await
    }

    async fn keep_arrival(&self, arrival: &str) -> Result<(), StoreError> {
        let arrival = arrival.to_owned();
        self.read(move |connection| {
            let mut select = connection.prepare_cached(SELECT_IN_HAND).map_err(failed)?;
            let count: i64 = select.query_row([&arrival], |row| row.get(0)).map_err(failed)?;
            if count > 0 { Ok(()) } else { Err(given_up()) }
        })
        .await
    }

    async fn arrivals_left(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(SELECT_LEFT).map_err(failed)?;
            let arrivals = select.query_map([], |row| row.get(0)).map_err(failed)?;
            arrivals.collect::<rusqlite::Result<_>>().map_err(failed)
        })
        .await
    }

    async fn clear_arrival(&self, arrival: &str, items_max: usize) -> Result<bool, StoreError> {
        let arrival = arrival.to_owned();
        self.write(move |connection| clear(connection, &arrival, items_max)).await
    }

    async fn stray_arrivals(&self) -> Result<StrayArrivals, StoreError> {
        self.read(|connection| {
            let moment = connection.unchecked_transaction().map_err(failed)?;
            Ok(StrayArrivals { orphans: orphans::below_zero(&moment)?, marked: orphans::marked(&moment)? })
        })
        .await
    }
}

fn begin(connection: &mut Connection, arrival: &str, names: &[TimelineId]) -> Result<Vec<TimelineKey>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let keys = free(&transaction, names.len())?;
    for (key, name) in keys.iter().zip(names) {
        transaction.execute(INSERT, params![key.0, name.as_str(), arrival]).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    Ok(keys)
}

/// Returns the highest numbers below zero that nothing has: no timeline, and no row that another hand has left.
fn free(transaction: &Transaction<'_>, count: usize) -> Result<Vec<TimelineKey>, StoreError> {
    let mut select = transaction.prepare(SELECT_GIVEN).map_err(failed)?;
    let given = select.query_map([], |row| row.get::<_, i64>(0)).map_err(failed)?;
    let given: Vec<i64> = given.collect::<rusqlite::Result<_>>().map_err(failed)?;
    let (mut given, mut keys) = (given.into_iter().peekable(), Vec::with_capacity(count));
    for number in (NUMBER_MIN..0).rev() {
        if keys.len() == count {
            break;
        }
        while given.next_if(|given| *given > number).is_some() {}
        if given.next_if_eq(&number).is_none() && !orphans::has_rows(transaction, number)? {
            keys.push(TimelineKey(number));
        }
    }
    if keys.len() == count {
        return Ok(keys);
    }
    Err(StoreError::Unavailable("there is no number left for a timeline that arrives".to_owned()))
}

fn put(
    connection: &mut Connection,
    arrival: &str,
    (timeline, size): (TimelineKey, u64),
    rows: &ArrivingRows,
) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let is_in_hand = transaction.query_row(IS_IN_HAND, params![arrival, timeline.0], |_| Ok(())).optional();
    is_in_hand.map_err(failed)?.ok_or_else(given_up)?;
    commit::put_arriving(&transaction, timeline, size, rows)?;
    transaction.commit().map_err(failed)
}

fn clear(connection: &mut Connection, arrival: &str, items_max: usize) -> Result<bool, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute(GIVE_UP, [arrival]).map_err(failed)?;
    let first: Option<i64> =
        transaction.query_row(SELECT_FIRST, [arrival], |row| row.get(0)).optional().map_err(failed)?;
    let Some(number) = first else { return Ok(false) };
    if transaction.query_row(IS_NO_ARRIVAL, [number], |row| row.get(0)).map_err(failed)? {
        return Err(StoreError::Damaged(format!(
            "timeline number {number} is marked as still arriving, but nothing arrives under that number"
        )));
    }
    if !clear_some(&transaction, TimelineKey(number), items_max).map_err(failed)? {
        transaction.execute(FORGET, params![arrival, number]).map_err(failed)?;
    }
    let is_left = transaction.query_row(IS_LEFT, [arrival], |row| row.get(0)).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(is_left)
}

/// Takes some rows away. Returns whether there were any.
fn clear_some(transaction: &Transaction<'_>, key: TimelineKey, items_max: usize) -> rusqlite::Result<bool> {
    let bounds = [entry_key(key, 0), entry_key(key, POSITION_MAX)];
    for delete in DELETE_ENTRIES {
        let some = params![bounds[0], bounds[1], sql(items_max as u64)];
        if transaction.prepare_cached(delete)?.execute(some)? > 0 {
            return Ok(true);
        }
    }
    for (delete, rows_max) in DELETE_SOME {
        let some = params![key.0, sql(items_max.min(rows_max) as u64)];
        if transaction.prepare_cached(delete)?.execute(some)? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::Hash;
use timenav_engine::{EndedTimeline, Fork, StoreError, TimelineKey};

use super::values::{POSITION_MAX, bytes, count, entry_key, failed, id, instant, sql};
use crate::sqlite::data;
use crate::sqlite::entries::contents;

const INSERT: &str = "INSERT INTO ended_timelines (timeline_id, timeline, size, root, ended_at, fork_of, fork_size,
    overrides, due_at, is_let_go) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const SELECT: &str =
    "SELECT timeline_id, timeline, size, root, ended_at, fork_of, fork_size, overrides, due_at, is_let_go
    FROM ended_timelines";
/// A forged row in `ended_timelines` must not cause a live timeline to be pruned.
const SELECT_STANDING: &str = "SELECT 1 FROM timelines WHERE timeline = ?1 OR timeline_id = ?2";
/// Each statement deletes up to `?2` rows of a table, found by its key.
const DELETE_SOME: [&str; 7] = [
    "DELETE FROM events WHERE timeline = ?1 AND (cell, time, position) IN
        (SELECT cell, time, position FROM events WHERE timeline = ?1 LIMIT ?2)",
    "DELETE FROM interventions WHERE timeline = ?1 AND (event_id, position) IN
        (SELECT event_id, position FROM interventions WHERE timeline = ?1 LIMIT ?2)",
    "DELETE FROM anchors WHERE timeline = ?1 AND position IN
        (SELECT position FROM anchors WHERE timeline = ?1 LIMIT ?2)",
    "DELETE FROM data_records WHERE timeline = ?1 AND position IN
        (SELECT position FROM data_records WHERE timeline = ?1 LIMIT ?2)",
    "DELETE FROM timers WHERE timeline = ?1 AND position IN
        (SELECT position FROM timers WHERE timeline = ?1 LIMIT ?2)",
    "DELETE FROM firings WHERE timeline = ?1 AND (due, position, round) IN
        (SELECT due, position, round FROM firings WHERE timeline = ?1 LIMIT ?2)",
    "DELETE FROM advances WHERE timeline = ?1 AND position IN
        (SELECT position FROM advances WHERE timeline = ?1 LIMIT ?2)",
];
/// The expression of the index `outcomes_by_timeline`.
const DELETE_OUTCOMES: &str =
    "DELETE FROM outcomes WHERE iif(json_valid(outcome), json_extract(outcome, '$.timeline_id'), NULL) = ?1";
const MARK: &str = "UPDATE ended_timelines SET is_let_go = 1 WHERE timeline_id = ?1";

pub(super) fn end(transaction: &Transaction<'_>, ended: &EndedTimeline) -> rusqlite::Result<()> {
    for table in ["timelines", "permissions"] {
        let delete = format!("DELETE FROM {table} WHERE timeline = ?1");
        transaction.prepare_cached(&delete)?.execute([ended.key.0])?;
    }
    transaction.prepare_cached(INSERT)?.execute(params![
        ended.id.as_str(),
        ended.key.0,
        sql(ended.size),
        ended.root.as_bytes(),
        ended.ended_at.micros(),
        ended.fork.map(|fork| fork.of.0),
        ended.fork.map(|fork| sql(fork.size)),
        ended.overrides,
        ended.due_at.micros(),
        ended.is_pruned,
    ])?;
    Ok(())
}

pub(super) fn all(connection: &Connection) -> Result<Vec<EndedTimeline>, StoreError> {
    let mut select = connection.prepare(SELECT).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        all.push(ended(row)?);
    }
    Ok(all)
}

pub(super) fn named(connection: &Connection, timeline: &TimelineId) -> Result<Option<EndedTimeline>, StoreError> {
    let mut select = connection.prepare(&format!("{SELECT} WHERE timeline_id = ?1")).map_err(failed)?;
    let mut rows = select.query([timeline.as_str()]).map_err(failed)?;
    rows.next().map_err(failed)?.map(ended).transpose()
}

fn ended(row: &Row<'_>) -> Result<EndedTimeline, StoreError> {
    let number = |at: usize| row.get::<_, i64>(at).map_err(failed);
    let fork: (Option<i64>, Option<i64>) = (row.get(5).map_err(failed)?, row.get(6).map_err(failed)?);
    let fork =
        fork.0.zip(fork.1).map(|(of, size)| Ok::<_, StoreError>(Fork { of: TimelineKey(of), size: count(size)? }));
    Ok(EndedTimeline {
        id: id(TimelineId::kept(&row.get::<_, String>(0).map_err(failed)?))?,
        key: TimelineKey(number(1)?),
        size: count(number(2)?)?,
        root: Hash::from_bytes(bytes(&row.get::<_, Vec<u8>>(3).map_err(failed)?)?),
        ended_at: instant(number(4)?)?,
        fork: fork.transpose()?,
        overrides: row.get(7).map_err(failed)?,
        due_at: instant(number(8)?)?,
        is_pruned: row.get(9).map_err(failed)?,
    })
}

/// Prunes up to `items_max` rows of a timeline. Returns the position to continue from, or `None` once nothing is left.
pub(super) fn prune(
    connection: &mut Connection,
    ended: &EndedTimeline,
    from: u64,
    items_max: usize,
) -> Result<Option<u64>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let named = params![ended.key.0, ended.id.as_str()];
    let standing: Option<i64> =
        transaction.query_row(SELECT_STANDING, named, |row| row.get(0)).optional().map_err(failed)?;
    if standing.is_some() {
        return Err(StoreError::Damaged(format!("timeline `{}` has ended, but is still active", ended.id)));
    }
    let next = prune_some(&transaction, ended, from, items_max).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    if next.is_none() {
        data::forget_log(connection);
    }
    Ok(next)
}

fn prune_some(
    transaction: &Transaction<'_>,
    ended: &EndedTimeline,
    from: u64,
    items_max: usize,
) -> rusqlite::Result<Option<u64>> {
    let (key, items) = (ended.key, sql(items_max as u64));
    let bounds = [entry_key(key, from.min(POSITION_MAX)), entry_key(key, POSITION_MAX)];
    if let Some(last) = contents::prune_some(transaction, bounds, items_max)? {
        return Ok(Some(last.abs_diff(entry_key(key, 0)) + 1));
    }
    for delete in DELETE_SOME {
        if transaction.prepare_cached(delete)?.execute(params![key.0, items])? > 0 {
            return Ok(Some(ended.size));
        }
    }
    transaction.execute(DELETE_OUTCOMES, [ended.id.as_str()])?;
    transaction.execute(MARK, [ended.id.as_str()])?;
    Ok(None)
}

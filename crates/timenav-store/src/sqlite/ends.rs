use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use timenav_core::ids::TimelineId;
use timenav_engine::{EndedTimeline, StoreError};

use super::values::{POSITION_MAX, entry_key, failed, insert, records, sql};
use crate::sqlite::data;
use crate::sqlite::entries::contents;

/// A forged row in `ended_timelines` must not cause a live timeline to be pruned.
const SELECT_EXISTING: &str = "SELECT 1 FROM timelines WHERE timeline = ?1 OR timeline_id = ?2";
/// Each statement deletes up to `?2` rows of a table, found by its key.
const DELETE_SOME: [&str; 9] = [
    // The blocks first: no more words are added to a block that is gone.
    "DELETE FROM text_blocks WHERE timeline = ?1 AND block IN
        (SELECT block FROM text_blocks WHERE timeline = ?1 LIMIT ?2)",
    "DELETE FROM text_words WHERE timeline = ?1 AND (block, word) IN
        (SELECT block, word FROM text_words WHERE timeline = ?1 LIMIT ?2)",
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
    insert(transaction, None, ended)
}

pub(super) fn all(connection: &Connection) -> Result<Vec<EndedTimeline>, StoreError> {
    records(connection, "SELECT * FROM ended_timelines", [])
}

pub(super) fn named(connection: &Connection, timeline: &TimelineId) -> Result<Option<EndedTimeline>, StoreError> {
    Ok(records(connection, "SELECT * FROM ended_timelines WHERE timeline_id = ?1", [timeline.as_str()])?.pop())
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
    let remaining: Option<i64> =
        transaction.query_row(SELECT_EXISTING, named, |row| row.get(0)).optional().map_err(failed)?;
    if remaining.is_some() {
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

//! Retention policies for reads and refusals, and the sweeps that prune them.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use timenav_core::ledger::{PruneClass, RetentionPolicies};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{StoreError, SweepMark, SweepRow, TimelineKey};

use super::data::forget_log;
use super::values::{count, entry_key, failed, instant, records, sql};
use crate::sqlite::entries::contents;
use crate::tables::PolicyRow;

const INSERT_SWEEP: &str = "INSERT INTO sweeps (timeline, position, finished) VALUES (?1, ?2, 0)";
const FINISH_SWEEP: &str = "UPDATE sweeps SET finished = 1 WHERE timeline = ?1 AND position = ?2";
const MARK_READS: &str = "UPDATE policies SET reads_until = ?3 WHERE timeline = ?1 AND position = ?2";
const MARK_REFUSALS: &str = "UPDATE policies SET refusals_until = ?3 WHERE timeline = ?1 AND position = ?2";
const SELECT_MARKS: &str = "SELECT * FROM policies WHERE timeline = ?1";
const SELECT_POLICIES: &str = "SELECT *, timeline FROM policies WHERE ?1 IS NULL OR timeline = ?1
    ORDER BY timeline, position";
/// Unfinished sweeps, not counting those of bundles that are being imported.
const SELECT_LEFT: &str = "SELECT timeline, position FROM sweeps s WHERE finished = 0
    AND (EXISTS (SELECT 1 FROM timelines t WHERE t.timeline = s.timeline)
        OR EXISTS (SELECT 1 FROM ended_timelines e WHERE e.timeline = s.timeline))
    ORDER BY timeline, position";
const SELECT_SWEEPS: &str = "SELECT position FROM sweeps WHERE timeline = ?1 AND position < ?2 ORDER BY position";

pub(super) fn insert_sweep(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    sweep: &SweepRow,
) -> rusqlite::Result<()> {
    transaction.prepare_cached(INSERT_SWEEP)?.execute(params![timeline.0, sql(sweep.position)])?;
    mark(transaction, timeline, sweep.mark)
}

pub(super) fn mark(connection: &Connection, timeline: TimelineKey, mark: SweepMark) -> rusqlite::Result<()> {
    let statement = match mark.class {
        PruneClass::Reads => MARK_READS,
        PruneClass::Refusals => MARK_REFUSALS,
    };
    let row = params![timeline.0, sql(mark.policy), sql(mark.until)];
    connection.prepare_cached(statement)?.execute(row).map(|_| ())
}

pub(super) fn marks(connection: &Connection, timeline: TimelineKey) -> Result<Vec<SweepMark>, StoreError> {
    let policies: Vec<PolicyRow> = records(connection, SELECT_MARKS, [timeline.0])?;
    Ok(policies.into_iter().flat_map(PolicyRow::marks).collect())
}

pub(super) fn left(connection: &Connection) -> Result<Vec<(TimelineKey, u64)>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_LEFT).map_err(failed)?;
    let rows = select.query_map([], |row| Ok((TimelineKey(row.get(0)?), row.get::<_, i64>(1)?))).map_err(failed)?;
    rows.map(|row| row.map_err(failed).and_then(|(timeline, position)| Ok((timeline, count(position)?)))).collect()
}

pub(super) fn sweeps(connection: &Connection, timeline: TimelineKey, end: u64) -> Result<Vec<u64>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_SWEEPS).map_err(failed)?;
    let rows = select.query_map(params![timeline.0, sql(end)], |row| row.get::<_, i64>(0)).map_err(failed)?;
    rows.map(|row| row.map_err(failed).and_then(count)).collect()
}

pub(super) fn prune(
    connection: &mut Connection,
    timeline: TimelineKey,
    positions: &[u64],
    finished: Option<u64>,
) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for run in positions.chunk_by(|one, next| one + 1 == *next) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        contents::prune(&transaction, entry_key(timeline, *first), entry_key(timeline, *last)).map_err(failed)?;
    }
    if let Some(sweep) = finished {
        transaction.execute(FINISH_SWEEP, params![timeline.0, sql(sweep)]).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    if finished.is_some() {
        forget_log(connection);
    }
    Ok(())
}

pub(super) fn policies(
    connection: &Connection,
    only: Option<TimelineKey>,
) -> Result<HashMap<TimelineKey, Arc<RetentionPolicies>>, StoreError> {
    Ok(PolicyRow::by_timeline(records(connection, SELECT_POLICIES, [only.map(|only| only.0)])?))
}

pub(super) fn host_clock(connection: &Connection) -> Result<Option<Instant<Wall>>, StoreError> {
    let known = connection.query_row("SELECT known_at FROM host_clock", [], |row| row.get(0)).optional();
    known.map_err(failed)?.map(instant).transpose()
}

pub(super) fn keep_host_clock(connection: &mut Connection, now: Instant<Wall>) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute("DELETE FROM host_clock", []).map_err(failed)?;
    transaction.execute("INSERT INTO host_clock (known_at) VALUES (?1)", [now.micros()]).map_err(failed)?;
    transaction.commit().map_err(failed)
}

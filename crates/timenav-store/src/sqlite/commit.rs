use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params, params_from_iter};
use timenav_core::access::{Permissions, Role};
use timenav_core::ids::TimelineId;
use timenav_engine::{
    Anchor, Commit, DataRecord, EventColumns, EventEnd, EventRow, Head, Idempotency, IdempotencyRecord,
    InterventionRow, LengthClass, StoreError, StoredEntry, TimelineCommit, TimelineKey,
};

use super::values::{NO_CELL, failed, insert, sql};
use crate::sqlite::connection::log::LogLimit;
use crate::sqlite::data;
use crate::sqlite::entries::contents::Insertion;
use crate::sqlite::entries::tiles;
use crate::sqlite::{identity, retention, timers};
use crate::tables::{PolicyRow, Record, Value, heads};

const SELECT_SIZE: &str = "SELECT size FROM timelines WHERE timeline_id = ?1";
const INSERT_EVENT: &str = "INSERT INTO events (timeline, cell, time, position, lat, lon, event_id, place, content,
    until, name_key, parties, length_class) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
pub(super) const END_EVENT: &str = "UPDATE events INDEXED BY events_by_id SET until = ?1
    WHERE timeline = ?2 AND event_id = ?3 AND position = ?4";
const INSERT_PERMISSION: &str = "INSERT INTO permissions (timeline, user_id, role, expires_at) VALUES (?1, ?2, ?3, ?4)";
const ERASE_OUTCOME: &str = "UPDATE outcomes SET outcome = ?2, timeline_id = NULL, event_id = NULL WHERE key = ?1";

pub(super) fn commit(connection: &mut Connection, log: &mut LogLimit, step: &Commit) -> Result<(), StoreError> {
    let erases = step.timelines.iter().any(|timeline| !timeline.erasures.is_empty());
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    log.reserve();
    for (timeline, size) in &step.relied {
        check_size(&transaction, timeline, *size)?;
    }
    for timeline in &step.timelines {
        put_head(&transaction, timeline)?;
    }
    for change in &step.directory {
        identity::change(&transaction, change).map_err(failed)?;
    }
    for timeline in &step.timelines {
        put_contents(&transaction, timeline)?;
    }
    if step.forget_fingerprints {
        let forgotten = Idempotency::FINGERPRINT_FORGOTTEN;
        transaction.execute("UPDATE outcomes SET fingerprint = ?1", [forgotten]).map_err(failed)?;
    }
    for record in &step.outcomes {
        insert(&transaction, None, record).map_err(failed)?;
    }
    for record in &step.outcomes_erased {
        erase_outcome(&transaction, record).map_err(failed)?;
    }
    step.on_written.call();
    transaction.commit().map_err(failed)?;
    if erases {
        data::forget_log(connection);
    }
    Ok(())
}

fn check_size(transaction: &Transaction<'_>, timeline: &TimelineId, size: Option<u64>) -> Result<(), StoreError> {
    let mut select = transaction.prepare_cached(SELECT_SIZE).map_err(failed)?;
    let found: Option<i64> = select.query_row([timeline.as_str()], |row| row.get(0)).optional().map_err(failed)?;
    if found == size.map(sql) { Ok(()) } else { Err(StoreError::Moved(timeline.clone())) }
}

fn put_head(transaction: &Transaction<'_>, step: &TimelineCommit) -> Result<(), StoreError> {
    let head = &step.head;
    let rows_changed = match step.expected_size {
        None => insert_head(transaction, head),
        Some(expected) => update_head(transaction, head, expected),
    };
    if rows_changed.map_err(failed)? != 1 {
        return Err(StoreError::Moved(head.id.clone()));
    }
    if step.permissions_changed {
        put_permissions(transaction, head.key, &head.permissions).map_err(failed)?;
    }
    Ok(())
}

fn put_contents(transaction: &Transaction<'_>, step: &TimelineCommit) -> Result<(), StoreError> {
    let head = &step.head;
    let size = head.frontier.size();
    put_entries(transaction, head.key, (size - step.entries.len() as u64, size), &step.entries)?;
    let TimelineCommit { ends, events, interventions, anchors, data, .. } = step;
    put_rows(transaction, head.key, &Rows { ends, events, interventions, anchors, data })?;
    timers::put(transaction, head.key, &step.timers).map_err(failed)?;
    for policy in &step.policies {
        insert(transaction, Some(head.key), &PolicyRow::new(*policy)).map_err(failed)?;
    }
    for sweep in &step.sweeps {
        retention::insert_sweep(transaction, head.key, sweep).map_err(failed)?;
    }
    for erasure in &step.erasures {
        data::erase(transaction, head.key, erasure)?;
    }
    Ok(())
}

struct Rows<'a> {
    ends: &'a [EventEnd],
    events: &'a [EventRow],
    interventions: &'a [InterventionRow],
    anchors: &'a [Anchor],
    data: &'a [DataRecord],
}

/// Appends entries to a ledger and fills the tiles completed by its growth from `before` to `after`.
fn put_entries(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    (before, after): (u64, u64),
    entries: &[StoredEntry],
) -> Result<(), StoreError> {
    let mut insertion = Insertion::new(transaction).map_err(failed)?;
    for entry in entries {
        insertion.add(timeline, entry).map_err(failed)?;
    }
    drop(insertion);
    tiles::fill(transaction, timeline, before, after)
}

fn put_rows(transaction: &Transaction<'_>, timeline: TimelineKey, rows: &Rows<'_>) -> Result<(), StoreError> {
    for event in rows.events {
        insert_event(transaction, timeline, event).map_err(failed)?;
    }
    for end in rows.ends {
        let mut update = transaction.prepare_cached(END_EVENT).map_err(failed)?;
        let row = params![sql(end.until), timeline.0, end.event_id.as_str(), sql(end.position)];
        update.execute(row).map_err(failed)?;
    }
    let timeline = Some(timeline);
    for intervention in rows.interventions {
        insert(transaction, timeline, intervention).map_err(failed)?;
    }
    for anchor in rows.anchors {
        insert(transaction, timeline, anchor).map_err(failed)?;
    }
    for record in rows.data {
        insert(transaction, timeline, record).map_err(failed)?;
    }
    Ok(())
}

/// Inserts a head. Returns 0 if the timeline exists.
fn insert_head(transaction: &Transaction<'_>, head: &Head) -> rusqlite::Result<usize> {
    transaction.prepare_cached(&heads::SQLITE_INSERT)?.execute(params_from_iter(head.values()))
}

/// Updates a head. Returns 0 if its ledger has another size.
fn update_head(transaction: &Transaction<'_>, head: &Head, expected_size: u64) -> rusqlite::Result<usize> {
    let values = head.values().into_iter().chain([Value::Whole(sql(expected_size))]);
    transaction.prepare_cached(&heads::SQLITE_UPDATE)?.execute(params_from_iter(values))
}

fn put_permissions(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    permissions: &Permissions,
) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM permissions WHERE timeline = ?1")?.execute([timeline.0])?;
    let mut insert = transaction.prepare_cached(INSERT_PERMISSION)?;
    for role in Role::ALL {
        for user in permissions.list(role) {
            let end = permissions.ends.of(role).get(user).map(|end| end.micros());
            insert.execute(params![timeline.0, user.as_str(), role.as_str(), end])?;
        }
    }
    Ok(())
}

fn insert_event(transaction: &Transaction<'_>, timeline: TimelineKey, event: &EventRow) -> rusqlite::Result<()> {
    let EventColumns { time, point, cell, place, name_key, length_class, parties } = &*event.columns;
    let mut insert = transaction.prepare_cached(INSERT_EVENT)?;
    insert.execute(params![
        timeline.0,
        cell.map_or(NO_CELL, |cell| i64::from(cell.number())),
        time.micros(),
        sql(event.position),
        point.map(timenav_core::place::Point::lat),
        point.map(timenav_core::place::Point::lon),
        event.event_id.as_str(),
        place,
        &*event.content,
        event.is_tombstone.then_some(sql(event.position)),
        name_key,
        parties,
        length_class.map(LengthClass::number),
    ])?;
    Ok(())
}

fn erase_outcome(transaction: &Transaction<'_>, record: &IdempotencyRecord) -> rusqlite::Result<()> {
    transaction.prepare_cached(ERASE_OUTCOME)?.execute(params![record.key, record.outcome])?;
    Ok(())
}

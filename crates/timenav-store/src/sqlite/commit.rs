use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use timenav_core::access::{Permissions, Role};
use timenav_core::ids::TimelineId;
use timenav_engine::{
    Anchor, Commit, DataRecord, EventColumns, EventEnd, EventRow, Head, Idempotency, IdempotencyRecord,
    InterventionRow, LengthClass, StoreError, StoredEntry, TimelineCommit, TimelineKey, timers_text,
};

use super::values::{NO_CELL, failed, sql};
use crate::kept::origins;
use crate::sqlite::data;
use crate::sqlite::entries::contents::Insertion;
use crate::sqlite::entries::tiles;
use crate::sqlite::{identity, retention, timers};

const INSERT_TIMELINE: &str = "INSERT INTO timelines (timeline, timeline_id, created_at, size, frontier,
    carried_note, recorded_at, clock_running, clock_rate, clock_host, clock_virtual, clock_location,
    clock_generation, events_count, anchors_count, clock_entry, overrides_count, fork_of, fork_size, created_by,
    data_count, directory, statement, origins, expires_at, timers)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
    ?24, ?25, ?26)
    ON CONFLICT DO NOTHING";
const UPDATE_TIMELINE: &str = "UPDATE timelines SET size = ?1, frontier = ?2, carried_note = ?3,
    recorded_at = ?4, clock_running = ?5, clock_rate = ?6, clock_host = ?7, clock_virtual = ?8,
    clock_location = ?9, clock_generation = ?10, events_count = ?11, anchors_count = ?12, clock_entry = ?13,
    overrides_count = ?14, data_count = ?15, directory = ?16, statement = ?17, timers = ?18
    WHERE timeline = ?19 AND size = ?20";
const SELECT_SIZE: &str = "SELECT size FROM timelines WHERE timeline_id = ?1";
const INSERT_EVENT: &str = "INSERT INTO events (timeline, cell, time, position, lat, lon, event_id, place, content,
    until, name_key, parties, length_class) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
pub(super) const END_EVENT: &str = "UPDATE events INDEXED BY events_by_id SET until = ?1
    WHERE timeline = ?2 AND event_id = ?3 AND position = ?4";
const INSERT_INTERVENTION: &str = "INSERT INTO interventions (timeline, event_id, position, intervention_id)
    VALUES (?1, ?2, ?3, ?4)";
const INSERT_ANCHOR: &str = "INSERT INTO anchors (timeline, position, anchor_id, set_at, timestamp, description,
    fixed, clock_at, clock_running, clock_rate, clock_location) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const INSERT_PERMISSION: &str = "INSERT INTO permissions (timeline, user_id, role, expires_at) VALUES (?1, ?2, ?3, ?4)";
const ERASE_OUTCOME: &str = "UPDATE outcomes SET outcome = ?2, timeline_id = NULL, event_id = NULL WHERE key = ?1";
const PUT_OUTCOME: &str = "INSERT INTO outcomes (key, fingerprint, expires_at, outcome, timeline_id, event_id)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, expires_at = excluded.expires_at,
    outcome = excluded.outcome, timeline_id = excluded.timeline_id, event_id = excluded.event_id";

pub(super) fn commit(connection: &mut Connection, step: &Commit) -> Result<(), StoreError> {
    let erases = step.timelines.iter().any(|timeline| !timeline.erasures.is_empty());
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
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
        put_outcome(&transaction, record).map_err(failed)?;
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
        retention::insert_policy(transaction, head.key, policy).map_err(failed)?;
    }
    for sweep in &step.sweeps {
        retention::insert_sweep(transaction, head.key, sweep).map_err(failed)?;
    }
    for erasure in &step.erasures {
        data::erase(transaction, head.key, erasure).map_err(failed)?;
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
    for intervention in rows.interventions {
        let mut insert = transaction.prepare_cached(INSERT_INTERVENTION).map_err(failed)?;
        let InterventionRow { position, event_id, intervention_id } = intervention;
        let row = params![timeline.0, event_id.as_str(), sql(*position), intervention_id.as_str()];
        insert.execute(row).map_err(failed)?;
    }
    for anchor in rows.anchors {
        insert_anchor(transaction, timeline, anchor).map_err(failed)?;
    }
    for record in rows.data {
        data::insert(transaction, timeline, record).map_err(failed)?;
    }
    Ok(())
}

fn insert_head(transaction: &Transaction<'_>, head: &Head) -> rusqlite::Result<usize> {
    let (host, at) = head.clock.origin();
    let mut insert = transaction.prepare_cached(INSERT_TIMELINE)?;
    insert.execute(params![
        head.key.0,
        head.id.as_str(),
        head.created_at.micros(),
        sql(head.frontier.size()),
        head.frontier.to_bytes(),
        &*head.carried_note,
        head.recorded_at.micros(),
        head.clock.is_running(),
        sql(head.clock.rate().micros()),
        host.micros(),
        at.micros(),
        head.clock.location,
        sql(head.clock.generation),
        sql(head.events_count),
        sql(head.anchors_count),
        sql(head.clock_entry),
        sql(head.overrides_count),
        head.fork.map(|fork| fork.of.0),
        head.fork.map(|fork| sql(fork.size)),
        head.created_by.as_str(),
        sql(head.data_count),
        sql(head.directory),
        &*head.statement,
        origins::text(&head.origins),
        head.expires_at.map(timenav_core::time::Instant::micros),
        timers_text(&head.timers),
    ])
}

fn update_head(transaction: &Transaction<'_>, head: &Head, expected_size: u64) -> rusqlite::Result<usize> {
    let (host, at) = head.clock.origin();
    let mut update = transaction.prepare_cached(UPDATE_TIMELINE)?;
    update.execute(params![
        sql(head.frontier.size()),
        head.frontier.to_bytes(),
        &*head.carried_note,
        head.recorded_at.micros(),
        head.clock.is_running(),
        sql(head.clock.rate().micros()),
        host.micros(),
        at.micros(),
        head.clock.location,
        sql(head.clock.generation),
        sql(head.events_count),
        sql(head.anchors_count),
        sql(head.clock_entry),
        sql(head.overrides_count),
        sql(head.data_count),
        sql(head.directory),
        &*head.statement,
        timers_text(&head.timers),
        head.key.0,
        sql(expected_size),
    ])
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

fn insert_anchor(transaction: &Transaction<'_>, timeline: TimelineKey, anchor: &Anchor) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(INSERT_ANCHOR)?;
    insert.execute(params![
        timeline.0,
        sql(anchor.position),
        anchor.anchor_id.as_str(),
        anchor.set_at.micros(),
        anchor.timestamp.micros(),
        anchor.description,
        anchor.fixed,
        anchor.moment.at.micros(),
        anchor.moment.running,
        sql(anchor.moment.rate.micros()),
        anchor.moment.location,
    ])?;
    Ok(())
}

fn erase_outcome(transaction: &Transaction<'_>, record: &IdempotencyRecord) -> rusqlite::Result<()> {
    transaction.prepare_cached(ERASE_OUTCOME)?.execute(params![record.key, record.outcome])?;
    Ok(())
}

fn put_outcome(transaction: &Transaction<'_>, record: &IdempotencyRecord) -> rusqlite::Result<()> {
    let mut put = transaction.prepare_cached(PUT_OUTCOME)?;
    let (timeline, event) = record.event.as_ref().map(|(on, id)| (on.as_str(), id.as_str())).unzip();
    let row = params![record.key, record.fingerprint, record.expires_at.micros(), record.outcome, timeline, event];
    put.execute(row)?;
    Ok(())
}

use std::collections::HashMap;

use rusqlite::{Connection, params};
use timenav_core::ids::EventId;
use timenav_engine::{EventVersion, KnownEvent, Layer, StoreError, TimelineKey};

use crate::persistence::names::{LIKENESS_MIN, NAMES_NEAR_MAX, likeness, name_in};
use crate::sqlite::values::{count, failed, id, sql};

const SELECT_VERSIONS: &str = "SELECT position, until, content FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id = ?2 AND position < ?3 ORDER BY position";
const SELECT_INTERVENTIONS: &str = "SELECT position FROM interventions
    WHERE timeline = ?1 AND event_id = ?2 AND position < ?3 ORDER BY position";

const SELECT_UNCHANGED: &str = "SELECT event_id FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id > ?2
    GROUP BY event_id HAVING max(max(position, coalesce(until, 0))) < ?3 ORDER BY event_id LIMIT ?4";

const SELECT_NAMED: &str = "SELECT e.time, e.event_id FROM events e INDEXED BY events_by_name
    WHERE e.timeline = ?1 AND e.name_key = ?2 AND e.position < ?3 AND (e.until IS NULL OR e.until >= ?3)
    ORDER BY e.time, e.position LIMIT ?4";
const SELECT_ONCE_NAMED: &str = "SELECT e.time, e.event_id FROM events e INDEXED BY events_by_name
    WHERE e.timeline = ?1 AND e.name_key = ?2 AND e.position < ?3 AND e.until < ?3
    ORDER BY e.time, e.position LIMIT ?4";

/// Returns the ids of the events with a name, earliest first: those in effect, or else ended ones that had it last.
pub(in crate::sqlite) fn named(
    connection: &Connection,
    layers: &[Layer],
    key: &str,
    items_max: usize,
) -> Result<Vec<EventId>, StoreError> {
    let found = current_named(connection, layers, key, items_max)?;
    if found.is_empty() { once_named(connection, layers, key, items_max) } else { Ok(found) }
}

fn once_named(
    connection: &Connection,
    layers: &[Layer],
    key: &str,
    items_max: usize,
) -> Result<Vec<EventId>, StoreError> {
    let mut found: Vec<(i64, EventId)> = Vec::new();
    for layer in layers {
        let mut select = connection.prepare_cached(SELECT_ONCE_NAMED).map_err(failed)?;
        let parameters = params![layer.timeline.0, key, sql(layer.as_of), sql(items_max as u64)];
        let mut rows = select.query(parameters).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let event_id = id(EventId::new(&row.get::<_, String>(1).map_err(failed)?))?;
            found.push((row.get(0).map_err(failed)?, event_id));
        }
    }
    found.sort();
    let ids: Vec<EventId> = found.into_iter().map(|(_, event_id)| event_id).collect();
    let known = known(connection, layers, &ids)?;
    let mut canceled: Vec<EventId> = Vec::new();
    for event_id in ids {
        if known.get(&event_id).is_some_and(|known| known.current().is_none()) && !canceled.contains(&event_id) {
            canceled.push(event_id);
        }
    }
    canceled.truncate(items_max);
    Ok(canceled)
}

fn current_named(
    connection: &Connection,
    layers: &[Layer],
    key: &str,
    items_max: usize,
) -> Result<Vec<EventId>, StoreError> {
    let mut found: Vec<(i64, usize, EventId)> = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        let mut select = connection.prepare_cached(SELECT_NAMED).map_err(failed)?;
        let parameters = params![layer.timeline.0, key, sql(layer.as_of), sql(items_max as u64)];
        let mut rows = select.query(parameters).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let event_id = id(EventId::new(&row.get::<_, String>(1).map_err(failed)?))?;
            found.push((row.get(0).map_err(failed)?, number, event_id));
        }
    }
    // A later layer may change or cancel an event of an earlier one.
    let ids: Vec<EventId> = found.iter().map(|(_, _, event_id)| event_id.clone()).collect();
    let known = known(connection, layers, &ids)?;
    let is_current_here = |(_, layer, event_id): &(i64, usize, EventId)| {
        known.get(event_id).and_then(KnownEvent::current).is_some_and(|version| version.layer == *layer)
    };
    found.retain(is_current_here);
    found.sort_by_key(|(time, layer, _)| (*time, *layer));
    found.truncate(items_max);
    Ok(found.into_iter().map(|(_, _, event_id)| event_id).collect())
}

pub(in crate::sqlite) fn known(
    connection: &Connection,
    layers: &[Layer],
    event_ids: &[EventId],
) -> Result<HashMap<EventId, KnownEvent>, StoreError> {
    let mut all = HashMap::new();
    for event_id in event_ids {
        let mut known = KnownEvent::default();
        for (number, layer) in layers.iter().enumerate() {
            read_layer(connection, (number, layer), event_id, &mut known)?;
        }
        if !known.versions.is_empty() {
            all.insert(event_id.clone(), known);
        }
    }
    Ok(all)
}

fn read_layer(
    connection: &Connection,
    (number, layer): (usize, &Layer),
    event_id: &EventId,
    known: &mut KnownEvent,
) -> Result<(), StoreError> {
    let key = params![layer.timeline.0, event_id.as_str(), sql(layer.as_of)];
    let mut select = connection.prepare_cached(SELECT_VERSIONS).map_err(failed)?;
    let mut rows = select.query(key).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let until = row.get::<_, Option<i64>>(1).map_err(failed)?.map(count).transpose()?;
        known.versions.push(EventVersion {
            layer: number,
            position: count(row.get(0).map_err(failed)?)?,
            // To a reader at an earlier time, a version that ended later is still in effect.
            until: until.filter(|until| *until < layer.as_of),
            content: row.get(2).map_err(failed)?,
        });
    }
    // An event without versions has no interventions. Most events are looked up before they are recorded.
    if known.versions.is_empty() {
        return Ok(());
    }
    let mut select = connection.prepare_cached(SELECT_INTERVENTIONS).map_err(failed)?;
    let positions = select.query_map(key, |row| row.get::<_, i64>(0)).map_err(failed)?;
    for position in positions {
        known.interventions.push((number, count(position.map_err(failed)?)?));
    }
    Ok(())
}

/// Returns the ids of the events that have not changed at or after a position, in order.
pub(in crate::sqlite) fn unchanged_since(
    connection: &Connection,
    (timeline, position): (TimelineKey, u64),
    after: Option<&EventId>,
    items_max: usize,
) -> Result<Vec<EventId>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_UNCHANGED).map_err(failed)?;
    let after = after.map_or("", EventId::as_str);
    let row = params![timeline.0, after, sql(position), sql(items_max as u64)];
    let ids = select.query_map(row, |row| row.get::<_, String>(0)).map_err(failed)?;
    ids.map(|event_id| id(EventId::new(&event_id.map_err(failed)?))).collect()
}

const SELECT_NAMES: &str = "SELECT event_id, name_key FROM events INDEXED BY events_by_name
    WHERE timeline = ?1 AND name_key IS NOT NULL AND position < ?2 AND (until IS NULL OR until >= ?2) LIMIT ?3";
const SELECT_IDS: &str = "SELECT event_id, name_key FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id >= ?4 AND event_id < ?5
    AND position < ?2 AND (until IS NULL OR until >= ?2) LIMIT ?3";

/// Returns events in effect whose names contain the key or nearly match it, or whose ids have the same first letter and
/// nearly match it.
pub(in crate::sqlite) fn names_near(
    connection: &Connection,
    layers: &[Layer],
    key: &str,
    searched_max: usize,
) -> Result<Vec<(EventId, Option<String>)>, StoreError> {
    let mut found: Vec<(f64, EventId, Option<String>)> = Vec::new();
    let first: String = key.chars().take(1).collect();
    for layer in layers {
        let (timeline, as_of, rows_max) = (layer.timeline.0, sql(layer.as_of), sql(searched_max as u64));
        let mut take = |rows: &mut rusqlite::Rows<'_>| -> Result<(), StoreError> {
            while let Some(row) = rows.next().map_err(failed)? {
                let event_id: String = row.get(0).map_err(failed)?;
                let name: Option<String> = row.get(1).map_err(failed)?;
                let of_name = name.as_deref().map_or(0.0, |name| likeness(name, key));
                let likeness = of_name.max(likeness(&event_id.to_lowercase(), key));
                if likeness >= LIKENESS_MIN {
                    found.push((likeness, id(EventId::new(&event_id))?, name));
                }
            }
            Ok(())
        };
        let mut select = connection.prepare_cached(SELECT_NAMES).map_err(failed)?;
        take(&mut select.query(params![timeline, as_of, rows_max]).map_err(failed)?)?;
        for first in [first.clone(), first.to_uppercase()] {
            let mut select = connection.prepare_cached(SELECT_IDS).map_err(failed)?;
            let past = format!("{first}\u{10ffff}");
            take(&mut select.query(params![timeline, as_of, rows_max, first, past]).map_err(failed)?)?;
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    found.dedup_by(|one, other| one.1 == other.1);
    found.truncate(NAMES_NEAR_MAX);
    let ids: Vec<EventId> = found.iter().map(|(_, event_id, _)| event_id.clone()).collect();
    let known = known(connection, layers, &ids)?;
    let name = |event_id: &EventId| name_in(&known.get(event_id)?.current()?.content);
    Ok(ids.iter().map(|event_id| (event_id.clone(), name(event_id))).collect())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::sqlite::commit::END_EVENT;
    use crate::sqlite::migrations;
    use crate::sqlite::values::NO_CELL;

    /// Numbers of versions of the event being read.
    const VERSIONS: [i64; 2] = [16, 16_384];

    /// Returns a database in which one event has `count` versions, each at another time.
    fn with_versions(count: i64) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        let insert = "WITH RECURSIVE n (at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at + 1 < ?1)
            INSERT INTO events (timeline, cell, time, position, until, event_id, content)
            SELECT 1, ?2, -at, at, nullif(at + 1, ?1), 'e', '{}' FROM n";
        connection.execute(insert, [count, NO_CELL]).unwrap();
        connection
    }

    /// Returns the number of SQLite virtual machine steps that a statement takes.
    fn steps(connection: &Connection, statement: &str, values: [&dyn rusqlite::ToSql; 4]) -> i32 {
        let mut statement = connection.prepare(statement).unwrap();
        let count = statement.parameter_count();
        let mut rows = statement.query(&values[..count]).unwrap();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        assert_eq!(statement.get_status(StatementStatus::Sort), 0);
        statement.get_status(StatementStatus::VmStep)
    }

    #[test]
    fn version_lookup_cost_is_independent_of_version_count() {
        // END_EVENT ends the last version, and SELECT_VERSIONS reads the event as of its second entry.
        let ends = VERSIONS.map(|count| steps(&with_versions(count), END_EVENT, [&count, &1, &"e", &(count - 1)]));
        let early = VERSIONS.map(|count| steps(&with_versions(count), SELECT_VERSIONS, [&1, &"e", &2, &0]));
        for [few, many] in [ends, early] {
            assert!(few > 0 && few == many, "{few} steps among {}, {many} among {}", VERSIONS[0], VERSIONS[1]);
        }
        let connection = with_versions(VERSIONS[0]);
        let found = "timeline=? AND event_id=? AND position";
        for statement in [END_EVENT, SELECT_VERSIONS] {
            let explained = format!("EXPLAIN QUERY PLAN {statement}");
            let mut explained = connection.prepare(&explained).unwrap();
            let mut rows = explained.raw_query();
            let plan: String = rows.next().unwrap().unwrap().get(3).unwrap();
            assert!(plan.contains("events_by_id") && plan.contains(found), "{statement}: {plan}");
            assert!(rows.next().unwrap().is_none(), "nothing is sorted");
        }
    }
}

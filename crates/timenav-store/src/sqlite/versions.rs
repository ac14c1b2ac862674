//! Every version of an event, and the interventions on it.

use std::collections::HashMap;

use rusqlite::{Connection, params};
use timenav_core::ids::EventId;
use timenav_engine::{EventVersion, KnownEvent, Layer, StoreError};

use super::values::{count, failed, id, sql};

const SELECT_VERSIONS: &str = "SELECT position, until, content FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id = ?2 AND position < ?3 ORDER BY position";
const SELECT_INTERVENTIONS: &str = "SELECT position FROM interventions
    WHERE timeline = ?1 AND event_id = ?2 AND position < ?3 ORDER BY position";

const SELECT_NAMED: &str = "SELECT e.time, e.event_id FROM events e INDEXED BY events_by_name
    WHERE e.timeline = ?1 AND e.name_key = ?2 AND e.position < ?3 AND (e.until IS NULL OR e.until >= ?3)
    ORDER BY e.time, e.position LIMIT ?4";

/// Returns the ids of standing events of a name, the earliest first.
pub(super) fn named(
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
    // An event of an earlier layer may stand otherwise, or not at all, on a later one.
    let ids: Vec<EventId> = found.iter().map(|(_, _, event_id)| event_id.clone()).collect();
    let known = known(connection, layers, &ids)?;
    let stands_here = |(_, layer, event_id): &(i64, usize, EventId)| {
        known.get(event_id).and_then(KnownEvent::standing).is_some_and(|version| version.layer == *layer)
    };
    found.retain(stands_here);
    found.sort_by_key(|(time, layer, _)| (*time, *layer));
    found.truncate(items_max);
    Ok(found.into_iter().map(|(_, _, event_id)| event_id).collect())
}

/// Returns what is known of these events on these layers.
pub(super) fn known(
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
            // What ended it later has not happened for who looks at an earlier time.
            until: until.filter(|until| *until < layer.as_of),
            content: row.get(2).map_err(failed)?,
        });
    }
    // Nobody intervenes on an event that has no version: most are asked for before they are recorded.
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

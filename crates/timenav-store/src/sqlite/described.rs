//! Events by their exact description. There is no index on descriptions: rows are looked through, so many at most.

use rusqlite::{Connection, params};
use serde::Deserialize;
use timenav_core::ids::EventId;
use timenav_engine::{Described, EventVersion, KnownEvent, Layer, StoreError};

use super::values::{failed, id, sql};
use super::versions::known;

/// The text is looked for as it stands in JSON, before a row is read any further.
const SELECT: &str = "SELECT event_id, time, instr(content, ?2) > 0 FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND position < ?3 LIMIT ?4";

/// Returns the event of a description, the earliest of several: one that stands, or else one that had it when it stood
/// last. The newest layer is looked through first.
pub(super) fn described(
    connection: &Connection,
    layers: &[Layer],
    description: &str,
    searched_max: usize,
) -> Result<Described, StoreError> {
    let text = serde_json::to_string(description).map_err(|error| StoreError::Damaged(error.to_string()))?;
    let needle = format!("\"description\":{text}");
    let (mut found, mut searched): (Vec<(i64, EventId)>, usize) = (Vec::new(), 0);
    for layer in layers.iter().rev() {
        let mut select = connection.prepare_cached(SELECT).map_err(failed)?;
        // One more tells that there are more.
        let rows_max = (searched_max + 1).saturating_sub(searched) as u64;
        let parameters = params![layer.timeline.0, needle, sql(layer.as_of), sql(rows_max)];
        let mut rows = select.query(parameters).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            searched += 1;
            if row.get::<_, bool>(2).map_err(failed)? {
                let event_id = id(EventId::new(&row.get::<_, String>(0).map_err(failed)?))?;
                found.push((row.get(1).map_err(failed)?, event_id));
            }
        }
    }
    found.sort();
    let ids: Vec<EventId> = found.into_iter().map(|(_, event_id)| event_id).collect();
    let known = known(connection, layers, &ids)?;
    let is_so = |event_id: &&EventId, pick: fn(&KnownEvent) -> Option<&EventVersion>| {
        let version = known.get(*event_id).and_then(pick);
        version.is_some_and(|version| description_in(&version.content).as_deref() == Some(description))
    };
    let stands = ids.iter().find(|event_id| is_so(event_id, KnownEvent::standing));
    let gone = || {
        let is_gone = |event_id: &&EventId| known.get(*event_id).is_some_and(|known| known.standing().is_none());
        ids.iter().filter(is_gone).find(|event_id| is_so(event_id, last_told))
    };
    Ok(Described { event_id: stands.or_else(gone).cloned(), is_cut_off: searched > searched_max })
}

/// Returns the last version that says something.
fn last_told(known: &KnownEvent) -> Option<&EventVersion> {
    known.versions.iter().rev().find(|version| !version.content.is_empty())
}

fn description_in(content: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Told {
        description: String,
    }
    serde_json::from_str::<Told>(content).ok().map(|told| told.description)
}

//! Events by their exact description. Descriptions have no index, so a limited number of rows is scanned.

use rusqlite::{Connection, params};
use timenav_core::ids::EventId;
use timenav_engine::{Described, Layer, StoreError};

use crate::persistence::names::described_so;
use crate::sqlite::events::versions::known;
use crate::sqlite::values::{failed, id, sql};

/// The text is matched in its JSON form before the rest of a row is read.
const SELECT: &str = "SELECT event_id, time, instr(content, ?2) > 0 FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND position < ?3 LIMIT ?4";

/// Returns the earliest event with a description: one in effect, or else an ended one. Newest layer first.
pub(in crate::sqlite) fn described(
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
        // One more row shows whether there are more.
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
    let event_id = described_so(&ids, &known, description);
    Ok(Described { event_id, is_cut_off: searched > searched_max })
}

use std::collections::HashSet;

use rusqlite::{Connection, params};
use timenav_engine::{Layer, Overridden, StoreError};

use crate::sqlite::values::{count, failed, sql};

/// Positions of the versions on one layer whose events also have versions on a later layer.
const OVERRIDDEN: &str = "SELECT e.position FROM
    (SELECT DISTINCT event_id FROM events INDEXED BY events_by_id WHERE timeline = ?1 AND position < ?2) o
    CROSS JOIN events e INDEXED BY events_by_id ON e.event_id = o.event_id
    WHERE e.timeline = ?3 AND e.position < ?4 LIMIT ?5";
const COUNT_VERSIONS: &str =
    "SELECT count(*) FROM (SELECT 1 FROM events INDEXED BY events_by_id WHERE timeline = ?1 LIMIT ?2)";

/// Returns the overridden positions per layer; `None` if that would read more than `rows_max` rows.
pub(in crate::sqlite) fn overridden(
    connection: &Connection,
    layers: &[Layer],
    rows_max: usize,
) -> Result<Option<Overridden>, StoreError> {
    let mut count_versions = connection.prepare_cached(COUNT_VERSIONS).map_err(failed)?;
    let mut select = connection.prepare_cached(OVERRIDDEN).map_err(failed)?;
    let (mut overridden, mut rows_left) = (vec![HashSet::new(); layers.len()], rows_max);
    for (number, later) in layers.iter().enumerate().filter(|(_, layer)| layer.overrides) {
        let key = params![later.timeline.0, sql(rows_left as u64 + 1)];
        let rows_count = count(count_versions.query_row(key, |row| row.get(0)).map_err(failed)?)?;
        // Each is looked up on every earlier layer.
        let looked_at = rows_count.saturating_mul(number as u64);
        let Some(left) = rows_left.checked_sub(usize::try_from(looked_at).unwrap_or(usize::MAX)) else {
            return Ok(None);
        };
        rows_left = left;
        for (positions, layer) in overridden.iter_mut().zip(&layers[..number]) {
            let until = (sql(later.as_of), sql(layer.as_of));
            let key = params![later.timeline.0, until.0, layer.timeline.0, until.1, sql(rows_left as u64 + 1)];
            let mut rows = select.query(key).map_err(failed)?;
            while let Some(row) = rows.next().map_err(failed)? {
                // An event may have any number of versions.
                let Some(left) = rows_left.checked_sub(1) else { return Ok(None) };
                rows_left = left;
                positions.insert(count(row.get(0).map_err(failed)?)?);
            }
        }
    }
    Ok(Some(overridden))
}

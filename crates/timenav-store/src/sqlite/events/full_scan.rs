//! Reads all rows of events: in table order, and in the order of the index by id.

use rusqlite::{Connection, Row, params};
use timenav_engine::{EventAt, SeenEvent, SeenEvents, StoreError, TimelineKey};

use crate::sqlite::values::{NO_CELL, count, damaged, failed, sql};

/// A page ends once its texts have this many bytes.
const PAGE_BYTES: usize = 1024 * 1024;

const SELECT: &str = "SELECT cell, time, position, event_id, until, lat, lon, place, content, name_key,
    parties, length_class FROM events WHERE timeline = ?1 AND (cell, time, position) > (?2, ?3, ?4) ORDER BY cell, time, position
    LIMIT ?5";
const SELECT_IDS: &str = "SELECT cell, time, position, event_id
    FROM events INDEXED BY events_by_id WHERE timeline = ?1 AND (event_id, position, cell, time) > (?2, ?3, ?4, ?5)
    ORDER BY event_id, position, cell, time LIMIT ?6";

/// Sort key of the table: cell, time and position.
type Key = (i64, i64, i64);

/// Sorts before all rows.
const FIRST: Key = (i64::MIN, i64::MIN, i64::MIN);

pub(in crate::sqlite) fn event_page(
    connection: &Connection,
    timeline: TimelineKey,
    after: Option<&EventAt>,
    rows_max: usize,
) -> Result<SeenEvents, StoreError> {
    let mut last = after.map_or(FIRST, key_of);
    let mut select = connection.prepare_cached(SELECT).map_err(failed)?;
    let mut rows = select.query(params![timeline.0, last.0, last.1, last.2, sql(rows_max as u64)]).map_err(failed)?;
    let mut page = SeenEvents::default();
    while let Some(row) = rows.next().map_err(failed)? {
        let next = key(row)?;
        in_order(last < next)?;
        last = next;
        page.push(&seen(row, next)?);
        if page.bytes_count() >= PAGE_BYTES {
            break;
        }
    }
    Ok(page)
}

pub(in crate::sqlite) fn event_ids(
    connection: &Connection,
    timeline: TimelineKey,
    after: Option<&EventAt>,
    rows_max: usize,
) -> Result<Vec<EventAt>, StoreError> {
    let (id, last) = after.map_or(("", FIRST), |after| (after.event_id.as_str(), key_of(after)));
    let mut select = connection.prepare_cached(SELECT_IDS).map_err(failed)?;
    let last = by_position(last);
    let bounds = params![timeline.0, id, last.0, last.1, last.2, sql(rows_max as u64)];
    let mut rows = select.query(bounds).map_err(failed)?;
    let mut places: Vec<EventAt> = Vec::with_capacity(rows_max);
    while let Some(row) = rows.next().map_err(failed)? {
        let (next, event_id) = (key(row)?, text(row, 3)?.unwrap_or_default());
        let before = places.last().map_or((id, last), |place| (place.event_id.as_str(), by_position(key_of(place))));
        in_order(before < (event_id, by_position(next)))?;
        let (cell, time_micros, position) = next;
        let (event_id, position) = (event_id.to_owned(), count(position)?);
        places.push(EventAt { event_id, position, time_micros, cell: cell_of(cell) });
    }
    Ok(places)
}

/// Lookups rely on the order, so a row out of order cannot be found.
fn in_order(is_in_order: bool) -> Result<(), StoreError> {
    if is_in_order { Ok(()) } else { Err(damaged("rows of events are out of order")) }
}

fn key_of(place: &EventAt) -> Key {
    (place.cell.unwrap_or(NO_CELL), place.time_micros, sql(place.position))
}

/// Returns the sort key of one event's rows in the index by id: position, cell and time.
const fn by_position((cell, time_micros, position): Key) -> (i64, i64, i64) {
    (position, cell, time_micros)
}

fn cell_of(cell: i64) -> Option<i64> {
    Some(cell).filter(|cell| *cell != NO_CELL)
}

fn key(row: &Row<'_>) -> Result<Key, StoreError> {
    let number = |at: usize| row.get(at).map_err(failed);
    Ok((number(0)?, number(1)?, number(2)?))
}

fn seen<'r>(row: &'r Row<'_>, (cell, time_micros, position): Key) -> Result<SeenEvent<'r>, StoreError> {
    let degrees = |at: usize| row.get::<_, Option<f64>>(at).map_err(failed);
    Ok(SeenEvent {
        event_id: text(row, 3)?.unwrap_or_default(),
        position: count(position)?,
        until: row.get::<_, Option<i64>>(4).map_err(failed)?.map(count).transpose()?,
        time_micros,
        point: degrees(5)?.zip(degrees(6)?),
        cell: cell_of(cell),
        place: text(row, 7)?,
        name_key: text(row, 9)?,
        parties: text(row, 10)?,
        length_class: row.get(11).map_err(failed)?,
        content: text(row, 8)?.unwrap_or_default(),
    })
}

fn text<'r>(row: &'r Row<'_>, at: usize) -> Result<Option<&'r str>, StoreError> {
    let value = row.get_ref(at).map_err(failed)?;
    value.as_str_or_null().map_err(|error| damaged(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrations;

    /// If SQLite had to sort, it would read the whole table for each page, and rows out of order would not be detected.
    #[test]
    fn event_pages_are_read_in_index_order_without_sorting() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        for statement in [SELECT, SELECT_IDS] {
            let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
            let mut rows = explained.raw_query();
            let plan: String = rows.next().unwrap().unwrap().get(3).unwrap();
            assert!(plan.starts_with("SEARCH events USING"), "{plan}");
            assert!(rows.next().unwrap().is_none(), "{statement}: something is sorted");
        }
    }
}

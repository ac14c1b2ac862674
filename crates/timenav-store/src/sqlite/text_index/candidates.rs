//! Finds the events that may have the words of a search.

use rusqlite::{Connection, OptionalExtension, Row, params};
use timenav_engine::{EventQuery, Layer, StoreError, TimelineKey};

use super::blocks::{self, Block};
use super::postings;
use crate::persistence::words::prefixes;
use crate::sqlite::values::{count, failed, sql};

// Limits are small in tests of this crate, which have few events.

/// Events of a timeline that may be searched without the index.
const TAIL_EVENTS_MAX: usize = if cfg!(test) { 9 } else { 4_096 };
/// Positions of a word that are read; takes about two milliseconds. A word with more does not narrow a search down.
const POSITIONS_MAX: usize = if cfg!(test) { 12 } else { 200_000 };
/// Candidates of a search. With more of them, a page is soon full without the index.
const CANDIDATES_MAX: usize = if cfg!(test) { 15 } else { 10_000 };
/// Checking this many candidates is faster than reading another word.
const CANDIDATES_FEW: usize = if cfg!(test) { 2 } else { 64 };

const SELECT_POSITIONS: &str =
    "SELECT positions FROM text_words WHERE timeline = ?1 AND block = ?2 AND word >= ?3 AND word < ?4";
const SELECT_TAIL: &str = "SELECT time, position, cell FROM events INDEXED BY events_by_position
    WHERE timeline = ?1 AND position >= ?2 AND position < ?3 LIMIT ?4";
const SELECT_SPOT: &str = "SELECT time, position, cell FROM events INDEXED BY events_by_position
    WHERE timeline = ?1 AND position = ?2";

/// The place of an event's row: time, position and cell.
pub(in crate::sqlite) type RowPlace = (i64, i64, i64);

/// The candidates of one layer.
#[derive(Default)]
struct OfLayer {
    /// From blocks.
    positions: Vec<u64>,
    /// From the tail.
    places: Vec<RowPlace>,
}

/// The candidates of a search on each layer.
pub(in crate::sqlite) struct Candidates(Vec<OfLayer>);

/// Finds candidates; `None` if a search without the index is faster.
pub(in crate::sqlite) fn find(
    connection: &Connection,
    query: &EventQuery,
    words: &[String],
) -> Result<Option<Candidates>, StoreError> {
    let ranges = ranges(words);
    if ranges.is_empty() {
        return Ok(None);
    }
    let used = query.layers.iter().map(|layer| Ok(blocks::in_use(&blocks::all(connection, layer.timeline)?)));
    let used: Vec<Vec<Block>> = used.collect::<Result<_, StoreError>>()?;
    if used.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let mut all = Candidates(Vec::with_capacity(query.layers.len()));
    for (layer, used) in query.layers.iter().zip(&used) {
        let Some(found) = of_layer(connection, layer, used, &ranges)? else { return Ok(None) };
        all.0.push(found);
        if all.count() > CANDIDATES_MAX {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

impl Candidates {
    pub(in crate::sqlite) fn count(&self) -> usize {
        self.0.iter().map(|layer| layer.positions.len() + layer.places.len()).sum()
    }

    /// Returns the places of the candidates on each layer, by time and position.
    pub(in crate::sqlite) fn places(
        self,
        connection: &Connection,
        query: &EventQuery,
    ) -> Result<Vec<Vec<RowPlace>>, StoreError> {
        let mut select = connection.prepare_cached(SELECT_SPOT).map_err(failed)?;
        let mut of_layer = |(layer, OfLayer { positions, mut places }): (&Layer, OfLayer)| {
            for position in positions {
                let row = select.query_row(params![layer.timeline.0, sql(position)], place);
                places.extend(row.optional().map_err(failed)?);
            }
            places.sort_unstable();
            Ok(places)
        };
        query.layers.iter().zip(self.0).map(&mut of_layer).collect()
    }
}

fn place(row: &Row<'_>) -> rusqlite::Result<RowPlace> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// Returns the range of indexed words for each prefix, the longest first: it probably has the fewest events.
fn ranges(words: &[String]) -> Vec<(&str, String)> {
    // No folded word has this character.
    prefixes(words).into_iter().map(|prefix| (prefix, format!("{prefix}\u{10ffff}"))).collect()
}

fn of_layer(
    connection: &Connection,
    layer: &Layer,
    used: &[Block],
    ranges: &[(&str, String)],
) -> Result<Option<OfLayer>, StoreError> {
    let tail_first = blocks::indexed_to(used);
    let mut places = Vec::new();
    if tail_first < layer.as_of {
        let mut select = connection.prepare_cached(SELECT_TAIL).map_err(failed)?;
        let limit = TAIL_EVENTS_MAX as u64 + 1;
        let range = params![layer.timeline.0, sql(tail_first), sql(layer.as_of), sql(limit)];
        let rows = select.query_map(range, place).map_err(failed)?;
        places = rows.collect::<rusqlite::Result<Vec<RowPlace>>>().map_err(failed)?;
        if places.len() > TAIL_EVENTS_MAX {
            return Ok(None);
        }
    }
    let positions = indexed_positions(connection, layer, used, ranges)?;
    Ok(positions.map(|positions| OfLayer { positions, places }))
}

/// Returns the positions that have all words; `None` if each word is too frequent.
fn indexed_positions(
    connection: &Connection,
    layer: &Layer,
    used: &[Block],
    ranges: &[(&str, String)],
) -> Result<Option<Vec<u64>>, StoreError> {
    let used = &used[..used.partition_point(|block| block.first < layer.as_of)];
    if used.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut common: Option<Vec<u64>> = None;
    for range in ranges {
        if common.as_ref().is_some_and(|common| common.len() <= CANDIDATES_FEW) {
            break;
        }
        let Some(positions) = of_range(connection, layer, used, range)? else { continue };
        match &mut common {
            Some(common) => common.retain(|position| positions.binary_search(position).is_ok()),
            None => common = Some(positions),
        }
    }
    Ok(common)
}

/// Returns the positions of a range of words in ascending order; `None` if there are too many.
fn of_range(
    connection: &Connection,
    layer: &Layer,
    used: &[Block],
    (first, end): &(&str, String),
) -> Result<Option<Vec<u64>>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_POSITIONS).map_err(failed)?;
    let mut positions = Vec::new();
    for block in used {
        let before = positions.len();
        let mut rows = select.query(params![layer.timeline.0, block.number, first, end]).map_err(failed)?;
        let mut words_count = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            words_count += 1;
            let bytes = row.get_ref(0).and_then(|value| Ok(value.as_blob()?)).map_err(failed)?;
            postings::each(bytes, block.first, |position| {
                positions.push(position);
                position < layer.as_of && positions.len() <= POSITIONS_MAX
            })?;
            if positions.len() > POSITIONS_MAX {
                return Ok(None);
            }
        }
        if words_count > 1 {
            positions[before..].sort_unstable();
        }
    }
    positions.dedup();
    positions.retain(|position| *position < layer.as_of);
    Ok(Some(positions))
}

/// Returns the position after the `events_count`-th event from a position on; `None` if there are fewer.
pub(super) fn position_after(
    connection: &Connection,
    timeline: TimelineKey,
    first: u64,
    events_count: u64,
) -> Result<Option<u64>, StoreError> {
    const SELECT: &str = "SELECT position FROM events INDEXED BY events_by_position
        WHERE timeline = ?1 AND position >= ?2 ORDER BY position LIMIT 1 OFFSET ?3";
    let mut select = connection.prepare_cached(SELECT).map_err(failed)?;
    let range = params![timeline.0, sql(first), sql(events_count.saturating_sub(1))];
    let found: Option<i64> = select.query_row(range, |row| row.get(0)).optional().map_err(failed)?;
    found.map(|position| Ok(count(position)? + 1)).transpose()
}

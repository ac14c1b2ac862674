//! Events by place and time.
//!
//! A query is one or more *runs*: stretches of the table or of an index that are ordered by time
//! and position already. Runs are read block by block and merged, so a page costs what it shows
//! and not what the place holds.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rusqlite::{Connection, Row, params};
use timenav_core::place::{LocationQuery, Point, cells_of};
use timenav_core::time::{Instant, Virtual};
use timenav_engine::{EventQuery, Pattern, StoreError, StoredEvent};

use super::values::{damaged, failed, instant, sql};

/// Cells up to which a place is read cell by cell. Larger ones are read by time, and what lies
/// elsewhere is passed over.
const CELLS_MERGED_MAX: usize = 1_024;
/// Most rows of the first block of a run that is one of many.
const BLOCK_ROWS_FIRST: usize = 8;
/// Most rows of a block.
const BLOCK_ROWS_MAX: usize = 1_024;
/// Rows that can be read in the time that finding the first one of a block takes.
const BLOCK_COST_ROWS: usize = 4;

// Each orders by time and position along its key; `until` hides versions that did not stand then.
const BY_TIME: &str = "SELECT time, position, lat, lon, content, event_id FROM events INDEXED BY events_by_time
    WHERE timeline = ?1 AND (time, position) > (?2, ?3) AND time <= ?4
    AND position < ?5 AND (until IS NULL OR until >= ?5) ORDER BY time, position LIMIT ?6";
const BY_CELL: &str = "SELECT time, position, lat, lon, content, event_id FROM events
    WHERE timeline = ?1 AND (time, position) > (?2, ?3) AND time <= ?4
    AND position < ?5 AND (until IS NULL OR until >= ?5) AND cell = ?7 ORDER BY time, position LIMIT ?6";
const BY_PLACE: &str = "SELECT time, position, lat, lon, content, event_id FROM events INDEXED BY events_by_place
    WHERE timeline = ?1 AND (time, position) > (?2, ?3) AND time <= ?4
    AND position < ?5 AND (until IS NULL OR until >= ?5) AND place = ?7 ORDER BY time, position LIMIT ?6";

const BY_ID: &str = "SELECT time, position, lat, lon, content, event_id FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND (time, position) > (?2, ?3) AND time <= ?4
    AND position < ?5 AND (until IS NULL OR until >= ?5) AND event_id = ?7 ORDER BY time, position LIMIT ?6";

const HAS_VERSION: &str = "SELECT 1 FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id = ?2 AND position < ?3 LIMIT 1";

/// Where a run's rows come from.
enum Source<'a> {
    Time,
    Cell(u32),
    Place(&'a str),
    Id(&'a str),
}

/// What events are ordered by: time, layer, position.
type Key = (i64, usize, u64);

struct Found {
    event: StoredEvent,
    point: Option<Point>,
}

struct Run<'a> {
    layer: usize,
    pattern: &'a Pattern,
    source: Source<'a>,
    block: VecDeque<Found>,
    block_rows: usize,
    after: (i64, i64),
    ended: bool,
}

/// Returns the events a query asks for, ordered by time, then position, or `None` where that would take longer than
/// reading `rows_max` rows.
pub(super) fn find(
    connection: &Connection,
    query: &EventQuery,
    rows_max: usize,
) -> Result<Option<Vec<StoredEvent>>, StoreError> {
    if query.items_max == 0 {
        return Ok(Some(Vec::new()));
    }
    let mut runs = runs(query);
    // A run is looked into at least once, and a long page is asked for where there are many events.
    if runs.len().saturating_mul(BLOCK_COST_ROWS).max(query.items_max) > rows_max {
        return Ok(None);
    }
    let mut rows_left = rows_max;
    let mut first: BinaryHeap<Reverse<(Key, usize)>> = BinaryHeap::with_capacity(runs.len());
    for (number, run) in runs.iter_mut().enumerate() {
        if let Some(key) = run.peek(connection, query, &mut rows_left)? {
            first.push(Reverse((key, number)));
        }
        if rows_left == 0 {
            return Ok(None);
        }
    }
    let mut page = Vec::with_capacity(query.items_max.min(BLOCK_ROWS_MAX));
    let mut shown = None;
    while let Some(Reverse((key, number))) = first.pop() {
        let run = &mut runs[number];
        let found = run.block.pop_front().map(|found| found.event);
        // What fits two patterns stands in two runs.
        page.extend(found.filter(|_| shown != Some(key)));
        shown = Some(key);
        // A full page asks no run for more: that would read a block for nothing.
        if page.len() >= query.items_max {
            break;
        }
        if let Some(key) = run.peek(connection, query, &mut rows_left)? {
            first.push(Reverse((key, number)));
        }
        if rows_left == 0 {
            return Ok(None);
        }
    }
    Ok(Some(page))
}

/// Returns one run for each layer and source.
fn runs(query: &EventQuery) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for layer in 0..query.layers.len() {
        let after = after(query, layer);
        for pattern in &query.patterns {
            let of_layer = sources(pattern).into_iter();
            runs.extend(of_layer.map(|source| Run {
                layer,
                pattern,
                source,
                block: VecDeque::new(),
                block_rows: 0,
                after,
                ended: false,
            }));
        }
    }
    // One run alone gives nearly all that is asked for; of many each gives a little, and of very many most give nothing.
    let block_rows = match runs.len() {
        0 | 1 => query.items_max.clamp(1, BLOCK_ROWS_MAX),
        many => (2 * query.items_max / many).clamp(1, BLOCK_ROWS_FIRST),
    };
    for run in &mut runs {
        run.block_rows = block_rows;
    }
    runs
}

/// Returns the time and position after which a layer's events are asked for. Of one time, those of
/// an earlier layer come first.
fn after(query: &EventQuery, layer: usize) -> (i64, i64) {
    match query.after {
        Some((time, last, position)) if time >= query.range.first() => {
            let position = match layer.cmp(&last) {
                std::cmp::Ordering::Less => i64::MAX,
                std::cmp::Ordering::Equal => sql(position),
                std::cmp::Ordering::Greater => -1,
            };
            (time.micros(), position)
        }
        _ => (query.range.first().micros(), -1),
    }
}

fn sources(pattern: &Pattern) -> Vec<Source<'_>> {
    let location = match pattern {
        Pattern::Event(event_id) => return vec![Source::Id(event_id.as_str())],
        Pattern::Location(LocationQuery::Named(place)) => return vec![Source::Place(place)],
        Pattern::Location(location) => location,
    };
    match cells_of(location) {
        Some(cells) if cells.len() <= CELLS_MERGED_MAX => {
            cells.into_iter().map(|cell| Source::Cell(cell.number())).collect()
        }
        Some(_) | None => vec![Source::Time],
    }
}

impl Run<'_> {
    /// Returns time and position of the run's next event, reading on where needed.
    fn peek(
        &mut self,
        connection: &Connection,
        query: &EventQuery,
        rows_left: &mut usize,
    ) -> Result<Option<Key>, StoreError> {
        while self.block.is_empty() && !self.ended && *rows_left > 0 {
            // A block that brings nothing costs something too, so that many empty cells come to an end.
            *rows_left = rows_left.saturating_sub(self.read_block(connection, query)? + BLOCK_COST_ROWS);
        }
        Ok(self.block.front().map(|found| (found.event.time.micros(), self.layer, found.event.position)))
    }

    /// Reads the next rows of the run and returns how many there were.
    fn read_block(&mut self, connection: &Connection, query: &EventQuery) -> Result<usize, StoreError> {
        let (time, position) = self.after;
        let layer = &query.layers[self.layer];
        let (timeline, last) = (layer.timeline.0, query.range.last().micros());
        let (as_of, rows_max) = (sql(layer.as_of), sql(self.block_rows as u64));
        let statement = match self.source {
            Source::Time => BY_TIME,
            Source::Cell(_) => BY_CELL,
            Source::Place(_) => BY_PLACE,
            Source::Id(_) => BY_ID,
        };
        let mut select = connection.prepare_cached(statement).map_err(failed)?;
        let mut rows = match self.source {
            Source::Time => select.query(params![timeline, time, position, last, as_of, rows_max]),
            Source::Cell(cell) => select.query(params![timeline, time, position, last, as_of, rows_max, cell]),
            Source::Place(text) | Source::Id(text) => {
                select.query(params![timeline, time, position, last, as_of, rows_max, text])
            }
        }
        .map_err(failed)?;
        let mut rows_count = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            rows_count += 1;
            let found = read_row(row, self.layer)?;
            self.after = (found.event.time.micros(), sql(found.event.position));
            let event_id = row.get_ref(5).map_err(failed)?.as_str().map_err(|error| damaged(&error.to_string()))?;
            if is_meant(self.pattern, &found) && !is_overridden(connection, query, self.layer, event_id)? {
                self.block.push_back(found);
            }
        }
        self.ended = rows_count < self.block_rows;
        self.block_rows = (self.block_rows * 4).min(BLOCK_ROWS_MAX);
        Ok(rows_count)
    }
}

/// A cell holds a little more than the place that was asked for.
fn is_meant(pattern: &Pattern, found: &Found) -> bool {
    match pattern {
        Pattern::Event(_) | Pattern::Location(LocationQuery::Anywhere | LocationQuery::Named(_)) => true,
        Pattern::Location(
            location @ (LocationQuery::Near { .. } | LocationQuery::Within(_) | LocationQuery::Area(_)),
        ) => location.matches(found.point, None),
    }
}

/// Returns whether a later layer has a version of the event, which then counts alone.
fn is_overridden(
    connection: &Connection,
    query: &EventQuery,
    layer: usize,
    event_id: &str,
) -> Result<bool, StoreError> {
    for layer in query.layers[layer + 1..].iter().filter(|layer| layer.overrides) {
        let mut select = connection.prepare_cached(HAS_VERSION).map_err(failed)?;
        let key = params![layer.timeline.0, event_id, sql(layer.as_of)];
        if select.exists(key).map_err(failed)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_row(row: &Row<'_>, layer: usize) -> Result<Found, StoreError> {
    let time: Instant<Virtual> = instant(row.get(0).map_err(failed)?)?;
    let position: i64 = row.get(1).map_err(failed)?;
    let (lat, lon): (Option<f64>, Option<f64>) = (row.get(2).map_err(failed)?, row.get(3).map_err(failed)?);
    let point = lat.zip(lon).and_then(|(lat, lon)| Point::new(lat, lon));
    let content: String = row.get(4).map_err(failed)?;
    let event = StoredEvent { time, layer, position: super::values::count(position)?, content };
    Ok(Found { event, point })
}

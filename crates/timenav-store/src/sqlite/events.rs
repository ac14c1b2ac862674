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
use timenav_engine::{EventFilter, EventQuery, EventSpot, EventsPassing, Pattern, StoreError, StoredEvent};

use super::sifting::{self, CELLS_FEW, Sieve};
use super::values::{count, damaged, failed, instant, sql};
use crate::kept::blocks::{BLOCK_ROWS_MAX, Blocks, Detail};

/// Cells up to which a place may be read cell by cell. Larger ones are read by time, and what lies
/// elsewhere is passed over.
const CELLS_MERGED_MAX: usize = 1_024;
/// Most rows of the first block of a run that is one of many.
const BLOCK_ROWS_FIRST: usize = 8;
/// Events that a filter hides, after which no more is looked at at once.
const HIDDEN_MAX: usize = 1_000;
/// Rows that can be read in the time that finding the first one of a block takes.
const BLOCK_COST_ROWS: usize = 4;

/// The statements that read a run, by how much of each row is read and by what the rows have in common; the last rows
/// first, or not. Each orders by time and position along its key; `until` hides versions that did not stand then. The
/// index by time has everything that [`Detail::Spot`] and [`Detail::Parties`] need.
macro_rules! statements {
    ($name:ident, $index:literal, $parties:literal, $of:literal) => {
        const $name: [[&str; 2]; 3] = [
            statements!("", $index, $of),
            statements!($parties, $index, $of),
            statements!(", event_id, content", $index, $of),
        ];
    };
    ($columns:literal, $index:literal, $of:literal) => {
        [
            concat!(
                "SELECT time, position, lat, lon",
                $columns,
                " FROM events e ",
                $index,
                " WHERE timeline = ?1 AND (time, position) > (?2, ?3) AND time <= ?4
                AND position < ?5 AND (until IS NULL OR until >= ?5) ",
                $of,
                " ORDER BY time, position LIMIT ?6"
            ),
            concat!(
                "SELECT time, position, lat, lon",
                $columns,
                " FROM events e ",
                $index,
                " WHERE timeline = ?1 AND (time, position) < (?2, ?3) AND time >= ?4
                AND position < ?5 AND (until IS NULL OR until >= ?5) ",
                $of,
                " ORDER BY time DESC, position DESC LIMIT ?6"
            ),
        ]
    };
}
// The event itself is read where nothing else tells of its source and actors.
statements!(
    BY_TIME,
    "INDEXED BY events_by_time",
    ", coalesce(parties, (SELECT content FROM events r WHERE r.timeline = e.timeline AND r.cell = e.cell
        AND r.time = e.time AND r.position = e.position))",
    ""
);
statements!(BY_CELL, "", ", coalesce(parties, content)", "AND cell = ?7");
statements!(BY_PLACE, "INDEXED BY events_by_place", ", coalesce(parties, content)", "AND place = ?7");
statements!(BY_ID, "INDEXED BY events_by_id", ", coalesce(parties, content)", "AND event_id = ?7");
/// The cell comes first: only what lies in a cell of the place is looked at further.
const SIFTED: [[&str; 2]; 2] = [
    statements!(", cell", "INDEXED BY events_by_time", ""),
    statements!(
        ", cell, coalesce(parties, (SELECT content FROM events r WHERE r.timeline = e.timeline AND r.cell = e.cell
            AND r.time = e.time AND r.position = e.position))",
        "INDEXED BY events_by_time",
        ""
    ),
];

const HAS_VERSION: &str = "SELECT 1 FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id = ?2 AND position < ?3 LIMIT 1";

/// Where a run's rows come from.
enum Source<'a> {
    Time,
    Sifted(Sieve),
    Cell(u32),
    Place(&'a str),
    Id(&'a str),
}

/// What events are ordered by: time, layer, position; or what is the less the greater these are.
type Key = (i64, usize, u64);

/// An event that was read. Its content is empty or tells of its source and actors, unless all of it was asked for.
struct Found {
    event: StoredEvent,
    point: Option<Point>,
}

struct Run<'a> {
    layer: usize,
    detail: Detail,
    pattern: &'a Pattern,
    source: Source<'a>,
    block: VecDeque<Found>,
    blocks: Blocks,
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
    let mut merged = Merged::new(query, Detail::Whole, rows_max);
    // A run is looked into at least once, and a long page is asked for where there are many events.
    if merged.runs.len().saturating_mul(BLOCK_COST_ROWS).max(query.items_max) > rows_max {
        return Ok(None);
    }
    let mut page = Vec::with_capacity(query.items_max.min(BLOCK_ROWS_MAX));
    while page.len() < query.items_max {
        match merged.next(connection)? {
            Next::Event(found) => page.push(found.event),
            Next::End => break,
            Next::Spent => return Ok(None),
        }
    }
    Ok(Some(page))
}

/// Returns those of a query's events that pass a filter, of so many at most that are looked through.
pub(super) fn passing(
    connection: &Connection,
    query: &EventQuery,
    filter: &EventFilter,
    searched_max: usize,
) -> Result<EventsPassing, StoreError> {
    let mut merged = Merged::new(query, Detail::Whole, usize::MAX);
    let mut found = EventsPassing::default();
    let mut hidden_count = 0;
    while found.events.len() < query.items_max && found.searched < searched_max && hidden_count < HIDDEN_MAX {
        let Next::Event(Found { event, .. }) = merged.next(connection)? else {
            found.searched_to = None;
            break;
        };
        found.searched_to = Some((event.time, event.layer, event.position));
        if filter.hides(&event.content) {
            hidden_count += 1;
            continue;
        }
        found.searched += 1;
        if filter.passes(&event.content) {
            found.events.push(event);
        }
    }
    Ok(found)
}

/// Returns when and where the versions of events are that a query finds on each layer by itself, and of whom they tell,
/// if that is asked for.
pub(super) fn spots(
    connection: &Connection,
    query: &EventQuery,
    with_parties: bool,
) -> Result<Vec<EventSpot>, StoreError> {
    let detail = if with_parties { Detail::Parties } else { Detail::Spot };
    let mut merged = Merged::new(query, detail, usize::MAX);
    let mut spots = Vec::with_capacity(query.items_max.min(BLOCK_ROWS_MAX));
    while spots.len() < query.items_max {
        let Next::Event(Found { event, point }) = merged.next(connection)? else { break };
        let StoredEvent { time, layer, position, content } = event;
        spots.push(EventSpot { time, layer, position, point, parties: with_parties.then(|| content.into()) });
    }
    Ok(spots)
}

/// What comes next of merged runs.
enum Next {
    Event(Found),
    /// There is no more.
    End,
    /// To find out would take more rows than may be read.
    Spent,
}

/// The runs of a query, merged in its order.
struct Merged<'a> {
    query: &'a EventQuery,
    runs: Vec<Run<'a>>,
    /// Where the next event of each run stands, the first one on top.
    first: BinaryHeap<Reverse<(Key, usize)>>,
    /// Runs that are to be looked into before the next event is known: a full page asks no run for more, as that would
    /// read a block for nothing.
    unknown: Vec<usize>,
    shown: Option<Key>,
    rows_left: usize,
}

impl<'a> Merged<'a> {
    fn new(query: &'a EventQuery, detail: Detail, rows_left: usize) -> Self {
        let runs = runs(query, detail);
        let first = BinaryHeap::with_capacity(runs.len());
        let unknown = (0..runs.len()).rev().collect();
        Self { query, runs, first, unknown, shown: None, rows_left }
    }

    fn next(&mut self, connection: &Connection) -> Result<Next, StoreError> {
        loop {
            while let Some(number) = self.unknown.pop() {
                if let Some(key) = self.runs[number].peek(connection, self.query, &mut self.rows_left)? {
                    self.first.push(Reverse((key, number)));
                } else {
                    let cells = self.runs[number].divide(self.query);
                    self.unknown.extend(self.runs.len()..self.runs.len() + cells.len());
                    self.runs.extend(cells);
                }
                if self.rows_left == 0 {
                    return Ok(Next::Spent);
                }
            }
            let Some(Reverse((key, number))) = self.first.pop() else { return Ok(Next::End) };
            self.unknown.push(number);
            let found = self.runs[number].block.pop_front();
            // What fits two patterns stands in two runs.
            if let Some(found) = found.filter(|_| self.shown.replace(key) != Some(key)) {
                return Ok(Next::Event(found));
            }
        }
    }
}

/// Returns one run for each layer and source.
fn runs(query: &EventQuery, detail: Detail) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for layer in 0..query.layers.len() {
        let after = after(query, layer);
        for pattern in &query.patterns {
            let of_layer = sources(pattern).into_iter();
            runs.extend(of_layer.map(|source| Run::new(layer, detail, pattern, source, after)));
        }
    }
    let block_rows = block_rows(query, runs.len());
    for run in &mut runs {
        run.blocks = Blocks::new(block_rows);
    }
    runs
}

/// Returns how many rows each of so many runs is asked for first. One run alone gives nearly all that is asked for; of
/// many each gives a little, and of very many most give nothing.
fn block_rows(query: &EventQuery, runs_count: usize) -> usize {
    match runs_count {
        0 | 1 => query.items_max.clamp(1, BLOCK_ROWS_MAX),
        many => (query.items_max.saturating_mul(2) / many).clamp(1, BLOCK_ROWS_FIRST),
    }
}

/// Returns the time and position after which a layer's events are asked for. Of one time, those of
/// an earlier layer come first; or the other way round.
fn after(query: &EventQuery, layer: usize) -> (i64, i64) {
    let (begin, is_in_range): (_, fn(&EventQuery, Instant<Virtual>) -> bool) = if query.newest_first {
        ((query.range.last().micros(), i64::MAX), |query, time| time <= query.range.last())
    } else {
        ((query.range.first().micros(), -1), |query, time| time >= query.range.first())
    };
    match query.after {
        Some((time, last, position)) if is_in_range(query, time) => {
            let position = match layer.cmp(&last) {
                std::cmp::Ordering::Less => i64::MAX,
                std::cmp::Ordering::Equal => sql(position),
                std::cmp::Ordering::Greater => -1,
            };
            (time.micros(), position)
        }
        _ => begin,
    }
}

/// Returns what puts events into the order of a query.
fn key(query: &EventQuery, event: &StoredEvent, layer: usize) -> Key {
    let (time, position) = (event.time.micros(), event.position);
    if query.newest_first { (!time, !layer, !position) } else { (time, layer, position) }
}

fn sources(pattern: &Pattern) -> Vec<Source<'_>> {
    let location = match pattern {
        Pattern::Event(event_id) => return vec![Source::Id(event_id.as_str())],
        Pattern::Location(LocationQuery::Named(place)) => return vec![Source::Place(place)],
        Pattern::Location(location) => location,
    };
    match cells_of(location) {
        Some(cells) if cells.len() <= CELLS_FEW => cells.into_iter().map(|cell| Source::Cell(cell.number())).collect(),
        Some(cells) if cells.len() <= CELLS_MERGED_MAX => vec![Source::Sifted(Sieve::new(&cells))],
        Some(cells) => vec![Source::Sifted(Sieve::without_end(&cells))],
        None => vec![Source::Time],
    }
}

impl<'a> Run<'a> {
    fn new(layer: usize, detail: Detail, pattern: &'a Pattern, source: Source<'a>, after: (i64, i64)) -> Self {
        Self { layer, detail, pattern, source, block: VecDeque::new(), blocks: Blocks::new(1), after, ended: false }
    }

    /// Ends a run that was sifted for long enough, and returns the runs of its cells that go on from where it stands.
    fn divide(&mut self, query: &EventQuery) -> Vec<Self> {
        let Source::Sifted(sieve) = &self.source else { return Vec::new() };
        let Some(cells) = sieve.given_up().filter(|_| !self.ended) else { return Vec::new() };
        self.ended = true;
        let block_rows = block_rows(query, cells.len());
        let of_cell = |cell: &u32| {
            let run = Self::new(self.layer, self.detail, self.pattern, Source::Cell(*cell), self.after);
            Self { blocks: Blocks::new(block_rows), ..run }
        };
        cells.iter().map(of_cell).collect()
    }

    /// Returns where the run's next event stands, reading on where needed.
    fn peek(
        &mut self,
        connection: &Connection,
        query: &EventQuery,
        rows_left: &mut usize,
    ) -> Result<Option<Key>, StoreError> {
        while self.block.is_empty() && !self.ended && !self.is_given_up() && *rows_left > 0 {
            // A block that brings nothing costs something too, so that many empty cells come to an end.
            *rows_left = rows_left.saturating_sub(self.read_block(connection, query)? + BLOCK_COST_ROWS);
        }
        Ok(self.block.front().map(|found| key(query, &found.event, self.layer)))
    }

    fn is_given_up(&self) -> bool {
        matches!(&self.source, Source::Sifted(sieve) if sieve.given_up().is_some())
    }

    /// Reads the next rows of the run and returns how many there were, by what reading whole ones takes.
    fn read_block(&mut self, connection: &Connection, query: &EventQuery) -> Result<usize, StoreError> {
        let (time, position) = self.after;
        let layer = &query.layers[self.layer];
        let last = if query.newest_first { query.range.first() } else { query.range.last() };
        let (timeline, last) = (layer.timeline.0, last.micros());
        let (as_of, rows_max) = (sql(layer.as_of), sql(self.blocks.rows() as u64));
        let detail = self.detail as usize;
        let statements = match self.source {
            Source::Time => BY_TIME[detail],
            Source::Sifted(_) => SIFTED[usize::from(self.detail == Detail::Parties)],
            Source::Cell(_) => BY_CELL[detail],
            Source::Place(_) => BY_PLACE[detail],
            Source::Id(_) => BY_ID[detail],
        };
        let mut select = connection.prepare_cached(statements[usize::from(query.newest_first)]).map_err(failed)?;
        let mut rows = match self.source {
            Source::Time | Source::Sifted(_) => select.query(params![timeline, time, position, last, as_of, rows_max]),
            Source::Cell(cell) => select.query(params![timeline, time, position, last, as_of, rows_max, cell]),
            Source::Place(text) | Source::Id(text) => {
                select.query(params![timeline, time, position, last, as_of, rows_max, text])
            }
        }
        .map_err(failed)?;
        let (mut rows_count, mut meant_count) = (0, 0);
        while let Some(row) = rows.next().map_err(failed)? {
            rows_count += 1;
            let (time, position) = (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
            self.after = (time, position);
            let point = point(row)?;
            let cell = match &self.source {
                Source::Sifted(sieve) => {
                    let cell = row.get(4).map_err(failed)?;
                    if !sieve.holds(cell) {
                        continue;
                    }
                    Some(cell)
                }
                _ => None,
            };
            if !is_meant(self.pattern, point) {
                continue;
            }
            let read = |row: &Row<'_>, column| content(connection, query, self.layer, row, column);
            let content = match (self.detail, cell) {
                (Detail::Spot, _) => Some(String::new()),
                (Detail::Parties, cell) => row.get(if cell.is_some() { 5 } else { 4 }).map_err(failed)?,
                (Detail::Whole, None) => read(row, 4)?,
                (Detail::Whole, Some(cell)) => {
                    let key = (timeline, cell, time, position);
                    sifting::whole(connection, key, |row| read(row, 0))?
                }
            };
            let Some(content) = content else { continue };
            let (time, position) = (instant(time)?, count(position)?);
            let event = StoredEvent { time, layer: self.layer, position, content };
            self.block.push_back(Found { event, point });
            meant_count += 1;
        }
        self.ended = rows_count < self.blocks.rows();
        self.blocks.note(rows_count, meant_count, query.items_max);
        Ok(match &mut self.source {
            Source::Sifted(sieve) => sieve.pass(rows_count) + meant_count,
            _ => rows_count,
        })
    }
}

/// Returns what an event says, whose id and content begin at a column; `None` if a later layer has a version of it.
fn content(
    connection: &Connection,
    query: &EventQuery,
    layer: usize,
    row: &Row<'_>,
    column: usize,
) -> Result<Option<String>, StoreError> {
    let event_id = row.get_ref(column).map_err(failed)?.as_str().map_err(|error| damaged(&error.to_string()))?;
    if is_overridden(connection, query, layer, event_id)? {
        return Ok(None);
    }
    row.get(column + 1).map(Some).map_err(failed)
}

/// A cell holds a little more than the place that was asked for.
fn is_meant(pattern: &Pattern, point: Option<Point>) -> bool {
    match pattern {
        Pattern::Event(_) | Pattern::Location(LocationQuery::Anywhere | LocationQuery::Named(_)) => true,
        Pattern::Location(
            location @ (LocationQuery::Near { .. } | LocationQuery::Within(_) | LocationQuery::Area(_)),
        ) => location.matches(point, None),
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

fn point(row: &Row<'_>) -> Result<Option<Point>, StoreError> {
    let (lat, lon): (Option<f64>, Option<f64>) = (row.get(2).map_err(failed)?, row.get(3).map_err(failed)?);
    Ok(lat.zip(lon).and_then(|(lat, lon)| Point::new(lat, lon)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrations;

    #[test]
    fn what_is_counted_is_in_the_index_by_time() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        for detail in [Detail::Spot, Detail::Parties] {
            for statement in BY_TIME[detail as usize] {
                let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
                let plan: Vec<String> =
                    explained.query_map([0; 6], |row| row.get(3)).unwrap().collect::<Result<_, _>>().unwrap();
                assert!(plan[0].starts_with("SEARCH e USING COVERING INDEX events_by_time"), "{plan:?}");
                // Besides, one row is looked up by its whole key.
                let others = plan[1..].iter().filter(|step| step.starts_with("SEARCH") || step.starts_with("SCAN"));
                assert!(others.clone().all(|step| step.contains("cell=? AND time=? AND position=?")), "{plan:?}");
                assert_eq!(others.count(), usize::from(detail == Detail::Parties));
            }
        }
    }
}

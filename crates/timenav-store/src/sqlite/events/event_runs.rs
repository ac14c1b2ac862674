//! One run of events: where its rows are, and how they are read, block by block.

use std::collections::VecDeque;

use rusqlite::{Connection, Row, params};
use timenav_core::place::{LocationQuery, Point, cells_of};
use timenav_engine::{EventQuery, LengthClass, Pattern, StoreError, StoredEvent, TimelineKey};

use crate::persistence::blocks::{BLOCK_ROWS_MAX, Blocks, Detail};
use crate::persistence::stretch::{Key, Stretch, is_where, key};
use crate::sqlite::events::sifting::{self, CELLS_FEW, Sieve};
use crate::sqlite::text_index::candidates::RowPlace;
use crate::sqlite::values::{count, damaged, failed, instant, sql};

/// Places with more cells are read by time, and events elsewhere are skipped.
const CELLS_MERGED_MAX: usize = 1_024;
/// Maximum number of rows in the first block of a run that is one of many.
pub(in crate::sqlite) const BLOCK_ROWS_FIRST: usize = 8;
/// Number of rows that can be read in the time it takes to find the first row of a block.
pub(in crate::sqlite) const BLOCK_COST_ROWS: usize = 4;

/// The statements that read a run, by level of detail and by what selects the rows, ascending or descending. Each is
/// sorted by time and position along its key. `until` hides versions that were not in effect at that time. The index by
/// time covers [`Detail::Spot`] and [`Detail::Parties`].
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
// The event itself is read if no column has its source and actors.
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
statements!(
    BY_LENGTH,
    "INDEXED BY events_by_length",
    ", coalesce(parties, content)",
    "AND length_class = ?7 AND (?8 IS NULL OR place = ?8)"
);
/// The cell comes first: rows in other cells are skipped before anything else is read.
const SIFTED: [[&str; 2]; 2] = [
    statements!(", cell", "INDEXED BY events_by_time", ""),
    statements!(
        ", cell, coalesce(parties, (SELECT content FROM events r WHERE r.timeline = e.timeline AND r.cell = e.cell
            AND r.time = e.time AND r.position = e.position))",
        "INDEXED BY events_by_time",
        ""
    ),
];

const LENGTHS: &str = "WITH RECURSIVE lengths (class) AS (
    SELECT min(length_class) FROM events INDEXED BY events_by_length WHERE timeline = ?1 AND length_class IS NOT NULL
    UNION ALL
    SELECT (SELECT min(length_class) FROM events INDEXED BY events_by_length WHERE timeline = ?1 AND length_class > class)
        FROM lengths WHERE class IS NOT NULL)
    SELECT class FROM lengths WHERE class IS NOT NULL";
const HAS_VERSION: &str = "SELECT 1 FROM events INDEXED BY events_by_id
    WHERE timeline = ?1 AND event_id = ?2 AND position < ?3 LIMIT 1";

const CANDIDATE: &str = "SELECT time, position, lat, lon, event_id, content FROM events
    WHERE timeline = ?1 AND cell = ?2 AND time = ?3 AND position = ?4 AND position < ?5
    AND (until IS NULL OR until >= ?5) AND (?6 IS NULL OR place = ?6) AND (?7 IS NULL OR event_id = ?7)";

/// The index or key range that a run reads.
pub(in crate::sqlite) enum Source<'a> {
    Time,
    Sifted(Sieve),
    Cell(u32),
    Place(&'a str),
    Id(&'a str),
    /// Events of one length class, optionally of a named place.
    Length(LengthClass, Option<&'a str>),
    /// The rows left, in the order of the query.
    Candidates(VecDeque<RowPlace>),
}

/// An event that was read. Unless the whole row was requested, its content is empty or has only source and actors.
pub(in crate::sqlite) struct Found {
    pub(in crate::sqlite) event: StoredEvent,
    pub(in crate::sqlite) point: Option<Point>,
}

/// A range of the table or of an index that is sorted by time and position.
pub(in crate::sqlite) struct Run<'a> {
    layer: usize,
    detail: Detail,
    pattern: &'a Pattern,
    source: Source<'a>,
    stretch: Stretch,
    pub(in crate::sqlite) block: VecDeque<Found>,
    pub(in crate::sqlite) blocks: Blocks,
    after: (i64, i64),
    ended: bool,
}

/// Returns the size of the first block of each run. A single run contributes nearly the whole page. Each of many runs
/// contributes little, and most of very many runs contribute nothing.
pub(in crate::sqlite) fn block_rows(query: &EventQuery, runs_count: usize) -> usize {
    match runs_count {
        0 | 1 => query.items_max.clamp(1, BLOCK_ROWS_MAX),
        many => (query.items_max.saturating_mul(2) / many).clamp(1, BLOCK_ROWS_FIRST),
    }
}

pub(in crate::sqlite) fn sources(pattern: &Pattern) -> Vec<Source<'_>> {
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

/// Returns the length classes of a timeline, one index lookup each: it has a handful of 64.
pub(in crate::sqlite) fn lengths(
    connection: &Connection,
    timeline: TimelineKey,
) -> Result<Vec<LengthClass>, StoreError> {
    let mut select = connection.prepare_cached(LENGTHS).map_err(failed)?;
    let numbers = select.query_map([timeline.0], |row| row.get(0)).map_err(failed)?;
    let class =
        |number: u8| LengthClass::of_number(number).ok_or_else(|| damaged("no class of lengths has such a number"));
    numbers.map(|number| number.map_err(failed).and_then(class)).collect()
}

/// Returns the sources and time ranges of events that begin before the requested range and may last into it. `lengths`
/// are the length classes of the layer's events.
pub(in crate::sqlite) fn earlier_sources<'a>(
    query: &EventQuery,
    pattern: &'a Pattern,
    lengths: &[LengthClass],
) -> Vec<(Source<'a>, Stretch)> {
    let before = |earliest| Stretch::before(query, earliest);
    let place = match pattern {
        _ if !query.overlapping => return Vec::new(),
        Pattern::Event(event_id) => return vec![(Source::Id(event_id.as_str()), before(i64::MIN))],
        Pattern::Location(LocationQuery::Named(place)) => Some(place.as_str()),
        Pattern::Location(_) => None,
    };
    let of_length = |class: &LengthClass| {
        let earliest = class.earliest_until(query.range.first());
        (Source::Length(*class, place), before(earliest))
    };
    lengths.iter().map(of_length).collect()
}

impl<'a> Run<'a> {
    pub(in crate::sqlite) fn new(
        (layer, detail): (usize, Detail),
        (pattern, source): (&'a Pattern, Source<'a>),
        stretch: Stretch,
        after: (i64, i64),
    ) -> Self {
        let (block, blocks) = (VecDeque::new(), Blocks::new(1));
        Self { layer, detail, pattern, source, stretch, block, blocks, after, ended: false }
    }

    /// Ends a run whose sieve has given up, and returns one run per cell that continues from its position.
    pub(in crate::sqlite) fn divide(&mut self, query: &EventQuery) -> Vec<Self> {
        let Source::Sifted(sieve) = &self.source else { return Vec::new() };
        let Some(cells) = sieve.given_up().filter(|_| !self.ended) else { return Vec::new() };
        self.ended = true;
        let block_rows = block_rows(query, cells.len());
        let of_cell = |cell: &u32| {
            let place = (self.pattern, Source::Cell(*cell));
            let run = Self::new((self.layer, self.detail), place, self.stretch, self.after);
            Self { blocks: Blocks::new(block_rows), ..run }
        };
        cells.iter().map(of_cell).collect()
    }

    /// Returns the key of the run's next event, reading another block if necessary.
    pub(in crate::sqlite) fn peek(
        &mut self,
        connection: &Connection,
        query: &EventQuery,
        rows_left: &mut usize,
    ) -> Result<Option<Key>, StoreError> {
        while self.block.is_empty() && !self.ended && !self.is_given_up() && *rows_left > 0 {
            // Empty blocks have a cost too, so that a query over many empty cells terminates.
            let mut block = std::mem::take(&mut self.block);
            let cost = self.read_block(connection, query, |found| block.push_back(found))?;
            self.block = block;
            *rows_left = rows_left.saturating_sub(cost + BLOCK_COST_ROWS);
        }
        Ok(self.block.front().map(|found| key(query, &found.event, self.layer)))
    }

    fn is_given_up(&self) -> bool {
        matches!(&self.source, Source::Sifted(sieve) if sieve.given_up().is_some())
    }

    /// Returns whether the run covers a whole layer in time order.
    pub(in crate::sqlite) const fn is_by_time(&self) -> bool {
        matches!(self.source, Source::Time)
    }

    pub(in crate::sqlite) const fn is_ended(&self) -> bool {
        self.ended
    }

    fn statement(&self, newest_first: bool) -> &'static str {
        let detail = self.detail as usize;
        let statements = match self.source {
            Source::Time => BY_TIME[detail],
            Source::Sifted(_) => SIFTED[usize::from(self.detail == Detail::Parties)],
            Source::Cell(_) => BY_CELL[detail],
            Source::Place(_) => BY_PLACE[detail],
            Source::Id(_) => BY_ID[detail],
            Source::Length(..) => BY_LENGTH[detail],
            Source::Candidates(_) => [CANDIDATE; 2],
        };
        statements[usize::from(newest_first)]
    }

    /// Reads the next block and returns its cost, in whole rows read.
    pub(in crate::sqlite) fn read_block(
        &mut self,
        connection: &Connection,
        query: &EventQuery,
        mut take: impl FnMut(Found),
    ) -> Result<usize, StoreError> {
        if let Source::Candidates(places) = &mut self.source {
            let some = places.drain(..places.len().min(self.blocks.rows())).collect();
            self.ended = places.is_empty();
            return self.read_candidates(connection, query, some, take);
        }
        let (time, position) = self.after;
        let layer = &query.layers[self.layer];
        let (timeline, last) = (layer.timeline.0, self.stretch.end(query));
        let (as_of, rows_max) = (sql(layer.as_of), sql(self.blocks.rows() as u64));
        let mut select = connection.prepare_cached(self.statement(query.newest_first)).map_err(failed)?;
        let mut rows = match self.source {
            Source::Time | Source::Sifted(_) => select.query(params![timeline, time, position, last, as_of, rows_max]),
            Source::Cell(cell) => select.query(params![timeline, time, position, last, as_of, rows_max, cell]),
            Source::Place(text) | Source::Id(text) => {
                select.query(params![timeline, time, position, last, as_of, rows_max, text])
            }
            Source::Length(class, place) => {
                select.query(params![timeline, time, position, last, as_of, rows_max, class.number(), place])
            }
            Source::Candidates(_) => return Ok(0),
        }
        .map_err(failed)?;
        let (mut rows_count, mut matched_count) = (0, 0);
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
            if !is_where(self.pattern, point) {
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
            let Some(content) = content.filter(|content| self.stretch.means(content)) else { continue };
            let (time, position) = (instant(time)?, count(position)?);
            let event = StoredEvent { time, layer: self.layer, position, content };
            take(Found { event, point });
            matched_count += 1;
        }
        self.ended = rows_count < self.blocks.rows();
        self.blocks.note(rows_count, matched_count, query.items_max);
        Ok(match &mut self.source {
            Source::Sifted(sieve) => sieve.pass(rows_count) + matched_count,
            _ => rows_count,
        })
    }
}

impl<'a> Run<'a> {
    /// Returns a run of those candidates of a layer that begin in its range, after where the query begins.
    pub(in crate::sqlite) fn of_candidates(
        query: &EventQuery,
        layer: usize,
        pattern: &'a Pattern,
        stretch: Stretch,
        candidates: &[RowPlace],
    ) -> Self {
        let (after, end) = (stretch.after(query, layer), stretch.end(query));
        let places = if query.newest_first {
            let is_left = |place: &&RowPlace| (place.0, place.1) < after && place.0 >= end;
            candidates.iter().rev().filter(is_left).copied().collect()
        } else {
            let is_left = |place: &&RowPlace| (place.0, place.1) > after && place.0 <= end;
            candidates.iter().filter(is_left).copied().collect()
        };
        Self::new((layer, Detail::Whole), (pattern, Source::Candidates(places)), stretch, after)
    }

    fn read_candidates(
        &mut self,
        connection: &Connection,
        query: &EventQuery,
        places: Vec<RowPlace>,
        mut take: impl FnMut(Found),
    ) -> Result<usize, StoreError> {
        let (rows_count, mut matched_count) = (places.len(), 0);
        let layer = &query.layers[self.layer];
        let (wanted_place, wanted_id) = match self.pattern {
            Pattern::Event(event_id) => (None, Some(event_id.as_str())),
            Pattern::Location(LocationQuery::Named(place)) => (Some(place.as_str()), None),
            Pattern::Location(_) => (None, None),
        };
        let mut select = connection.prepare_cached(CANDIDATE).map_err(failed)?;
        for (time, position, cell) in places {
            let key = params![layer.timeline.0, cell, time, position, sql(layer.as_of), wanted_place, wanted_id];
            let mut rows = select.query(key).map_err(failed)?;
            let Some(row) = rows.next().map_err(failed)? else { continue };
            let point = point(row)?;
            if !is_where(self.pattern, point) {
                continue;
            }
            let content = content(connection, query, self.layer, row, 4)?;
            let Some(content) = content.filter(|content| self.stretch.means(content)) else { continue };
            let event = StoredEvent { time: instant(time)?, layer: self.layer, position: count(position)?, content };
            take(Found { event, point });
            matched_count += 1;
        }
        self.blocks.note(rows_count, matched_count, query.items_max);
        Ok(rows_count)
    }
}

/// Returns the content of an event whose id and content start at a column; `None` if a later layer overrides it.
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

/// Returns whether a later layer has a version of the event, which overrides this one.
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
    fn event_counts_use_the_covering_time_index() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        for detail in [Detail::Spot, Detail::Parties] {
            for statement in BY_TIME[detail as usize] {
                let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
                let plan: Vec<String> =
                    explained.query_map([0; 6], |row| row.get(3)).unwrap().collect::<Result<_, _>>().unwrap();
                assert!(plan[0].starts_with("SEARCH e USING COVERING INDEX events_by_time"), "{plan:?}");
                // In addition, one row is looked up by its full key.
                let others = plan[1..].iter().filter(|step| step.starts_with("SEARCH") || step.starts_with("SCAN"));
                assert!(others.clone().all(|step| step.contains("cell=? AND time=? AND position=?")), "{plan:?}");
                assert_eq!(others.count(), usize::from(detail == Detail::Parties));
            }
        }
    }

    #[test]
    fn event_length_classes_take_one_index_search_each() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {LENGTHS}")).unwrap();
        let plan: Vec<String> = explained.query_map([2], |row| row.get(3)).unwrap().collect::<Result<_, _>>().unwrap();
        let looks: Vec<_> = plan.iter().filter(|step| step.contains("events")).collect();
        assert_eq!(looks.len(), 2, "{plan:?}");
        let is_look = |step: &str| {
            step.starts_with("SEARCH events USING COVERING INDEX events_by_length (timeline=? AND length_class>?)")
        };
        assert!(looks.iter().all(|step| is_look(step)), "{plan:?}");
        let insert = "INSERT INTO events (timeline, cell, time, position, event_id, content, length_class)
            VALUES (?1, 0, ?2, ?2, 'e', '', ?3)";
        for (time, class) in (0_i64..).zip([Some(63), None, Some(0), Some(41), Some(0), Some(40)]) {
            connection.execute(insert, params![2, time, class]).unwrap();
        }
        connection.execute(insert, params![3, 1, 7]).unwrap();
        let of = |timeline| lengths(&connection, TimelineKey(timeline)).unwrap();
        assert_eq!(of(2).into_iter().map(LengthClass::number).collect::<Vec<_>>(), [0, 40, 41, 63]);
        assert_eq!((of(3).len(), of(4).len()), (1, 0));
    }
}

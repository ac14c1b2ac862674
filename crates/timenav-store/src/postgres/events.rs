//! Queries events by place and time.
//!
//! A query reads one or more *runs*: index ranges that are already sorted by time and position, one per layer and
//! pattern. Runs are read block by block and merged. The server merges a run of several cells: each block is a single
//! statement, because each statement costs a round trip.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

use timenav_core::place::{LocationQuery, Point, cells_of};
use timenav_engine::{
    EventEnd, EventFilter, EventQuery, EventRow, EventSpot, FilteredEvents, Layer, LengthClass, Overridden, Pattern,
    StoredEvent, TimelineKey,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use self::features::Features;
use self::statements::{BY_CANDIDATE, BY_CELL, BY_ID, BY_LENGTH, BY_PLACE, BY_TIME};
use self::words::EXAMINED_FIRST;
use super::values::{Failed, get, instant, number, sql, text};
use crate::persistence::blocks::{BLOCK_ROWS_MAX, Blocks, Detail};
use crate::persistence::stretch::{Key, Stretch, is_where, key};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, Value, rows, values};

pub(crate) mod features;
pub(crate) mod described;
pub(crate) mod lengths;
pub(crate) mod statements;
pub(crate) mod versions;
pub(crate) mod words;

/// Places with more cells are read by time, and events elsewhere are skipped.
const CELLS_MERGED_MAX: usize = 1_024;
/// Maximum number of rows in the first block of a run that is one of many.
const BLOCK_ROWS_FIRST: usize = 32;

const INSERT: &str = "INSERT INTO events (timeline, cell, time, position, lat, lon, event_id, place, content, until,
    name_key) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::float8[], $6::float8[],
    $7::text[], $8::bytea[], $9::bytea[], $10::bigint[], $11::bytea[])";
/// Used if an event has a duration and the database has the column.
const INSERT_WITH_LENGTHS: &str =
    "INSERT INTO events (timeline, cell, time, position, lat, lon, event_id, place, content,
    until, name_key, length_class) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],
    $5::float8[], $6::float8[], $7::text[], $8::bytea[], $9::bytea[], $10::bigint[], $11::bytea[], $12::smallint[])";
const END: &str = "UPDATE events e SET until = w.until
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS w (timeline, event_id, position, until)
    WHERE e.timeline = w.timeline AND e.event_id = w.event_id AND e.position = w.position";

pub(super) fn insert<'a>(batch: &mut Batch<'a>, events: &[(TimelineKey, &'a EventRow)], features: Features) {
    if events.is_empty() {
        return;
    }
    let rows = || events.iter().copied();
    let columns = || events.iter().map(|(_, event)| &*event.columns);
    let mut values = values![
        rows().map(|(key, _)| key.0).collect::<Vec<_>>(),
        columns().map(|columns| columns.cell.map(|cell| i64::from(cell.number()))).collect::<Vec<_>>(),
        columns().map(|columns| columns.time.micros()).collect::<Vec<_>>(),
        rows().map(|(_, event)| sql(event.position)).collect::<Vec<_>>(),
        columns().map(|columns| columns.point.map(Point::lat)).collect::<Vec<_>>(),
        columns().map(|columns| columns.point.map(Point::lon)).collect::<Vec<_>>(),
        rows().map(|(_, event)| event.event_id.as_str()).collect::<Vec<_>>(),
        columns().map(|columns| columns.place.as_ref().map(|place| place.as_bytes().to_vec())).collect::<Vec<_>>(),
        rows().map(|(_, event)| event.content.as_bytes()).collect::<Vec<_>>(),
        rows().map(|(_, event)| event.is_tombstone.then_some(sql(event.position))).collect::<Vec<_>>(),
        columns().map(|columns| columns.name_key.as_ref().map(|key| key.as_bytes().to_vec())).collect::<Vec<_>>(),
    ];
    if features.has_lengths() {
        let classes = columns().map(|columns| columns.length_class.map(|class| i16::from(class.number())));
        values.push(Box::new(classes.collect::<Vec<_>>()));
        batch.add(INSERT_WITH_LENGTHS, values);
    } else {
        batch.add(INSERT, values);
    }
    if features.has_words() {
        words::insert(batch, events);
    }
}

pub(super) fn end<'a>(batch: &mut Batch<'a>, ends: &[(TimelineKey, &'a EventEnd)]) {
    if ends.is_empty() {
        return;
    }
    let rows = || ends.iter().copied();
    batch.add(
        END,
        values![
            rows().map(|(key, _)| key.0).collect::<Vec<_>>(),
            rows().map(|(_, end)| end.event_id.as_str()).collect::<Vec<_>>(),
            rows().map(|(_, end)| sql(end.position)).collect::<Vec<_>>(),
            rows().map(|(_, end)| sql(end.until)).collect::<Vec<_>>(),
        ],
    );
}

/// Which of these events have a version on a layer. Only one row per event is read, however many versions it has. The
/// statement is limited to one timeline, so that in a cluster with distributed timelines a single worker runs it.
const HAVE_VERSION: &str = "SELECT i.event_id FROM unnest($1::text[]) AS i (event_id) CROSS JOIN LATERAL
    (SELECT FROM events e WHERE e.timeline = $2 AND e.event_id = i.event_id AND e.position < $3 LIMIT 1) AS version";

const EVENT_ID: usize = 4;
const CONTENT: usize = 5;

/// Positions of the versions on one layer whose events also have versions on a later layer.
const OVERRIDDEN: &str = "SELECT e.position FROM
    (SELECT DISTINCT event_id FROM events WHERE timeline = $1 AND position < $2) o
    CROSS JOIN LATERAL (SELECT position FROM events
        WHERE timeline = $3 AND event_id = o.event_id AND position < $4 OFFSET 0) e LIMIT $5";
const COUNT_VERSIONS: &str = "SELECT count(*) FROM
    (SELECT FROM events WHERE timeline = $1 ORDER BY event_id, position LIMIT $2) AS versions";

enum Source<'a> {
    Time,
    Cells(Vec<i64>),
    Place(&'a str),
    Id(&'a str),
    /// Events of some length classes, each from its earliest time in microseconds, optionally of a named place.
    Lengths(Vec<i64>, Vec<i64>, Option<&'a [u8]>),
    /// Events at these times in microseconds and positions, in the order of the query, optionally of a named place or
    /// with an id.
    Candidates {
        left: VecDeque<(i64, i64)>,
        place: Option<&'a str>,
        id: Option<&'a str>,
    },
}

impl Source<'_> {
    const fn statements(&self) -> [[&'static str; 2]; 3] {
        match self {
            Self::Time => BY_TIME,
            Self::Cells(_) => BY_CELL,
            Self::Place(_) => BY_PLACE,
            Self::Id(_) => BY_ID,
            Self::Lengths(..) => BY_LENGTH,
            Self::Candidates { .. } => BY_CANDIDATE,
        }
    }

    /// Returns the parameters from the seventh on for the next block, and how many candidates it has, if it has any.
    fn next_values(&mut self, rows_max: usize) -> (Vec<Value<'_>>, Option<usize>) {
        let values = match self {
            Self::Time => values![None::<i64>],
            Self::Cells(cells) => values![&*cells],
            Self::Place(place) => values![place.as_bytes()],
            Self::Id(id) => values![*id],
            Self::Lengths(classes, earliest, place) => values![&*classes, &*earliest, *place],
            Self::Candidates { left, place, id } => {
                let next = left.drain(..rows_max.min(left.len()));
                let (times, positions): (Vec<i64>, Vec<i64>) = next.unzip();
                let tried_count = times.len();
                return (values![times, positions, place.map(str::as_bytes), *id], Some(tried_count));
            }
        };
        (values, None)
    }
}

/// An event that was read. Its content is empty if it was not requested.
struct Found {
    event: StoredEvent,
    point: Option<Point>,
}

struct Run<'a> {
    layer: usize,
    detail: Detail,
    pattern: &'a Pattern,
    source: Source<'a>,
    stretch: Stretch,
    block: VecDeque<Found>,
    blocks: Blocks,
    after: (i64, i64),
    ended: bool,
}

/// Returns the events that match a query, ordered by time, then position.
pub(super) async fn find(on: &Object, query: &EventQuery) -> Result<Vec<StoredEvent>, Failed> {
    let mut merged = Merged::new(query, Detail::Whole, query.items_max);
    let mut page = Vec::with_capacity(query.items_max.min(BLOCK_ROWS_MAX));
    while page.len() < query.items_max {
        let Some(found) = merged.next(on).await? else { break };
        page.push(found.event);
    }
    Ok(page)
}

/// Returns the events of a query that pass a filter, examining up to `searched_max` events.
pub(super) async fn passing(
    on: &Object,
    query: &EventQuery,
    filter: &EventFilter,
    searched_max: usize,
    features: Features,
) -> Result<FilteredEvents, Failed> {
    if filter.words().is_empty() || !features.has_words() {
        return search(on, Merged::new(query, Detail::Whole, usize::MAX), filter, searched_max).await;
    }
    let first = Merged::new(query, Detail::Whole, EXAMINED_FIRST);
    let mut found = search(on, first, filter, searched_max.min(EXAMINED_FIRST)).await?;
    let mut query = query.clone();
    query.items_max -= found.events.len();
    if query.items_max == 0 || found.searched_until.is_none() || found.searched >= searched_max {
        return Ok(found);
    }
    query.after = found.searched_until;
    let candidates = words::candidates(on, &query, filter.words()).await?;
    let merged = match &candidates {
        Some(candidates) => Merged::of(&query, candidate_runs(&query, candidates)),
        None => Merged::new(&query, Detail::Whole, usize::MAX),
    };
    let rest = search(on, merged, filter, searched_max - found.searched).await?;
    found.events.extend(rest.events);
    found.searched += rest.searched;
    found.searched_until = rest.searched_until;
    Ok(found)
}

async fn search(
    on: &Object,
    mut merged: Merged<'_>,
    filter: &EventFilter,
    searched_max: usize,
) -> Result<FilteredEvents, Failed> {
    let query = merged.query;
    let mut found = FilteredEvents::default();
    while found.events.len() < query.items_max && found.searched < searched_max {
        let Some(Found { event, .. }) = merged.next(on).await? else {
            found.searched_until = None;
            break;
        };
        found.searched_until = Some((event.time, event.layer, event.position));
        found.searched += 1;
        if filter.passes(&event.content) {
            found.events.push(event);
        }
    }
    Ok(found)
}

/// Returns time and place on each layer, regardless of overrides; on request whole rows for source and actors.
pub(super) async fn spots(on: &Object, query: &EventQuery, with_parties: bool) -> Result<Vec<EventSpot>, Failed> {
    let detail = if with_parties { Detail::Parties } else { Detail::Spot };
    let mut merged = Merged::new(query, detail, query.items_max);
    let mut spots = Vec::with_capacity(query.items_max.min(BLOCK_ROWS_MAX));
    while spots.len() < query.items_max {
        let Some(Found { event, point }) = merged.next(on).await? else { break };
        let StoredEvent { time, layer, position, content } = event;
        spots.push(EventSpot { time, layer, position, point, parties: with_parties.then(|| content.into()) });
    }
    Ok(spots)
}

/// The runs of a query, merged in its order.
struct Merged<'a> {
    query: &'a EventQuery,
    runs: Vec<Run<'a>>,
    /// The next event of each run, the first in order on top.
    first: BinaryHeap<Reverse<(Key, usize)>>,
    /// Runs to read before the next event is known. On demand, so that a full page reads no more than it needs.
    unknown: Vec<usize>,
    last_key: Option<Key>,
}

impl<'a> Merged<'a> {
    fn new(query: &'a EventQuery, detail: Detail, items_max: usize) -> Self {
        Self::of(query, runs(query, detail, items_max))
    }

    fn of(query: &'a EventQuery, runs: Vec<Run<'a>>) -> Self {
        let first = BinaryHeap::with_capacity(runs.len());
        let unknown = (0..runs.len()).rev().collect();
        Self { query, runs, first, unknown, last_key: None }
    }

    async fn next(&mut self, on: &Object) -> Result<Option<Found>, Failed> {
        loop {
            while let Some(number) = self.unknown.pop() {
                if let Some(key) = self.runs[number].peek(on, self.query).await? {
                    self.first.push(Reverse((key, number)));
                }
            }
            let Some(Reverse((key, number))) = self.first.pop() else { return Ok(None) };
            self.unknown.push(number);
            let found = self.runs[number].block.pop_front();
            // An event that matches two patterns is in two runs.
            if let Some(found) = found.filter(|_| self.last_key.replace(key) != Some(key)) {
                return Ok(Some(found));
            }
        }
    }
}

/// Returns one run per layer and pattern.
fn runs(query: &EventQuery, detail: Detail, items_max: usize) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for layer in 0..query.layers.len() {
        for pattern in &query.patterns {
            let here = [(source(pattern), Stretch::of(query))].into_iter().chain(earlier_source(query, pattern));
            runs.extend(here.map(|(source, stretch)| Run::new(query, (layer, detail), (pattern, source), stretch)));
        }
    }
    with_blocks(runs, items_max)
}

/// Returns one run per layer and pattern, of the candidates of a search.
fn candidate_runs<'a>(query: &'a EventQuery, candidates: &[Vec<(i64, i64)>]) -> Vec<Run<'a>> {
    let mut runs = Vec::new();
    for (layer, candidates) in candidates.iter().enumerate() {
        for pattern in &query.patterns {
            let earlier = query.overlapping.then(|| Stretch::before(query, i64::MIN));
            runs.extend([Stretch::of(query)].into_iter().chain(earlier).map(|stretch| {
                let (after, end) = (stretch.after(query, layer), stretch.end(query));
                let left: VecDeque<(i64, i64)> = if query.newest_first {
                    candidates.iter().rev().filter(|place| **place < after && place.0 >= end).copied().collect()
                } else {
                    candidates.iter().filter(|place| **place > after && place.0 <= end).copied().collect()
                };
                let (place, id) = match pattern {
                    Pattern::Event(event_id) => (None, Some(event_id.as_str())),
                    Pattern::Location(LocationQuery::Named(place)) => (Some(place.as_str()), None),
                    Pattern::Location(_) => (None, None),
                };
                Run::new(query, (layer, Detail::Whole), (pattern, Source::Candidates { left, place, id }), stretch)
            }));
        }
    }
    with_blocks(runs, query.items_max)
}

fn with_blocks(mut runs: Vec<Run<'_>>, items_max: usize) -> Vec<Run<'_>> {
    // A single run contributes nearly the whole page. Each of many runs contributes little.
    let block_rows = match runs.len() {
        0 | 1 => items_max.clamp(1, BLOCK_ROWS_MAX),
        many => (items_max.saturating_mul(2) / many).clamp(1, BLOCK_ROWS_FIRST),
    };
    for run in &mut runs {
        run.blocks = Blocks::new(block_rows);
    }
    runs
}

fn source(pattern: &Pattern) -> Source<'_> {
    let location = match pattern {
        Pattern::Event(event_id) => return Source::Id(event_id.as_str()),
        Pattern::Location(LocationQuery::Named(place)) => return Source::Place(place),
        Pattern::Location(location) => location,
    };
    match cells_of(location) {
        Some(cells) if cells.len() <= CELLS_MERGED_MAX => {
            Source::Cells(cells.into_iter().map(|cell| i64::from(cell.number())).collect())
        }
        Some(_) | None => Source::Time,
    }
}

/// Returns the source of the events that begin before the range and may last into it, if the query asks for them.
fn earlier_source<'a>(query: &EventQuery, pattern: &'a Pattern) -> Option<(Source<'a>, Stretch)> {
    let place = match pattern {
        _ if !query.overlapping => return None,
        Pattern::Event(event_id) => return Some((Source::Id(event_id.as_str()), Stretch::before(query, i64::MIN))),
        Pattern::Location(LocationQuery::Named(place)) => Some(place.as_bytes()),
        Pattern::Location(_) => None,
    };
    let first = query.range.first();
    let with_earliest = |class: LengthClass| (i64::from(class.number()), class.earliest_until(first));
    let (classes, earliest) = LengthClass::all().map(with_earliest).unzip();
    Some((Source::Lengths(classes, earliest, place), Stretch::before(query, i64::MIN)))
}

impl<'a> Run<'a> {
    fn new(
        query: &EventQuery,
        (layer, detail): (usize, Detail),
        (pattern, source): (&'a Pattern, Source<'a>),
        stretch: Stretch,
    ) -> Self {
        let (block, blocks, after) = (VecDeque::new(), Blocks::new(1), stretch.after(query, layer));
        Self { layer, detail, pattern, source, stretch, block, blocks, after, ended: false }
    }

    /// Returns the key of the run's next event, reading another block if necessary.
    async fn peek(&mut self, on: &Object, query: &EventQuery) -> Result<Option<Key>, Failed> {
        while self.block.is_empty() && !self.ended {
            self.read_block(on, query).await?;
        }
        Ok(self.block.front().map(|found| key(query, &found.event, self.layer)))
    }

    async fn read_block(&mut self, on: &Object, query: &EventQuery) -> Result<(), Failed> {
        let (time, position) = self.after;
        let Layer { timeline, as_of, .. } = query.layers[self.layer];
        let (last, as_of) = (self.stretch.end(query), sql(as_of));
        let (rows_max, statements) = (self.blocks.rows(), self.source.statements());
        let statement = statements[self.detail as usize][usize::from(query.newest_first)];
        let limit = sql(rows_max as u64);
        let (of_source, tried_count) = self.source.next_values(rows_max);
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![&timeline.0, &time, &position, &last, &as_of, &limit];
        values.extend(of_source.iter().map(|value| &**value as &(dyn ToSql + Sync)));
        let found = rows(on, statement, &values).await?;
        drop(of_source);
        let overridden = self.overridden(on, query, &found).await?;
        let mut matched_count = 0;
        for row in &found {
            let found = found_in(row, self.layer, self.detail)?;
            self.after = (found.event.time.micros(), sql(found.event.position));
            let is_overridden = !overridden.is_empty() && overridden.contains(get::<&str>(row, EVENT_ID)?);
            let is_match = is_where(self.pattern, found.point) && self.stretch.means(&found.event.content);
            if !is_overridden && is_match {
                self.block.push_back(found);
                matched_count += 1;
            }
        }
        let rows_count = tried_count.unwrap_or(found.len());
        self.ended = rows_count < rows_max;
        self.blocks.note(rows_count, matched_count, query.items_max);
        Ok(())
    }

    /// Returns the events of a block that a later layer overrides. For spots this is not checked.
    async fn overridden(&self, on: &Object, query: &EventQuery, block: &[Row]) -> Result<HashSet<String>, Failed> {
        let later = query.layers[self.layer + 1..].iter().filter(|layer| layer.overrides);
        if self.detail != Detail::Whole || block.is_empty() {
            return Ok(HashSet::new());
        }
        let event_ids: Vec<&str> = block.iter().map(|row| get(row, EVENT_ID)).collect::<Result<_, _>>()?;
        let mut batch = Batch::default();
        later.for_each(|layer| {
            batch.add(HAVE_VERSION, values![event_ids.clone(), layer.timeline.0, sql(layer.as_of)]);
        });
        let found = batch.run(on).await?;
        found.iter().flatten().map(|row| get(row, 0)).collect()
    }
}

/// Returns the overridden positions per layer; `None` if that would read more than `rows_max` rows.
pub(super) async fn overridden(on: &Object, layers: &[Layer], rows_max: usize) -> Result<Option<Overridden>, Failed> {
    let (mut overridden, mut rows_left) = (vec![HashSet::new(); layers.len()], rows_max);
    for (index, later) in layers.iter().enumerate().filter(|(_, layer)| layer.overrides) {
        let counted = rows(on, COUNT_VERSIONS, &[&later.timeline.0, &sql(rows_left as u64 + 1)]).await?;
        let rows_count = counted.first().map_or(Ok(0), |row| number(row, 0))?;
        // Each is looked up on every earlier layer.
        let looked_at = usize::try_from(rows_count).unwrap_or(usize::MAX).saturating_mul(index);
        let Some(left) = rows_left.checked_sub(looked_at) else { return Ok(None) };
        rows_left = left;
        for (positions, layer) in overridden.iter_mut().zip(&layers[..index]) {
            let (until, as_of) = (sql(later.as_of), sql(layer.as_of));
            let limit = sql(rows_left as u64 + 1);
            let found = rows(on, OVERRIDDEN, &[&later.timeline.0, &until, &layer.timeline.0, &as_of, &limit]).await?;
            // An event may have any number of versions.
            let Some(left) = rows_left.checked_sub(found.len()) else { return Ok(None) };
            rows_left = left;
            for row in &found {
                positions.insert(number(row, 0)?);
            }
        }
    }
    Ok(Some(overridden))
}

fn found_in(row: &Row, layer: usize, detail: Detail) -> Result<Found, Failed> {
    let point = get::<Option<f64>>(row, 2)?.zip(get::<Option<f64>>(row, 3)?);
    let content = match detail {
        Detail::Spot => String::new(),
        Detail::Parties | Detail::Whole => text(row, CONTENT)?,
    };
    let event = StoredEvent { time: instant(get(row, 0)?)?, layer, position: number(row, 1)?, content };
    Ok(Found { event, point: point.and_then(|(lat, lon)| Point::new(lat, lon)) })
}

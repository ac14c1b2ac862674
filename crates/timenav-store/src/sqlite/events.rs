//! Queries events by place and time.
//!
//! A query reads one or more *runs*: ranges of the table or of an index that are already sorted by time and position.
//! Runs are read block by block and merged, so the cost of a page depends on its length and not on the number of events
//! in the place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rusqlite::Connection;
use timenav_engine::{EventFilter, EventQuery, EventSpot, FilteredEvents, StoreError, StoredEvent};

use self::event_runs::{BLOCK_COST_ROWS, BLOCK_ROWS_FIRST, Found, Run, block_rows, earlier_sources, lengths, sources};
use crate::persistence::blocks::{BLOCK_ROWS_MAX, Blocks, Detail};
use crate::persistence::stretch::{Key, Stretch};
use crate::sqlite::text_index::candidates::{self, RowPlace};
use crate::sqlite::values::failed;

pub(crate) mod described;
pub(crate) mod event_runs;
pub(crate) mod overriding;
pub(crate) mod full_scan;
pub(crate) mod sifting;
pub(crate) mod stretches;
pub(crate) mod versions;

/// This many candidates are examined at once.
const CANDIDATES_FEW: usize = if cfg!(test) { 6 } else { 1_000 };
/// Events that are examined without the index before more candidates are.
const SCANNED_FIRST: usize = if cfg!(test) { 3 } else { 256 };

/// Returns matching events by time, then position; `None` if that costs more than reading `rows_max` rows.
pub(super) fn find(
    connection: &Connection,
    query: &EventQuery,
    rows_max: usize,
) -> Result<Option<Vec<StoredEvent>>, StoreError> {
    if query.items_max == 0 {
        return Ok(Some(Vec::new()));
    }
    let mut merged = Merged::new(connection, query, Detail::Whole, rows_max)?;
    // Each run is looked up at least once, and a long page usually means many events.
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

/// Returns the events of a query that pass a filter, examining up to `searched_max` events. Uses the index of words if
/// that is faster.
pub(super) fn passing(
    connection: &Connection,
    query: &EventQuery,
    filter: &EventFilter,
    searched_max: usize,
) -> Result<FilteredEvents, StoreError> {
    let moment = connection.unchecked_transaction().map_err(failed)?;
    let Some(candidates) = candidates::find(&moment, query, filter.words())? else {
        return scan(&moment, query, filter, searched_max);
    };
    let mut query = query.clone();
    let mut found = FilteredEvents::default();
    if candidates.count() > CANDIDATES_FEW {
        // Among few events, or for frequent words, this is faster.
        found = scan(&moment, &query, filter, searched_max.min(SCANNED_FIRST))?;
        query.items_max -= found.events.len();
        if query.items_max == 0 || found.searched_until.is_none() || found.searched >= searched_max {
            return Ok(found);
        }
        query.after = found.searched_until;
    }
    let searched_max = searched_max - found.searched;
    let places = candidates.places(&moment, &query)?;
    let merged = Merged::of(&query, candidate_runs(&query, &places), usize::MAX);
    let rest = search(&moment, merged, filter, searched_max)?;
    found.events.extend(rest.events);
    found.searched += rest.searched;
    found.searched_until = rest.searched_until;
    Ok(found)
}

/// Like [`passing`], without the index of words.
pub(super) fn scan(
    connection: &Connection,
    query: &EventQuery,
    filter: &EventFilter,
    searched_max: usize,
) -> Result<FilteredEvents, StoreError> {
    let merged = Merged::new(connection, query, Detail::Whole, usize::MAX)?;
    search(connection, merged, filter, searched_max)
}

fn search(
    connection: &Connection,
    mut merged: Merged<'_>,
    filter: &EventFilter,
    searched_max: usize,
) -> Result<FilteredEvents, StoreError> {
    let query = merged.query;
    let mut found = FilteredEvents::default();
    while found.events.len() < query.items_max && found.searched < searched_max {
        let Next::Event(Found { event, .. }) = merged.next(connection)? else {
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

/// Returns time and place on each layer, regardless of overrides, with source and actors on request.
pub(super) fn spots(
    connection: &Connection,
    query: &EventQuery,
    with_parties: bool,
) -> Result<Vec<EventSpot>, StoreError> {
    let detail = if with_parties { Detail::Parties } else { Detail::Spot };
    let mut merged = Merged::new(connection, query, detail, usize::MAX)?;
    let mut spots = Vec::with_capacity(query.items_max.min(BLOCK_ROWS_MAX));
    let spot = |Found { event: StoredEvent { time, layer, position, content }, point }| EventSpot {
        time,
        layer,
        position,
        point,
        parties: with_parties.then(|| content.into()),
    };
    if let [run] = &mut merged.runs[..]
        && run.is_by_time()
    {
        while spots.len() < query.items_max && !run.is_ended() {
            run.read_block(connection, query, |found| spots.push(spot(found)))?;
        }
        spots.truncate(query.items_max);
        return Ok(spots);
    }
    while spots.len() < query.items_max {
        let Next::Event(found) = merged.next(connection)? else { break };
        spots.push(spot(found));
    }
    Ok(spots)
}

enum Next {
    Event(Found),
    End,
    /// The row budget is spent.
    Spent,
}

/// The runs of a query, merged in its order.
struct Merged<'a> {
    query: &'a EventQuery,
    runs: Vec<Run<'a>>,
    /// The next event of each run, the first in order on top.
    first: BinaryHeap<Reverse<(Key, usize)>>,
    /// Runs to read before the next event is known. On demand, because a full page would cost one more block per run.
    unknown: Vec<usize>,
    last_key: Option<Key>,
    rows_left: usize,
}

impl<'a> Merged<'a> {
    fn new(
        connection: &Connection,
        query: &'a EventQuery,
        detail: Detail,
        rows_left: usize,
    ) -> Result<Self, StoreError> {
        Ok(Self::of(query, runs(connection, query, detail)?, rows_left))
    }

    fn of(query: &'a EventQuery, runs: Vec<Run<'a>>, rows_left: usize) -> Self {
        let first = BinaryHeap::with_capacity(runs.len());
        let unknown = (0..runs.len()).rev().collect();
        Self { query, runs, first, unknown, last_key: None, rows_left }
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
            // An event that matches two patterns is in two runs.
            if let Some(found) = found.filter(|_| self.last_key.replace(key) != Some(key)) {
                return Ok(Next::Event(found));
            }
        }
    }
}

fn candidate_runs<'a>(query: &'a EventQuery, places: &[Vec<RowPlace>]) -> Vec<Run<'a>> {
    let mut runs = Vec::new();
    for (layer, candidates) in places.iter().enumerate() {
        for pattern in &query.patterns {
            let mut stretches = vec![Stretch::of(query)];
            stretches.extend(query.overlapping.then(|| Stretch::before(query, i64::MIN)));
            let run = |stretch| Run::of_candidates(query, layer, pattern, stretch, candidates);
            runs.extend(stretches.into_iter().map(run));
        }
    }
    let rows = block_rows(query, runs.len());
    for run in &mut runs {
        run.blocks = Blocks::new(rows);
    }
    runs
}

fn runs<'a>(connection: &Connection, query: &'a EventQuery, detail: Detail) -> Result<Vec<Run<'a>>, StoreError> {
    let (mut runs, mut earlier): (Vec<Run<'_>>, Vec<Run<'_>>) = (Vec::new(), Vec::new());
    for layer in 0..query.layers.len() {
        let lengths = if query.overlapping { lengths(connection, query.layers[layer].timeline)? } else { Vec::new() };
        for pattern in &query.patterns {
            let run = |source, stretch: Stretch| {
                Run::new((layer, detail), (pattern, source), stretch, stretch.after(query, layer))
            };
            runs.extend(sources(pattern).into_iter().map(|source| run(source, Stretch::of(query))));
            let before = earlier_sources(query, pattern, &lengths).into_iter();
            earlier.extend(before.map(|(source, stretch)| run(source, stretch)));
        }
    }
    let rows = block_rows(query, runs.len());
    for run in &mut runs {
        run.blocks = Blocks::new(rows);
    }
    // Most of these runs are empty.
    for run in &mut earlier {
        run.blocks = Blocks::new(BLOCK_ROWS_FIRST);
    }
    runs.append(&mut earlier);
    Ok(runs)
}

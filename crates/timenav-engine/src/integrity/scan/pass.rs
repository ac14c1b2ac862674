//! A single pass over all event rows of a timeline, which computes their fingerprint.
//!
//! The fingerprint only shows whether the rows match the entries. If they do not, each row is looked up by its id and
//! compared with its entry.

use std::sync::Arc;

use timenav_core::scan::{FactKey, Fingerprint};

use super::facts::RowFacts;
use super::rows::{Place, compare_columns};
use crate::ledger::head::TimelineKey;
use crate::ports::archive::ScanSource;
use crate::ports::gazetteer::Gazetteer;
use crate::ports::seen_events::{SeenEvent, SeenEvents};
use crate::ports::store_error::StoreError;
use crate::read::long_work::{off_thread, yielding};
use crate::read::pace::Pace;

/// Number and approximate bytes of rows read at a time. Two pages are in memory: one is read while the other is hashed.
const PAGE_ROWS: usize = 256;
const PAGE_BYTES: usize = 1024 * 1024;
const PAGE_PLACES: usize = 1_024;

pub(super) struct PassResult {
    /// The facts of all rows; `None` if a row is invalid by itself, or if rows cannot be read.
    rows: Option<Fingerprint>,
}

impl PassResult {
    pub(super) fn is_of(&self, expected: Fingerprint) -> bool {
        self.rows == Some(expected)
    }
}

/// Passes over the rows that entries before `end` may have created.
pub(super) async fn pass(
    source: &dyn ScanSource,
    timeline: TimelineKey,
    end: u64,
    key: FactKey,
    gazetteer: Option<Arc<dyn Gazetteer>>,
) -> PassResult {
    let seen = Seen {
        end,
        facts: RowFacts::new(key),
        places: RowFacts::new(key),
        ended_later: Vec::new(),
        first_placed: None,
        last_unplaced: None,
        is_plain: true,
        gazetteer,
    };
    let passed = tokio::try_join!(pass_rows(source, timeline, seen), pass_index(source, timeline, end, key));
    // Errors are reported when rows are looked up individually.
    let rows = passed.ok().and_then(|(seen, indexed)| {
        let is_indexed = indexed.is_none_or(|places| places == seen.places.sum());
        is_indexed.then_some(seen.facts.sum())
    });
    PassResult { rows }
}

async fn pass_rows(source: &dyn ScanSource, timeline: TimelineKey, mut seen: Seen) -> Result<Seen, StoreError> {
    let mut rows_pace = Pace::new(PAGE_ROWS, PAGE_BYTES);
    let mut next = source.event_page(timeline, None, rows_pace.rows()).await?;
    while let Some(after) = next.last() {
        let page = next;
        rows_pace.took(page.rows_count(), page.bytes_count());
        // Not on a thread that serves requests.
        let working = off_thread(move || seen.page(&page));
        let reading = source.event_page(timeline, Some(after), rows_pace.rows());
        let (worked, read) = tokio::join!(working, reading);
        (seen, next) = (worked?, read?);
        let ended_later = std::mem::take(&mut seen.ended_later);
        if !ended_later.is_empty() {
            let stored = source.event_rows(timeline, ended_later).await?;
            seen.is_plain &= stored.iter().all(|rows| rows.is_end_recorded);
        }
        if !seen.is_plain() {
            return Err(StoreError::Damaged("the row of an event does not match its entries".to_owned()));
        }
    }
    Ok(seen)
}

async fn pass_index(
    source: &dyn ScanSource,
    timeline: TimelineKey,
    end: u64,
    key: FactKey,
) -> Result<Option<Fingerprint>, StoreError> {
    let Some(mut next) = source.event_index_page(timeline, None, PAGE_PLACES).await? else { return Ok(None) };
    let mut places = RowFacts::new(key);
    while let Some(after) = next.last().cloned() {
        let page = next;
        let working = off_thread(move || {
            for place in yielding(page.iter().filter(|place| place.position < end)) {
                places.place(&place.event_id, place.position, (place.time_micros, place.cell));
            }
            places
        });
        let reading = source.event_index_page(timeline, Some(after), PAGE_PLACES);
        let (worked, read) = tokio::join!(working, reading);
        places = worked?;
        next = read?.unwrap_or_default();
    }
    Ok(Some(places.sum()))
}

struct Seen {
    end: u64,
    facts: RowFacts,
    places: RowFacts,
    /// Versions that ended after the scan began: event ids, and the entries that created them.
    ended_later: Vec<(String, u64)>,
    /// The first event with coordinates from the gazetteer, and the last that could have them but does not.
    first_placed: Option<u64>,
    last_unplaced: Option<u64>,
    is_plain: bool,
    gazetteer: Option<Arc<dyn Gazetteer>>,
}

impl Seen {
    fn page(mut self, page: &SeenEvents) -> Self {
        let end = self.end;
        for row in yielding(page.iter().filter(|row| row.position < end)) {
            self.row(&row);
        }
        self
    }

    fn row(&mut self, row: &SeenEvent<'_>) {
        self.places.place(row.event_id, row.position, (row.time_micros, row.cell));
        self.facts.row(row);
        if RowFacts::is_tombstone(row) {
            return;
        }
        match row.until {
            None => {}
            Some(until) if until <= row.position => self.is_plain = false,
            Some(until) if until < self.end => self.facts.end(until, row.event_id),
            Some(_) => self.ended_later.push((row.event_id.to_owned(), row.position)),
        }
        match compare_columns(row, self.gazetteer.as_deref()) {
            Err(_) => self.is_plain = false,
            Ok(Place::OfGazetteer) => {
                self.first_placed = Some(self.first_placed.map_or(row.position, |first| first.min(row.position)));
            }
            Ok(Place::Missing) => self.last_unplaced = self.last_unplaced.max(Some(row.position)),
            Ok(Place::Own) => {}
        }
    }

    /// Returns whether no row is invalid by itself or by its missing coordinates.
    fn is_plain(&self) -> bool {
        let is_unplaced = self.first_placed.is_some_and(|first| self.last_unplaced > Some(first));
        self.is_plain && !is_unplaced
    }
}

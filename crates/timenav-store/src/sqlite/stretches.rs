//! Counting events in stretches of time, by the index by time: over many rows at once where many are in one stretch.
//!
//! Rows that are read one by one cost several times as much as rows that SQLite passes over by itself. So a few are read,
//! and where all of them are in one stretch, the next ones are passed over a step at a time, as far as the stretch goes.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use timenav_core::place::LocationQuery;
use timenav_core::time::Bucket;
use timenav_engine::{EventQuery, EventStretch, EventStretches, Pattern, StoreError};

use super::values::{count, failed, instant, sql};
use crate::kept::stretch::Stretch;

/// Rows that are read one by one before it is known how many there are in a stretch.
const ROWS_READ: usize = 256;
/// Rows that are passed over at once, as long as the stretch has so many.
const STEPS: [usize; 2] = [4_096, 512];

/// What stands then, and lies after a time and position up to another time; the same as for pages of events.
macro_rules! standing {
    ($limit:literal) => {
        concat!(
            "SELECT time, position FROM events INDEXED BY events_by_time
            WHERE timeline = ?1 AND (time, position) > (?2, ?3) AND time <= ?4
            AND position < ?5 AND ifnull(until, ?5) >= ?5 ORDER BY time, position ",
            $limit
        )
    };
}
const NEXT_ROWS: &str = standing!("LIMIT ?6");
const ROW_AFTER: &str = standing!("LIMIT 1 OFFSET ?6");

/// Returns whether the events of a query are counted here: those of one timeline, wherever they are.
pub(super) fn are_counted(query: &EventQuery) -> bool {
    let is_anywhere = matches!(query.patterns[..], [Pattern::Location(LocationQuery::Anywhere)]);
    is_anywhere && query.layers.len() == 1 && !query.newest_first && !query.overlapping
}

/// Counts the events of a query in stretches, in their order.
pub(super) fn counted(
    connection: &Connection,
    query: &EventQuery,
    bucket: Bucket,
) -> Result<EventStretches, StoreError> {
    if query.items_max == 0 {
        return Ok(EventStretches::default());
    }
    let mut counting = Counting::new(connection, query, bucket)?;
    while counting.left > 0 {
        let rows_max = counting.left.min(ROWS_READ);
        let (rows_count, is_one_stretch) = counting.read(rows_max)?;
        if rows_count < rows_max {
            return Ok(EventStretches { stretches: counting.found, counted_to: None });
        }
        if is_one_stretch {
            for step in STEPS {
                while counting.left >= step && counting.pass_over(step)? {}
            }
        }
    }
    let (time, position) = counting.at;
    let counted_to = (instant(time)?, 0, count(position)?);
    Ok(EventStretches { stretches: counting.found, counted_to: Some(counted_to) })
}

/// How far it is counted.
struct Counting<'a> {
    next_rows: CachedStatement<'a>,
    row_after: CachedStatement<'a>,
    timeline: i64,
    as_of: i64,
    bucket: Bucket,
    /// The time and position of the last event that was counted, or those that the count begins after.
    at: (i64, i64),
    /// The last time that counts.
    last: i64,
    /// The last time of the stretch that the last event is in.
    stretch_last: i64,
    /// How many events may still be counted.
    left: usize,
    found: Vec<EventStretch>,
}

impl<'a> Counting<'a> {
    fn new(connection: &'a Connection, query: &EventQuery, bucket: Bucket) -> Result<Self, StoreError> {
        let stretch = Stretch::of(query);
        Ok(Self {
            next_rows: connection.prepare_cached(NEXT_ROWS).map_err(failed)?,
            row_after: connection.prepare_cached(ROW_AFTER).map_err(failed)?,
            timeline: query.layers[0].timeline.0,
            as_of: sql(query.layers[0].as_of),
            bucket,
            at: stretch.after(query, 0),
            last: stretch.end(query),
            stretch_last: i64::MIN,
            left: query.items_max,
            found: Vec::new(),
        })
    }

    /// Counts the next rows, read one by one. Returns how many there were, and whether all are in one stretch.
    fn read(&mut self, rows_max: usize) -> Result<(usize, bool), StoreError> {
        let (time, position) = self.at;
        let asked = params![self.timeline, time, position, self.last, self.as_of, sql(rows_max as u64)];
        let mut rows = self.next_rows.query(asked).map_err(failed)?;
        let (mut rows_count, mut first_stretch_last) = (0, None);
        while let Some(row) = rows.next().map_err(failed)? {
            let time = row.get(0).map_err(failed)?;
            self.at = (time, row.get(1).map_err(failed)?);
            rows_count += 1;
            let at = instant(time)?;
            if let Some(stretch) = self.found.last_mut().filter(|_| time <= self.stretch_last) {
                (stretch.count, stretch.last) = (stretch.count + 1, at);
            } else {
                let end = self.bucket.end(self.bucket.begin(at));
                self.stretch_last = end.map_or(i64::MAX, |end| end.saturating_sub(1));
                self.found.push(EventStretch { first: at, last: at, count: 1 });
            }
            first_stretch_last.get_or_insert(self.stretch_last);
        }
        self.left -= rows_count;
        Ok((rows_count, first_stretch_last == Some(self.stretch_last)))
    }

    /// Counts so many rows more if the stretch of the last one has as many, and returns whether it has.
    fn pass_over(&mut self, step: usize) -> Result<bool, StoreError> {
        let ((time, position), last) = (self.at, self.last.min(self.stretch_last));
        let asked = params![self.timeline, time, position, last, self.as_of, sql(step as u64 - 1)];
        let row = self.row_after.query_row(asked, |row| Ok((row.get(0)?, row.get(1)?)));
        let (Some(at), Some(stretch)) = (row.optional().map_err(failed)?, self.found.last_mut()) else {
            return Ok(false);
        };
        (stretch.count, stretch.last) = (stretch.count + step, instant(at.0)?);
        self.at = at;
        self.left -= step;
        Ok(true)
    }
}

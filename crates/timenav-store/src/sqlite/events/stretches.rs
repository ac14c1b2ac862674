//! Counts events per time bucket with the index by time, in large steps if a bucket has many events.
//!
//! Reading rows one by one costs several times as much as having SQLite skip them. So a few rows are read, and if all
//! of them are in one bucket, further rows of that bucket are skipped in steps.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use timenav_core::place::LocationQuery;
use timenav_core::time::Bucket;
use timenav_engine::{EventQuery, EventStretch, EventStretches, Pattern, StoreError};

use crate::persistence::stretch::Stretch;
use crate::sqlite::values::{count, failed, instant, sql};

/// Rows read one by one before the density of a bucket is known.
const ROWS_READ: usize = 256;
/// Numbers of rows skipped at once, as long as the bucket has that many.
const STEPS: [usize; 2] = [4_096, 512];

/// Selects events in effect after a time and position, up to another time. The same condition as for event pages.
macro_rules! current_rows {
    ($limit:literal) => {
        concat!(
            "SELECT time, position FROM events INDEXED BY events_by_time
            WHERE timeline = ?1 AND (time, position) > (?2, ?3) AND time <= ?4
            AND position < ?5 AND ifnull(until, ?5) >= ?5 ORDER BY time, position ",
            $limit
        )
    };
}
const NEXT_ROWS: &str = current_rows!("LIMIT ?6");
const ROW_AFTER: &str = current_rows!("LIMIT 1 OFFSET ?6");

/// Returns whether this module can count the events of a query: those of one timeline, in any place.
pub(in crate::sqlite) fn are_counted(query: &EventQuery) -> bool {
    let is_anywhere = matches!(query.patterns[..], [Pattern::Location(LocationQuery::Anywhere)]);
    is_anywhere && query.layers.len() == 1 && !query.newest_first && !query.overlapping
}

/// Counts the events of a query per bucket, in time order.
pub(in crate::sqlite) fn counted(
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
            return Ok(EventStretches { stretches: counting.found, counted_until: None });
        }
        if is_one_stretch {
            for step in STEPS {
                while counting.left >= step && counting.pass_over(step)? {}
            }
        }
    }
    let (time, position) = counting.at;
    let counted_until = (instant(time)?, 0, count(position)?);
    Ok(EventStretches { stretches: counting.found, counted_until: Some(counted_until) })
}

struct Counting<'a> {
    next_rows: CachedStatement<'a>,
    row_after: CachedStatement<'a>,
    timeline: i64,
    as_of: i64,
    bucket: Bucket,
    /// Time and position of the last counted event; initially those that the count begins after.
    at: (i64, i64),
    /// The last time to count.
    last: i64,
    /// The last time of the current bucket.
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

    /// Counts up to `rows_max` rows one by one. Returns their number, and whether all are in one bucket.
    fn read(&mut self, rows_max: usize) -> Result<(usize, bool), StoreError> {
        let (time, position) = self.at;
        let values = params![self.timeline, time, position, self.last, self.as_of, sql(rows_max as u64)];
        let mut rows = self.next_rows.query(values).map_err(failed)?;
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

    /// Counts `step` more rows if the current bucket has that many. Returns whether it has.
    fn pass_over(&mut self, step: usize) -> Result<bool, StoreError> {
        let ((time, position), last) = (self.at, self.last.min(self.stretch_last));
        let values = params![self.timeline, time, position, last, self.as_of, sql(step as u64 - 1)];
        let row = self.row_after.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)));
        let (Some(at), Some(stretch)) = (row.optional().map_err(failed)?, self.found.last_mut()) else {
            return Ok(false);
        };
        (stretch.count, stretch.last) = (stretch.count + step, instant(at.0)?);
        self.at = at;
        self.left -= step;
        Ok(true)
    }
}

//! Filters the index by time for events in a large place.
//!
//! A large place has hundreds of cells, and looking up the first event of each takes longer than scanning the events of
//! all places in time order, provided that enough of them are in the place. The density is unknown beforehand, so the
//! index by time is scanned first, for a fraction of the time that the cells would take.

use rusqlite::{Connection, Row, params};
use timenav_core::place::Cell;
use timenav_engine::StoreError;

use crate::sqlite::values::{damaged, failed};

/// Up to this many cells are read individually from the start.
pub(in crate::sqlite) const CELLS_FEW: usize = 48;
/// Index rows that can be skipped in about a fifth of the time it takes to look up the first event of a cell.
const ROWS_OF_A_CELL: usize = 12;
/// Index rows that can be skipped in the time it takes to read one whole row.
const ROWS_OF_A_READ: usize = 8;

const WHOLE: &str = "SELECT event_id, content FROM events
    WHERE timeline = ?1 AND cell = ?2 AND time = ?3 AND position = ?4";

pub(in crate::sqlite) struct Sieve {
    /// In ascending order.
    cells: Vec<u32>,
    rows_left: usize,
}

impl Sieve {
    /// Creates a sieve that gives up once it has skipped enough rows that reading the cells is faster.
    pub(in crate::sqlite) fn new(cells: &[Cell]) -> Self {
        let rows_left = cells.len().saturating_mul(ROWS_OF_A_CELL);
        Self { rows_left, ..Self::without_end(cells) }
    }

    /// Creates a sieve that never gives up.
    pub(in crate::sqlite) fn without_end(cells: &[Cell]) -> Self {
        let mut cells: Vec<u32> = cells.iter().map(|cell| cell.number()).collect();
        cells.sort_unstable();
        Self { cells, rows_left: usize::MAX }
    }

    pub(in crate::sqlite) fn holds(&self, cell: i64) -> bool {
        u32::try_from(cell).is_ok_and(|cell| self.cells.binary_search(&cell).is_ok())
    }

    /// Records skipped rows, and returns their cost in whole rows.
    pub(in crate::sqlite) fn pass(&mut self, rows_count: usize) -> usize {
        if self.rows_left != usize::MAX {
            self.rows_left = self.rows_left.saturating_sub(rows_count);
        }
        rows_count / ROWS_OF_A_READ
    }

    /// Returns the cells to read individually once the sieve has given up.
    pub(in crate::sqlite) fn given_up(&self) -> Option<&[u32]> {
        (self.rows_left == 0).then_some(&self.cells)
    }
}

/// Runs `read` on the id and content of the event that an index row refers to.
pub(in crate::sqlite) fn whole<T>(
    connection: &Connection,
    (timeline, cell, time, position): (i64, i64, i64, i64),
    read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut select = connection.prepare_cached(WHOLE).map_err(failed)?;
    let mut rows = select.query(params![timeline, cell, time, position]).map_err(failed)?;
    let row = rows.next().map_err(failed)?;
    read(row.ok_or_else(|| damaged("the index by time has an event that its table lacks"))?)
}

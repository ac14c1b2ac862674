//! A large place has hundreds of cells, and finding the first event of each takes longer than passing over the events of
//! all places in the order of time, as long as enough of them lie in it. Nobody knows beforehand whether they do, so the
//! index by time is sifted first, for a part of the time that the cells would take.

use rusqlite::{Connection, Row, params};
use timenav_core::place::Cell;
use timenav_engine::StoreError;

use super::values::{damaged, failed};

/// Cells up to which each is asked for its events at once.
pub(super) const CELLS_FEW: usize = 48;
/// Rows of the index that are passed over in about a fifth of the time that the first event of a cell takes.
const ROWS_OF_A_CELL: usize = 12;
/// Rows of the index that are passed over in the time that reading one whole row takes.
const ROWS_OF_A_READ: usize = 8;

const WHOLE: &str = "SELECT event_id, content FROM events
    WHERE timeline = ?1 AND cell = ?2 AND time = ?3 AND position = ?4";

/// What lets the events of some cells pass.
pub(super) struct Sieve {
    /// In ascending order.
    cells: Vec<u32>,
    rows_left: usize,
}

impl Sieve {
    /// Returns what sifts the events of these cells until so many rows were passed over that asking the cells is
    /// better.
    pub(super) fn new(cells: &[Cell]) -> Self {
        let rows_left = cells.len().saturating_mul(ROWS_OF_A_CELL);
        Self { rows_left, ..Self::without_end(cells) }
    }

    /// Returns what sifts the events of these cells, however many rows that takes.
    pub(super) fn without_end(cells: &[Cell]) -> Self {
        let mut cells: Vec<u32> = cells.iter().map(|cell| cell.number()).collect();
        cells.sort_unstable();
        Self { cells, rows_left: usize::MAX }
    }

    pub(super) fn holds(&self, cell: i64) -> bool {
        u32::try_from(cell).is_ok_and(|cell| self.cells.binary_search(&cell).is_ok())
    }

    /// Notes that so many rows were passed over, and returns what that is worth in whole rows.
    pub(super) fn pass(&mut self, rows_count: usize) -> usize {
        if self.rows_left != usize::MAX {
            self.rows_left = self.rows_left.saturating_sub(rows_count);
        }
        rows_count / ROWS_OF_A_READ
    }

    /// Returns the cells if they are to be asked from now on.
    pub(super) fn given_up(&self) -> Option<&[u32]> {
        (self.rows_left == 0).then_some(&self.cells)
    }
}

/// Runs `read` with the id and the content of the event that has a row of the index.
pub(super) fn whole<T>(
    connection: &Connection,
    (timeline, cell, time, position): (i64, i64, i64, i64),
    read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut select = connection.prepare_cached(WHOLE).map_err(failed)?;
    let mut rows = select.query(params![timeline, cell, time, position]).map_err(failed)?;
    let row = rows.next().map_err(failed)?;
    read(row.ok_or_else(|| damaged("the index by time has an event that its table lacks"))?)
}

//! A fixed grid of one degree by one degree, by which stores cluster events.

use super::Point;

/// Cells in the grid: 180 rows from south to north of 360 columns from west to east.
pub const CELLS: u32 = 180 * 360;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub(super) u32);

impl Cell {
    /// Returns the cell of a point. The meridian 180 belongs to the westernmost column.
    #[must_use]
    pub fn of(point: Point) -> Self {
        Self(row(point.lat()) * 360 + column(point.lon()))
    }

    /// Returns the cell with that number, or `None` from [`CELLS`] on.
    #[must_use]
    pub const fn numbered(number: u32) -> Option<Self> {
        if number < CELLS { Some(Self(number)) } else { None }
    }

    #[must_use]
    pub fn middle(self) -> Point {
        let (lat, lon) = (f64::from(self.0 / 360) - 89.5, f64::from(self.0 % 360) - 179.5);
        Point { lat, lon }
    }

    /// Returns the number of the cell, from 0 to [`CELLS`] − 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Returns the row of a latitude, from the south.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=179 first")]
pub(super) fn row(lat: f64) -> u32 {
    (lat + 90.0).floor().clamp(0.0, 179.0) as u32
}

/// Returns the column of a longitude, from the west.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rem_euclid leaves 0..=359")]
pub(super) fn column(lon: f64) -> u32 {
    ((lon + 180.0).floor().rem_euclid(360.0) as u32) % 360
}

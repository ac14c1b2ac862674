//! Parts of the earth that are neither a circle nor a box.

use std::fmt;
use std::sync::Arc;

use super::{Cell, Point};

/// The shape of an area: which points it has, and where on the grid they can be.
///
/// `contains` is what decides. `cells` only saves looking elsewhere, so it names every cell that
/// holds a point of the area and may name more, each once, in order.
pub trait Shape: Send + Sync {
    /// Returns every cell that may hold a point of the area, in order.
    fn cells(&self) -> Vec<Cell>;

    /// Returns whether the area has the point.
    fn contains(&self, point: Point) -> bool;
}

/// A part of the earth that goes by a name, such as a country.
#[derive(Clone)]
pub struct Area {
    id: Arc<str>,
    shape: Arc<dyn Shape>,
}

impl Area {
    /// Returns the area of a shape. Areas of one `id` are one area, whatever their shape.
    #[must_use]
    pub fn new(id: &str, shape: Arc<dyn Shape>) -> Self {
        Self { id: id.into(), shape }
    }

    /// Returns what tells the area from others, such as `country:FR`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns every cell that may hold a point of the area, in order.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        self.shape.cells()
    }

    /// Returns whether the area has the point.
    #[must_use]
    pub fn contains(&self, point: Point) -> bool {
        self.shape.contains(point)
    }
}

impl fmt::Debug for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Area").field(&self.id).finish()
    }
}

impl PartialEq for Area {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

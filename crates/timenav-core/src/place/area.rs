use std::fmt;
use std::sync::Arc;

use super::{Cell, Point};

/// The shape of an area, with the grid cells that cover it.
///
/// `contains` decides. `cells` only limits the search: it returns every cell that holds a point of the area and
/// possibly others, sorted and without duplicates.
pub trait Shape: Send + Sync {
    fn cells(&self) -> Vec<Cell>;

    fn contains(&self, point: Point) -> bool;
}

#[derive(Clone)]
pub struct Area {
    id: Arc<str>,
    shape: Arc<dyn Shape>,
}

impl Area {
    /// Returns the area of a shape. Areas with the same `id` are equal, whatever their shape.
    #[must_use]
    pub fn new(id: &str, shape: Arc<dyn Shape>) -> Self {
        Self { id: id.into(), shape }
    }

    /// Returns the id, such as `country:FR`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        self.shape.cells()
    }

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

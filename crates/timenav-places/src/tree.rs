//! Nearest-city search.
//!
//! The city records are sorted as a k-d tree over their vectors: the middle one of a range divides it along one axis.
//! The tree is thus implied by the order, and needs no memory.

use crate::layout::{Vector, chord_squared, tree_middle};
use crate::tables::Tables;

struct Search<'a, F> {
    tables: &'a Tables,
    from: Vector,
    is_needed: F,
    /// The squared chord to the nearest one so far.
    nearest: i64,
    found: Option<u32>,
}

/// Returns the nearest wanted city within a squared chord, and its squared chord.
pub(crate) fn nearest(
    tables: &Tables,
    from: Vector,
    chord_max: i64,
    is_needed: impl Fn(u32) -> bool,
) -> Option<(u32, i64)> {
    let nearest = chord_max.saturating_add(1);
    let mut search = Search { tables, from, is_needed, nearest, found: None };
    search.visit(0, tables.cities_count(), 0);
    Some((search.found?, search.nearest))
}

impl<F: Fn(u32) -> bool> Search<'_, F> {
    fn visit(&mut self, from: usize, until: usize, axis: usize) {
        if from >= until {
            return;
        }
        let middle = tree_middle(from, until);
        let number = u32::try_from(middle).unwrap_or_default();
        let vector = self.tables.city(number).vector;
        let chord = chord_squared(self.from, vector);
        if chord < self.nearest && (self.is_needed)(number) {
            self.nearest = chord;
            self.found = Some(number);
        }
        let beyond = i64::from(self.from[axis]) - i64::from(vector[axis]);
        let (near, far) = ((from, middle), (middle + 1, until));
        let (near, far) = if beyond <= 0 { (near, far) } else { (far, near) };
        let next = (axis + 1) % 3;
        self.visit(near.0, near.1, next);
        if beyond * beyond < self.nearest {
            self.visit(far.0, far.1, next);
        }
    }
}

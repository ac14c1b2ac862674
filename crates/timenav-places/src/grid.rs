//! Which countries a cell of the grid of one degree may belong to.

use timenav_core::place::{CELLS, Cell};

/// How far from a city a point outside all outlines is still in its country, in metres: outlines
/// this coarse cut off harbors and small islands.
pub const COAST_METRES: f64 = 20_000.0;

/// A country that may have points in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The number of the country.
    pub country: u8,
    /// Whether its outline has points in the cell; if not, one of its cities is near.
    pub has_outline: bool,
    /// Whether all of the cell lies inside its outline.
    pub is_whole: bool,
}

/// The candidates of every cell.
#[derive(Debug)]
pub struct Grid<'a> {
    bytes: &'a [u8],
    /// Where each distinct set of candidates begins, and the end of the last one.
    sets: Vec<usize>,
}

impl<'a> Grid<'a> {
    /// Opens what [`Grid::encode`] wrote.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut at = 2 * CELLS as usize;
        let mut sets = vec![at];
        while let Some(&count) = bytes.get(at) {
            at += 1 + 2 * usize::from(count);
            sets.push(at);
        }
        Self { bytes, sets }
    }

    /// Writes the candidates of every cell, in the order of the cells.
    #[must_use]
    pub fn encode(cells: &[Vec<Candidate>]) -> Vec<u8> {
        let mut sets: Vec<&Vec<Candidate>> = cells.iter().collect();
        sets.sort();
        sets.dedup();
        let number = |cell| u16::try_from(sets.binary_search(&cell).unwrap_or_default()).unwrap_or_default();
        let mut bytes: Vec<u8> = cells.iter().flat_map(|cell| number(cell).to_le_bytes()).collect();
        for set in sets {
            bytes.push(u8::try_from(set.len()).unwrap_or_default());
            for candidate in set {
                bytes.extend([candidate.country, u8::from(candidate.has_outline) | u8::from(candidate.is_whole) << 1]);
            }
        }
        bytes
    }

    /// Returns the countries that may have points in a cell.
    pub fn candidates(&self, cell: Cell) -> impl Iterator<Item = Candidate> {
        let at = 2 * cell.number() as usize;
        let number = self.bytes.get(at..at + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        let begin = self.sets.get(usize::from(number)).map_or(self.bytes.len(), |begin| begin + 1);
        let end = self.sets.get(usize::from(number) + 1).copied().unwrap_or(begin);
        let set = self.bytes.get(begin..end).unwrap_or_default();
        set.chunks_exact(2).map(|pair| Candidate {
            country: pair[0],
            has_outline: pair[1] & 1 != 0,
            is_whole: pair[1] & 2 != 0,
        })
    }

    /// Returns the cells in which one of some countries may have points, in order.
    #[must_use]
    pub fn cells(&self, is_wanted: impl Fn(u8) -> bool) -> Vec<Cell> {
        let is_candidate = |cell: &Cell| self.candidates(*cell).any(|candidate| is_wanted(candidate.country));
        (0..CELLS).filter_map(Cell::numbered).filter(is_candidate).collect()
    }
}

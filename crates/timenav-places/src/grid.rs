use timenav_core::place::{CELLS, Cell};

/// A point outside all outlines is in the country of a city within this distance, in meters: outlines this coarse cut
/// off harbors and small islands.
pub const COAST_METRES: f64 = 20_000.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    pub country: u8,
    /// Whether its outline has points in the cell. If not, one of its cities is near.
    pub has_outline: bool,
    pub is_whole: bool,
}

#[derive(Debug)]
pub struct Grid<'a> {
    bytes: &'a [u8],
    /// The start of each distinct set of candidates, and the end of the last one.
    sets: Vec<usize>,
}

impl<'a> Grid<'a> {
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

    /// Encodes the candidates of all cells, in cell order.
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

    /// Returns the cells that may contain points of the wanted countries, sorted.
    #[must_use]
    pub fn cells(&self, is_needed: impl Fn(u8) -> bool) -> Vec<Cell> {
        let is_candidate = |cell: &Cell| self.candidates(*cell).any(|candidate| is_needed(candidate.country));
        (0..CELLS).filter_map(Cell::numbered).filter(is_candidate).collect()
    }
}

//! Adapts the number of rows per query to their size, to bound memory.

const FIRST_ROWS: usize = 32;

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    rows_max: usize,
    bytes_max: usize,
    rows: usize,
}

impl Pace {
    /// Never exceeds `rows_max`, and only slightly `bytes_max`.
    #[must_use]
    pub fn new(rows_max: usize, bytes_max: usize) -> Self {
        Self { rows_max, bytes_max, rows: FIRST_ROWS.min(rows_max) }
    }

    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    pub fn took(&mut self, rows: usize, bytes: usize) {
        let Some(bytes_of_a_row) = bytes.checked_div(rows) else { return };
        let fitting = self.bytes_max / bytes_of_a_row.max(1);
        // The next rows may be larger.
        self.rows = fitting.min(self.rows.saturating_mul(4)).clamp(1, self.rows_max.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_rows_adapt_to_the_row_size() {
        let mut pace = Pace::new(1_000, 1_000_000);
        let mut page_sizes = Vec::new();
        for bytes_of_a_row in [10, 10, 10, 100_000, 3_000_000, 3_000_000, 1, 1] {
            page_sizes.push(pace.rows());
            pace.took(pace.rows(), pace.rows() * bytes_of_a_row);
        }
        assert_eq!(page_sizes, [32, 128, 512, 1_000, 10, 1, 1, 4]);
        assert_eq!(Pace::new(5, 1_000).rows(), 5);
    }
}

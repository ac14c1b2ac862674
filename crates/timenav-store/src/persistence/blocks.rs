//! Decides how many rows of a run of events to read at a time, and how much of each row.

pub(crate) const BLOCK_ROWS_MAX: usize = 1_024;
/// Minimum number of rows in a later block: finding the first row takes as long as reading a few.
const LATER_ROWS_MIN: usize = 8;

/// How much of each row to read. An index covers the first two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Time and place of each event, even if a later layer overrides it.
    Spot,
    /// In addition, its source and actors.
    Parties,
    Whole,
}

/// Chooses the block sizes of one run. If few of the rows match, as in a cell that is larger than the place asked for,
/// later blocks are larger: enough to fill the page at the match rate so far. Larger blocks would be read for nothing.
pub(crate) struct Blocks {
    rows: usize,
    /// Rows read, and rows that matched.
    read: usize,
    matched: usize,
}

impl Blocks {
    pub(crate) const fn new(rows: usize) -> Self {
        Self { rows, read: 0, matched: 0 }
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Records the result of a block on the way to a page of `items_max` items.
    pub(crate) fn note(&mut self, read: usize, matched: usize, items_max: usize) {
        self.read += read;
        self.matched += matched;
        let grown = self.rows.saturating_mul(4).min(BLOCK_ROWS_MAX);
        let lacking = items_max.saturating_sub(self.matched);
        self.rows = match lacking.saturating_mul(self.read).checked_div(self.matched) {
            // One eighth more, because the match rate varies.
            Some(rows) if lacking > 0 => rows.saturating_add(rows / 8).clamp(LATER_ROWS_MIN, grown.max(LATER_ROWS_MIN)),
            // Nothing matched yet, or a later filter dropped the matches.
            _ => grown,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(first: usize, notes: &[(usize, usize)], items_max: usize) -> usize {
        let mut blocks = Blocks::new(first);
        for &(read, matched) in notes {
            blocks.note(read, matched, items_max);
        }
        blocks.rows()
    }

    #[test]
    fn block_size_follows_the_missing_rows_of_the_page() {
        assert_eq!(after(100, &[], 100), 100);
        // Half of it matched: the other half needs the same number of rows and one eighth more.
        assert_eq!(after(100, &[(100, 50)], 100), 112);
        assert_eq!(after(100, &[(100, 50), (112, 48)], 100), LATER_ROWS_MIN);
        // Hardly anything matched: four times as many, and never more than a block holds.
        assert_eq!(after(100, &[(100, 1)], 100), 400);
        assert_eq!(after(100, &[(100, 0)], 100), 400);
        assert_eq!(after(100, &[(100, 0), (400, 0)], 100), BLOCK_ROWS_MAX);
        // Everything matched but was dropped by a later filter.
        assert_eq!(after(100, &[(100, 100)], 100), 400);
        assert_eq!(after(1, &[(1, 1)], 1), 4);
        assert_eq!(after(usize::MAX / 2, &[(usize::MAX / 2, 1)], usize::MAX), BLOCK_ROWS_MAX);
    }
}

//! How many rows a run of events is asked for at a time, and how much of each.

/// Most rows of a block.
pub(crate) const BLOCK_ROWS_MAX: usize = 1_024;
/// Least rows of a later block: finding the first one takes as long as reading a few.
const LATER_ROWS_MIN: usize = 8;

/// How much of the rows of a run is read: no more than is needed, since an index has the first of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// When and where each event is, also if a later layer has another version of it.
    Spot,
    /// And its source and actors.
    Parties,
    /// All of it.
    Whole,
}

/// The blocks of one run. A run that gives little of what it reads, such as a cell that holds more than the place which
/// was asked for, is asked for more at a time, up to what the page lacks by the share that was meant so far: reading much
/// further would be for nothing.
pub(crate) struct Blocks {
    rows: usize,
    /// Rows that were read, and those that were meant.
    read: usize,
    meant: usize,
}

impl Blocks {
    pub(crate) const fn new(rows: usize) -> Self {
        Self { rows, read: 0, meant: 0 }
    }

    /// Rows of the next block.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Notes what a block brought, on the way to a page of so many items.
    pub(crate) fn note(&mut self, read: usize, meant: usize, items_max: usize) {
        self.read += read;
        self.meant += meant;
        let grown = self.rows.saturating_mul(4).min(BLOCK_ROWS_MAX);
        let lacking = items_max.saturating_sub(self.meant);
        self.rows = match lacking.saturating_mul(self.read).checked_div(self.meant) {
            // With an eighth more, since the next rows are not quite like the last ones.
            Some(rows) if lacking > 0 => rows.saturating_add(rows / 8).clamp(LATER_ROWS_MIN, grown.max(LATER_ROWS_MIN)),
            // Nothing was meant yet, or what was given did not pass a filter behind.
            _ => grown,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(first: usize, notes: &[(usize, usize)], items_max: usize) -> usize {
        let mut blocks = Blocks::new(first);
        for &(read, meant) in notes {
            blocks.note(read, meant, items_max);
        }
        blocks.rows()
    }

    #[test]
    fn a_block_is_as_long_as_what_the_page_lacks() {
        assert_eq!(after(100, &[], 100), 100);
        // Half of it was meant: the other half lies in as many rows and an eighth more.
        assert_eq!(after(100, &[(100, 50)], 100), 112);
        assert_eq!(after(100, &[(100, 50), (112, 48)], 100), LATER_ROWS_MIN);
        // Hardly anything was meant: four times as many, and never more than a block holds.
        assert_eq!(after(100, &[(100, 1)], 100), 400);
        assert_eq!(after(100, &[(100, 0)], 100), 400);
        assert_eq!(after(100, &[(100, 0), (400, 0)], 100), BLOCK_ROWS_MAX);
        // All was meant and did not pass a filter behind.
        assert_eq!(after(100, &[(100, 100)], 100), 400);
        assert_eq!(after(1, &[(1, 1)], 1), 4);
        assert_eq!(after(usize::MAX / 2, &[(usize::MAX / 2, 1)], usize::MAX), BLOCK_ROWS_MAX);
    }
}

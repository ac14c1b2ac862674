use super::canonical::{Malformed, Scanner, Writer};
use super::leaf::SEQ_MAX;

#[cfg(test)]
mod tests;

pub const POSITION_RUNS_MAX: usize = 4_096;

/// Positions in ascending order, without duplicates: the first and last position of each run. Adjacent runs are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionRuns {
    runs: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    #[error("positions must be unique, in ascending order, and at most {SEQ_MAX}")]
    Order,
    /// It would start one run too many. It belongs in the next record.
    #[error("a record can list at most {POSITION_RUNS_MAX} runs of positions")]
    Full,
}

impl PositionRuns {
    /// Adds a position after the last one.
    ///
    /// # Errors
    /// The position is not after the last one, or there are too many runs. Nothing changes.
    pub fn push(&mut self, position: u64) -> Result<(), RunsError> {
        if position > SEQ_MAX {
            return Err(RunsError::Order);
        }
        let runs_count = self.runs.len();
        match self.runs.last_mut() {
            Some((_, last)) if position <= *last => return Err(RunsError::Order),
            Some((_, last)) if position == *last + 1 => *last = position,
            _ if runs_count == POSITION_RUNS_MAX => return Err(RunsError::Full),
            _ => self.runs.push((position, position)),
        }
        Ok(())
    }

    /// Returns the first and the last position of each run.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.runs
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|(first, last)| last - first + 1).sum()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    #[must_use]
    pub fn last(&self) -> Option<u64> {
        self.runs.last().map(|(_, last)| *last)
    }

    #[must_use]
    pub fn contains(&self, position: u64) -> bool {
        let after = self.runs.partition_point(|(first, _)| *first <= position);
        after.checked_sub(1).is_some_and(|at| position <= self.runs[at].1)
    }

    /// Writes an array of pairs, such as `[[0,4],[9,9]]`.
    pub(super) fn write<'w>(&self, writer: &'w mut Writer) -> &'w mut Writer {
        writer.array(&self.runs, |writer, (first, last)| {
            writer.raw("[").integer(*first).raw(",").integer(*last).raw("]");
        })
    }

    pub(super) fn scan(scanner: &mut Scanner<'_>) -> Result<Self, Malformed> {
        let mut next = Some(0);
        let mut runs_count = 0;
        scanner.expect("[")?;
        let runs = scanner.array(|scanner| {
            let wrong = scanner.malformed("separate runs of positions in ascending order");
            scanner.expect("[")?;
            let first = scanner.integer()?;
            scanner.expect(",")?;
            let last = scanner.integer()?;
            scanner.expect("]")?;
            runs_count += 1;
            if next.is_none_or(|next| first < next) || last < first || runs_count > POSITION_RUNS_MAX {
                return Err(wrong);
            }
            next = last.checked_add(2);
            Ok((first, last))
        })?;
        Ok(Self { runs })
    }
}

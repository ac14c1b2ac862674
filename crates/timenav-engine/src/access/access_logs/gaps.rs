//! Reads that are no longer known: their positions, number, and the reason.

use timenav_core::ledger::Retention;
use timenav_core::time::{Instant, Wall};

use super::LogPage;

/// Consecutive entries of reads that were pruned or partially erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogGap {
    pub first: u64,
    /// No listed entry is between the two.
    pub last: u64,
    pub entries: u64,
    pub from: Instant<Wall>,
    pub to: Instant<Wall>,
    pub reason: LogGapReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogGapReason {
    /// A `sweep` entry names them.
    Pruned {
        /// Position and content of the retention policy under which they were recorded; `None` before the first policy,
        /// where pruning is not allowed.
        policy: Option<(u64, Retention)>,
    },
    /// An `erase_reads` entry names them.
    Erased {
        /// How many.
        reads: u64,
    },
}

impl LogGap {
    pub(super) const fn at(position: u64, recorded_at: Instant<Wall>, reason: LogGapReason) -> Self {
        Self { first: position, last: position, entries: 1, from: recorded_at, to: recorded_at, reason }
    }

    /// Extends the gap by the next one in the log, in either direction. Returns whether both have the same reason.
    fn join(&mut self, next: &Self) -> bool {
        match (&mut self.reason, next.reason) {
            (LogGapReason::Pruned { policy }, LogGapReason::Pruned { policy: other }) if *policy == other => {}
            (LogGapReason::Erased { reads }, LogGapReason::Erased { reads: more }) => *reads += more,
            (LogGapReason::Pruned { .. } | LogGapReason::Erased { .. }, _) => return false,
        }
        if next.first < self.first {
            (self.first, self.from) = (next.first, next.from);
        }
        if next.last > self.last {
            (self.last, self.to) = (next.last, next.to);
        }
        self.entries += next.entries;
        true
    }

    fn is_behind(&self, page: &LogPage, next: &Self) -> bool {
        let (low, high) = (self.last.min(next.last), self.first.max(next.first));
        page.logs.last().is_some_and(|entry| (low..=high).contains(&entry.position))
    }
}

/// Returns whether there was room for the gap.
pub(super) fn add(page: &mut LogPage, gap: Option<LogGap>, items_max: usize) -> bool {
    let Some(gap) = gap else { return true };
    let before = page.gaps.last().copied();
    if let Some(mut joined) = before.filter(|before| !before.is_behind(page, &gap))
        && joined.join(&gap)
    {
        page.gaps.pop();
        page.gaps.push(joined);
        return true;
    }
    let has_room = page.gaps.len() < items_max;
    if has_room {
        page.gaps.push(gap);
    }
    has_room
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::access_logs::LogEntry;

    fn at(position: u64, reason: LogGapReason) -> LogGap {
        LogGap::at(position, Instant::from_micros(position.cast_signed()).unwrap(), reason)
    }

    fn listed(position: u64) -> LogEntry {
        let (user_id, action, subject) = ("ada".to_owned(), "read".to_owned(), "clock".to_owned());
        let timestamp = Instant::from_micros(position.cast_signed()).unwrap();
        LogEntry { position, index: None, user_id, action, subject, timestamp, clock_time: None }
    }

    #[test]
    fn adjacent_log_gaps_are_merged_until_an_entry_is_listed() {
        let policy = |seconds| Retention { reads_seconds: Some(seconds), refusals_seconds: None };
        let pruned = |seconds| LogGapReason::Pruned { policy: Some((1, policy(seconds))) };
        for is_newest_first in [false, true] {
            let mut page = LogPage { logs: Vec::new(), gaps: Vec::new(), next_cursor: None };
            let mut take = |gaps: &[LogGap], entry: Option<LogEntry>| {
                for gap in gaps {
                    assert!(add(&mut page, Some(*gap), 4));
                }
                page.logs.extend(entry);
                page.gaps.iter().map(|gap| (gap.first, gap.last, gap.entries)).collect::<Vec<_>>()
            };
            let position = |number: u64| if is_newest_first { 100 - number } else { number };
            let run = |first: u64, last: u64| if is_newest_first { (100 - last, 100 - first) } else { (first, last) };
            let expected = |runs: &[(u64, u64, u64)]| {
                runs.iter()
                    .map(|(first, last, count)| (run(*first, *last).0, run(*first, *last).1, *count))
                    .collect::<Vec<_>>()
            };
            let gaps = [2, 3, 7].map(|number| at(position(number), pruned(9)));
            assert_eq!(take(&gaps, Some(listed(position(8)))), expected(&[(2, 7, 3)]));
            // Another policy, and an entry listed in between.
            let gaps = [at(position(9), pruned(9)), at(position(10), pruned(5))];
            assert_eq!(take(&gaps, None), expected(&[(2, 7, 3), (9, 9, 1), (10, 10, 1)]));
            let erased = |number, reads| at(position(number), LogGapReason::Erased { reads });
            let gaps = [erased(11, 2), erased(12, 3)];
            assert_eq!(take(&gaps, None).last(), expected(&[(11, 12, 2)]).last());
            assert_eq!(page.gaps[3].reason, LogGapReason::Erased { reads: 5 });
            assert!(!add(&mut page, Some(at(position(13), pruned(9))), 4), "so many and no more");
            assert!(add(&mut page, Some(erased(13, 1)), 4), "what is joined needs no room");
        }
    }
}

use std::collections::BTreeSet;

use crate::ledger::head::TimelineKey;

/// Maximum number of timelines in a hint. Beyond that, it covers all timelines.
pub const HINTED_TIMELINES_MAX: usize = 256;

/// Where another service may have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    All,
    /// On these timelines. If empty, only outside of ledgers.
    Some(BTreeSet<TimelineKey>),
}

impl Hint {
    #[must_use]
    pub fn of(timelines: impl IntoIterator<Item = TimelineKey>) -> Self {
        let mut named = BTreeSet::new();
        for timeline in timelines {
            named.insert(timeline);
            if named.len() > HINTED_TIMELINES_MAX {
                return Self::All;
            }
        }
        Self::Some(named)
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Some(one), Self::Some(other)) => Self::of(one.into_iter().chain(other)),
            (Self::All, Self::All | Self::Some(_)) | (Self::Some(_), Self::All) => Self::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_over_the_limit_covers_all_timelines() {
        let of = |numbers: std::ops::Range<i64>| Hint::of(numbers.map(TimelineKey));
        let most = i64::try_from(HINTED_TIMELINES_MAX).unwrap();
        assert_eq!(of(0..2).and(of(1..3)), of(0..3));
        assert!(matches!(of(0..most), Hint::Some(named) if named.len() == HINTED_TIMELINES_MAX));
        assert_eq!(of(0..most + 1), Hint::All);
        assert_eq!(of(0..most).and(of(most..most + 1)), Hint::All);
        assert_eq!(Hint::All.and(of(0..1)), Hint::All);
    }
}

/// By index. Several dates are tried concurrently, so each step divides the rest into more than two parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Search {
    count: usize,
    /// The last index known to pass before a failing one.
    passed: Option<usize>,
    /// The first index known to fail.
    failed: Option<usize>,
}

impl Search {
    pub(super) const fn new(count: usize) -> Self {
        Self { count, passed: None, failed: None }
    }

    /// Returns the next indices to try, up to `at_once` except for the two ends; none when the search is finished.
    pub(super) fn next(&self, at_once: usize) -> Vec<usize> {
        let Some(last) = self.count.checked_sub(1) else { return Vec::new() };
        match (self.passed, self.failed) {
            (None, None) if last == 0 => vec![0],
            (None, None) => vec![0, last],
            (Some(passed), Some(failed)) => {
                let between = failed - passed - 1;
                let tried = at_once.min(between);
                (1..=tried).map(|part| passed + part * (between + 1) / (tried + 1)).collect()
            }
            // The first date fails, or the last one passes.
            (None, Some(_)) | (Some(_), None) => Vec::new(),
        }
    }

    pub(super) fn learn(&mut self, tried: &[(usize, bool)]) {
        let failed = tried.iter().filter(|(_, passes)| !passes).map(|(index, _)| *index).min();
        self.failed = failed.or(self.failed);
        let end = self.failed.unwrap_or(self.count);
        let passed = tried.iter().filter(|(index, passes)| *passes && *index < end).map(|(index, _)| *index).max();
        self.passed = passed.or(self.passed);
    }

    pub(super) const fn found(&self) -> (Option<usize>, Option<usize>) {
        (self.failed, self.passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches `count` dates that fail from `first` on. Returns the result and the number of runs.
    fn searched(count: usize, first: usize, at_once: usize) -> (Option<usize>, usize) {
        let (mut search, mut runs) = (Search::new(count), 0);
        loop {
            let tried: Vec<_> = search.next(at_once).into_iter().map(|index| (index, index < first)).collect();
            if tried.is_empty() {
                return (search.found().0, runs);
            }
            assert!(tried.is_sorted() && tried.windows(2).all(|pair| pair[0].0 < pair[1].0), "{tried:?}");
            runs += tried.len();
            search.learn(&tried);
        }
    }

    #[test]
    fn bisect_finds_the_first_failing_date() {
        for count in 1..20 {
            for first in 0..=count {
                for at_once in 1..6 {
                    let expected = (first < count).then_some(first);
                    assert_eq!(searched(count, first, at_once).0, expected, "{first} of {count}, {at_once} at once");
                }
            }
        }
        assert_eq!(searched(1_462, 426, 1), (Some(426), 2 + 11));
        assert!(searched(1_462, 426, 3).1 <= 2 + 3 * 6);
        assert_eq!(searched(0, 0, 1), (None, 0));
    }

    #[test]
    fn intermittent_failure_is_found_after_a_passing_date() {
        let mut search = Search::new(100);
        search.learn(&[(0, true), (99, false)]);
        search.learn(&[(25, true), (50, false), (75, true)]);
        assert_eq!(search.found(), (Some(50), Some(25)));
    }
}

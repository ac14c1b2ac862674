use timenav_core::time::{Instant, Virtual};

pub(crate) struct Stretches {
    first: i64,
    /// The total length in microseconds.
    whole: i128,
    count: i128,
}

impl Stretches {
    /// Returns `count` ranges that cover ordered times; one range if all times are equal.
    pub(crate) fn between(times: &[Instant<Virtual>], count: usize) -> Option<Self> {
        let (first, last) = (times.first()?.micros(), times.last()?.micros());
        let count = if first == last { 1 } else { count as i128 };
        Some(Self { first, whole: i128::from(last) - i128::from(first) + 1, count })
    }

    pub(crate) fn number_of(&self, time: Instant<Virtual>) -> i128 {
        (i128::from(time.micros()) - i128::from(self.first)) * self.count / self.whole
    }

    pub(crate) const fn count(&self) -> i128 {
        self.count
    }

    pub(crate) fn begin(&self, number: i128) -> i64 {
        // The first microsecond with this index.
        let since = (self.whole * number + self.count - 1).div_euclid(self.count);
        i64::try_from(i128::from(self.first) + since).unwrap_or(i64::MAX)
    }

    /// Returns the microsecond after the range that begins at `begin`.
    pub(super) fn end(&self, begin: i64) -> Option<i64> {
        let number = Instant::from_micros(begin).map(|time| self.number_of(time))?;
        Some(self.begin(number + 1))
    }
}

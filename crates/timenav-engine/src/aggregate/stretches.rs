//! Equal stretches of time, as many as are asked for.

use timenav_core::time::{Instant, Virtual};

/// Equal stretches between the first and the last of some times.
pub(crate) struct Stretches {
    first: i64,
    /// Microseconds of all of them together.
    whole: i128,
    count: i128,
}

impl Stretches {
    /// Returns so many stretches between both ends of times that are in order; one where they are one time.
    pub(crate) fn between(times: &[Instant<Virtual>], count: usize) -> Option<Self> {
        let (first, last) = (times.first()?.micros(), times.last()?.micros());
        let count = if first == last { 1 } else { count as i128 };
        Some(Self { first, whole: i128::from(last) - i128::from(first) + 1, count })
    }

    /// Returns which stretch a time is in, from 0.
    pub(crate) fn number_of(&self, time: Instant<Virtual>) -> i128 {
        (i128::from(time.micros()) - i128::from(self.first)) * self.count / self.whole
    }

    /// Returns how many there are.
    pub(crate) const fn count(&self) -> i128 {
        self.count
    }

    /// Returns the microsecond with which a stretch begins.
    pub(crate) fn begin(&self, number: i128) -> i64 {
        // The first microsecond whose number it is.
        let since = (self.whole * number + self.count - 1).div_euclid(self.count);
        i64::try_from(i128::from(self.first) + since).unwrap_or(i64::MAX)
    }

    /// Returns the microsecond with which the stretch ends that begins there.
    pub(super) fn end(&self, begin: i64) -> Option<i64> {
        let number = Instant::from_micros(begin).map(|time| self.number_of(time))?;
        Some(self.begin(number + 1))
    }
}

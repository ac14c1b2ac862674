use crate::time::{Instant, Virtual};

/// The second of the first instant, since 1970.
pub(super) const FIRST_SECOND: i64 = Instant::<Virtual>::MIN.micros() / 1_000_000;
/// The second of the last instant, since 1970.
pub(super) const LAST_SECOND: i64 = Instant::<Virtual>::MAX.micros() / 1_000_000;
/// Leap seconds do not exist here.
pub(super) const DAY_SECONDS: i64 = 86_400;
pub(super) const HOUR_SECONDS: i64 = 3_600;
pub(super) const MINUTE_SECONDS: i64 = 60;

/// Numbers from 0 to 63, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn range(first: u32, last: u32) -> Self {
        Self((first..=last).fold(0, |bits, number| bits | 1 << number))
    }

    pub(super) fn one(number: i64) -> Self {
        let mut numbers = Self::default();
        numbers.insert(number);
        numbers
    }

    /// Adds a number. Ignored unless it is from 0 to 63.
    pub(super) fn insert(&mut self, number: i64) {
        if let Ok(number) = u32::try_from(number) {
            self.0 |= 1_u64.checked_shl(number).unwrap_or(0);
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) const fn len(self) -> i64 {
        self.0.count_ones() as i64
    }

    pub(super) fn contains(self, number: i64) -> bool {
        self.next(number) == Some(number)
    }

    /// Returns the smallest number from `from` on, which must not be negative.
    pub(super) fn next(self, from: i64) -> Option<i64> {
        let from = u32::try_from(from).ok()?;
        let left = self.0.checked_shr(from).unwrap_or(0);
        (left != 0).then(|| i64::from(from + left.trailing_zeros()))
    }

    fn nth(self, index: i64) -> Option<i64> {
        self.iter().nth(usize::try_from(index).ok()?)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = i64> {
        std::iter::successors(self.next(0), move |number| self.next(number + 1))
    }
}

/// Times of day: all combinations of the hours, minutes and seconds. No set is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) hours: Numbers,
    pub(super) minutes: Numbers,
    pub(super) seconds: Numbers,
}

impl Times {
    pub(super) const fn len(&self) -> i64 {
        self.hours.len() * self.minutes.len() * self.seconds.len()
    }

    /// Returns the first time from `from` on, in seconds since midnight.
    pub(super) fn next(&self, from: i64) -> Option<i64> {
        let (hour, minute, second) = (from / HOUR_SECONDS, from % HOUR_SECONDS / MINUTE_SECONDS, from % MINUTE_SECONDS);
        if self.hours.contains(hour) {
            if self.minutes.contains(minute)
                && let Some(second) = self.seconds.next(second)
            {
                return Some(hour * HOUR_SECONDS + minute * MINUTE_SECONDS + second);
            }
            if let Some(minute) = self.minutes.next(minute + 1) {
                return Some(hour * HOUR_SECONDS + minute * MINUTE_SECONDS + self.seconds.next(0)?);
            }
        }
        let hour = self.hours.next(hour + 1)?;
        Some(hour * HOUR_SECONDS + self.minutes.next(0)? * MINUTE_SECONDS + self.seconds.next(0)?)
    }

    pub(super) fn nth(&self, index: i64) -> Option<i64> {
        let (minutes, seconds) = (self.minutes.len(), self.seconds.len());
        let hour = self.hours.nth(index / (minutes * seconds))?;
        let minute = self.minutes.nth(index / seconds % minutes)?;
        let second = self.seconds.nth(index % seconds)?;
        Some(hour * HOUR_SECONDS + minute * MINUTE_SECONDS + second)
    }

    /// Returns whether any time is less than `width` seconds after `phase` plus a multiple of `step`.
    pub(super) fn has_any_in_step(&self, phase: i64, step: i64, width: i64) -> bool {
        self.hours.iter().any(|hour| {
            self.minutes.iter().any(|minute| {
                self.seconds.iter().any(|second| {
                    let time = hour * HOUR_SECONDS + minute * MINUTE_SECONDS + second;
                    (time - phase).rem_euclid(step) < width
                })
            })
        })
    }
}

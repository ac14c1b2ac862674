//! Times of day: hours, minutes and seconds, each from a set.

use crate::time::{Instant, Virtual};

/// The first second of all instants, since 1970.
pub(super) const FIRST_SECOND: i64 = Instant::<Virtual>::MIN.micros() / 1_000_000;
/// The last second of all instants, since 1970.
pub(super) const LAST_SECOND: i64 = Instant::<Virtual>::MAX.micros() / 1_000_000;
/// Seconds in a day. There are no leap seconds here.
pub(super) const DAY_SECONDS: i64 = 86_400;
/// Seconds in an hour.
pub(super) const HOUR_SECONDS: i64 = 3_600;
/// Seconds in a minute.
pub(super) const MINUTE_SECONDS: i64 = 60;

/// Numbers from 0 to 63, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers(u64);

impl Numbers {
    /// Returns all numbers from the first to the last.
    pub(super) fn range(first: u32, last: u32) -> Self {
        Self((first..=last).fold(0, |bits, number| bits | 1 << number))
    }

    /// Returns that number alone.
    pub(super) fn one(number: i64) -> Self {
        let mut numbers = Self::default();
        numbers.insert(number);
        numbers
    }

    /// Adds a number. One that is not from 0 to 63 is left out.
    pub(super) fn insert(&mut self, number: i64) {
        if let Ok(number) = u32::try_from(number) {
            self.0 |= 1_u64.checked_shl(number).unwrap_or(0);
        }
    }

    /// Adds all numbers of another set.
    pub(super) fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) const fn len(self) -> i64 {
        self.0.count_ones() as i64
    }

    pub(super) fn contains(self, number: i64) -> bool {
        self.next(number) == Some(number)
    }

    /// Returns the smallest number that is not below `from`, which is not negative.
    pub(super) fn next(self, from: i64) -> Option<i64> {
        let from = u32::try_from(from).ok()?;
        let left = self.0.checked_shr(from).unwrap_or(0);
        (left != 0).then(|| i64::from(from + left.trailing_zeros()))
    }

    /// Returns the number that has so many below it.
    fn nth(self, index: i64) -> Option<i64> {
        self.iter().nth(usize::try_from(index).ok()?)
    }

    /// Returns all of them, the smallest first.
    pub(super) fn iter(self) -> impl Iterator<Item = i64> {
        std::iter::successors(self.next(0), move |number| self.next(number + 1))
    }
}

/// Times of day: each hour of a set with each minute and each second of two others. None is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) hours: Numbers,
    pub(super) minutes: Numbers,
    pub(super) seconds: Numbers,
}

impl Times {
    /// Returns how many there are.
    pub(super) const fn len(&self) -> i64 {
        self.hours.len() * self.minutes.len() * self.seconds.len()
    }

    /// Returns the first one that is not before `from`. All are in seconds since midnight.
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

    /// Returns the one that has so many before it.
    pub(super) fn nth(&self, index: i64) -> Option<i64> {
        let (minutes, seconds) = (self.minutes.len(), self.seconds.len());
        let hour = self.hours.nth(index / (minutes * seconds))?;
        let minute = self.minutes.nth(index / seconds % minutes)?;
        let second = self.seconds.nth(index % seconds)?;
        Some(hour * HOUR_SECONDS + minute * MINUTE_SECONDS + second)
    }

    /// Returns whether any of them is less than `width` seconds after `phase`, or that and whole multiples of `step`.
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

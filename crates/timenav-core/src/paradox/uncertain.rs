//! Times that are known only so well, and what is so for every value or for some.
//!
//! Times are whole microseconds, so an event without length lasts one: `[t, t + 1)`. An event that
//! ends before it begins is taken as one without length here; that it is inverted is told apart.

use super::kinds::Grade;
use crate::event::Precision;
use crate::time::{Instant, Unit, Virtual, unit_of};

/// The values that a time may have: both ends are possible, and all between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncertain {
    /// The earliest.
    pub min: Instant<Virtual>,
    /// The latest.
    pub max: Instant<Virtual>,
}

impl Uncertain {
    /// Returns the values of a time that is known to a unit of the calendar in UTC, or exactly.
    #[must_use]
    pub fn new(time: Instant<Virtual>, precision: Option<Precision>) -> Self {
        let unit = match precision {
            None => return Self { min: time, max: time },
            Some(Precision::Year) => Unit::Year,
            Some(Precision::Month) => Unit::Month,
            Some(Precision::Day) => Unit::Day,
            Some(Precision::Hour) => Unit::Hour,
            Some(Precision::Minute) => Unit::Minute,
            Some(Precision::Second) => Unit::Second,
        };
        let (min, max) = unit_of(time, unit);
        Self { min, max }
    }

    /// Returns whether this lies more than `tolerance` microseconds before `other`: for every
    /// value, for some, or for none.
    #[must_use]
    pub fn before(self, other: Self, tolerance_micros: i64) -> Option<Grade> {
        let is_before = |this: Instant<Virtual>, other: Instant<Virtual>| {
            this.micros() < other.micros().saturating_sub(tolerance_micros)
        };
        graded(is_before(self.max, other.min), is_before(self.min, other.max))
    }

    /// Returns whether there is only one value.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.min == self.max
    }

    /// Returns the earliest and the latest value in microseconds.
    const fn micros(self) -> (i64, i64) {
        (self.min.micros(), self.max.micros())
    }
}

/// When an event may have begun and been over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// When it began.
    pub start: Uncertain,
    /// When it was over; as `start` where nothing is said.
    pub end: Uncertain,
}

impl Stretch {
    /// Returns the stretch of an event with that time, end and precision.
    #[must_use]
    pub fn new(time: Instant<Virtual>, end: Option<Instant<Virtual>>, precision: Option<Precision>) -> Self {
        let start = Uncertain::new(time, precision);
        let end = end.map_or(start, |end| Uncertain::new(end, precision));
        Self { start, end: Uncertain { min: end.min.max(start.min), max: end.max.max(start.max) } }
    }

    /// Returns whether it has no length and is known exactly.
    #[must_use]
    pub fn is_sharp(self) -> bool {
        self.start.is_exact() && self.end == self.start
    }

    /// Returns the shortest and the longest possible time between the two, in microseconds; zero
    /// where they overlap.
    #[must_use]
    pub fn gap_micros(self, other: Self) -> (i64, i64) {
        let ((start_min, start_max), (end_min, end_max)) = (self.start.micros(), self.end.micros());
        let ((other_start_min, other_start_max), (other_end_min, other_end_max)) =
            (other.start.micros(), other.end.micros());
        let shortest = (other_start_min - end_max).max(start_min - other_end_max).max(0);
        let longest = (other_start_max - end_min).max(start_max - other_end_min).max(0);
        (shortest, longest)
    }

    /// Returns whether the two have a moment in common: for every value, for some, or for none.
    #[must_use]
    pub fn meets(self, other: Self) -> Option<Grade> {
        let always = self.start.max.micros() < other.over_min() && other.start.max.micros() < self.over_min();
        let sometimes = self.start.min.micros() < other.over_max() && other.start.min.micros() < self.over_max();
        graded(always, sometimes)
    }

    /// Returns what the two have in common for all values, or where that is nothing, for the values
    /// that make it largest: the first moment, and the first one after it.
    #[must_use]
    pub fn intersection(self, other: Self) -> (Instant<Virtual>, Instant<Virtual>) {
        let always = (self.start.max.max(other.start.max), self.over_min().min(other.over_min()));
        let sometimes = (self.start.min.max(other.start.min), self.over_max().min(other.over_max()));
        // A point somewhere in a day surely lies in a stretch of two days, but no one moment of it does.
        let (from, to) = if always.0.micros() < always.1 { always } else { sometimes };
        (from, Instant::from_micros(to).unwrap_or(Instant::MAX))
    }

    /// Returns the earliest microsecond that it may not cover any more, once it began.
    fn over_min(self) -> i64 {
        self.end.min.micros().max(self.start.min.micros() + 1)
    }

    /// Returns the first microsecond that it cannot cover any more.
    pub(super) fn over_max(self) -> i64 {
        self.end.max.micros().max(self.start.max.micros() + 1)
    }
}

/// Returns whether an end lies before its beginning for every possible value.
#[must_use]
pub fn is_inverted(time: Instant<Virtual>, end: Option<Instant<Virtual>>, precision: Option<Precision>) -> bool {
    end.is_some_and(|end| Uncertain::new(end, precision).max < Uncertain::new(time, precision).min)
}

/// Returns the grade of what is so for every value, or for some.
#[must_use]
pub(super) const fn graded(always: bool, sometimes: bool) -> Option<Grade> {
    match (always, sometimes) {
        (true, _) => Some(Grade::Definite),
        (false, true) => Some(Grade::Possible),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::parse_timestamp;

    fn at(text: &str) -> Instant<Virtual> {
        parse_timestamp(text).unwrap()
    }

    fn micros(micros: i64) -> Instant<Virtual> {
        Instant::from_micros(micros).unwrap()
    }

    fn exact(start: i64, end: i64) -> Stretch {
        Stretch::new(micros(start), Some(micros(end)), None)
    }

    #[test]
    fn a_unit_is_every_value_in_it() {
        let day = Uncertain::new(at("1900-01-01T12:00:00Z"), Some(Precision::Day));
        assert_eq!(day, Uncertain { min: at("1900-01-01T00:00:00Z"), max: at("1900-01-01T23:59:59.999999Z") });
        assert!(Uncertain::new(at("1900-01-01T12:00:00Z"), None).is_exact());
    }

    #[test]
    fn before_has_two_grades() {
        let check = |this: (i64, i64), other: (i64, i64), tolerance, expected| {
            let [this, other] = [this, other].map(|(min, max)| Uncertain { min: micros(min), max: micros(max) });
            assert_eq!(this.before(other, tolerance), expected, "{this:?} {other:?} {tolerance}");
        };
        check((1, 2), (3, 4), 0, Some(Grade::Definite));
        check((1, 3), (3, 4), 0, Some(Grade::Possible));
        check((4, 4), (3, 4), 0, None);
        check((1, 2), (3, 4), 1, Some(Grade::Possible));
        check((1, 2), (3, 4), 3, None);
        check((1, 1), (3, 3), 1, Some(Grade::Definite));
        check((1, 1), (3, 3), 2, None);
    }

    #[test]
    fn stretches_are_closed_and_open() {
        assert_eq!(exact(1, 5).meets(exact(5, 9)), None);
        assert_eq!(exact(1, 5).meets(exact(4, 9)), Some(Grade::Definite));
        assert_eq!(exact(1, 5).intersection(exact(4, 9)), (micros(4), micros(5)));
        assert_eq!(exact(3, 3).meets(exact(3, 3)), Some(Grade::Definite));
        assert_eq!(exact(3, 3).meets(exact(1, 3)), None);
        assert_eq!(exact(3, 3).meets(exact(3, 9)), Some(Grade::Definite));
        assert_eq!(exact(1, 5).gap_micros(exact(9, 12)), (4, 4));
        assert_eq!(exact(9, 12).gap_micros(exact(1, 10)), (0, 0));
    }

    #[test]
    fn an_end_before_the_beginning_is_inverted_and_counts_as_no_length() {
        assert!(is_inverted(micros(5), Some(micros(4)), None));
        assert!(!is_inverted(micros(5), Some(micros(5)), None));
        let (noon, morning) = (at("1900-01-01T12:00:00Z"), at("1900-01-01T09:00:00Z"));
        assert!(!is_inverted(noon, Some(morning), Some(Precision::Day)));
        assert!(exact(5, 4).is_sharp());
    }

    #[test]
    fn two_times_of_one_day_meet_possibly() {
        let day = |text| Stretch::new(at(text), None, Some(Precision::Day));
        let (one, other) = (day("1900-01-01T12:00:00Z"), day("1900-01-01T13:00:00Z"));
        assert_eq!(one.meets(other), Some(Grade::Possible));
        assert_eq!(one.gap_micros(other), (0, 86_400_000_000 - 1));
    }
}

//! Uncertain times, and comparisons that hold for all or for some of their possible values.
//!
//! Times are whole microseconds, so an event without duration lasts one: `[t, t + 1)`. An event that ends before it
//! starts counts as one without duration here; the inversion is reported separately.

use crate::event::Precision;
use crate::paradox::kinds::Grade;
use crate::time::{Instant, Virtual, unit_of};

/// The possible values of a time: from `min` to `max`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncertain {
    pub min: Instant<Virtual>,
    pub max: Instant<Virtual>,
}

impl Uncertain {
    /// Returns the calendar unit in UTC around a time, or the exact time for a precision of `None`.
    #[must_use]
    pub fn new(time: Instant<Virtual>, precision: Option<Precision>) -> Self {
        let (min, max) = precision.map_or((time, time), |unit| unit_of(time, unit));
        Self { min, max }
    }

    /// Returns whether this is more than `tolerance_micros` before `other`, for all or for some values.
    #[must_use]
    pub fn before(self, other: Self, tolerance_micros: i64) -> Option<Grade> {
        let is_before = |this: Instant<Virtual>, other: Instant<Virtual>| {
            this.micros() < other.micros().saturating_sub(tolerance_micros)
        };
        graded(is_before(self.max, other.min), is_before(self.min, other.max))
    }

    #[must_use]
    pub fn is_exact(self) -> bool {
        self.min == self.max
    }

    const fn micros(self) -> (i64, i64) {
        (self.min.micros(), self.max.micros())
    }
}

/// When an event may have started and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub start: Uncertain,
    /// Equal to `start` if the event has no end.
    pub end: Uncertain,
}

impl Stretch {
    #[must_use]
    pub fn new(time: Instant<Virtual>, end: Option<Instant<Virtual>>, precision: Option<Precision>) -> Self {
        let start = Uncertain::new(time, precision);
        let end = end.map_or(start, |end| Uncertain::new(end, precision));
        Self { start, end: Uncertain { min: end.min.max(start.min), max: end.max.max(start.max) } }
    }

    /// Returns whether it has no duration and is known exactly.
    #[must_use]
    pub fn is_sharp(self) -> bool {
        self.start.is_exact() && self.end == self.start
    }

    /// Returns the shortest and the longest possible time between the two, in microseconds; zero if they overlap.
    #[must_use]
    pub fn gap_micros(self, other: Self) -> (i64, i64) {
        let ((start_min, start_max), (end_min, end_max)) = (self.start.micros(), self.end.micros());
        let ((other_start_min, other_start_max), (other_end_min, other_end_max)) =
            (other.start.micros(), other.end.micros());
        let shortest = (other_start_min - end_max).max(start_min - other_end_max).max(0);
        let longest = (other_start_max - end_min).max(start_max - other_end_min).max(0);
        (shortest, longest)
    }

    /// Returns whether the two overlap, for all or for some values.
    #[must_use]
    pub fn meets(self, other: Self) -> Option<Grade> {
        let always = self.start.max.micros() < other.over_min() && other.start.max.micros() < self.over_min();
        let sometimes = self.start.min.micros() < other.over_max() && other.start.min.micros() < self.over_max();
        graded(always, sometimes)
    }

    /// Returns the overlap that holds for all values, or if there is none, the largest possible one: its first moment,
    /// and the first one after it.
    #[must_use]
    pub fn intersection(self, other: Self) -> (Instant<Virtual>, Instant<Virtual>) {
        let always = (self.start.max.max(other.start.max), self.over_min().min(other.over_min()));
        let sometimes = (self.start.min.max(other.start.min), self.over_max().min(other.over_max()));
        // A point somewhere in a day certainly lies in a period of two days, but there is no moment at which both
        // certainly are.
        let (from, to) = if always.0.micros() < always.1 { always } else { sometimes };
        (from, Instant::from_micros(to).unwrap_or(Instant::MAX))
    }

    /// Returns the earliest possible end, excluded, in microseconds; always after the start.
    fn over_min(self) -> i64 {
        self.end.min.micros().max(self.start.min.micros() + 1)
    }

    /// Returns the latest possible end, excluded, in microseconds.
    pub(in crate::paradox) fn over_max(self) -> i64 {
        self.end.max.micros().max(self.start.max.micros() + 1)
    }
}

/// Returns whether the end is before the start for all possible values.
#[must_use]
pub fn is_inverted(time: Instant<Virtual>, end: Option<Instant<Virtual>>, precision: Option<Precision>) -> bool {
    end.is_some_and(|end| Uncertain::new(end, precision).max < Uncertain::new(time, precision).min)
}

/// Returns the grade of something that holds for all values, or for some.
#[must_use]
pub(in crate::paradox) const fn graded(always: bool, sometimes: bool) -> Option<Grade> {
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
    fn precision_unit_covers_all_values_in_it() {
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
    fn intervals_are_half_open_except_for_instants() {
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
    fn end_before_the_start_is_inverted_and_has_no_length() {
        assert!(is_inverted(micros(5), Some(micros(4)), None));
        assert!(!is_inverted(micros(5), Some(micros(5)), None));
        let (noon, morning) = (at("1900-01-01T12:00:00Z"), at("1900-01-01T09:00:00Z"));
        assert!(!is_inverted(noon, Some(morning), Some(Precision::Day)));
        assert!(exact(5, 4).is_sharp());
    }

    #[test]
    fn two_times_of_one_day_possibly_overlap() {
        let day = |text| Stretch::new(at(text), None, Some(Precision::Day));
        let (one, other) = (day("1900-01-01T12:00:00Z"), day("1900-01-01T13:00:00Z"));
        assert_eq!(one.meets(other), Some(Grade::Possible));
        assert_eq!(one.gap_micros(other), (0, 86_400_000_000 - 1));
    }
}

//! Duration classes of events, to find events that began before a range and last into it.
//!
//! Events are indexed by their start, so any earlier event could still last. In one class, no event is twice as long as
//! another. Events of a class that last into a range therefore began within a bounded time before it.

use std::borrow::Cow;

use serde::Deserialize;
use timenav_core::time::{Instant, Virtual, parse_timestamp};

/// The duration of an event: the binary logarithm of its microseconds, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LengthClass(u8);

#[derive(Deserialize)]
struct TimeFields<'a> {
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(default, borrow)]
    end_time: Option<Cow<'a, str>>,
}

impl LengthClass {
    const COUNT: u8 = 64;

    /// Returns the class of an event; `None` if it has no end or no duration.
    #[must_use]
    pub fn of(time: Instant<Virtual>, end_time: Option<Instant<Virtual>>) -> Option<Self> {
        let length = end_time.filter(|end| *end > time)?.micros().abs_diff(time.micros());
        u8::try_from(length.ilog2()).ok().map(Self)
    }

    /// Returns the class of an event, given its JSON; `None` also for invalid JSON.
    #[must_use]
    pub fn of_content(content: &str) -> Option<Self> {
        let (time, end_time) = times(content)?;
        Self::of(time, end_time)
    }

    /// Returns all classes, the shortest events first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        (number < Self::COUNT).then_some(Self(number))
    }

    /// Returns the earliest start, in microseconds, of an event of the class that lasts until an instant or longer.
    #[must_use]
    pub fn earliest_until(self, instant: Instant<Virtual>) -> i64 {
        let longest = u64::MAX >> (Self::COUNT - 1 - self.0);
        instant.micros().saturating_sub_unsigned(longest)
    }

    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// Returns whether an event begins before an instant and lasts until it or longer, given its JSON.
#[must_use]
pub fn lasts_into(content: &str, instant: Instant<Virtual>) -> bool {
    times(content).is_some_and(|(time, end_time)| time < instant && end_time.is_some_and(|end| end >= instant))
}

fn times(content: &str) -> Option<(Instant<Virtual>, Option<Instant<Virtual>>)> {
    let fields: TimeFields<'_> = serde_json::from_str(content).ok()?;
    let time = parse_timestamp(&fields.time).ok()?;
    let end_time = fields.end_time.map(|end| parse_timestamp(&end)).transpose().ok()?;
    Some((time, end_time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Instant<Virtual> {
        Instant::from_micros(micros).unwrap()
    }

    #[test]
    fn events_of_one_length_class_differ_less_than_twofold() {
        for (length, class) in [(1, 0), (2, 1), (3, 1), (4, 2), (1_000_000, 19), (86_400_000_000, 36)] {
            assert_eq!(LengthClass::of(at(-5), Some(at(length - 5))), Some(LengthClass(class)), "{length}");
        }
        assert_eq!(LengthClass::of(at(3), None), None);
        assert_eq!(LengthClass::of(at(3), Some(at(3))), None);
        assert_eq!(LengthClass::of(at(3), Some(at(2))), None);
    }

    #[test]
    fn length_class_bounds_the_start_of_overlapping_events() {
        let instant = at(1_000_000_000);
        for length in [1_i64, 2, 3, 4, 7, 8, 1_000_000, 999_999_999, 86_400_000_000] {
            let begin = instant.micros() - length;
            let class = LengthClass::of(at(begin), Some(instant)).unwrap();
            let earliest = class.earliest_until(instant);
            assert!(earliest <= begin, "{length}");
            // Not much earlier either, or all earlier events would be examined.
            assert!(i128::from(begin) - i128::from(earliest) < i128::from(length), "{length}");
        }
        let longest = LengthClass::all().last().unwrap();
        assert_eq!((longest, longest.earliest_until(instant)), (LengthClass(63), i64::MIN));
    }

    #[test]
    fn length_classes_are_numbered_up_to_63() {
        assert!(LengthClass::all().map(LengthClass::number).eq(0..64));
        assert!(LengthClass::all().all(|class| LengthClass::of_number(class.number()) == Some(class)));
        assert_eq!(LengthClass::of_number(64), None);
    }

    #[test]
    fn event_json_shows_whether_it_lasts_into_a_range() {
        let content =
            r#"{"event_id":"e","time":"2005-08-23T18:00:00Z","end_time":"2005-08-30T12:00:00Z","description":""}"#;
        let day = |text: &str| parse_timestamp::<Virtual>(text).unwrap();
        assert!(lasts_into(content, day("2005-08-29T00:00:00Z")));
        assert!(lasts_into(content, day("2005-08-30T12:00:00Z")));
        assert!(!lasts_into(content, day("2005-08-30T12:00:00.000001Z")));
        // In that case it begins in the range.
        assert!(!lasts_into(content, day("2005-08-23T18:00:00Z")));
        assert!(!lasts_into(r#"{"event_id":"e","time":"2005-08-23T18:00:00Z"}"#, day("2005-08-29T00:00:00Z")));
        assert_eq!(LengthClass::of_content(content).map(LengthClass::number), Some(39));
        assert_eq!(LengthClass::of_content(""), None, "of a row that says that an inherited event does not stand");
    }
}

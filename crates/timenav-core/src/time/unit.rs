use super::Instant;
use super::civil::{Civil, DAY_MICROS, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS};

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unit {
        Year = "year",
        Month = "month",
        Day = "day",
        Hour = "hour",
        Minute = "minute",
        Second = "second",
    }
}

/// Returns the first and the last microsecond of the unit that contains an instant.
#[must_use]
pub fn unit_of<S>(at: Instant<S>, unit: Unit) -> (Instant<S>, Instant<S>) {
    let micros = at.micros();
    let (first, next) = match unit {
        Unit::Year => months(micros, 12),
        Unit::Month => months(micros, 1),
        Unit::Day => stretch(micros, DAY_MICROS),
        Unit::Hour => stretch(micros, HOUR_MICROS),
        Unit::Minute => stretch(micros, MINUTE_MICROS),
        Unit::Second => stretch(micros, SECOND_MICROS),
    };
    // The range of instants starts and ends with a year, so it contains both.
    (Instant::from_micros(first).unwrap_or(Instant::MIN), Instant::from_micros(next - 1).unwrap_or(Instant::MAX))
}

const fn stretch(micros: i64, length: i64) -> (i64, i64) {
    let first = micros - micros.rem_euclid(length);
    (first, first + length)
}

fn months(micros: i64, count: i64) -> (i64, i64) {
    let civil = Civil::from_micros(micros);
    let first = Civil { month: civil.month - (civil.month - 1) % count, day: 1, day_micros: 0, ..civil };
    let micros_of = |civil: Civil| civil.micros().unwrap_or(micros);
    (micros_of(first), micros_of(first.months_later(count)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Virtual, parse_timestamp};

    fn check(at: &str, unit: Unit, first: &str, last: &str) {
        let at: Instant<Virtual> = parse_timestamp(at).unwrap();
        let (from, to) = unit_of(at, unit);
        assert_eq!((from.to_string().as_str(), to.to_string().as_str()), (first, last), "{at} {unit:?}");
    }

    #[test]
    fn units_begin_and_end_at_calendar_boundaries() {
        let at = "2024-02-29T13:14:15.5Z";
        check(at, Unit::Year, "2024-01-01T00:00:00Z", "2024-12-31T23:59:59.999999Z");
        check(at, Unit::Month, "2024-02-01T00:00:00Z", "2024-02-29T23:59:59.999999Z");
        check(at, Unit::Day, "2024-02-29T00:00:00Z", "2024-02-29T23:59:59.999999Z");
        check(at, Unit::Hour, "2024-02-29T13:00:00Z", "2024-02-29T13:59:59.999999Z");
        check(at, Unit::Minute, "2024-02-29T13:14:00Z", "2024-02-29T13:14:59.999999Z");
        check(at, Unit::Second, "2024-02-29T13:14:15Z", "2024-02-29T13:14:15.999999Z");
        let early = "-000043-03-15T11:00:00Z";
        check(early, Unit::Year, "-000043-01-01T00:00:00Z", "-000043-12-31T23:59:59.999999Z");
        check(early, Unit::Day, "-000043-03-15T00:00:00Z", "-000043-03-15T23:59:59.999999Z");
    }

    #[test]
    fn ends_of_time_are_within_units() {
        check("9999-12-31T23:59:59Z", Unit::Year, "9999-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z");
        check("9999-12-31T23:59:59Z", Unit::Month, "9999-12-01T00:00:00Z", "9999-12-31T23:59:59.999999Z");
        check("-009999-01-01T00:00:00Z", Unit::Year, "-009999-01-01T00:00:00Z", "-009999-12-31T23:59:59.999999Z");
    }
}

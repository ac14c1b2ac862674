use super::civil::Civil;
use super::{Duration, Instant};

/// A bucket length, in UTC. Exact lengths are aligned to 1970-01-01T00:00:00Z, months to January of the year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// In microseconds.
    Exact(i64),
    Months(u32),
}

impl Bucket {
    /// Returns `None` if there are both months and an exact part, because such buckets have no common length.
    #[must_use]
    pub const fn new(duration: Duration) -> Option<Self> {
        match (duration.months(), duration.exact().micros()) {
            (0, micros) => Some(Self::Exact(micros)),
            (months, 0) => Some(Self::Months(months)),
            _ => None,
        }
    }

    /// Returns the start of the bucket of an instant, in microseconds since 1970. It may be before all instants.
    #[must_use]
    pub fn begin<S>(self, at: Instant<S>) -> i64 {
        match self {
            Self::Exact(micros) => at.micros().div_euclid(micros).saturating_mul(micros),
            Self::Months(months) => {
                let civil = Civil::from_micros(at.micros());
                let number = civil.year * 12 + civil.month - 1;
                month(number.div_euclid(i64::from(months)) * i64::from(months))
            }
        }
    }

    /// Returns the start of the next bucket after the one at `begin`; `None` beyond the range.
    #[must_use]
    pub fn end(self, begin: i64) -> Option<i64> {
        match self {
            Self::Exact(micros) => begin.checked_add(micros),
            Self::Months(months) => {
                let civil = Civil::from_micros(begin);
                Some(month(civil.year * 12 + civil.month - 1 + i64::from(months)))
            }
        }
    }
}

/// Returns the start of a month, counted from January of the year 0, in microseconds.
fn month(number: i64) -> i64 {
    let (year, month) = (number.div_euclid(12), number.rem_euclid(12) + 1);
    let outside = if year < 0 { i64::MIN } else { i64::MAX };
    Civil { year, month, day: 1, day_micros: 0 }.micros().unwrap_or(outside)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Virtual, parse_duration, parse_timestamp};
    use super::*;

    #[test]
    fn buckets_begin_at_calendar_boundaries() {
        let check = |bucket: &str, at: &str, begin: &str, end: &str| {
            let bucket = Bucket::new(parse_duration(bucket).unwrap()).unwrap();
            let micros = |text: &str| parse_timestamp::<Virtual>(text).unwrap().micros();
            let found = bucket.begin(parse_timestamp::<Virtual>(at).unwrap());
            assert_eq!((found, bucket.end(found)), (micros(begin), Some(micros(end))), "{at}");
        };
        check("PT1H", "1969-07-20T20:17:40Z", "1969-07-20T20:00:00Z", "1969-07-20T21:00:00Z");
        check("P1D", "-000043-03-15T11:00:00Z", "-000043-03-15T00:00:00Z", "-000043-03-16T00:00:00Z");
        check("P1M", "2024-02-29T23:59:59.999999Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z");
        check("P3M", "1969-12-31T00:00:00Z", "1969-10-01T00:00:00Z", "1970-01-01T00:00:00Z");
        check("P1Y", "-000043-03-15T11:00:00Z", "-000043-01-01T00:00:00Z", "-000042-01-01T00:00:00Z");
        check("P100Y", "1969-07-20T20:17:40Z", "1900-01-01T00:00:00Z", "2000-01-01T00:00:00Z");
        check("P100Y", "-000001-07-20T20:17:40Z", "-000100-01-01T00:00:00Z", "0000-01-01T00:00:00Z");
        assert_eq!(Bucket::new(parse_duration("P1M1D").unwrap()), None);
    }

    proptest! {
        #[test]
        fn every_instant_is_in_its_bucket(
            micros in Instant::<Virtual>::MIN.micros()..=Instant::<Virtual>::MAX.micros(),
            months in 0..40_000_u32,
            exact in 1..i64::MAX,
        ) {
            let at = Instant::<Virtual>::from_micros(micros).unwrap();
            let bucket = if months == 0 { Bucket::Exact(exact) } else { Bucket::Months(months) };
            let begin = bucket.begin(at);
            prop_assert!(begin <= micros);
            if let Some(end) = bucket.end(begin) {
                prop_assert!(micros < end, "{micros} {begin} {end}");
            }
        }
    }
}

//! Days with a leap second (IERS Bulletin C).

use timenav_core::time::{Instant, Virtual};

const DAY_MICROS: i64 = 86_400_000_000;

/// Days since 1970 whose last minute had 61 seconds, from 30 June 1972 to 31 December 2016. None has been announced
/// since, and none has ever had 59 seconds.
const DAYS: [i64; 27] = [
    911, 1_095, 1_460, 1_825, 2_190, 2_556, 2_921, 3_286, 3_651, 4_198, 4_563, 4_928, 5_659, 6_573, 7_304, 7_669,
    8_216, 8_581, 8_946, 9_495, 10_042, 10_591, 13_148, 14_244, 15_521, 16_616, 17_166,
];

/// Returns the leap indicator of a day: 1 if it ends with a leap second, otherwise 0 (RFC 4330, section 4).
pub(super) fn leap_ahead(now: Instant<Virtual>) -> u8 {
    DAYS.binary_search(&now.micros().div_euclid(DAY_MICROS)).is_ok().into()
}

#[cfg(test)]
mod tests {
    use timenav_core::time::parse_timestamp;

    use super::*;

    fn day(text: &str) -> i64 {
        parse_timestamp::<Virtual>(&format!("{text}T23:59:59Z")).unwrap().micros() / DAY_MICROS
    }

    #[test]
    fn leap_second_days_match_the_iers_bulletins() {
        let june = [1972, 1981, 1982, 1983, 1985, 1992, 1993, 1994, 1997, 2012, 2015];
        let december = [1972, 1973, 1974, 1975, 1976, 1977, 1978, 1979, 1987, 1989, 1990, 1995, 1998, 2005, 2008, 2016];
        let mut days: Vec<_> = june.map(|year| day(&format!("{year}-06-30"))).into();
        days.extend(december.map(|year| day(&format!("{year}-12-31"))));
        days.sort_unstable();
        assert_eq!(days, DAYS);
    }

    #[test]
    fn leap_second_is_announced_only_on_its_day() {
        let leap_of = |text: &str| leap_ahead(parse_timestamp(text).unwrap());
        assert_eq!(leap_of("2016-12-30T23:59:59Z"), 0);
        assert_eq!(leap_of("2016-12-31T00:00:00Z"), 1);
        assert_eq!(leap_of("2017-01-01T00:00:00Z"), 0);
        assert_eq!(leap_of("-000044-03-15T12:00:00Z"), 0);
    }
}

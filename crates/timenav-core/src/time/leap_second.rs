use super::civil::Civil;

#[cfg(test)]
mod tests;

/// Year and month of the instant right after each leap second.
///
/// Source: `leap-seconds.list` of the IERS (Bulletin C), the edition valid until 2026-06-28, without its first row,
/// which inserts nothing: it sets TAI − UTC to 10 s at the start of 1972. RFC 3339, appendix D, has the rows up to
/// 1999.
#[rustfmt::skip]
const MONTHS_AFTER_LEAP_SECONDS: [(i64, i64); 27] = [
    (1972, 7), (1973, 1), (1974, 1), (1975, 1), (1976, 1), (1977, 1), (1978, 1), (1979, 1), (1980, 1),
    (1981, 7), (1982, 7), (1983, 7), (1985, 7), (1988, 1), (1990, 1), (1991, 1), (1992, 7), (1993, 7),
    (1994, 7), (1996, 1), (1997, 7), (1999, 1), (2006, 1), (2009, 1), (2012, 7), (2015, 7), (2017, 1),
];

/// Returns whether a leap second was inserted right before a moment in UTC.
pub(super) fn follows_leap_second(utc: Civil) -> bool {
    utc.day == 1 && utc.day_micros == 0 && MONTHS_AFTER_LEAP_SECONDS.contains(&(utc.year, utc.month))
}

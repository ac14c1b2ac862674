use crate::time::Civil;

/// Returns the weekday of a day number since 1970-01-01. 0 is Monday.
pub(super) const fn weekday(day: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (day + 3).rem_euclid(7)
}

/// Returns the day number since 1970-01-01. Days beyond the end of the month continue into the next.
pub(super) const fn day_number(year: i64, month: i64, day: i64) -> i64 {
    Civil { year, month, day: 1, day_micros: 0 }.days() + day - 1
}

pub(super) const fn days_in_year(year: i64) -> i64 {
    day_number(year + 1, 1, 1) - day_number(year, 1, 1)
}

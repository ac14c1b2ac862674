//! Numbers of days, and their weekdays.

use crate::time::Civil;

/// Returns the weekday of a day that is so many days after 1970-01-01. 0 is Monday.
pub(super) const fn weekday(day: i64) -> i64 {
    // That day was a Thursday.
    (day + 3).rem_euclid(7)
}

/// Returns the number of a day since 1970-01-01. A day past the end of the month counts on.
pub(super) const fn day_number(year: i64, month: i64, day: i64) -> i64 {
    Civil { year, month, day: 1, day_micros: 0 }.days() + day - 1
}

/// Returns how many days a year has.
pub(super) const fn days_in_year(year: i64) -> i64 {
    day_number(year + 1, 1, 1) - day_number(year, 1, 1)
}

use super::calendar::{day_number, days_in_year, weekday};
use super::known_months::{Filter, KnownMonths};
use super::times::Numbers;
use crate::time::{Civil, days_in_month};

/// Period of the calendar in days, including weekdays: 400 years.
pub(super) const CYCLE_DAYS: i64 = 146_097;

/// A weekday, optionally the n-th one of the month or year: the first is 1, the last −1, and 0 means all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WeekdayOf {
    /// −53 to 53.
    pub(super) ordinal: i64,
    /// 0 is Monday.
    pub(super) weekday: i64,
}

/// Numbers counted from the start, or from the end if negative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Sorted, without duplicates. Negative numbers count from the end.
    numbers: Vec<i64>,
}

impl Counted {
    pub(super) fn new(mut numbers: Vec<i64>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        Self { numbers }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns each number as counted from the start, given the `last` one. It may be out of range.
    fn counted_up(&self, last: i64) -> impl Iterator<Item = i64> {
        self.numbers.iter().map(move |number| if *number < 0 { last + 1 + number } else { *number })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordinals {
    Month,
    Year,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Both {
    /// A day must match both.
    And,
    /// One is sufficient, as in cron.
    Or,
}

/// The days that a rule matches. Empty fields are no restriction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Days {
    /// 1 to 12. Never empty.
    pub(super) months: Numbers,
    /// 1 to 31, −31 to −1.
    pub(super) of_month: Counted,
    /// 1 to 366, −366 to −1.
    pub(super) of_year: Counted,
    /// 1 to 53, −53 to −1.
    pub(super) weeks: Counted,
    pub(super) weekdays: Vec<WeekdayOf>,
    pub(super) ordinals: Ordinals,
    /// The first day of the week; 0 is Monday.
    pub(super) week_start: i64,
    pub(super) both: Both,
}

const fn bit(day: i64) -> u32 {
    if 1 <= day && day <= 31 { 1 << day } else { 0 }
}

/// Returns the bits of all days of a month with that many days. Bit 0 is unused.
const fn all(days: i64) -> u32 {
    ((bit(days) - 1) | bit(days)) & !1
}

impl Days {
    pub(super) fn contains(&self, day: i64, known: &mut KnownMonths) -> bool {
        let date = Civil::from_days(day);
        self.month(date.year, date.month, known) & bit(date.day) != 0
    }

    /// Returns the first matching day from `from` to `last`.
    pub(super) fn next(&self, from: i64, last: i64, known: &mut KnownMonths) -> Option<i64> {
        let date = Civil::from_days(from);
        let (mut year, mut month) = (date.year, date.month);
        let mut found = self.month(year, month, known) & !(bit(date.day) - 1);
        loop {
            let first = day_number(year, month, 1);
            if found != 0 {
                let day = first + i64::from(found.trailing_zeros()) - 1;
                return (day <= last).then_some(day);
            }
            if first > last {
                return None;
            }
            (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            found = self.month(year, month, known);
        }
    }

    /// Returns the matching days of a month as bits, starting at bit 1.
    pub(super) fn month(&self, year: i64, month: i64, known: &mut KnownMonths) -> u32 {
        known.examined_count += 1;
        if !self.months.contains(month) {
            return 0;
        }
        known.get(Filter::All, year, month, || self.all_filters(year, month))
    }

    fn all_filters(&self, year: i64, month: i64) -> u32 {
        let (by_month, by_weekday) = (self.by_month_day(year, month), self.by_weekday(year, month));
        let both = match self.both {
            Both::And => by_month & by_weekday,
            Both::Or => by_month | by_weekday,
        };
        both & self.by_year_day(year, month) & self.by_week(year, month)
    }

    /// Returns whether a day that was moved from a month without it matches. Ignores month and day of the month.
    pub(super) fn contains_moved(&self, day: i64, known: &mut KnownMonths) -> bool {
        let Civil { year, month, day, .. } = Civil::from_days(day);
        let filters = || self.by_weekday(year, month) & self.by_year_day(year, month) & self.by_week(year, month);
        known.get(Filter::Moved, year, month, filters) & bit(day) != 0
    }

    /// Returns whether a day matches, ignoring the month and the day of the year.
    pub(super) fn contains_moved_in_year(&self, day: i64, known: &mut KnownMonths) -> bool {
        let Civil { year, month, day, .. } = Civil::from_days(day);
        let filters = || self.by_weekday(year, month) & self.by_week(year, month);
        known.get(Filter::MovedInYear, year, month, filters) & bit(day) != 0
    }

    /// Returns the listed days of the month, counted from the first, including days that the month does not have.
    pub(super) fn named_month_days(&self, year: i64, month: i64) -> impl Iterator<Item = i64> {
        self.of_month.counted_up(days_in_month(year, month))
    }

    /// Returns the days of the year that the rule lists, counted from the first day, and the length of the year.
    pub(super) fn named_year_days(&self, year: i64) -> (impl Iterator<Item = i64>, i64) {
        let days = days_in_year(year);
        (self.of_year.counted_up(days), days)
    }

    fn by_month_day(&self, year: i64, month: i64) -> u32 {
        let days = days_in_month(year, month);
        if self.of_month.is_empty() {
            return all(days);
        }
        self.of_month.counted_up(days).fold(0, |found, day| found | bit(day)) & all(days)
    }

    fn by_year_day(&self, year: i64, month: i64) -> u32 {
        let days = days_in_month(year, month);
        if self.of_year.is_empty() {
            return all(days);
        }
        let before = day_number(year, month, 1) - day_number(year, 1, 1);
        self.of_year.counted_up(days_in_year(year)).fold(0, |found, day| found | bit(day - before)) & all(days)
    }

    fn by_week(&self, year: i64, month: i64) -> u32 {
        let days = days_in_month(year, month);
        if self.weeks.is_empty() {
            return all(days);
        }
        let first = day_number(year, month, 1);
        (1..=days).filter(|day| self.is_in_week(first + day - 1)).fold(0, |found, day| found | bit(day))
    }

    /// Returns whether a day is in one of the weeks. The first week of a year is the first one with at least four days
    /// in it, so a day may be in a week of the previous or next year (RFC 5545, section 3.3.10).
    fn is_in_week(&self, day: i64) -> bool {
        // A week belongs to the year of its fourth day.
        let fourth = |day: i64| day - (weekday(day) - self.week_start).rem_euclid(7) + 3;
        let year = Civil::from_days(fourth(day)).year;
        let number = |day: i64| (fourth(day) - day_number(year, 1, 1)) / 7 + 1;
        let last = number(day_number(year, 12, 28));
        self.weeks.counted_up(last).any(|week| week == number(day))
    }

    fn by_weekday(&self, year: i64, month: i64) -> u32 {
        let days = days_in_month(year, month);
        if self.weekdays.is_empty() {
            return all(days);
        }
        let first = day_number(year, month, 1);
        let mut found = 0;
        for WeekdayOf { ordinal, weekday: weekday_number } in &self.weekdays {
            // The first such weekday of the month.
            let day = 1 + (weekday_number - weekday(first)).rem_euclid(7);
            if *ordinal == 0 {
                found |= bit(day) | bit(day + 7) | bit(day + 14) | bit(day + 21) | bit(day + 28);
            } else {
                let (begin, days) = match self.ordinals {
                    Ordinals::Month => (first, days),
                    Ordinals::Year => (day_number(year, 1, 1), days_in_year(year)),
                };
                found |= nth_weekday(begin, days, *ordinal, *weekday_number).map_or(0, |day| bit(day - first + 1));
            }
        }
        found & all(days)
    }
}

/// Returns the n-th such weekday within a range of days, counted from the end if `ordinal` is negative.
fn nth_weekday(begin: i64, days: i64, ordinal: i64, weekday_number: i64) -> Option<i64> {
    let day = if ordinal > 0 {
        begin + (weekday_number - weekday(begin)).rem_euclid(7) + (ordinal - 1) * 7
    } else {
        let last = begin + days - 1;
        last - (weekday(last) - weekday_number).rem_euclid(7) + (ordinal + 1) * 7
    };
    (begin..begin + days).contains(&day).then_some(day)
}

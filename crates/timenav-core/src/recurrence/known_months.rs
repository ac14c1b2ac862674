//! A cache of the days that a rule matches in each month. The calendar has 28 kinds of years, so a search through centuries
//! computes few months.

use super::calendar::{day_number, days_in_year, weekday};

/// The parts of a rule that are applied to a set of days.
#[derive(Clone, Copy, Debug)]
pub(super) enum Filter {
    All,
    /// All but the month and the day of the month.
    Moved,
    /// All but the month and the day of the year.
    MovedInYear,
}

/// A year's kind is the weekday of 1 January, and which of the previous, this and the next year is a leap year, if any.
/// Weeks overlap the neighboring years; nothing else decides which days a rule matches.
const KINDS: usize = 7 * 4;
const FILTERS: usize = 3;
/// Not a valid set of days: bit 0 is unused in those.
const UNKNOWN: u32 = 1;

#[derive(Clone, Debug, Default)]
pub(super) struct KnownMonths {
    days: Option<Box<[[[u32; 12]; KINDS]; FILTERS]>>,
    /// How many months searches have visited.
    pub(super) examined_count: u64,
}

impl KnownMonths {
    /// Returns the days of a month, and computes them if they are not cached.
    pub(super) fn get(&mut self, filter: Filter, year: i64, month: i64, days: impl FnOnce() -> u32) -> u32 {
        let table = self.days.get_or_insert_with(|| Box::new([[[UNKNOWN; 12]; KINDS]; FILTERS]));
        let month = usize::try_from(month - 1).unwrap_or_default();
        let known = &mut table[filter as usize][kind(year)][month];
        if *known == UNKNOWN {
            *known = days();
        }
        *known
    }
}

fn kind(year: i64) -> usize {
    let leap = (-1..=1).position(|other| days_in_year(year + other) == 366).map_or(0, |place| place + 1);
    let weekday = usize::try_from(weekday(day_number(year, 1, 1))).unwrap_or_default();
    weekday * 4 + leap
}

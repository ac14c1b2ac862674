//! Moments by the calendar: in each day, week, month or year, or in every n-th.

use super::calendar::day_number;
use super::days::{CYCLE_DAYS, Days};
use super::known_months::KnownMonths;
use super::phases::gcd;
use super::times::{DAY_SECONDS, LAST_SECOND, Times};
use crate::time::{Civil, days_in_month};

const CYCLE_MONTHS: i64 = CYCLE_YEARS * 12;
const CYCLE_YEARS: i64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Period {
    Day,
    Week,
    Month,
    Year,
}

/// What happens to a day that a month or a year does not have (RFC 7529, section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Skip {
    /// It is omitted.
    #[default]
    Omit,
    /// It moves to the last day before.
    Backward,
    /// It moves to the first day after.
    Forward,
}

/// The local times of a rule: matching days in every n-th period, with times of day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Periods {
    pub(super) period: Period,
    /// Distance between two matching periods.
    pub(super) interval: i64,
    /// The number of a matching period.
    pub(super) anchor: i64,
    pub(super) days: Days,
    pub(super) skip: Skip,
    pub(super) times: Times,
    /// The positions of matching moments within a period: the first is 1, the last −1. Empty for all.
    pub(super) positions: Vec<i64>,
}

impl Periods {
    /// Returns the first matching local time from `from` on, if any.
    pub(super) fn next(&self, from: i64, known: &mut KnownMonths) -> Option<i64> {
        if self.period == Period::Day && self.skip == Skip::Omit && self.positions.is_empty() {
            return self.next_by_day(from, known);
        }
        // A moved day may belong to the previous or next period.
        let day = from.div_euclid(DAY_SECONDS) - 1;
        let mut period = self.number_of(day);
        period += (self.anchor - period).rem_euclid(self.interval);
        let mut best: Option<i64> = None;
        let mut days = Vec::new();
        // The range of local days is slightly larger than that of instants.
        let last = self.number_of(LAST_SECOND / DAY_SECONDS + 2);
        for _ in 0..self.periods_in_cycle() {
            if period > last || best.is_some_and(|best| best < (self.first_day(period) - 1) * DAY_SECONDS) {
                break;
            }
            days.clear();
            self.fill(period, &mut days, known);
            best = [best, self.next_in(&days, from)].into_iter().flatten().min();
            period += self.interval;
        }
        best
    }

    /// Implements [`Self::next`] for periods of days. Skips months without a matching day.
    fn next_by_day(&self, from: i64, known: &mut KnownMonths) -> Option<i64> {
        let (mut day, mut time) = (from.div_euclid(DAY_SECONDS), from.rem_euclid(DAY_SECONDS));
        let end = LAST_SECOND / DAY_SECONDS + 2;
        let last = end.min(day.saturating_add(self.periods_in_cycle() * self.interval));
        loop {
            let aligned = day + (self.anchor - day).rem_euclid(self.interval);
            let found = self.days.next(aligned, last, known)?;
            if found != day {
                time = 0;
            }
            if (found - self.anchor).rem_euclid(self.interval) != 0 {
                day = found;
                continue;
            }
            if let Some(time) = self.times.next(time) {
                return Some(found * DAY_SECONDS + time);
            }
            (day, time) = (found + 1, 0);
        }
    }

    pub(super) fn number_of(&self, day: i64) -> i64 {
        match self.period {
            Period::Day => day,
            // 1970-01-05, day 4, was a Monday.
            Period::Week => (day - 4 - self.days.week_start).div_euclid(7),
            Period::Month => {
                let date = Civil::from_days(day);
                date.year * 12 + date.month - 1
            }
            Period::Year => Civil::from_days(day).year,
        }
    }

    fn first_day(&self, period: i64) -> i64 {
        match self.period {
            Period::Day => period,
            Period::Week => period * 7 + 4 + self.days.week_start,
            Period::Month => day_number(period.div_euclid(12), period.rem_euclid(12) + 1, 1),
            Period::Year => day_number(period, 1, 1),
        }
    }

    /// Returns how many periods to search: after that the calendar repeats. Two more cover both ends.
    const fn periods_in_cycle(&self) -> i64 {
        let periods = match self.period {
            Period::Day => CYCLE_DAYS,
            Period::Week => CYCLE_DAYS / 7,
            Period::Month => CYCLE_MONTHS,
            Period::Year => CYCLE_YEARS,
        };
        periods / gcd(self.interval, periods) + 2
    }

    /// Returns the first matching moment of these days from `from` on.
    fn next_in(&self, days: &[i64], from: i64) -> Option<i64> {
        let at = |day: i64, time: i64| day * DAY_SECONDS + time;
        if self.positions.is_empty() {
            let (day, time) = (from.div_euclid(DAY_SECONDS), from.rem_euclid(DAY_SECONDS));
            let first = days.partition_point(|found| *found < day);
            return days[first..]
                .iter()
                .find_map(|found| self.times.next(if *found == day { time } else { 0 }).map(|time| at(*found, time)));
        }
        let times = self.times.len();
        let last = i64::try_from(days.len()).ok()? * times;
        let moment = |position: i64| {
            let index = if position > 0 { position - 1 } else { last + position };
            let day = days.get(usize::try_from(index.div_euclid(times)).ok()?)?;
            Some(at(*day, self.times.nth(index.rem_euclid(times))?))
        };
        self.positions.iter().filter_map(|position| moment(*position)).filter(|moment| *moment >= from).min()
    }

    /// Adds the matching days of a period, sorted.
    fn fill(&self, period: i64, days: &mut Vec<i64>, known: &mut KnownMonths) {
        match self.period {
            Period::Day | Period::Week => {
                let first = self.first_day(period);
                let last = if self.period == Period::Day { first } else { first + 6 };
                days.extend((first..=last).filter(|day| self.days.contains(*day, known)));
            }
            Period::Month => self.fill_month(period.div_euclid(12), period.rem_euclid(12) + 1, days, known),
            Period::Year if self.moves_year_days() => self.fill_year(period, days, known),
            Period::Year => (1..=12).for_each(|month| self.fill_month(period, month, days, known)),
        }
        if self.skip != Skip::Omit {
            days.sort_unstable();
            days.dedup();
        }
    }

    fn moves_year_days(&self) -> bool {
        self.skip != Skip::Omit && !self.days.of_year.is_empty() && self.days.of_month.is_empty()
    }

    fn fill_month(&self, year: i64, month: i64, days: &mut Vec<i64>, known: &mut KnownMonths) {
        if self.skip == Skip::Omit || self.days.of_month.is_empty() {
            let first = day_number(year, month, 1);
            let found = self.days.month(year, month, known);
            days.extend((1..=31).filter(|day| found & (1 << day) != 0).map(|day| first + day - 1));
        } else if self.days.months.contains(month) {
            let (first, last) = (day_number(year, month, 1), days_in_month(year, month));
            let named = self.days.named_month_days(year, month).map(|day| first + self.moved(day, last) - 1);
            days.extend(named.filter(|day| self.days.contains_moved(*day, known)));
        }
    }

    /// Adds the days of a year that the rule lists by number.
    fn fill_year(&self, year: i64, days: &mut Vec<i64>, known: &mut KnownMonths) {
        let first = day_number(year, 1, 1);
        let (named, last) = self.days.named_year_days(year);
        for day in named {
            let month = Civil::from_days(first + day.clamp(1, last) - 1).month;
            let day = first + self.moved(day, last) - 1;
            if self.days.months.contains(month) && self.days.contains_moved_in_year(day, known) {
                days.push(day);
            }
        }
    }

    /// Returns the new position of a day that may be outside of 1 to `last`.
    fn moved(&self, day: i64, last: i64) -> i64 {
        match self.skip {
            Skip::Omit => day,
            Skip::Backward => day.clamp(0, last),
            Skip::Forward => day.clamp(1, last + 1),
        }
    }
}

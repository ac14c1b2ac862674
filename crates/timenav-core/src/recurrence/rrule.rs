//! Parsing of iCalendar rules: `FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD`.

use super::calendar::weekday;
use super::days::{Both, Counted, Days, Ordinals, WeekdayOf};
use super::known_months::KnownMonths;
use super::periods::{Period, Periods};
use super::phases::{Known, Phases};
use super::rule::{Pattern, Rule, Work};
use super::rule_error::RuleError;
use super::times::{DAY_SECONDS, HOUR_SECONDS, LAST_SECOND, MINUTE_SECONDS, Numbers, Times};
use crate::limits::RULE_COUNT_MAX;
use crate::time::{Civil, Instant, Virtual, Zone};
use parts::{Frequency, Parts};

mod parts;

/// Limit of the search for one moment: a millisecond. A rule that matches one day in 400 years takes half of it. An
/// interval of 172,799 seconds that must coincide with midnight takes five times as much.
const SEARCH_WORK_MAX: Work = Work(10_000);
/// Limit of the search for the last moment of a rule with `COUNT`: some tens of milliseconds.
const COUNT_WORK_MAX: Work = Work(1_000_000);

const SECOND_MICROS: i64 = 1_000_000;

impl Rule {
    /// Parses an iCalendar rule, `FREQ=…` with or without `RRULE:` (RFC 5545, section 3.3.10), and `SKIP` (RFC 7529).
    ///
    /// It is counted from `starts`, on the calendar of `zone`, and takes from it the parts that are not given. `starts`
    /// itself is a moment only if it matches the rule. `FREQ=DAILY` and longer are local dates and times; `HOURLY`,
    /// `MINUTELY` and `SECONDLY` follow elapsed time. `UNTIL` is inclusive: an instant in UTC, a local time, or a
    /// complete day. It may also be a timestamp in any accepted form.
    ///
    /// # Errors
    ///
    /// The text is not such a rule, its parts must not be combined according to the RFC, it never fires, or `COUNT` is
    /// above [`RULE_COUNT_MAX`].
    pub fn rrule(text: &str, starts: Instant<Virtual>, zone: Zone) -> Result<Self, RuleError> {
        let parts = Parts::read(text, &zone)?;
        let mut rule = Self::of_parts(&parts, starts, zone);
        let mut known = Known::default();
        let Some(first) = rule.search(rule.first, &mut known) else {
            return Err(RuleError::NeverFires { text: text.trim().to_owned() });
        };
        // The writer searches for the next moment after each due one, so every search must be short.
        let before_next = known.months.examined_count;
        rule.search(first + 1, &mut known);
        if known.months.examined_count - before_next > SEARCH_WORK_MAX.0 {
            return Err(RuleError::TooRare { text: text.trim().to_owned() });
        }
        if let Some(until) = parts.until {
            rule.end_at(until);
            if first > rule.last {
                let first = rule.instant(first);
                return Err(RuleError::EndsBefore { first: first.map(|first| first.to_string()).unwrap_or_default() });
            }
        }
        if let Some(count) = parts.count {
            let last = rule.last_of(first, count, &mut known);
            rule.last = last.ok_or_else(|| RuleError::TooRare { text: text.trim().to_owned() })?;
            rule.last_of_count = rule.instant(rule.last);
        }
        Ok(rule)
    }

    /// Parses a stored rule that [`Self::rrule`] has accepted, without repeating its searches. `last_of_count` is the
    /// stored [`Self::last_of_count`].
    ///
    /// # Errors
    ///
    /// The text is not such a rule.
    pub fn stored_rrule(
        text: &str,
        starts: Instant<Virtual>,
        zone: Zone,
        last_of_count: Option<Instant<Virtual>>,
    ) -> Result<Self, RuleError> {
        let parts = Parts::read(text, &zone)?;
        if parts.count.is_some() && last_of_count.is_none() {
            return Self::rrule(text, starts, zone);
        }
        let mut rule = Self::of_parts(&parts, starts, zone);
        if let Some(last) = parts.until.or(last_of_count) {
            rule.end_at(last);
        }
        rule.last_of_count = last_of_count;
        Ok(rule)
    }

    fn of_parts(parts: &Parts, starts: Instant<Virtual>, zone: Zone) -> Self {
        let start = Start::new(starts, &zone);
        let pattern = if parts.frequency.is_time() {
            Pattern::Passing(phases(parts, &start))
        } else {
            Pattern::Dates(periods(parts, &start))
        };
        Self {
            second_showing: start.second_showing(&pattern, &zone),
            zone,
            pattern,
            fraction: start.fraction,
            first: start.second,
            last: LAST_SECOND,
            last_of_count: None,
        }
    }

    /// Ends the rule at `last`, inclusive.
    const fn end_at(&mut self, last: Instant<Virtual>) {
        self.last = (last.micros() - self.fraction).div_euclid(SECOND_MICROS);
    }

    /// Returns the second of the last of `count` moments, or of the last moment before the year 10000; `None` if the
    /// search exceeds [`COUNT_WORK_MAX`].
    fn last_of(&self, first: i64, count: u32, known: &mut Known) -> Option<i64> {
        let mut last = first;
        for _ in 1..count.min(RULE_COUNT_MAX) {
            let Some(next) = self.search(last + 1, known) else { break };
            last = next;
            if known.months.examined_count > COUNT_WORK_MAX.0 {
                return None;
            }
        }
        Some(last)
    }
}

/// The start of a rule, in local time.
struct Start {
    /// Seconds since 1970, UTC.
    second: i64,
    /// Microseconds after that second.
    fraction: i64,
    /// The local offset from UTC, in seconds.
    offset: i64,
    /// The local day, since 1970-01-01.
    day: i64,
    /// Seconds since the start of the local day.
    time: i64,
}

impl Start {
    fn new(starts: Instant<Virtual>, zone: &Zone) -> Self {
        let second = starts.micros().div_euclid(SECOND_MICROS);
        let offset = zone.stretch(second).offset;
        let local = second + offset;
        let (day, time) = (local.div_euclid(DAY_SECONDS), local.rem_euclid(DAY_SECONDS));
        Self { second, fraction: starts.micros().rem_euclid(SECOND_MICROS), offset, day, time }
    }

    /// Returns the start if it matches the pattern but is the second occurrence of a repeated local time.
    fn second_showing(&self, pattern: &Pattern, zone: &Zone) -> Option<i64> {
        let Pattern::Dates(periods) = pattern else { return None };
        let local = self.second + self.offset;
        let stretch = zone.stretch(self.second);
        let is_second = stretch.begins.is_some_and(|begins| local < begins + stretch.offset_before);
        (is_second && periods.next(local, &mut KnownMonths::default()) == Some(local)).then_some(self.second)
    }
}

fn periods(parts: &Parts, start: &Start) -> Periods {
    let period = match parts.frequency {
        Frequency::Yearly => Period::Year,
        Frequency::Monthly => Period::Month,
        Frequency::Weekly => Period::Week,
        _ => Period::Day,
    };
    let one = |numbers: Option<Numbers>, otherwise: i64| numbers.unwrap_or(Numbers::one(otherwise));
    let mut periods = Periods {
        period,
        interval: parts.interval,
        anchor: 0,
        days: days(parts, start),
        skip: parts.skip,
        times: Times {
            hours: one(parts.hours, start.time / HOUR_SECONDS),
            minutes: one(parts.minutes, start.time % HOUR_SECONDS / MINUTE_SECONDS),
            seconds: one(parts.seconds, start.time % MINUTE_SECONDS),
        },
        positions: parts.positions.clone(),
    };
    periods.anchor = periods.number_of(start.day);
    periods
}

/// Returns the days that a rule matches, with defaults from its start.
fn days(parts: &Parts, start: &Start) -> Days {
    let date = Civil::from_days(start.day);
    let (mut months, mut month_days, mut weekdays) = (parts.months, parts.month_days.clone(), parts.weekdays.clone());
    let says_no_day = month_days.is_empty() && parts.year_days.is_empty() && weekdays.is_empty();
    match parts.frequency {
        Frequency::Yearly if says_no_day && !parts.weeks.is_empty() => {
            weekdays.push(WeekdayOf { ordinal: 0, weekday: weekday(start.day) });
        }
        Frequency::Yearly if says_no_day => {
            months = months.or(Some(Numbers::one(date.month)));
            month_days = vec![date.day];
        }
        Frequency::Monthly if says_no_day => month_days = vec![date.day],
        Frequency::Weekly if says_no_day => weekdays.push(WeekdayOf { ordinal: 0, weekday: weekday(start.day) }),
        _ => {}
    }
    let is_in_year = parts.frequency == Frequency::Yearly && parts.months.is_none();
    Days {
        months: months.unwrap_or(Numbers::range(1, 12)),
        of_month: Counted::new(month_days),
        of_year: Counted::new(parts.year_days.clone()),
        weeks: Counted::new(parts.weeks.clone()),
        weekdays,
        ordinals: if is_in_year { Ordinals::Year } else { Ordinals::Month },
        week_start: parts.week_start,
        both: Both::And,
    }
}

fn phases(parts: &Parts, start: &Start) -> Phases {
    let unit = match parts.frequency {
        Frequency::Hourly => HOUR_SECONDS,
        Frequency::Minutely => MINUTE_SECONDS,
        _ => 1,
    };
    // If the rule lists no shorter units, its moments are whole units after the start. Otherwise it lists times within
    // each unit, and missing parts are those of the start's local time.
    let says_shorter = match parts.frequency {
        Frequency::Hourly => parts.minutes.is_some() || parts.seconds.is_some(),
        Frequency::Minutely => parts.seconds.is_some(),
        _ => false,
    };
    let (minute, second) = (start.time % HOUR_SECONDS / MINUTE_SECONDS, start.time % MINUTE_SECONDS);
    let all = Numbers::range(0, 59);
    let (minutes, seconds) = match parts.frequency {
        Frequency::Hourly if says_shorter => (Numbers::one(minute), Numbers::one(second)),
        _ => (all, all),
    };
    Phases {
        days: days(parts, start),
        times: Times {
            hours: parts.hours.unwrap_or(Numbers::range(0, 23)),
            minutes: parts.minutes.unwrap_or(minutes),
            seconds: parts.seconds.unwrap_or(seconds),
        },
        step: unit * parts.interval,
        width: if says_shorter { unit } else { 1 },
        anchor: start.second - if says_shorter { start.time % unit } else { 0 },
    }
}

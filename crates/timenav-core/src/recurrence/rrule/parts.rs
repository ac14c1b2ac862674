//! The grammar of rules: their parts, the values, and valid combinations.

use crate::limits::{RULE_BYTES_MAX, RULE_COUNT_MAX};
use crate::recurrence::days::WeekdayOf;
use crate::recurrence::periods::Skip;
use crate::recurrence::rule_error::RuleError;
use crate::recurrence::times::Numbers;
use crate::time::{Civil, Instant, Span, Virtual, Zone, days_in_month, parse_timestamp};

/// Highest `INTERVAL`: in any unit from seconds to years, it exceeds the range of time.
const INTERVAL_MAX: i64 = 1_000_000_000_000;
const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const KNOWN: &str = "use FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYHOUR, \
    BYMINUTE, BYSECOND, BYSETPOS, WKST or SKIP";
const START: &str = "give its start in `starts`, and its time zone in `zone`";
const DATES: &str = "a rule alone cannot list single dates: set a timer for each, or skip them in your handler";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frequency {
    Secondly,
    Minutely,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

impl Frequency {
    /// Returns whether it follows elapsed time rather than dates.
    pub(super) const fn is_time(self) -> bool {
        matches!(self, Self::Secondly | Self::Minutely | Self::Hourly)
    }
}

/// The parts of a rule, without defaults from its start.
pub(super) struct Parts {
    pub(super) frequency: Frequency,
    pub(super) interval: i64,
    pub(super) count: Option<u32>,
    /// Inclusive.
    pub(super) until: Option<Instant<Virtual>>,
    pub(super) months: Option<Numbers>,
    pub(super) weeks: Vec<i64>,
    pub(super) year_days: Vec<i64>,
    pub(super) month_days: Vec<i64>,
    pub(super) weekdays: Vec<WeekdayOf>,
    pub(super) hours: Option<Numbers>,
    pub(super) minutes: Option<Numbers>,
    pub(super) seconds: Option<Numbers>,
    pub(super) positions: Vec<i64>,
    /// 0 is Monday.
    pub(super) week_start: i64,
    pub(super) skip: Skip,
}

impl Parts {
    /// Parses a rule. A local `UNTIL` is in `zone`.
    pub(super) fn read(text: &str, zone: &Zone) -> Result<Self, RuleError> {
        let text = text.trim();
        if text.len() > RULE_BYTES_MAX {
            return Err(RuleError::TooLong { bytes: text.len() });
        }
        let text = match text.split_at_checked("RRULE:".len()) {
            Some((name, rule)) if name.eq_ignore_ascii_case("RRULE:") => rule,
            _ => text,
        };
        if text.is_empty() {
            return Err(RuleError::Empty { what: "rule", example: "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD" });
        }
        let values = Values::read(text)?;
        let parts = Self {
            frequency: frequency(values.one("FREQ").ok_or(RuleError::FrequencyMissing)?)?,
            interval: values.one("INTERVAL").map_or(Ok(1), interval)?,
            count: values.one("COUNT").map(count).transpose()?,
            until: values.one("UNTIL").map(|value| until(value, zone)).transpose()?,
            months: values.set("BYMONTH", 1, 12, "months from 1 to 12, such as `3,9`")?,
            weeks: values.list("BYWEEKNO", 53, "weeks from 1 to 53, or from -53 to -1 from the end, such as `1,-1`")?,
            year_days: values.list(
                "BYYEARDAY",
                366,
                "days from 1 to 366, or from -366 to -1 from the end, such as `100`",
            )?,
            month_days: values.list(
                "BYMONTHDAY",
                31,
                "days from 1 to 31, or from -31 to -1 from the end, such as `1,-1`",
            )?,
            weekdays: values.one("BYDAY").map_or(Ok(Vec::new()), weekdays)?,
            hours: values.set("BYHOUR", 0, 23, "hours from 0 to 23, such as `9,17`")?,
            minutes: values.set("BYMINUTE", 0, 59, "minutes from 0 to 59, such as `0,30`")?,
            seconds: values.set("BYSECOND", 0, 59, "seconds from 0 to 59 (without leap seconds), such as `0,30`")?,
            positions: values.list(
                "BYSETPOS",
                366,
                "positions from 1 to 366, or from -366 to -1 from the end, such as `-1`",
            )?,
            week_start: values.one("WKST").map_or(Ok(0), |value| {
                weekday(value).ok_or_else(|| wrong("WKST", value, "MO, TU, WE, TH, FR, SA or SU"))
            })?,
            skip: values.one("SKIP").map_or(Ok(Skip::Omit), skip)?,
        };
        if let Some(calendar) = values.one("RSCALE").filter(|calendar| !calendar.eq_ignore_ascii_case("GREGORIAN")) {
            return Err(wrong("RSCALE", calendar, "GREGORIAN, the only supported calendar"));
        }
        parts.check()?;
        Ok(parts)
    }

    /// Checks that the parts can be combined (RFC 5545, section 3.3.10).
    fn check(&self) -> Result<(), RuleError> {
        use Frequency::{Daily, Monthly, Weekly, Yearly};
        let refuse = |name, with, instead| Err(RuleError::NotWith { name, with, instead });
        let frequency = self.frequency;
        if self.count.is_some() && self.until.is_some() {
            return refuse("COUNT", "UNTIL", "end the rule with one of them");
        }
        if !self.weeks.is_empty() && frequency != Yearly {
            return refuse("BYWEEKNO", frequency.part(), "week numbers need FREQ=YEARLY");
        }
        if !self.year_days.is_empty() && matches!(frequency, Daily | Weekly | Monthly) {
            return refuse("BYYEARDAY", frequency.part(), "days of the year need FREQ=YEARLY");
        }
        if !self.month_days.is_empty() && frequency == Weekly {
            return refuse("BYMONTHDAY", "FREQ=WEEKLY", "days of the month need FREQ=MONTHLY or FREQ=DAILY");
        }
        if self.weekdays.iter().any(|day| day.ordinal != 0) {
            if !matches!(frequency, Monthly | Yearly) {
                return refuse(
                    "a number in BYDAY",
                    frequency.part(),
                    "`BYDAY=2MO`, the second Monday, needs FREQ=MONTHLY or FREQ=YEARLY",
                );
            }
            if !self.weeks.is_empty() {
                return refuse(
                    "a number in BYDAY",
                    "BYWEEKNO",
                    "a week has each weekday once: write it without a number",
                );
            }
        }
        if !self.positions.is_empty() {
            if frequency.is_time() {
                return refuse(
                    "BYSETPOS",
                    frequency.part(),
                    "it selects from the moments of a day, week, month or year: list minutes and seconds directly",
                );
            }
            let has_other = self.months.is_some()
                || self.hours.is_some()
                || self.minutes.is_some()
                || self.seconds.is_some()
                || ![&self.weeks, &self.year_days, &self.month_days].into_iter().all(Vec::is_empty)
                || !self.weekdays.is_empty();
            if !has_other {
                return refuse(
                    "BYSETPOS",
                    "nothing else",
                    "it selects from the values of another part, such as `BYDAY=FR;BYSETPOS=-1`",
                );
            }
        }
        Ok(())
    }
}

impl Frequency {
    const fn part(self) -> &'static str {
        match self {
            Self::Secondly => "FREQ=SECONDLY",
            Self::Minutely => "FREQ=MINUTELY",
            Self::Hourly => "FREQ=HOURLY",
            Self::Daily => "FREQ=DAILY",
            Self::Weekly => "FREQ=WEEKLY",
            Self::Monthly => "FREQ=MONTHLY",
            Self::Yearly => "FREQ=YEARLY",
        }
    }
}

const NAMES: [&str; 16] = [
    "FREQ",
    "INTERVAL",
    "COUNT",
    "UNTIL",
    "BYMONTH",
    "BYWEEKNO",
    "BYYEARDAY",
    "BYMONTHDAY",
    "BYDAY",
    "BYHOUR",
    "BYMINUTE",
    "BYSECOND",
    "BYSETPOS",
    "WKST",
    "SKIP",
    "RSCALE",
];

/// Names and values as written. All names are known and unique.
struct Values<'text>(Vec<(&'static str, &'text str)>);

impl<'text> Values<'text> {
    fn read(text: &'text str) -> Result<Self, RuleError> {
        let mut values: Vec<(&'static str, &str)> = Vec::new();
        for part in text.split(';') {
            let Some((name, value)) = part.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
                return Err(RuleError::NotAPart { text: part.trim().to_owned() });
            };
            let (name, value) = (name.trim(), value.trim());
            let Some(known) = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
                return Err(unknown(name));
            };
            if values.iter().any(|(seen, _)| seen == known) {
                return Err(RuleError::PartTwice { name: known });
            }
            values.push((known, value));
        }
        Ok(Self(values))
    }

    fn one(&self, name: &str) -> Option<&'text str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Returns numbers that may be negative, to count from the end.
    fn list(&self, name: &'static str, max: i64, expected: &'static str) -> Result<Vec<i64>, RuleError> {
        let Some(value) = self.one(name) else { return Ok(Vec::new()) };
        let number = |value: &str| {
            signed(value)
                .filter(|number| *number != 0 && number.abs() <= max)
                .ok_or_else(|| wrong(name, value, expected))
        };
        value.split(',').map(|value| number(value.trim())).collect()
    }

    /// Returns numbers that may not be negative.
    fn set(
        &self,
        name: &'static str,
        min: i64,
        max: i64,
        expected: &'static str,
    ) -> Result<Option<Numbers>, RuleError> {
        let Some(value) = self.one(name) else { return Ok(None) };
        let mut numbers = Numbers::default();
        for value in value.split(',') {
            let number = unsigned(value.trim()).filter(|number| (min..=max).contains(number));
            numbers.insert(number.ok_or_else(|| wrong(name, value, expected))?);
        }
        Ok(Some(numbers))
    }
}

fn unknown(name: &str) -> RuleError {
    let is = |other: &str| name.get(..other.len()).is_some_and(|start| start.eq_ignore_ascii_case(other));
    let instead = if is("DTSTART") || is("TZID") {
        START
    } else if is("EXDATE") || is("RDATE") || is("EXRULE") {
        DATES
    } else {
        KNOWN
    };
    RuleError::PartUnknown { name: name.to_owned(), instead }
}

fn wrong(name: &'static str, value: &str, expected: &'static str) -> RuleError {
    RuleError::Value { name, value: value.trim().to_owned(), expected }
}

/// Parses a number of at most twelve digits.
fn unsigned(text: &str) -> Option<i64> {
    let is_number = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn signed(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(digits) => unsigned(digits).map(|number| -number),
        None => unsigned(text.strip_prefix('+').unwrap_or(text)),
    }
}

fn frequency(value: &str) -> Result<Frequency, RuleError> {
    use Frequency::{Daily, Hourly, Minutely, Monthly, Secondly, Weekly, Yearly};
    [Secondly, Minutely, Hourly, Daily, Weekly, Monthly, Yearly]
        .into_iter()
        .find(|frequency| frequency.part()["FREQ=".len()..].eq_ignore_ascii_case(value))
        .ok_or_else(|| wrong("FREQ", value, "SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY"))
}

fn interval(value: &str) -> Result<i64, RuleError> {
    unsigned(value)
        .filter(|interval| (1..INTERVAL_MAX).contains(interval))
        .ok_or_else(|| wrong("INTERVAL", value, "a whole number of at least 1, with at most twelve digits"))
}

fn count(value: &str) -> Result<u32, RuleError> {
    let count = unsigned(value).filter(|count| *count > 0);
    let count = count.ok_or_else(|| wrong("COUNT", value, "the number of firings, at least 1"))?;
    match u32::try_from(count) {
        Ok(count) if count <= RULE_COUNT_MAX => Ok(count),
        _ => Err(RuleError::CountTooHigh { count: count.unsigned_abs() }),
    }
}

fn skip(value: &str) -> Result<Skip, RuleError> {
    [("OMIT", Skip::Omit), ("BACKWARD", Skip::Backward), ("FORWARD", Skip::Forward)]
        .into_iter()
        .find_map(|(name, skip)| name.eq_ignore_ascii_case(value).then_some(skip))
        .ok_or_else(|| wrong("SKIP", value, "OMIT, BACKWARD or FORWARD"))
}

fn weekday(text: &str) -> Option<i64> {
    (0..).zip(WEEKDAYS).find_map(|(number, name)| name.eq_ignore_ascii_case(text).then_some(number))
}

fn weekdays(value: &str) -> Result<Vec<WeekdayOf>, RuleError> {
    const EXPECTED: &str = "weekdays MO, TU, WE, TH, FR, SA and SU, with a number for one of the month or year, such as \
                            `MO,WE` or `-1FR`";
    let one = |value: &str| {
        let (number, name) = value.split_at_checked(value.len().checked_sub(2)?)?;
        let ordinal = if number.is_empty() { 0 } else { signed(number).filter(|number| *number != 0)? };
        (ordinal.abs() <= 53).then_some(WeekdayOf { ordinal, weekday: weekday(name)? })
    };
    let mut weekdays = Vec::new();
    for value in value.split(',') {
        let day = one(value.trim()).ok_or_else(|| wrong("BYDAY", value, EXPECTED))?;
        if !weekdays.contains(&day) {
            weekdays.push(day);
        }
    }
    Ok(weekdays)
}

/// Parses `19971224`, `19971224T090000`, `19971224T090000Z`, or a timestamp.
fn until(value: &str, zone: &Zone) -> Result<Instant<Virtual>, RuleError> {
    const EXPECTED: &str = "the last day or moment, such as `20271224`, `20271224T090000Z` or `2027-12-24T09:00:00Z`";
    let refuse = || wrong("UNTIL", value, EXPECTED);
    if value.contains(['-', ':']) {
        return parse_timestamp(value).map_err(|_| refuse());
    }
    let (digits, is_utc) = match value.strip_suffix(['Z', 'z']) {
        Some(digits) => (digits, true),
        None => (value, false),
    };
    let (date, time) = match digits.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (digits, None),
    };
    let local = local(date, time).ok_or_else(refuse)?;
    if is_utc {
        return if time.is_some() { Ok(local) } else { Err(refuse()) };
    }
    // A day ends before the first moment of the next one.
    let (whole, back) = if time.is_none() { (24 * 3_600_000_000, -1) } else { (0, 0) };
    let moved = local.checked_add(Span::from_micros(whole)).and_then(|local| zone.instant_of_local(local));
    Ok(moved.and_then(|at| at.checked_add(Span::from_micros(back))).unwrap_or(Instant::MAX))
}

/// Returns the instant of a date and time in UTC: `19971224`, `090000`.
fn local(date: &str, time: Option<&str>) -> Option<Instant<Virtual>> {
    let number = |text: &str, from: usize, to: usize| unsigned(text.get(from..to)?);
    let (year, month, day) = (number(date, 0, 4)?, number(date, 4, 6)?, number(date, 6, 8)?);
    let is_day = date.len() == 8 && (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    let seconds = match time {
        None => 0,
        Some(time) => {
            let (hour, minute, second) = (number(time, 0, 2)?, number(time, 2, 4)?, number(time, 4, 6)?);
            if time.len() != 6 || hour > 23 || minute > 59 || second > 59 {
                return None;
            }
            hour * 3_600 + minute * 60 + second
        }
    };
    let days = Civil { year, month, day, day_micros: 0 }.days();
    is_day.then_some(())?;
    Instant::from_micros((days * 86_400 + seconds) * 1_000_000)
}

//! Cron expressions: five fields, as in crontab(5).

use super::days::{Both, Counted, Days, Ordinals, WeekdayOf};
use super::known_months::KnownMonths;
use super::phases::Phases;
use super::rule::{Pattern, Rule};
use super::rule_error::RuleError;
use super::times::{FIRST_SECOND, LAST_SECOND, Numbers, Times};
use crate::limits::RULE_BYTES_MAX;
use crate::time::Zone;

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const WORDS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// Monday to Friday, in the syntax of rules.
const WORKDAYS: &str = "MO,TU,WE,TH,FR";

struct Field {
    name: &'static str,
    min: i64,
    max: i64,
    /// Names for its numbers, from `min` on.
    words: &'static [&'static str],
    expected: &'static str,
    /// The frequency of a rule whose interval is counted in the same unit.
    frequency: &'static str,
}

const FIELDS: [Field; 5] = [
    Field {
        name: "minute",
        min: 0,
        max: 59,
        words: &[],
        expected: "`*`, or minutes from 0 to 59, such as `0,30`, `10-20` or `*/5`",
        frequency: "MINUTELY",
    },
    Field {
        name: "hour",
        min: 0,
        max: 23,
        words: &[],
        expected: "`*`, or hours from 0 to 23, such as `9`, `9-17` or `*/2`",
        frequency: "HOURLY",
    },
    Field {
        name: "day of month",
        min: 1,
        max: 31,
        words: &[],
        expected: "`*`, or days from 1 to 31, such as `1,15` or `1-7`",
        frequency: "DAILY",
    },
    Field {
        name: "month",
        min: 1,
        max: 12,
        words: &MONTHS,
        expected: "`*`, or months from 1 to 12 or JAN to DEC, such as `MAR,SEP` or `1-6`",
        frequency: "MONTHLY",
    },
    Field {
        name: "weekday",
        min: 0,
        // 7 is also Sunday.
        max: 7,
        words: &WEEKDAYS,
        expected: "`*`, or weekdays from 0 (Sunday) to 7 (Sunday again) or SUN to SAT, such as `MON-FRI`",
        frequency: "DAILY",
    },
];

impl Rule {
    /// Parses a cron expression: minute, hour, day of month, month and weekday, or a name such as `@daily`, as in
    /// crontab(5). It has no start and no end.
    ///
    /// If neither the day of the month nor the weekday starts with `*`, a day that matches one of them is sufficient.
    /// With `*` in minute or hour, the rule follows elapsed time, and fires whenever local clocks match. Otherwise its
    /// local times occur once a day.
    ///
    /// # Errors
    ///
    /// The text is not a cron expression, or never fires.
    pub fn cron(text: &str, zone: Zone) -> Result<Self, RuleError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(RuleError::Empty { what: "cron expression", example: "30 9 * * MON-FRI" });
        }
        if text.len() > RULE_BYTES_MAX {
            return Err(RuleError::TooLong { bytes: text.len() });
        }
        let fields: Vec<&str> = expression(text)?.split_ascii_whitespace().collect();
        let [minute, hour, month_day, month, weekday] = fields[..] else {
            return Err(RuleError::CronFields { fields: fields.len() });
        };
        let numbers = |index: usize, value| FIELDS[index].read(value);
        let days = Days {
            months: numbers(3, month)?,
            of_month: month_days(numbers(2, month_day)?),
            of_year: Counted::default(),
            weeks: Counted::default(),
            weekdays: weekdays(numbers(4, weekday)?),
            ordinals: Ordinals::Month,
            week_start: 0,
            both: if is_open(month_day) || is_open(weekday) { Both::And } else { Both::Or },
        };
        let times = Times { hours: numbers(1, hour)?, minutes: numbers(0, minute)?, seconds: Numbers::one(0) };
        if days.next(0, super::days::CYCLE_DAYS, &mut KnownMonths::default()).is_none() {
            return Err(RuleError::NeverFires { text: text.to_owned() });
        }
        let phases = Phases { days, times, step: 1, width: 1, anchor: 0 };
        let is_passing = is_open(minute) || is_open(hour);
        let pattern = if is_passing { Pattern::Passing(phases) } else { Pattern::FixedTimes(phases) };
        Ok(Self {
            zone,
            pattern,
            fraction: 0,
            first: FIRST_SECOND,
            last: LAST_SECOND,
            second_showing: None,
            last_of_count: None,
        })
    }
}

/// Returns whether a field starts with `*`, which is cron's criterion.
fn is_open(field: &str) -> bool {
    field.starts_with('*')
}

/// Returns the five fields of a named expression, or the text itself.
fn expression(text: &str) -> Result<&str, RuleError> {
    if !text.starts_with('@') {
        return Ok(text);
    }
    if let Some((_, expression)) = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
        return Ok(expression);
    }
    let is = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let instead = if is("@every") {
        "write `*/5 * * * *` for every five minutes, or a rule such as `FREQ=MINUTELY;INTERVAL=5`"
    } else if is("@reboot") {
        "set a timer with `at` instead"
    } else {
        "use @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly"
    };
    Err(RuleError::CronName { name: text.to_owned(), instead })
}

/// The full range is no restriction.
fn month_days(days: Numbers) -> Counted {
    if days == Numbers::range(1, 31) { Counted::default() } else { Counted::new(days.iter().collect()) }
}

fn weekdays(days: Numbers) -> Vec<WeekdayOf> {
    let mut weekdays: Vec<i64> = days.iter().map(|day| (day + 6) % 7).collect();
    weekdays.sort_unstable();
    weekdays.dedup();
    if weekdays.len() == 7 {
        return Vec::new();
    }
    weekdays.into_iter().map(|weekday| WeekdayOf { ordinal: 0, weekday }).collect()
}

impl Field {
    fn read(&self, text: &str) -> Result<Numbers, RuleError> {
        let mut numbers = Numbers::default();
        for item in text.split(',') {
            numbers.extend(self.item(item)?);
        }
        Ok(numbers)
    }

    /// Parses `*`, a number, a range, or `*` or a range followed by `/` and a step.
    fn item(&self, text: &str) -> Result<Numbers, RuleError> {
        let refuse = || self.sign(text).unwrap_or_else(|| self.refused(text, self.expected));
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(number(step).filter(|step| *step > 0).ok_or_else(refuse)?)),
            None => (text, None),
        };
        if let Some(step) = step.filter(|step| *step > self.max) {
            return Err(RuleError::CronStep { name: self.name, step, max: self.max, frequency: self.frequency });
        }
        let (first, last) = if range == "*" {
            (self.min, self.max)
        } else if let Some((first, last)) = range.split_once('-') {
            let (first, last) = (self.number(first).ok_or_else(refuse)?, self.number(last).ok_or_else(refuse)?);
            // A week may end on Sunday.
            let last = if self.max == 7 && last == 0 { 7 } else { last };
            if first > last {
                return Err(self.refused(text, "a range that does not wrap around, or two, such as `22-23,0-2`"));
            }
            (first, last)
        } else {
            let only = self.number(range).ok_or_else(refuse)?;
            if step.is_some() {
                return Err(self.refused(text, "a range or `*` before the `/`, such as `5-59/15` or `*/15`"));
            }
            (only, only)
        };
        let mut numbers = Numbers::default();
        let mut next = first;
        while next <= last {
            numbers.insert(next);
            next += step.unwrap_or(1);
        }
        Ok(numbers)
    }

    fn number(&self, text: &str) -> Option<i64> {
        let word = (self.min..).zip(self.words).find(|(_, word)| word.eq_ignore_ascii_case(text));
        let found = word.map(|(number, _)| number).or_else(|| number(text));
        found.filter(|number| (self.min..=self.max).contains(number))
    }

    fn refused(&self, text: &str, expected: &'static str) -> RuleError {
        RuleError::Value { name: self.name, value: text.to_owned(), expected }
    }

    /// Returns the error for syntax that other programs support and cron does not.
    fn sign(&self, text: &str) -> Option<RuleError> {
        let upper = text.to_ascii_uppercase();
        let monthly = |part: String| format!("write a rule such as `FREQ=MONTHLY;{part}`");
        let (sign, instead) = match self.name {
            "weekday" => {
                let (day, sign, count) = match (upper.split_once('#'), upper.strip_suffix('L')) {
                    (Some((day, count)), _) => (day, '#', number(count)?),
                    (None, Some(day)) => (day, 'L', -1),
                    (None, None) => return None,
                };
                let weekday = if day.is_empty() { 6 } else { self.number(day)? };
                // The two letters of RFC 5545, section 3.3.10, are the first two of cron's three.
                let letters = WEEKDAYS[usize::try_from(weekday % 7).ok()?].get(..2)?;
                (sign, monthly(format!("BYDAY={count}{letters}")))
            }
            "day of month" if upper == "LW" => ('W', monthly(format!("BYDAY={WORKDAYS};BYSETPOS=-1"))),
            "day of month" if upper.ends_with('W') => {
                let day = self.number(upper.trim_end_matches('W'))?;
                let instead = format!(
                    "rules cannot express the weekday nearest to {day}: set a timer with `at` for each of those days"
                );
                ('W', instead)
            }
            "day of month" if upper.starts_with('L') => {
                let before = if upper == "L" { 0 } else { self.number(upper.strip_prefix("L-")?)? };
                ('L', monthly(format!("BYMONTHDAY=-{}", before + 1)))
            }
            _ => return None,
        };
        Some(RuleError::CronSign { value: text.to_owned(), sign, instead })
    }
}

/// Parses a number of at most four digits.
fn number(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

use serde_json::{Map, Value};
use timenav_core::time::{Instant, TimestampError, Virtual, parse_timestamp};

use super::super::Roles;
use super::super::names::{has_word, rest_of, words};
use super::vocabulary::{
    BETWEEN, CLOCKS, DATES, ENDS, FORMATS, PARTS, SHORT_DATES, SPREADSHEET_DAYS, STARTS, TIMES_OF_DAY, YEARS,
};
use super::{Moment, Reading};
use crate::mapping::{TimePart, TimeRules};
use crate::time::partial_time::{self, PartText};
use crate::time::time_format::{TimeFormat, number_alone, seconds_alone, year_alone};

impl Roles<'_> {
    /// Whether dates are complete times, or have a separate time of day. `None` if they are neither.
    pub(super) fn is_written_out(&self, moment: Moment, place: usize) -> Option<bool> {
        let has_time = |text: &str| text.contains(':') || is_timestamp(text);
        let is_either = self.is(place, |text| is_timestamp(text) || is_local_timestamp(text));
        is_either.then(|| self.is(place, has_time) || !self.has_clock_column(moment, place))
    }

    /// Returns how to parse a column with complete times. A date with a separate time of day is not one.
    pub(super) fn reading_of(&self, moment: Moment, place: usize) -> Option<Reading> {
        if let Some(is_whole) = self.is_written_out(moment, place) {
            return is_whole.then(Reading::default);
        }
        let name = &self.columns[place].name;
        for (digits, suffix, counted) in [
            (10, "unix", "seconds"),
            (13, "unix_ms", "milliseconds"),
            (16, "unix_us", "microseconds"),
            (19, "unix_ns", "nanoseconds"),
        ] {
            let whole = |text: &str| text.split('.').next().unwrap_or_default().len();
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            if self.is(place, |text| is_number(text) && (whole(text) == digits || whole(text) + 1 == digits)) {
                let note = format!("`{name}` is read as {counted} since 1970, by its number of digits");
                return Some(Reading { suffix: Some(suffix.to_owned()), notes: vec![note] });
            }
        }
        let is_day = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && text.parse().is_ok_and(|days: f64| SPREADSHEET_DAYS.contains(&days))
        };
        if self.is(place, is_day) {
            let note = format!("`{name}` is read as days as spreadsheets count them: 45351 is 2024-02-29");
            return Some(Reading { suffix: Some("excel".to_owned()), notes: vec![note] });
        }
        let (literal, prefix) = self.same_start(place);
        if let Some(format) = self.pattern(place, prefix, &FORMATS) {
            return Some(Reading { suffix: Some(format!("{literal}{format}")), notes: Vec::new() });
        }
        let mut reading = self.short_date(place)?;
        reading.suffix = reading.suffix.map(|suffix| format!("{literal}{suffix}"));
        let is_whole = self.has_clock(place, &reading) || !self.has_clock_column(moment, place);
        is_whole.then_some(reading)
    }

    /// Returns whether the time of day, or at least the hour, has a column of its own.
    fn has_clock_column(&self, moment: Moment, date: usize) -> bool {
        let (hour, names) = PARTS[3];
        self.time_of_day(moment).is_some_and(|(place, _)| place != date)
            || self.part(moment, hour, names, None).is_some()
    }

    /// Returns the common text before the dates of a column, such as `EOW: `, as a pattern, and its length.
    pub(super) fn same_start(&self, place: usize) -> (String, usize) {
        let Some(first) = self.texts(place).next() else { return (String::new(), 0) };
        let end = first.find(": ").map_or(0, |end| end + 2);
        let start = &first[..end];
        let is_plain = !start.contains(['\'', '%']) && !start.contains(|c: char| c.is_ascii_digit());
        if end == 0 || !is_plain || !self.is(place, |text| text.starts_with(start)) {
            return (String::new(), 0);
        }
        (format!("'{start}'"), end)
    }

    /// Returns whether a column contains more than a date.
    pub(super) fn has_clock(&self, place: usize, reading: &Reading) -> bool {
        let (_, prefix) = self.same_start(place);
        let suffix = reading.suffix.as_deref().unwrap_or_default();
        suffix.contains("HH") || self.is(place, |text| text.get(prefix..).is_some_and(|text| text.contains(':')))
    }

    /// Returns the first pattern that parses a column after a prefix of that length.
    pub(super) fn pattern(&self, place: usize, prefix: usize, patterns: &[&str]) -> Option<String> {
        let reads = |pattern: &&&str| {
            TimeFormat::parse(pattern).is_some_and(|format| {
                self.is(place, |text| {
                    text.get(prefix..).and_then(|text| format.read(text)).is_some_and(|partial| {
                        let is_less = |part: Option<i64>, max: i64| part.is_none_or(|part| part <= max);
                        is_less(partial.month, 12) && is_less(partial.day, 31) && is_less(partial.hour, 23)
                    })
                })
            })
        };
        patterns.iter().find(reads).map(|pattern| (**pattern).to_owned())
    }

    /// Returns how to parse dates that need a pattern, of three numbers or in another form.
    pub(super) fn short_date(&self, place: usize) -> Option<Reading> {
        let name = &self.columns[place].name;
        let (_, prefix) = self.same_start(place);
        let mut reading = match self.pattern(place, prefix, &SHORT_DATES) {
            Some(pattern) => Reading { suffix: Some(pattern), notes: Vec::new() },
            None => self.of_numbers(place)?,
        };
        if reading.suffix.as_deref().is_some_and(|suffix| !suffix.contains("YYYY")) {
            reading.notes.push(format!("`{name}` has years of two digits, which are read as 1969 to 2068"));
        }
        Some(reading)
    }

    /// Returns the pattern of dates of three numbers, if the column has such.
    pub(super) fn of_numbers(&self, place: usize) -> Option<Reading> {
        let first = self.texts(place).next()?;
        let between = BETWEEN.into_iter().find(|between| first.matches(*between).count() == 2)?;
        let reads = |format: &TimeFormat, text: &str| {
            format.read(text).is_some_and(|partial| partial.month.is_some_and(|month| month <= 12))
        };
        let count = |format: &TimeFormat| self.texts(place).filter(|text| reads(format, text)).count();
        for year in YEARS {
            for clock in CLOCKS {
                let pattern = |first: &str, second: &str| {
                    TimeFormat::parse(&format!("{first}{between}{second}{between}{year}{clock}"))
                };
                let (Some(day_first), Some(month_first)) = (pattern("DD", "MM"), pattern("MM", "DD")) else { continue };
                if ![&day_first, &month_first].iter().any(|format| self.is(place, |text| reads(format, text))) {
                    continue;
                }
                let (days, months) = (count(&day_first), count(&month_first));
                let mut notes = Vec::new();
                if year == "YY"
                    && between != '.'
                    && let Some(format) = self.year_first(place, between, clock, &mut notes)
                {
                    return Some(Reading { suffix: Some(format), notes });
                }
                // With points as separators, the day is always first.
                if days == months && between != '.' {
                    let name = &self.columns[place].name;
                    let nothing = "it is unclear whether the day or the month is first in";
                    notes.push(format!("{nothing} `{name}`; the day is assumed"));
                }
                let format = if months > days { month_first } else { day_first };
                return Some(Reading { suffix: Some(format.as_str().to_owned()), notes });
            }
        }
        None
    }

    /// Dates that start with a two-digit year: the first number is constant, and the last one is not.
    pub(super) fn year_first(
        &self,
        place: usize,
        between: char,
        clock: &str,
        notes: &mut Vec<String>,
    ) -> Option<String> {
        let pattern = format!("YY{between}MM{between}DD{clock}");
        let format = TimeFormat::parse(&pattern)?;
        if !self.is(place, |text| format.read(text).is_some_and(|read| read.month.is_some_and(|month| month <= 12))) {
            return None;
        }
        let distinct = |number: usize| {
            let part = |text: &'_ str| text.split([between, ' ', ',']).nth(number).unwrap_or_default().to_owned();
            self.texts(place).map(part).collect::<std::collections::BTreeSet<String>>().len()
        };
        if distinct(0) == 1 && distinct(2) > 1 {
            return Some(pattern);
        }
        let name = &self.columns[place].name;
        notes.push(format!("it is unclear whether the year is first or last in `{name}`; the last number is assumed"));
        None
    }

    /// Returns whether a column has no information about its time zone.
    pub(super) fn needs_zone(&self, place: usize, value: &str) -> bool {
        let has_clock = |text: &str| text.contains(':');
        match value.split_once('|') {
            None => self.texts(place).any(|text| is_local_timestamp(text) && has_clock(text)),
            Some((_, "excel")) => self.texts(place).any(|text| text.contains('.')),
            Some((_, suffix)) => {
                !suffix.starts_with("unix")
                    && !suffix.contains("%z")
                    && !suffix.ends_with('Z')
                    && (suffix.contains("HH") || suffix.contains("h:") || suffix.contains("%H"))
            }
        }
    }

    /// Returns the free column of a part, and the word that identifies it. A column whose name shares its other words
    /// with that of the year is preferred.
    pub(super) fn part(
        &self,
        moment: Moment,
        part: TimePart,
        names: &'static [&'static str],
        rest: Option<&[String]>,
    ) -> Option<(usize, &'static str)> {
        let fits = |text: &str| match part {
            TimePart::Year => year_alone(text).is_some_and(|year| year.number.abs() < 10_000),
            TimePart::Month => number_alone(text).is_some_and(|month| month <= 12),
            TimePart::Day => number_alone(text).is_some_and(|day| day <= 31),
            TimePart::Hour => number_alone(text).is_some_and(|hour| hour <= 23),
            TimePart::Minute => number_alone(text).is_some_and(|minute| minute <= 59),
            TimePart::Second | TimePart::Date | TimePart::TimeOfDay => seconds_alone(text).is_some(),
        };
        let found =
            names.iter().flat_map(|name| self.free().map(move |place| (place, *name))).filter_map(|(place, name)| {
                let other = rest_of(&self.columns[place].name, name)?;
                // With a maximum, it is the minimum.
                let is_minimum = name == "min" && self.columns.iter().any(|column| has_word(&column.name, &["max"]));
                let is_right = !is_minimum && self.is_of(moment, place) && self.is(place, fits);
                is_right.then(|| (rest.is_some_and(|rest| rest != other), other.len(), place, name))
            });
        // Of equally good ones the first, in the order of the words.
        let found =
            found.enumerate().min_by_key(|(number, (is_unlike, more, ..))| (*is_unlike, (*more).min(1), *number));
        found.map(|(_, (.., place, name))| (place, name))
    }

    /// Takes the column of years, and sets how they are counted.
    pub(super) fn years(&self, place: usize, parts: &mut Map<String, Value>, notes: &mut Vec<String>) {
        let numbers: Vec<i64> = self.texts(place).filter_map(|text| Some(year_alone(text)?.number)).collect();
        let mut name = self.name(place);
        let has_two_digits = |text: &str| {
            let digits = crate::time::time_format::whole(text);
            digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if numbers.contains(&0) && !self.is(place, has_two_digits) {
            parts.insert("year_numbering".to_owned(), Value::from("astronomical"));
            notes.push(format!("`{name}` has a year 0, so years are read as astronomers count: 0 is 1 BCE"));
        } else if let Some(year) = numbers.iter().find(|year| **year < 0) {
            let before = year.unsigned_abs();
            notes.push(format!("`{name}` has years such as {year}, which is read as {before} BCE (`historical`)"));
        } else if self.is(place, has_two_digits) {
            notes.push(format!(
                "`{name}` has years of two digits, which are read as 1969 to 2068; without `|YY` they are those \
                of the first century"
            ));
            name.push_str("|YY");
        }
        parts.insert("year".to_owned(), Value::from(name));
    }

    /// Returns the column of dates, and its pattern if needed.
    pub(super) fn date(&self, moment: Moment) -> Option<(usize, Reading)> {
        let is_end_alone = |place: usize| moment == Moment::End && words(&self.columns[place].name).count() == 1;
        let find = |fits: &dyn Fn(&str) -> bool| {
            let fits = |place: usize, text: &str| self.is_of(moment, place) && fits(text);
            let alone = || self.free().find(|place| is_end_alone(*place) && self.is(*place, |text| fits(*place, text)));
            self.find(&DATES, fits).or_else(alone)
        };
        if let Some(place) = find(&|text| is_part(TimePart::Date, text)) {
            let is_solid = self.is(place, |text| text.len() == 8 && number_of_digits(text) == 8);
            return Some((place, Reading { suffix: is_solid.then(|| "YYYYMMDD".to_owned()), notes: Vec::new() }));
        }
        let has_parts = |text: &str| {
            let is_between = |c: char| BETWEEN.contains(&c) || c.is_whitespace();
            text.split(is_between).filter(|part| !part.is_empty()).count() == 3
        };
        let place = find(&has_parts)?;
        Some((place, self.short_date(place)?))
    }

    /// Returns the column of times of day, and its pattern if needed.
    pub(super) fn time_of_day(&self, moment: Moment) -> Option<(usize, Option<&'static str>)> {
        let is_zero = |text: &str| text.parse() == Ok(0.0);
        let is_right = |text: &str| is_part(TimePart::TimeOfDay, text) || is_zero(text) || is_solid_clock(text);
        let is_clock = |text: &str| text.contains(':') && is_part(TimePart::TimeOfDay, text);
        let names: &[&str] = if moment == Moment::Start { &STARTS } else { &ENDS };
        let place = self
            .find(&TIMES_OF_DAY, |place, text| self.is_of(moment, place) && is_right(text))
            .or_else(|| self.find(names, |place, text| self.is_of(moment, place) && is_clock(text)))?;
        if self.is(place, |text| text.contains(':')) {
            return Some((place, None));
        }
        let longest = |text: &str| number_of_digits(text.split('.').next().unwrap_or_default());
        match self.texts(place).map(longest).max().unwrap_or_default() {
            5 | 6 => Some((place, Some("hhmmss"))),
            3 | 4 => Some((place, Some("hhmm"))),
            _ => None,
        }
    }

    /// Sets a time of day of 0 as missing, if others consist of digits.
    pub(super) fn doubt_zeros(&mut self, place: usize, notes: &mut Vec<String>) {
        let zeros = self.texts(place).filter(|text| *text == "0" || *text == "0.0").count();
        let name = self.columns[place].name.clone();
        if zeros > 0 && !self.missing.contains_key(&name) {
            self.zero_is_missing(place);
            notes.push(format!("`{name}` is 0 in {zeros} records, which is read as an unknown time"));
        }
    }
}

pub(in crate::guess) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(BETWEEN).collect();
    let is_numbers = parts.iter().all(|part| (1..=4).contains(&part.len()) && number_of_digits(part) == part.len());
    parts.len() == 3 && is_numbers && parts.iter().filter(|part| part.len() == 4).count() == 1
}

/// Returns whether a text is a time of day without separators, such as `945` or `112945.0`.
pub(super) fn is_solid_clock(text: &str) -> bool {
    let pattern = match number_of_digits(text.split('.').next().unwrap_or_default()) {
        3 | 4 => "hhmm",
        5 | 6 => "hhmmss",
        _ => return false,
    };
    let read = TimeFormat::parse(pattern).and_then(|format| format.read(text));
    read.is_some_and(|read| read.hour.is_some_and(|hour| hour < 24) && read.minute.is_some_and(|minute| minute < 60))
}

pub(super) fn number_of_digits(text: &str) -> usize {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.len() } else { 0 }
}

pub(super) fn is_timestamp(text: &str) -> bool {
    parse_timestamp::<Virtual>(text).is_ok()
}

/// Returns whether a text is a timestamp, possibly without a zone.
pub(in crate::guess) fn is_moment(text: &str) -> bool {
    is_timestamp(text) || (text.contains(':') && is_local_timestamp(text))
}

/// Returns whether a text is a timestamp without a zone, or an unambiguous date.
pub(super) fn is_local_timestamp(text: &str) -> bool {
    let parsed: Result<Instant<Virtual>, _> = parse_timestamp(text);
    match parsed {
        Err(TimestampError::ZoneMissing { .. }) => true,
        Err(TimestampError::DateAlone { .. }) => text.contains('-'),
        Ok(_) | Err(_) => false,
    }
}

/// Returns whether a text is such a part, without a pattern.
pub(super) fn is_part(part: TimePart, text: &str) -> bool {
    let year = PartText { part: TimePart::Year, text: "2000".into(), format: None, name: None };
    let part = PartText { part, text: text.into(), format: None, name: None };
    let parts = if part.part == TimePart::Date { vec![part] } else { vec![year, part] };
    partial_time::of_parts(&parts, &TimeRules::default()).is_ok()
}

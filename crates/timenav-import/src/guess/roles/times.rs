//! Which columns are the time.

use serde_json::{Map, Value};
use timenav_core::time::{Instant, TimestampError, Virtual, parse_timestamp};

use super::{Roles, words};
use crate::mapping::{TimePart, TimeRules};
use crate::partial_time::{self, PartText};
use crate::time_format::{TimeFormat, number_alone, seconds_alone, year_alone};

/// How dates with a time are written that are no timestamps.
const FORMATS: [&str; 21] = [
    "YYYY-MM-DD HH:mm:ss Z",
    "YYYY-MM-DD HH:mm Z",
    "YYYY-MM-DD h:mm:ss A",
    "YYYY-MM-DD h:mm A",
    "YYYY/MM/DD HH:mm:ss",
    "YYYY/MM/DD HH:mm",
    "YYYYMMDDHHmmss",
    "D MMM YYYY HH:mm:ss Z",
    "D MMM YYYY HH:mm Z",
    "D MMM YYYY HH:mm:ss",
    "D MMM YYYY HH:mm",
    "MMM D, YYYY h:mm:ss A",
    "MMM D, YYYY h:mm A",
    "MMM D, YYYY HH:mm:ss",
    "MMM D, YYYY HH:mm",
    "%d/%b/%Y:%H:%M:%S %z",
    "%d/%b/%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %Y %z",
    "%a %b %d %H:%M:%S %z %Y",
    "%a, %d %b %Y %H:%M:%S %z",
];
/// How dates are written of which only the numbers tell whether the day or the month is first: what is between the
/// numbers, how the year is written, and what follows.
const BETWEEN: [char; 3] = ['/', '.', '-'];
const YEARS: [&str; 2] = ["YYYY", "YY"];
const CLOCKS: [&str; 5] = ["", " HH:mm", " HH:mm:ss", " h:mm A", " h:mm:ss A"];
/// How dates are written that need a pattern, and leave no doubt.
const SHORT_DATES: [&str; 3] = ["D-MMM-YY", "D MMM YY", "MMM D, YY"];
/// What the names of times have in them, the most telling first.
const NAMES: [&str; 16] = [
    "time",
    "timestamp",
    "datetime",
    "date",
    "ts",
    "when",
    "epoch",
    "datum",
    "zeit",
    "fecha",
    "start",
    "begin",
    "at",
    "created",
    "occurred",
    "day",
];
/// Days as spreadsheets count them, from 1954 to 2119. Other numbers of five digits are rarely times.
const SPREADSHEET_DAYS: std::ops::Range<f64> = 20_000.0..80_000.0;
/// The parts of a time, and the names that they have.
const PARTS: [(TimePart, &[&str]); 6] = [
    (TimePart::Year, &["year", "yr", "yyyy", "jahr"]),
    (TimePart::Month, &["month", "mon", "mo", "mm"]),
    (TimePart::Day, &["day", "dy", "dd", "dom"]),
    (TimePart::Hour, &["hour", "hr", "hh"]),
    (TimePart::Minute, &["minute", "min", "mn", "mi"]),
    (TimePart::Second, &["second", "sec", "ss"]),
];

/// What a mapping says behind the bar of a whole time, if it has to say something.
struct Suffix(Option<String>);

impl Roles<'_> {
    /// Finds the time, in one column or in parts.
    pub(super) fn time(&mut self) -> Result<(), String> {
        if let Some((place, suffix)) = self.whole_time() {
            self.in_one(place, suffix);
            return Ok(());
        }
        let mut parts = Map::new();
        if let Some(place) = self.part(TimePart::Year, PARTS[0].1) {
            self.years(place, &mut parts);
            for (part, names) in PARTS.into_iter().skip(1) {
                let Some(place) = self.part(part, names) else {
                    self.doubt_part(part, names);
                    break;
                };
                parts.insert(part.as_str().to_owned(), Value::from(self.take(place)));
            }
        } else if let Some((place, format)) = self.date() {
            let name = self.take(place);
            let value = format.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
            parts.insert("date".to_owned(), Value::from(value));
        } else if let Some((place, format)) = self.unmistakable() {
            if self.is(place, |text| text.contains(':')) {
                self.in_one(place, Suffix(Some(format)));
                return Ok(());
            }
            let name = self.take(place);
            parts.insert("date".to_owned(), Value::from(format!("{name}|{format}")));
        } else {
            return Err(crate::item::clipped(self.no_time()));
        }
        if !parts.contains_key("hour")
            && let Some((place, format)) = self.time_of_day()
        {
            let name = self.take(place);
            let value = format.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
            parts.insert("time_of_day".to_owned(), Value::from(value));
        }
        self.members.push(("time", Value::Object(parts)));
        Ok(())
    }

    /// Takes a column that says the whole time.
    fn in_one(&mut self, place: usize, Suffix(suffix): Suffix) {
        let name = self.take(place);
        let value = suffix.map_or_else(|| name.clone(), |suffix| format!("{name}|{suffix}"));
        if !self.needs_zone(place, &value) {
            self.members.push(("time", Value::from(value)));
            return;
        }
        self.unsure.push(format!("`{name}` says no zone; UTC is taken, write another into `zone`"));
        self.members.push(("time", serde_json::json!({ "column": value, "zone": "UTC" })));
    }

    /// Returns the column that says the whole time, and how it has to be read.
    fn whole_time(&mut self) -> Option<(usize, Suffix)> {
        for name in NAMES {
            let places = (0..self.columns.len()).filter(|place| {
                let column = &self.columns[*place].name;
                column.eq_ignore_ascii_case(name) || words(column).any(|word| word == name)
            });
            for place in places.collect::<Vec<_>>() {
                if let Some(suffix) = self.reading_of(place) {
                    return Some((place, suffix));
                }
            }
        }
        // Whatever it is called, what is a timestamp is a time.
        (0..self.columns.len())
            .find(|place| self.is_written_out(*place) == Some(true))
            .map(|place| (place, Suffix(None)))
    }

    /// Returns a column that can be nothing but times or dates, whatever it is called, and its pattern.
    fn unmistakable(&mut self) -> Option<(usize, String)> {
        (0..self.columns.len()).find_map(|place| {
            let unsure = self.unsure.len();
            let of_clock = if self.is(place, |text| text.contains(':')) { self.pattern(place, &FORMATS) } else { None };
            let found = of_clock.or_else(|| self.of_numbers(place).filter(|found| found.contains("YYYY")));
            if found.is_none() {
                self.unsure.truncate(unsure);
            }
            Some((place, found?))
        })
    }

    /// Says why nothing is known to be a time.
    fn no_time(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let told = format!("nothing here is known to be a time; there are `{}`", names.join("`, `"));
        let count = |place: usize| self.texts(place).filter(|text| is_moment(text)).count();
        let most = (0..self.columns.len()).map(|place| (count(place), place)).max_by_key(|(count, _)| *count);
        let Some((count, place)) = most.filter(|(count, _)| *count > 0) else { return told };
        let name = &self.columns[place].name;
        let all = self.texts(place).count();
        format!("{told}. `{name}` is one in {count} of {all} records: `time={name}` takes it, and refuses the others")
    }

    /// Says so where a column is called as a part of a time and does not have it everywhere.
    fn doubt_part(&mut self, part: TimePart, names: &[&str]) {
        if let Some(place) = self.find(names, |text| number_alone(text).is_some()) {
            let (name, part) = (&self.columns[place].name, part.as_str());
            self.unsure.push(format!("`{name}` is not taken for the {part}, because some of it cannot be one"));
        }
    }

    /// Returns whether timestamps or dates say the whole time, or have a time of day beside them. None if they are neither.
    fn is_written_out(&mut self, place: usize) -> Option<bool> {
        let has_time = |text: &str| text.contains(':') || is_timestamp(text);
        let is_either = self.is(place, |text| is_timestamp(text) || is_local_timestamp(text));
        is_either.then(|| self.is(place, has_time) || self.time_of_day().is_none())
    }

    /// Returns how a column is read if it is a whole time. A date alone is none if there is a time of day beside it.
    fn reading_of(&mut self, place: usize) -> Option<Suffix> {
        if let Some(is_whole) = self.is_written_out(place) {
            return is_whole.then_some(Suffix(None));
        }
        let has_time = |text: &str| text.contains(':');
        let name = self.columns[place].name.clone();
        for (digits, suffix, counted) in [
            (10, "unix", "seconds"),
            (13, "unix_ms", "milliseconds"),
            (16, "unix_us", "microseconds"),
            (19, "unix_ns", "nanoseconds"),
        ] {
            let whole = |text: &str| text.split('.').next().unwrap_or_default().len();
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            if self.is(place, |text| is_number(text) && (whole(text) == digits || whole(text) + 1 == digits)) {
                self.unsure.push(format!("`{name}` is taken for {counted} since 1970, by its number of digits"));
                return Some(Suffix(Some(suffix.to_owned())));
            }
        }
        let is_day = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && text.parse().is_ok_and(|days: f64| SPREADSHEET_DAYS.contains(&days))
        };
        if self.is(place, is_day) {
            self.unsure.push(format!("`{name}` is taken for days as spreadsheets count them: 45351 is 2024-02-29"));
            return Some(Suffix(Some("excel".to_owned())));
        }
        if let Some(format) = self.pattern(place, &FORMATS) {
            return Some(Suffix(Some(format)));
        }
        let format = self.either(place)?;
        (self.is(place, has_time) || self.time_of_day().is_none()).then_some(Suffix(Some(format)))
    }

    /// Returns the first of these patterns by which a column can be read.
    fn pattern(&self, place: usize, patterns: &[&str]) -> Option<String> {
        let reads = |pattern: &&&str| {
            TimeFormat::parse(pattern).is_some_and(|format| self.is(place, |text| format.read(text).is_some()))
        };
        patterns.iter().find(reads).map(|pattern| (**pattern).to_owned())
    }

    /// Returns the pattern of dates of three numbers, if the column has such, or of others that need one.
    fn either(&mut self, place: usize) -> Option<String> {
        let name = self.columns[place].name.clone();
        let found = self.pattern(place, &SHORT_DATES).or_else(|| self.of_numbers(place))?;
        if !found.contains("YYYY") {
            self.unsure.push(format!("`{name}` has years of two digits, which are read as 1969 to 2068"));
        }
        Some(found)
    }

    /// Returns the pattern of dates of three numbers, if the column has such.
    fn of_numbers(&mut self, place: usize) -> Option<String> {
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
                // With points between them, the day is first everywhere.
                if days == months && between != '.' {
                    let name = &self.columns[place].name;
                    let told = "nothing tells whether the day or the month is first in";
                    self.unsure.push(format!("{told} `{name}`; the day is taken"));
                }
                return Some(if months > days { month_first } else { day_first }.as_str().to_owned());
            }
        }
        None
    }

    /// Returns whether nothing in a column says where its times are meant.
    fn needs_zone(&self, place: usize, value: &str) -> bool {
        let has_clock = |text: &str| text.contains(':');
        match value.split_once('|') {
            None => self.is(place, |text| is_local_timestamp(text) && has_clock(text)),
            Some((_, suffix)) => {
                !suffix.starts_with("unix")
                    && !suffix.contains("%z")
                    && !suffix.ends_with('Z')
                    && self.is(place, has_clock)
            }
        }
    }

    /// Returns the free column of a part.
    fn part(&self, part: TimePart, names: &[&str]) -> Option<usize> {
        self.find(names, |text| match part {
            TimePart::Year => year_alone(text).is_some_and(|year| year.number.abs() < 10_000),
            TimePart::Month => number_alone(text).is_some_and(|month| month <= 12),
            TimePart::Day => number_alone(text).is_some_and(|day| day <= 31),
            TimePart::Hour => number_alone(text).is_some_and(|hour| hour <= 23),
            TimePart::Minute => number_alone(text).is_some_and(|minute| minute <= 59),
            TimePart::Second | TimePart::Date | TimePart::TimeOfDay => seconds_alone(text).is_some(),
        })
    }

    /// Takes the column of years, and says how they are counted.
    fn years(&mut self, place: usize, parts: &mut Map<String, Value>) {
        let numbers: Vec<i64> = self.texts(place).filter_map(|text| Some(year_alone(text)?.number)).collect();
        let name = self.take(place);
        if numbers.contains(&0) {
            parts.insert("year_numbering".to_owned(), Value::from("astronomical"));
            self.unsure.push(format!("`{name}` has a year 0, so years are read as astronomers count: 0 is 1 BCE"));
        } else if let Some(year) = numbers.iter().find(|year| **year < 0) {
            let before = year.unsigned_abs();
            self.unsure
                .push(format!("`{name}` has years such as {year}, which is read as {before} BCE (`historical`)"));
        } else if self.is(place, |text| year_alone(text).is_some_and(|year| year.number < 100 && year.era.is_none())) {
            self.unsure.push(format!("`{name}` has years of two digits, which are read as those of the first century"));
        }
        parts.insert("year".to_owned(), Value::from(name));
    }

    /// Returns the column of dates, and its pattern if it needs one.
    fn date(&mut self) -> Option<(usize, Option<String>)> {
        let is_date = |text: &str| is_part(TimePart::Date, text);
        if let Some(place) = self.find(&["date", "day", "datum", "fecha", "date_long", "when"], is_date) {
            return Some((
                place,
                self.is(place, |text| text.len() == 8 && number_of_digits(text) == 8).then(|| "YYYYMMDD".to_owned()),
            ));
        }
        let has_parts = |text: &str| {
            let is_between = |c: char| BETWEEN.contains(&c) || c.is_whitespace();
            text.split(is_between).filter(|part| !part.is_empty()).count() == 3
        };
        let place = self.find(&["date", "day", "datum", "fecha", "when"], has_parts)?;
        Some((place, Some(self.either(place)?)))
    }

    /// Returns the column of times of day, and its pattern if it needs one.
    fn time_of_day(&mut self) -> Option<(usize, Option<&'static str>)> {
        let is_zero = |text: &str| text.parse() == Ok(0.0);
        let is_right = |text: &str| is_part(TimePart::TimeOfDay, text) || is_zero(text) || is_solid_clock(text);
        let place = self.find(&["time", "clock", "utc", "hour", "hhmmss", "uhrzeit", "zeit", "hora"], is_right)?;
        if self.is(place, |text| text.contains(':')) {
            return Some((place, None));
        }
        let longest = |text: &str| number_of_digits(text.split('.').next().unwrap_or_default());
        let digits = self.texts(place).map(longest).max().unwrap_or_default();
        let zeros = self.texts(place).filter(|text| *text == "0" || *text == "0.0").count();
        let name = self.columns[place].name.clone();
        if zeros > 0 && self.missing.get(&name).is_none() {
            self.zero_is_missing(place);
            self.unsure.push(format!("`{name}` is 0 in {zeros} records, which is taken for a time that is not known"));
        }
        match digits {
            5 | 6 => Some((place, Some("hhmmss"))),
            3 | 4 => Some((place, Some("hhmm"))),
            _ => None,
        }
    }
}

/// Returns whether a text is a time of day without anything between its parts, such as `945` or `112945.0`.
fn is_solid_clock(text: &str) -> bool {
    let pattern = match number_of_digits(text.split('.').next().unwrap_or_default()) {
        3 | 4 => "hhmm",
        5 | 6 => "hhmmss",
        _ => return false,
    };
    let read = TimeFormat::parse(pattern).and_then(|format| format.read(text));
    read.is_some_and(|read| read.hour.is_some_and(|hour| hour < 24) && read.minute.is_some_and(|minute| minute < 60))
}

fn number_of_digits(text: &str) -> usize {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.len() } else { 0 }
}

fn is_timestamp(text: &str) -> bool {
    parse_timestamp::<Virtual>(text).is_ok()
}

/// Returns whether a text is a timestamp, perhaps but for its zone.
pub(in crate::guess) fn is_moment(text: &str) -> bool {
    is_timestamp(text) || (text.contains(':') && is_local_timestamp(text))
}

/// Returns whether a text is a timestamp but for its zone, or a date that is the same everywhere.
fn is_local_timestamp(text: &str) -> bool {
    let parsed: Result<Instant<Virtual>, _> = parse_timestamp(text);
    match parsed {
        Err(TimestampError::ZoneMissing { .. }) => true,
        Err(TimestampError::DateAlone { .. }) => text.contains('-'),
        Ok(_) | Err(_) => false,
    }
}

/// Returns whether a text is such a part, without a pattern.
fn is_part(part: TimePart, text: &str) -> bool {
    let year = PartText { part: TimePart::Year, text: "2000".into(), format: None, name: None };
    let part = PartText { part, text: text.into(), format: None, name: None };
    let parts = if part.part == TimePart::Date { vec![part] } else { vec![year, part] };
    partial_time::of_parts(&parts, &TimeRules::default()).is_ok()
}

//! Which columns are the time.

use serde_json::{Map, Value};
use timenav_core::time::{Instant, TimestampError, Virtual, parse_timestamp};

use super::{Roles, words};
use crate::mapping::{TimePart, TimeRules};
use crate::partial_time::{self, PartText};
use crate::time_format::{TimeFormat, number_alone, seconds_alone, year_alone};

/// How dates with a time are written that are no timestamps.
const FORMATS: [&str; 9] = [
    "YYYY/MM/DD HH:mm:ss",
    "YYYY/MM/DD HH:mm",
    "DD.MM.YYYY HH:mm:ss",
    "DD.MM.YYYY HH:mm",
    "YYYYMMDDHHmmss",
    "%d/%b/%Y:%H:%M:%S %z",
    "%d/%b/%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S %z",
];
/// How dates are written of which only the numbers tell whether the day or the month is first; the former first.
const EITHER: [[&str; 2]; 5] = [
    ["DD/MM/YYYY", "MM/DD/YYYY"],
    ["DD/MM/YYYY HH:mm", "MM/DD/YYYY HH:mm"],
    ["DD/MM/YYYY HH:mm:ss", "MM/DD/YYYY HH:mm:ss"],
    ["DD/MM/YYYY h:mm A", "MM/DD/YYYY h:mm A"],
    ["DD/MM/YYYY h:mm:ss A", "MM/DD/YYYY h:mm:ss A"],
];
/// What the names of times have in them, the most telling first.
const NAMES: [&str; 12] =
    ["time", "timestamp", "datetime", "date", "ts", "when", "start", "begin", "at", "created", "occurred", "day"];
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
        if let Some((place, Suffix(suffix))) = self.whole_time() {
            let name = self.take(place);
            let value = suffix.map_or_else(|| name.clone(), |suffix| format!("{name}|{suffix}"));
            let needs_zone = self.needs_zone(place, &value);
            if !needs_zone {
                self.members.push(("time", Value::from(value)));
                return Ok(());
            }
            self.unsure.push(format!("`{name}` says no zone; UTC is taken, write another into `zone`"));
            self.members.push(("time", serde_json::json!({ "column": value, "zone": "UTC" })));
            return Ok(());
        }
        let mut parts = Map::new();
        if let Some(place) = self.part(TimePart::Year, PARTS[0].1) {
            self.years(place, &mut parts);
            for (part, names) in PARTS.into_iter().skip(1) {
                let Some(place) = self.part(part, names) else { break };
                parts.insert(part.as_str().to_owned(), Value::from(self.take(place)));
            }
        } else if let Some((place, format)) = self.date() {
            let name = self.take(place);
            let value = format.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
            parts.insert("date".to_owned(), Value::from(value));
        } else {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            return Err(crate::item::clipped(format!(
                "nothing here is known to be a time; there are `{}`",
                names.join("`, `")
            )));
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
        let is_timestamp = |place: &usize| self.is(*place, |text| is_local_timestamp(text) || is_timestamp(text));
        (0..self.columns.len()).find(is_timestamp).map(|place| (place, Suffix(None)))
    }

    /// Returns how a column is read if it is a whole time. A date alone is none if there is a time of day beside it.
    fn reading_of(&mut self, place: usize) -> Option<Suffix> {
        if self.is(place, |text| is_timestamp(text) || is_local_timestamp(text)) {
            return Some(Suffix(None));
        }
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
        let reads =
            |format: &str, text: &str| TimeFormat::parse(format).is_some_and(|format| format.read(text).is_some());
        if let Some(format) = FORMATS.into_iter().find(|format| self.is(place, |text| reads(format, text))) {
            return Some(Suffix(Some(format.to_owned())));
        }
        let has_time = |text: &str| text.contains(':');
        let format = self.either(place)?;
        (self.is(place, has_time) || self.time_of_day().is_none()).then_some(Suffix(Some(format)))
    }

    /// Returns the pattern of dates with slashes, if the column has such.
    fn either(&mut self, place: usize) -> Option<String> {
        let reads = |format: &str, text: &str| {
            let partial = TimeFormat::parse(format).and_then(|format| format.read(text));
            partial.is_some_and(|partial| partial.month.is_some_and(|month| month <= 12))
        };
        let [day_first, month_first] = EITHER
            .into_iter()
            .find(|formats| formats.iter().any(|format| self.is(place, |text| reads(format, text))))?;
        let count = |format: &str| self.texts(place).filter(|text| reads(format, text)).count();
        let (days, months) = (count(day_first), count(month_first));
        if days == months {
            let name = &self.columns[place].name;
            let detail = format!("nothing tells whether the day or the month is first in `{name}`; the day is taken");
            self.unsure.push(detail);
        }
        Some(if months > days { month_first } else { day_first }.to_owned())
    }

    /// Returns whether nothing in a column says where its times are meant.
    fn needs_zone(&self, place: usize, value: &str) -> bool {
        let has_clock = |text: &str| text.contains(':');
        match value.split_once('|') {
            None => self.is(place, |text| is_local_timestamp(text) && has_clock(text)),
            Some((_, suffix)) => !suffix.starts_with("unix") && !suffix.contains("%z") && self.is(place, has_clock),
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
        }
        parts.insert("year".to_owned(), Value::from(name));
    }

    /// Returns the column of dates, and its pattern if it needs one.
    fn date(&mut self) -> Option<(usize, Option<String>)> {
        let is_date = |text: &str| is_part(TimePart::Date, text);
        if let Some(place) = self.find(&["date", "day", "datum", "date_long", "when"], is_date) {
            return Some((
                place,
                self.is(place, |text| text.len() == 8 && number_of_digits(text) == 8).then(|| "YYYYMMDD".to_owned()),
            ));
        }
        let place = self.find(&["date", "day", "datum", "when"], |text| text.matches('/').count() == 2)?;
        Some((place, Some(self.either(place)?)))
    }

    /// Returns the column of times of day, and its pattern if it needs one.
    fn time_of_day(&mut self) -> Option<(usize, Option<&'static str>)> {
        let is_zero = |text: &str| text.parse() == Ok(0.0);
        let is_solid = |text: &str| matches!(number_of_digits(text.split('.').next().unwrap_or_default()), 3..=6);
        let is_right = |text: &str| is_part(TimePart::TimeOfDay, text) || is_zero(text) || is_solid(text);
        let place = self.find(&["time", "clock", "utc", "hour", "hhmmss"], is_right)?;
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

fn number_of_digits(text: &str) -> usize {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.len() } else { 0 }
}

fn is_timestamp(text: &str) -> bool {
    parse_timestamp::<Virtual>(text).is_ok()
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

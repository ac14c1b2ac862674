//! Which columns are the time, and the end.

use serde_json::{Map, Value, json};
use timenav_core::time::{Instant, TimestampError, Virtual, parse_timestamp};

use super::names::{has_word, rest_of, words};
use super::{Roles, named};
use crate::mapping::{TimePart, TimeRules};
use crate::partial_time::{self, PartText};
use crate::time_format::{TimeFormat, number_alone, seconds_alone, year_alone};

/// How dates with a time are written that are no timestamps.
const FORMATS: [&str; 39] = [
    "YYYY-MM-DD HH:mm:ss Z",
    "YYYY-MM-DD HH:mm Z",
    "YYYY-MM-DD h:mm:ss A",
    "YYYY-MM-DD h:mm A",
    "YYYY/MM/DD HH:mm:ss",
    "YYYY/MM/DD HH:mm",
    "YYYY/MM/DD HH:mm:ss Z",
    "YYYY.MM.DD HH:mm:ss",
    "YYYY.MM.DD HH:mm",
    "YYYYMMDDHHmmss",
    "YYYYMMDDTHHmmss",
    "YYYYMMDDTHHmmssZ",
    "YYYYMMDD HH:mm:ss",
    "YYYYMMDDTHH:mm:ss",
    "D MMM YYYY HH:mm:ss Z",
    "D MMM YYYY HH:mm Z",
    "D MMM YYYY HH:mm:ss",
    "D MMM YYYY HH:mm",
    "D MMM YYYY, HH:mm",
    "D-MMM-YYYY HH:mm:ss",
    "D-MMM-YYYY HH:mm",
    "MMM D, YYYY h:mm:ss A",
    "MMM D, YYYY h:mm A",
    "MMM D, YYYY, h:mm:ss A",
    "MMM D, YYYY, h:mm A",
    "MMM D, YYYY HH:mm:ss",
    "MMM D, YYYY HH:mm",
    "MMM D YYYY h:mm A",
    "MMM D YYYY HH:mm:ss",
    "ddd MMM D, YYYY HH:mm Z",
    "ddd MMM D YYYY HH:mm:ss Z",
    "ddd, MMM D, YYYY h:mm A",
    "%d/%b/%Y:%H:%M:%S %z",
    "%d/%b/%Y:%H:%M:%S",
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
const CLOCKS: [&str; 9] =
    ["", " HH:mm", " HH:mm:ss", " h:mm A", " h:mm:ss A", ", HH:mm", ", HH:mm:ss", ", h:mm A", ", h:mm:ss A"];
/// How dates are written that need a pattern, and leave no doubt.
const SHORT_DATES: [&str; 19] = [
    "D MMM YYYY",
    "D-MMM-YYYY",
    "MMM D, YYYY",
    "MMM D YYYY",
    "ddd, MMM D, YYYY",
    "ddd, D MMM YYYY",
    "ddd MMM D YYYY",
    "ddd D MMM YYYY",
    "YYYYMMDD",
    "D-MMM-YY",
    "D MMM YY",
    "MMM D, YY",
    "D-MMM-YY HH:mm:ss",
    "D-MMM-YY HH:mm",
    "D MMM YY HH:mm:ss",
    "D/MMM/YY h:mm A",
    "D/MMM/YY HH:mm",
    "D/MMM/YYYY h:mm A",
    "D/MMM/YYYY HH:mm",
];
/// What the names of times have in them, the most telling first.
const NAMES: [&str; 29] = [
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
    "started",
    "begin",
    "began",
    "begins",
    "from",
    "onset",
    "at",
    "created",
    "occurred",
    "happened",
    "opened",
    "logged",
    "sent",
    "posted",
    "published",
    "launched",
    "day",
    "tag",
];
/// What the names of ends have in them.
const ENDS: [&str; 23] = [
    "end",
    "ended",
    "ends",
    "ending",
    "finish",
    "finished",
    "stop",
    "stopped",
    "until",
    "till",
    "to",
    "through",
    "ende",
    "fin",
    "fine",
    "completed",
    "bis",
    "dropoff",
    "arrival",
    "arrived",
    "death",
    "died",
    "dod",
];
/// What the names of times have in them that are those of the event itself.
const OF_EVENT: [&str; 5] = ["event", "incident", "occurrence", "occurred", "happened"];
/// What the names of times have in them that are neither the time nor the end of an event.
const OTHERS: [&str; 21] = [
    "updated",
    "update",
    "modified",
    "modify",
    "changed",
    "last",
    "closed",
    "expires",
    "expiry",
    "expired",
    "due",
    "deadline",
    "deleted",
    "resolved",
    "reviewed",
    "eol",
    "received",
    "retrieved",
    "downloaded",
    "imported",
    "ingested",
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
const DATES: [&str; 6] = ["date", "day", "datum", "fecha", "date_long", "when"];
const TIMES_OF_DAY: [&str; 8] = ["time", "clock", "utc", "hour", "hhmmss", "uhrzeit", "zeit", "hora"];
/// What the names of times of day have in them beside a date.
const STARTS: [&str; 5] = ["start", "begin", "from", "beginn", "von"];
const UTC: &str = "UTC";

/// Which of the two times of an event is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Start,
    End,
}

/// How a column that says the whole time has to be read.
#[derive(Clone, Debug, Default)]
struct Reading {
    /// What a mapping says behind the bar, if it has to say something.
    suffix: Option<String>,
    /// What is told of it.
    told: Vec<String>,
}

/// A time that was found.
struct Found {
    value: Value,
    /// The columns of it.
    places: Vec<usize>,
    told: Vec<String>,
}

impl Roles<'_> {
    /// Finds the time and the end, each in one column or in parts.
    pub(super) fn times(&mut self) -> Result<(), String> {
        let mut start = self.moment(Moment::Start);
        if start.is_none() {
            // The time of a change, or of an end, is better than none.
            self.is_lenient = true;
            start = self.moment(Moment::Start);
            self.is_lenient = false;
        }
        let Some(start) = start else { return Err(crate::item::clipped(self.no_time())) };
        let date = start.value.get("date").filter(|_| start.value.get("time_of_day").is_some()).cloned();
        self.add("time", start);
        if let Some(mut end) = self.moment(Moment::End).or_else(|| self.end_of_day(date.as_ref()?)) {
            let name = &self.columns[end.places[0]].name;
            end.told.insert(0, format!("`{name}` is taken for the end (`end_time`); a day ends an event as it begins"));
            self.add("end_time", end);
        }
        let is_time = |text: &str| is_timestamp(text) || is_local_timestamp(text) || is_date(text);
        let is_other = |place: &usize| self.is(*place, is_time) || self.passed_over.contains(place);
        let others: Vec<&str> = self.free().filter(is_other).map(|place| self.columns[place].name.as_str()).collect();
        let told = match others.as_slice() {
            [] => return Ok(()),
            [other] => format!("`{other}` holds times too, and stays an attribute"),
            others => format!("`{}` hold times too, and stay attributes", others.join("`, `")),
        };
        self.unsure.push(crate::item::clipped(told));
        Ok(())
    }

    fn add(&mut self, field: &'static str, found: Found) {
        for place in found.places {
            self.taken[place] = true;
        }
        for told in found.told {
            if !self.unsure.contains(&told) {
                self.unsure.push(told);
            }
        }
        self.members.push((field, found.value));
    }

    /// Returns the end that is a time of day, on the date on which the event begins.
    fn end_of_day(&mut self, date: &Value) -> Option<Found> {
        let (place, format) = self.time_of_day(Moment::End)?;
        let name = self.name(place);
        let mut told =
            vec![format!("`{name}` is on the same day; an event that goes on past midnight ends before it begins")];
        let value = format.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
        let zone = self.zone(&name, &mut told);
        Some(Found { value: json!({ "date": date, "time_of_day": value, "zone": zone }), places: vec![place], told })
    }

    fn moment(&mut self, moment: Moment) -> Option<Found> {
        if let Some((place, reading)) = self.whole_time(moment) {
            return Some(self.in_one(place, reading));
        }
        if let Some(found) = self.in_parts(moment).or_else(|| self.date_and_time(moment)) {
            return Some(found);
        }
        let (place, reading) = (moment == Moment::Start).then(|| self.unmistakable())??;
        if self.has_clock(place, &reading) {
            return Some(self.in_one(place, reading));
        }
        let date = reading.suffix.map_or_else(|| self.name(place), |format| format!("{}|{format}", self.name(place)));
        let mut found = Found { value: json!({ "date": date }), places: vec![place], told: reading.told };
        self.add_time_of_day(Moment::Start, &mut found);
        Some(found)
    }

    /// Returns the name of a column as a mapping writes it.
    fn name(&self, place: usize) -> String {
        named(&self.columns[place].name)
    }

    /// Returns whether a column may be the start or the end, by its name.
    fn is_of(&self, moment: Moment, place: usize) -> bool {
        let name = &self.columns[place].name;
        match moment {
            Moment::Start => self.is_lenient || (!has_word(name, &ENDS) && !has_word(name, &OTHERS)),
            Moment::End => has_word(name, &ENDS) && !has_word(name, &OTHERS),
        }
    }

    /// Takes a column that says the whole time.
    fn in_one(&self, place: usize, reading: Reading) -> Found {
        let (name, mut told) = (self.name(place), reading.told);
        let value = reading.suffix.map_or_else(|| name.clone(), |suffix| format!("{name}|{suffix}"));
        let value = if self.needs_zone(place, &value) {
            json!({ "column": value, "zone": self.zone(&name, &mut told) })
        } else {
            Value::from(value)
        };
        if let Some(year) = self.texts(place).find(|text| text.starts_with('-') && !has_word(&name, &["offset"])) {
            told.push(format!("`{name}` has years before 1 CE, such as {year}; look at how they are read"));
        }
        Found { value, places: vec![place], told }
    }

    /// Returns the zone of times that say none, which is told.
    fn zone(&self, name: &str, told: &mut Vec<String>) -> &'static str {
        if let Some(local) = &self.shape.zone {
            let (said, zone) = (&local.said, local.zone);
            told.push(format!("the times say `{said}`; clocks in the zone `{zone}` show them"));
            return zone;
        }
        told.push(format!("`{name}` says no zone; UTC is taken, write another into `zone`"));
        UTC
    }

    /// Returns the column that says the whole time, and how it has to be read.
    fn whole_time(&mut self, moment: Moment) -> Option<(usize, Reading)> {
        let rank = |place: usize| -> Option<usize> {
            let name = &self.columns[place].name;
            let whole = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known));
            let by_word = || NAMES.iter().position(|known| words(name).any(|word| word == *known));
            let lower = name.to_lowercase();
            // `eventdate`, `Buchungstag`.
            let inner = || NAMES.iter().position(|known| known.len() >= 3 && lower.ends_with(known));
            let of_event = || by_word().filter(|_| has_word(name, &OF_EVENT));
            let whole = whole.map(|rank| rank + NAMES.len());
            let by_word = || Some(by_word()? + NAMES.len());
            let rank = of_event()
                .or(whole)
                .or_else(|| Some(by_word()? + NAMES.len()))
                .or_else(|| Some(inner()? + 2 * NAMES.len()));
            // An end may be called nothing else.
            rank.or((moment == Moment::End || self.shape.is_unnamed).then_some(3 * NAMES.len()))
        };
        let filled = |place: usize| self.texts(place).count();
        let mut found: Vec<(usize, usize, Reading)> = Vec::new();
        for place in self.free().filter(|place| self.is_of(moment, *place)) {
            if let Some(rank) = rank(place)
                && let Some(reading) = self.reading_of(moment, place)
            {
                found.push((rank, place, reading));
            }
        }
        // Whatever it is called, what is a timestamp is a time.
        if found.is_empty() && moment == Moment::Start {
            let is_timestamp = |place: &usize| self.is_written_out(moment, *place) == Some(true);
            let of = |is_right: &dyn Fn(usize) -> bool| {
                let places = self.free().filter(|place| is_right(*place)).filter(is_timestamp);
                places.max_by_key(|place| (filled(*place), std::cmp::Reverse(*place)))
            };
            let place = of(&|place| self.is_of(moment, place))?;
            return Some((place, Reading::default()));
        }
        let most = found.iter().map(|(_, place, _)| filled(*place)).max()?;
        // The one that most records have, if there are several.
        found.retain(|(_, place, _)| moment == Moment::End || filled(*place) * 10 >= most * 9);
        let (_, place, reading) = found.iter().min_by_key(|(rank, place, _)| (*rank, *place))?.clone();
        self.passed_over.extend(found.iter().map(|(_, place, _)| *place));
        Some((place, reading))
    }

    /// Returns a column that can be nothing but times or dates, whatever it is called.
    fn unmistakable(&self) -> Option<(usize, Reading)> {
        let is_right = |reading: &Reading| {
            reading.suffix.as_deref().is_some_and(|suffix| {
                let has_year = suffix.contains("YYYY") || suffix.contains("%Y");
                has_year
                    && (suffix.contains(BETWEEN) || suffix.contains(['m', 'M', ' ']) && suffix != "YYYYMMDD")
                    && !suffix.starts_with("YYYYMMDDHH")
            })
        };
        let found = self.free().filter(|place| self.is_of(Moment::Start, *place)).find_map(|place| {
            let reading = self.reading_of(Moment::Start, place).or_else(|| self.short_date(place));
            Some((place, reading.filter(is_right)?))
        });
        found.or_else(|| {
            let date = self.free().find(|place| self.is(*place, is_date))?;
            Some((date, Reading::default())).filter(|(place, _)| self.is_of(Moment::Start, *place))
        })
    }

    /// Says why nothing is known to be a time.
    fn no_time(&self) -> String {
        let names: Vec<&str> =
            self.columns.iter().map(|column| column.name.as_str()).filter(|name| !name.is_empty()).collect();
        let told = "nothing here is known to be a time";
        if names.is_empty() {
            return format!("{told}, and nothing names columns. If these are lines, say how they look with `pattern`");
        }
        let mut told = format!("{told}; there are `{}`", names.join("`, `"));
        if names.iter().any(|name| name.starts_with(|c: char| c.is_ascii_digit())) {
            told.push_str(". If the first row is a record, name the columns with `columns`");
        }
        let count = |place: usize| self.texts(place).filter(|text| is_moment(text)).count();
        let most = (0..self.columns.len()).map(|place| (count(place), place)).max_by_key(|(count, _)| *count);
        let Some((count, place)) = most.filter(|(count, _)| *count > 0) else { return told };
        let name = &self.columns[place].name;
        let all = self.texts(place).count();
        format!("{told}. `{name}` is one in {count} of {all} records: `time={name}` takes it, and refuses the others")
    }

    /// Returns the time that is in columns of its parts.
    fn in_parts(&mut self, moment: Moment) -> Option<Found> {
        let (year, word) = self.part(moment, TimePart::Year, PARTS[0].1, None)?;
        let rest = rest_of(&self.columns[year].name, word).unwrap_or_default();
        let mut found = Found { value: json!({}), places: vec![year], told: Vec::new() };
        let mut parts = Map::new();
        self.years(year, &mut parts, &mut found.told);
        for (part, names) in PARTS.into_iter().skip(1) {
            let Some((place, _)) = self.part(moment, part, names, Some(&rest)) else {
                found.told.extend(self.doubted(moment, part, names));
                break;
            };
            found.places.push(place);
            parts.insert(part.as_str().to_owned(), Value::from(self.name(place)));
        }
        let hour = parts.get("hour").and_then(Value::as_str).map(str::to_owned);
        found.value = Value::Object(parts);
        match hour {
            Some(hour) => found.value["zone"] = Value::from(self.zone(&hour, &mut found.told)),
            None => self.add_time_of_day(moment, &mut found),
        }
        Some(found)
    }

    /// Returns the time that is a date, perhaps with a time of day in a column of its own.
    fn date_and_time(&mut self, moment: Moment) -> Option<Found> {
        let (place, reading) = self.date(moment)?;
        let name = self.name(place);
        let date = reading.suffix.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
        let mut found = Found { value: json!({ "date": date }), places: vec![place], told: reading.told };
        self.add_time_of_day(moment, &mut found);
        Some(found)
    }

    /// Adds the time of day to a date, if there is one.
    fn add_time_of_day(&mut self, moment: Moment, found: &mut Found) {
        let Some((place, format)) = self.time_of_day(moment).filter(|(place, _)| !found.places.contains(place)) else {
            return;
        };
        self.doubt_zeros(place, &mut found.told);
        let name = self.name(place);
        let value = format.map_or_else(|| name.clone(), |format| format!("{name}|{format}"));
        found.value["time_of_day"] = Value::from(value);
        found.places.push(place);
        let has_offset = |text: &str| text.ends_with(['Z', 'z']) || text.contains('+') || text.contains('-');
        if !self.is(place, has_offset) {
            found.value["zone"] = Value::from(self.zone(&name, &mut found.told));
        }
    }

    /// Says so where a column is called as a part of a time and does not have it everywhere.
    fn doubted(&self, moment: Moment, part: TimePart, names: &[&str]) -> Option<String> {
        let place = self.find(names, |place, text| self.is_of(moment, place) && number_alone(text).is_some())?;
        let (name, part) = (&self.columns[place].name, part.as_str());
        Some(format!("`{name}` is not taken for the {part}, because some of it cannot be one"))
    }

    /// Returns whether timestamps or dates say the whole time, or have a time of day beside them. None if they are neither.
    fn is_written_out(&self, moment: Moment, place: usize) -> Option<bool> {
        let has_time = |text: &str| text.contains(':') || is_timestamp(text);
        let is_either = self.is(place, |text| is_timestamp(text) || is_local_timestamp(text));
        is_either.then(|| self.is(place, has_time) || self.time_of_day(moment).is_none_or(|(other, _)| other == place))
    }

    /// Returns how a column is read if it is a whole time. A date alone is none if there is a time of day beside it.
    fn reading_of(&self, moment: Moment, place: usize) -> Option<Reading> {
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
                let told = format!("`{name}` is taken for {counted} since 1970, by its number of digits");
                return Some(Reading { suffix: Some(suffix.to_owned()), told: vec![told] });
            }
        }
        let is_day = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && text.parse().is_ok_and(|days: f64| SPREADSHEET_DAYS.contains(&days))
        };
        if self.is(place, is_day) {
            let told = format!("`{name}` is taken for days as spreadsheets count them: 45351 is 2024-02-29");
            return Some(Reading { suffix: Some("excel".to_owned()), told: vec![told] });
        }
        let (literal, prefix) = self.same_start(place);
        if let Some(format) = self.pattern(place, prefix, &FORMATS) {
            return Some(Reading { suffix: Some(format!("{literal}{format}")), told: Vec::new() });
        }
        let mut reading = self.short_date(place)?;
        reading.suffix = reading.suffix.map(|suffix| format!("{literal}{suffix}"));
        let is_whole = self.has_clock(place, &reading) || self.time_of_day(moment).is_none();
        is_whole.then_some(reading)
    }

    /// Returns the text with which all texts of a column begin before a date, such as `EOW: `, as a pattern and as it is.
    fn same_start(&self, place: usize) -> (String, usize) {
        let Some(first) = self.texts(place).next() else { return (String::new(), 0) };
        let end = first.find(": ").map_or(0, |end| end + 2);
        let start = &first[..end];
        let is_plain = !start.contains(['\'', '%']) && !start.contains(|c: char| c.is_ascii_digit());
        if end == 0 || !is_plain || !self.is(place, |text| text.starts_with(start)) {
            return (String::new(), 0);
        }
        (format!("'{start}'"), end)
    }

    /// Returns whether what a column says is more than a date.
    fn has_clock(&self, place: usize, reading: &Reading) -> bool {
        let (_, prefix) = self.same_start(place);
        let suffix = reading.suffix.as_deref().unwrap_or_default();
        suffix.contains("HH") || self.is(place, |text| text.get(prefix..).is_some_and(|text| text.contains(':')))
    }

    /// Returns the first of these patterns by which a column can be read behind so many bytes.
    fn pattern(&self, place: usize, prefix: usize, patterns: &[&str]) -> Option<String> {
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

    /// Returns how dates are read that need a pattern: of three numbers, or of others.
    fn short_date(&self, place: usize) -> Option<Reading> {
        let name = &self.columns[place].name;
        let (_, prefix) = self.same_start(place);
        let mut reading = match self.pattern(place, prefix, &SHORT_DATES) {
            Some(pattern) => Reading { suffix: Some(pattern), told: Vec::new() },
            None => self.of_numbers(place)?,
        };
        if reading.suffix.as_deref().is_some_and(|suffix| !suffix.contains("YYYY")) {
            reading.told.push(format!("`{name}` has years of two digits, which are read as 1969 to 2068"));
        }
        Some(reading)
    }

    /// Returns the pattern of dates of three numbers, if the column has such.
    fn of_numbers(&self, place: usize) -> Option<Reading> {
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
                let mut told = Vec::new();
                if year == "YY"
                    && between != '.'
                    && let Some(format) = self.year_first(place, between, clock, &mut told)
                {
                    return Some(Reading { suffix: Some(format), told });
                }
                // With points between them, the day is first everywhere.
                if days == months && between != '.' {
                    let name = &self.columns[place].name;
                    let nothing = "nothing tells whether the day or the month is first in";
                    told.push(format!("{nothing} `{name}`; the day is taken"));
                }
                let format = if months > days { month_first } else { day_first };
                return Some(Reading { suffix: Some(format.as_str().to_owned()), told });
            }
        }
        None
    }

    /// Returns the pattern of dates that begin with a year of two digits: that number stays the same, and the last one
    /// does not.
    fn year_first(&self, place: usize, between: char, clock: &str, told: &mut Vec<String>) -> Option<String> {
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
        told.push(format!("nothing tells whether the year is first or last in `{name}`; the last number is taken"));
        None
    }

    /// Returns whether nothing in a column says where its times are meant.
    fn needs_zone(&self, place: usize, value: &str) -> bool {
        let has_clock = |text: &str| text.contains(':');
        match value.split_once('|') {
            None => self.is(place, |text| is_local_timestamp(text) && has_clock(text)),
            Some((_, "excel")) => self.texts(place).any(|text| text.contains('.')),
            Some((_, suffix)) => {
                !suffix.starts_with("unix")
                    && !suffix.contains("%z")
                    && !suffix.ends_with('Z')
                    && (suffix.contains("HH") || suffix.contains("h:") || suffix.contains("%H"))
            }
        }
    }

    /// Returns the free column of a part, and the word by which it is known. One whose name has the same other words as
    /// that of the year comes first.
    fn part(
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
                let is_right = self.is_of(moment, place) && self.is(place, fits);
                is_right.then(|| (rest.is_some_and(|rest| rest != other), other.len(), place, name))
            });
        // Of those that are alike the first one counts, by the order of the words.
        let found =
            found.enumerate().min_by_key(|(number, (is_unlike, more, ..))| (*is_unlike, (*more).min(1), *number));
        found.map(|(_, (.., place, name))| (place, name))
    }

    /// Takes the column of years, and says how they are counted.
    fn years(&self, place: usize, parts: &mut Map<String, Value>, told: &mut Vec<String>) {
        let numbers: Vec<i64> = self.texts(place).filter_map(|text| Some(year_alone(text)?.number)).collect();
        let mut name = self.name(place);
        let has_two_digits = |text: &str| {
            let digits = crate::time_format::whole(text);
            digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if numbers.contains(&0) && !self.is(place, has_two_digits) {
            parts.insert("year_numbering".to_owned(), Value::from("astronomical"));
            told.push(format!("`{name}` has a year 0, so years are read as astronomers count: 0 is 1 BCE"));
        } else if let Some(year) = numbers.iter().find(|year| **year < 0) {
            let before = year.unsigned_abs();
            told.push(format!("`{name}` has years such as {year}, which is read as {before} BCE (`historical`)"));
        } else if self.is(place, has_two_digits) {
            told.push(format!(
                "`{name}` has years of two digits, which are read as 1969 to 2068; without `|YY` they are those \
                of the first century"
            ));
            name.push_str("|YY");
        }
        parts.insert("year".to_owned(), Value::from(name));
    }

    /// Returns the column of dates, and its pattern if it needs one.
    fn date(&self, moment: Moment) -> Option<(usize, Reading)> {
        let is_end_alone = |place: usize| moment == Moment::End && words(&self.columns[place].name).count() == 1;
        let find = |fits: &dyn Fn(&str) -> bool| {
            let fits = |place: usize, text: &str| self.is_of(moment, place) && fits(text);
            let alone = || self.free().find(|place| is_end_alone(*place) && self.is(*place, |text| fits(*place, text)));
            self.find(&DATES, fits).or_else(alone)
        };
        if let Some(place) = find(&|text| is_part(TimePart::Date, text)) {
            let is_solid = self.is(place, |text| text.len() == 8 && number_of_digits(text) == 8);
            return Some((place, Reading { suffix: is_solid.then(|| "YYYYMMDD".to_owned()), told: Vec::new() }));
        }
        let has_parts = |text: &str| {
            let is_between = |c: char| BETWEEN.contains(&c) || c.is_whitespace();
            text.split(is_between).filter(|part| !part.is_empty()).count() == 3
        };
        let place = find(&has_parts)?;
        Some((place, self.short_date(place)?))
    }

    /// Returns the column of times of day, and its pattern if it needs one.
    fn time_of_day(&self, moment: Moment) -> Option<(usize, Option<&'static str>)> {
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

    /// Says that a time of day of 0 among others of digits is not known.
    fn doubt_zeros(&mut self, place: usize, told: &mut Vec<String>) {
        let zeros = self.texts(place).filter(|text| *text == "0" || *text == "0.0").count();
        let name = self.columns[place].name.clone();
        if zeros > 0 && !self.missing.contains_key(&name) {
            self.zero_is_missing(place);
            told.push(format!("`{name}` is 0 in {zeros} records, which is taken for a time that is not known"));
        }
    }
}

/// Returns whether a text is a date as most tables write it.
pub(in crate::guess) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(BETWEEN).collect();
    let is_numbers = parts.iter().all(|part| (1..=4).contains(&part.len()) && number_of_digits(part) == part.len());
    parts.len() == 3 && is_numbers && parts.iter().filter(|part| part.len() == 4).count() == 1
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

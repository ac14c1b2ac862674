//! Log lines: a time, often at the start, and a text.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex, RegexBuilder};
use serde_json::Value;
use timenav_core::time::{Instant, Virtual, Zone, parse_timestamp};

use super::markers::Markers;
use super::roles::LocalZone;
use super::{Column, Settings};
use crate::limits::GUESS_ROWS_MAX;

/// Common time formats, most specific first. Their width may vary between lines.
const TIMES: [&str; 8] = [
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?",
    r"\d{4}[/.]\d\d[/.]\d\d[ T]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?",
    r"\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?",
    r"[A-Z][a-z]{2},? [A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d(?:\.\d{1,9})?(?: UTC| GMT| [+-]\d{4})? \d{4}",
    r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d(?: UTC| GMT| [+-]\d{4})?",
    r"\d{1,2}[- ][A-Z][a-z]{2}[- ]\d{4} \d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: UTC| GMT| [+-]\d{4})?",
    r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d),? \d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?",
    r"\d{8}[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?",
];
/// Unix times at the start of a line. Elsewhere such numbers may be anything.
const COUNTS: [&str; 2] = [r"1\d{12}", r"1\d{9}(?:\.\d{1,9})?"];
/// Times without a year: their pattern, their mapping format after a year, and a pattern before them.
const WITHOUT_YEAR: [(&str, &str, &str); 3] = [
    // RFC 3164, section 4.1.2.
    (r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?", "MMM D HH:mm:ss", ""),
    (r"\d{4} \d\d:\d\d:\d\d\.\d{1,6}", "MMDD HH:mm:ss", "(?<level>[IWEF])"),
    (r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,6}", "MM-DD HH:mm:ss", ""),
];
const LEAP_DAYS: [&str; 3] = ["Feb 29", "0229", "02-29"];
/// The assumed year if lines have none: the second one is the first with a 29 February.
const YEARS: [&str; 2] = ["1970", "1972"];
/// Patterns before the time: nothing, the priority of syslog, or anything that ends with a blank or a bracket.
const BEFORE: [&str; 3] = ["", r"<(?<priority>\d{1,3})>", r"(?<before>.*?[\[(< ])"];
const BEHIND: &str = r"[\])>]?:?(?:\s+-(?:\s|$))?\s*(?<text>.*)$";
/// Column separators. A line with one next to the time is a table row.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Abbreviations after times: the zone in which they are used, and its offset in hours.
const OFFSETS: [(&str, &str, i64); 17] = [
    ("CET", "Europe/Berlin", 1),
    ("CEST", "Europe/Berlin", 2),
    ("MEZ", "Europe/Berlin", 1),
    ("MESZ", "Europe/Berlin", 2),
    ("EET", "Europe/Athens", 2),
    ("EEST", "Europe/Athens", 3),
    ("WET", "Europe/Lisbon", 0),
    ("WEST", "Europe/Lisbon", 1),
    ("BST", "Europe/London", 1),
    ("EST", "America/New_York", -5),
    ("EDT", "America/New_York", -4),
    ("CDT", "America/Chicago", -5),
    ("MDT", "America/Denver", -6),
    ("PST", "America/Los_Angeles", -8),
    ("PDT", "America/Los_Angeles", -7),
    ("AEDT", "Australia/Sydney", 11),
    ("JST", "Asia/Tokyo", 9),
];
const HOUR_MICROS: i64 = 3_600_000_000;

/// Lines with a time, most of them at the same position.
pub(super) struct Lines {
    pub(super) columns: Vec<Column>,
    pub(super) settings: Settings,
    /// For times without a year: the assumed year, and the settings for the rest of the line.
    pub(super) without_year: Option<(&'static str, Settings)>,
    pub(super) zone: Option<LocalZone>,
}

struct Form {
    pattern: String,
    regex: Regex,
    /// The time format after a year, if it has none itself.
    without_year: Option<&'static str>,
    /// The index in [`BEFORE`].
    before: usize,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let with_year = TIMES.into_iter().chain(COUNTS).map(|time| (time, None, ""));
    let without_year = WITHOUT_YEAR.into_iter().map(|(time, format, level)| (time, Some(format), level));
    let times: Vec<_> = with_year.chain(without_year).collect();
    let forms = BEFORE.into_iter().enumerate().flat_map(|(number, before)| {
        let times = times.iter().filter(move |(time, ..)| number == 0 || !COUNTS.contains(time));
        times.filter_map(move |(time, without_year, level)| {
            let pattern = format!(r"^{before}{level}[\[(<]?(?<time>{time}){BEHIND}");
            let regex = RegexBuilder::new(&pattern).unicode(false).build().ok()?;
            Some(Form { pattern, regex, without_year: *without_year, before: number })
        })
    });
    forms.collect()
});

/// Returns the form of the lines if they have a time. The first line may be a table header instead. Continuation lines,
/// such as stack traces, have no time.
pub(super) fn of(text: &str) -> Option<Lines> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(GUESS_ROWS_MAX).collect();
    let first = lines.first()?;
    let form = FORMS.iter().find(|form| {
        let found: Vec<Captures<'_>> = lines.iter().filter_map(|line| form.captures(line)).collect();
        let count = found.len();
        let has_first = form.captures(first).is_some();
        let texts = found.iter().filter(|found| found.name("text").is_some_and(|text| !text.is_empty())).count();
        // A line before the first one, without column names.
        let has_banner = !first.bytes().any(|byte| DELIMITERS.contains(&byte)) && texts * 2 >= lines.len();
        match form.before {
            // Continuation lines may outnumber the others.
            0 | 1 => (has_first && count * 10 >= lines.len()) || (has_banner && count > 1),
            _ => has_first && count > 1 && count * 10 >= lines.len() * 9,
        }
    })?;
    let found: Vec<Captures<'_>> = lines.iter().filter_map(|line| form.captures(line)).collect();
    let texts = |name: &str| -> Vec<String> {
        let text = |found: &Captures<'_>| {
            let text = found.name(name).map_or(&b""[..], |text| text.as_bytes());
            String::from_utf8_lossy(text).trim().to_owned()
        };
        found.iter().map(text).collect()
    };
    let column = |name: &str| Column { name: name.to_owned(), texts: texts(name), markers: Markers::default() };
    let columns = vec![column("time"), column("text")];
    let zone = zone_of(&columns[0].texts, &columns[1].texts);
    let without_year = form.without_year.map(|format| {
        let has_leap_day = columns[0].texts.iter().any(|time| LEAP_DAYS.iter().any(|day| time.starts_with(day)));
        let year = YEARS[usize::from(has_leap_day)];
        let time = Value::from(format!("{year} {{time}}|YYYY {format}"));
        (year, vec![("time", time), ("description", Value::from("text"))])
    });
    Some(Lines { columns, settings: vec![("pattern", Value::from(form.pattern.as_str()))], without_year, zone })
}

impl Form {
    /// Returns the parts of a line, unless it is a row of a table.
    fn captures<'l>(&self, line: &'l str) -> Option<Captures<'l>> {
        let found = self.regex.captures(line.as_bytes())?;
        let time = found.name("time")?;
        let line = line.as_bytes();
        let before = line[..time.start()].trim_ascii_end().last();
        let behind = line.get(time.end());
        // A year after the abbreviation of a zone is not supported.
        let mut words = found.name("text").map_or(&b""[..], |text| text.as_bytes()).split(|byte| *byte == b' ');
        let is_zone = |word: &[u8]| (3..=5).contains(&word.len()) && word.iter().all(u8::is_ascii_uppercase);
        let is_year = |word: &[u8]| word.len() == 4 && word.iter().all(u8::is_ascii_digit);
        if self.without_year.is_some() && words.next().is_some_and(is_zone) && words.next().is_some_and(is_year) {
            return None;
        }
        let is_row = [before, behind].into_iter().flatten().any(|byte| DELIMITERS.contains(byte));
        // If more digits follow, it is another number.
        (!is_row && behind.is_none_or(|byte| !byte.is_ascii_alphanumeric())).then_some(found)
    }
}

/// Returns the zone that the name of a column has in brackets, such as `Time (CET/CEST)`, if it is known.
pub(super) fn zone_in_name(name: &str) -> Option<LocalZone> {
    name.split(['(', '[']).skip(1).find_map(|end| {
        let given = end.split([')', ']', '/']).next()?.trim();
        let (_, zone, _) = OFFSETS.into_iter().find(|(offset, ..)| *offset == given)?;
        Some(LocalZone { given: given.to_owned(), zone })
    })
}

/// Returns the zone of the times, if almost all lines name its offset, and it applies at these times.
fn zone_of(times: &[String], texts: &[String]) -> Option<LocalZone> {
    let mut found: Option<LocalZone> = None;
    let mut count = 0;
    for (time, text) in times.iter().zip(texts) {
        let name = text.split([' ', ']']).next().unwrap_or_default();
        let Some((offset_text, zone, hours)) = OFFSETS.into_iter().find(|(offset, ..)| *offset == name) else {
            continue;
        };
        if found.as_ref().is_some_and(|found| found.zone != zone) {
            return None;
        }
        let local: Instant<Virtual> = parse_timestamp(&format!("{}Z", time.replace(' ', "T"))).ok()?;
        let at = Zone::named(zone)?.instant_of_local(local)?;
        if local.micros() - at.micros() != hours * HOUR_MICROS {
            return None;
        }
        count += 1;
        found.get_or_insert_with(|| LocalZone { given: offset_text.to_owned(), zone });
    }
    found.filter(|_| count * 10 >= times.len() * 9)
}

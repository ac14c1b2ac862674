//! Detection of a file's format, and a proposed mapping.

mod access_log;
mod declared;
mod lines;
mod markers;
mod records;
mod roles;
mod syslog;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::Value;
use timenav_core::event::EventDraft;

use crate::content_id::{canonical, content_id};
use crate::files::byte_order_mark::other_than_text;
use crate::files::encoding::Encoding;
use crate::limits::GUESS_ROWS_MAX;
use crate::{Format, Mapping, read};
use markers::Markers;
use roles::{Roles, Shape};

const PREVIEW_EVENTS: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    pub format: Format,
    /// The proposed mapping in JSON. `None` for formats that do not use one.
    pub mapping: Option<String>,
    /// The first resulting events, in JSON.
    pub events: Vec<String>,
    /// Of the examined records, how many become events and how many are rejected.
    pub counts: (usize, usize),
    /// Assumptions that cannot be verified from the file alone.
    pub unsure: Vec<String>,
    /// Whether the first record is rejected.
    is_first_refused: bool,
    /// How many events end before they start.
    backwards: usize,
}

/// A column of a table, or a member of records, with its first texts.
#[derive(Clone, Debug, Default, PartialEq)]
struct Column {
    name: String,
    /// Trimmed; empty if missing.
    texts: Vec<String>,
    markers: Markers,
}

/// Mapping settings other than fields: names, and values in JSON.
type Settings = Vec<(&'static str, Value)>;

struct Start<'b> {
    bytes: &'b [u8],
    text: Cow<'b, str>,
    /// The first line that is not UTF-8.
    foreign_line: Option<usize>,
    /// Whether the text is decoded as Windows-1252.
    is_windows: bool,
}

impl Guess {
    /// Examines the start of a file, in the given format if any. It must end with a complete line unless the file does
    /// not.
    ///
    /// # Errors
    /// No time was found, or the file is not text.
    pub fn of(start: &[u8], format: Option<Format>) -> Result<Self, String> {
        let start = Start::of(start)?;
        match format {
            None => Self::of_any(&start, None),
            Some(Format::Csv) => Self::of_table(&start),
            Some(format) if format.takes_mapping() => Self::of_records(format, &start),
            Some(format) => Ok(Self::proposal(format, None, &start, Vec::new())),
        }
    }

    /// Examines the start of a file whose extension has that format. A more specific format may be detected.
    ///
    /// # Errors
    /// No time was found, or the file is not text.
    pub fn of_file(start: &[u8], extension: Option<Format>) -> Result<Self, String> {
        Self::of_any(&Start::of(start)?, extension)
    }

    /// Examines a file of any format, and returns the first one that yields events.
    fn of_any(start: &Start<'_>, extension: Option<Format>) -> Result<Self, String> {
        let text = &*start.text;
        // Values of a text sequence are preceded by a record separator.
        let json = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{1E}');
        if extension == Some(Format::Csv) || !is_json(json) {
            return match extension {
                _ if is_calendar(json) => Ok(Self::proposal(Format::ICalendar, None, start, Vec::new())),
                Some(format @ Format::Logfmt) => Self::of_records(format, start),
                Some(format) if !format.takes_mapping() => Ok(Self::proposal(format, None, start, Vec::new())),
                None | Some(Format::Csv) if is_logfmt(json) => Self::of_records(Format::Logfmt, start),
                _ => Self::of_table(start),
            };
        }
        if records::has_features(text) {
            return Self::of_records(Format::GeoJson, start);
        }
        let likely = KNOWN.into_iter().filter(|(_, words)| words.iter().all(|word| json.contains(word)));
        let mut proposals = likely.map(|(format, _)| Self::proposal(format, None, start, Vec::new()));
        if let Some(guess) = proposals.find(|guess| guess.counts.0 > 0) {
            return Ok(guess);
        }
        let is_object = |line: &str| line.starts_with('{') && serde_json::from_str::<Value>(line).is_ok();
        let mut lines = json.lines().filter(|line| !line.trim().is_empty());
        if !(lines.next().is_some_and(is_object) && lines.next().is_none_or(is_object)) {
            return Self::of_records(Format::Json, start);
        }
        // A single-line document with nested records.
        Self::of_records(Format::Ndjson, start)
            .or_else(|error| Self::of_records(Format::Json, start).map_err(|_| error))
    }

    fn of_table(start: &Start<'_>) -> Result<Self, String> {
        let text = &*start.text;
        if let Some(settings) = access_log::of(text).or_else(|| syslog::of(text)) {
            let mapping = pretty(start.settings().chain(settings));
            return Ok(Self::proposal(Format::Csv, Some(mapping), start, start.notes()));
        }
        if let Some((columns, settings)) = declared::columns(text) {
            let shape = Shape::default();
            return Ok(Self::proposed(Format::Csv, &settings, &Roles::of(&columns, &shape)?, start, Vec::new()));
        }
        if let Some(lines) = lines::of(text) {
            return Self::of_lines(lines, start);
        }
        let (columns, mut settings, notes) = table::columns(text);
        let names_columns = settings.iter().all(|(word, _)| *word != "columns");
        let shape = Shape { is_unnamed: !names_columns, ..Shape::default() };
        let roles = Roles::of(&columns, &shape)?;
        let guess = Self::proposed(Format::Csv, &settings, &roles, start, notes.clone());
        // A row after the header that is not an event, for example with units.
        if guess.is_first_refused && guess.counts.0 > 0 && names_columns {
            settings.push((table::SKIP_ROWS, Value::from(1)));
            let mut notes = notes;
            notes.push("the row below the column names is not an event, and is skipped (`skip_rows`)".to_owned());
            let other = Self::proposed(Format::Csv, &settings, &roles, start, notes);
            if other.counts.1 == 0 {
                return Ok(other);
            }
        }
        Ok(guess)
    }

    fn of_lines(lines: lines::Lines, start: &Start<'_>) -> Result<Self, String> {
        if let Some((year, members)) = lines.without_year {
            let mut notes = start.notes();
            notes.push(format!("the lines have no year; {year} is assumed, so set the right one in `time`"));
            notes.push("the times have no zone, so UTC is assumed; set another in `time.zone`".to_owned());
            let mapping = pretty(start.settings().chain(lines.settings).chain(members));
            return Ok(Self::proposal(Format::Csv, Some(mapping), start, notes));
        }
        let shape = Shape { zone: lines.zone, ..Shape::default() };
        Ok(Self::proposed(Format::Csv, &lines.settings, &Roles::of(&lines.columns, &shape)?, start, Vec::new()))
    }

    /// Examines JSON records, lines of a log, or the properties of features.
    fn of_records(format: Format, start: &Start<'_>) -> Result<Self, String> {
        // Data in timenav's own format needs no mapping.
        let plain = matches!(format, Format::Ndjson | Format::GeoJson)
            .then(|| Self::proposal(format, None, start, Vec::new()))
            .filter(|plain| plain.counts.0 > 0 && plain.counts.1 == 0 && !start.is_windows);
        if format == Format::Ndjson
            && let Some(plain) = plain
        {
            return Ok(plain);
        }
        let (columns, settings, shape) = records::columns(format, &start.text);
        let roles = match (Roles::of(&columns, &shape), plain.as_ref()) {
            (Ok(roles), _) => roles,
            (Err(_), Some(plain)) => return Ok(plain.clone()),
            (Err(error), None) => return Err(error),
        };
        // A feature has its own time and place, but no end.
        let is_more = |word: &str| roles.members().iter().any(|(member, _)| *member == word);
        match plain {
            Some(plain) if !is_more("geo") && !is_more("end_time") => Ok(plain),
            _ => Ok(Self::proposed(format, &settings, &roles, start, Vec::new())),
        }
    }

    /// Tries the detected columns. An end that is usually before the start is dropped.
    fn proposed(format: Format, settings: &Settings, roles: &Roles<'_>, start: &Start<'_>, notes: Vec<String>) -> Self {
        let of = |members: Settings, notes: Vec<String>| {
            let mapping = pretty(start.settings().chain(settings.clone()).chain(members));
            let unsure = start.notes().into_iter().chain(notes).chain(roles.unsure.iter().cloned());
            Self::proposal(format, Some(mapping), start, unsure.collect())
        };
        let guess = of(roles.members(), notes.clone());
        if guess.backwards * 5 <= guess.counts.0 {
            return guess;
        }
        let members = roles.members().into_iter().filter(|(word, _)| *word != "end_time").collect();
        let mut notes = notes;
        let (backwards, all) = (guess.backwards, guess.counts.0);
        notes.push(format!("no end is proposed after all: {backwards} of {all} events would end before they begin"));
        of(members, notes)
    }

    fn proposal(format: Format, mapping: Option<String>, start: &Start<'_>, mut unsure: Vec<String>) -> Self {
        let parsed = Mapping::parse(mapping.as_deref().unwrap_or_default()).unwrap_or_default();
        let (mut events, mut counts, mut refusal) = (Vec::new(), (0, 0), None);
        let (mut is_first_refused, mut backwards) = (false, 0);
        let outcome = read(format, &parsed, start.bytes, &mut |item| {
            match &item.event {
                Ok(draft) => {
                    counts.0 += 1;
                    backwards += usize::from(draft.end_time.is_some_and(|end| end < draft.time));
                    if events.len() < PREVIEW_EVENTS {
                        events.push(preview(draft));
                    }
                }
                Err(error) => {
                    is_first_refused |= counts == (0, 0);
                    counts.1 += 1;
                    let field = error.field.as_ref().map_or_else(String::new, |field| format!("{field}: "));
                    refusal.get_or_insert_with(|| format!("line {}: {field}{}", item.line, error.detail));
                }
            }
            if counts.0 + counts.1 < GUESS_ROWS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if let Some(refusal) = refusal {
            unsure.push(format!("{} of {} records would be rejected; {refusal}", counts.1, counts.0 + counts.1));
        }
        if let (Err(error), 0) = (outcome, counts.0) {
            unsure.push(error.to_string());
        }
        Self { format, mapping, events, counts, unsure, is_first_refused, backwards }
    }
}

impl<'b> Start<'b> {
    fn of(start: &'b [u8]) -> Result<Self, String> {
        if let Some(other) = other_than_text(start) {
            return Err(format!("the file is not UTF-8 text: {other}"));
        }
        let bytes = start.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(start);
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            // The start may end within a character.
            Err(error) if error.error_len().is_none() => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
            Err(error) => return Self::of_foreign(bytes, error.valid_up_to()),
        };
        if text.trim().is_empty() {
            return Err("the file is empty".to_owned());
        }
        Ok(Self { bytes, text: Cow::Borrowed(text), foreign_line: None, is_windows: false })
    }

    /// Examines a text that is not UTF-8 from that byte on.
    fn of_foreign(bytes: &'b [u8], valid: usize) -> Result<Self, String> {
        let line = bytes[..valid].split(|byte| *byte == b'\n').count();
        if bytes.iter().any(|byte| matches!(byte, 0..=8)) {
            return Err(format!("line {line} is not text; is the file compressed, or in a binary format?"));
        }
        let lossy = String::from_utf8_lossy(bytes);
        let wrong = lossy.matches('\u{FFFD}').count();
        let foreign = lossy.chars().filter(|character| !character.is_ascii()).count() - wrong;
        // Windows-1252 text is rarely valid UTF-8 by accident, so the majority of non-ASCII characters decides.
        let is_windows = wrong > foreign;
        let text = if is_windows { Cow::Owned(Encoding::windows_1252(bytes)) } else { lossy };
        Ok(Self { bytes, text, foreign_line: Some(line), is_windows })
    }

    fn settings(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.is_windows.then(|| ("encoding", Value::from("windows-1252"))).into_iter()
    }

    /// Returns the assumptions about the text.
    fn notes(&self) -> Vec<String> {
        let Some(line) = self.foreign_line else { return Vec::new() };
        vec![if self.is_windows {
            format!("line {line} is not UTF-8; `windows-1252` is assumed as the `encoding`, as spreadsheets write it")
        } else {
            format!("line {line} is not UTF-8, though others are; records like it would be rejected")
        }]
    }
}

/// Returns an event for the preview: with its id, unless that is derived from the content.
fn preview(draft: &EventDraft) -> String {
    let mut text = String::from_utf8_lossy(&canonical(draft)).into_owned();
    if let Some(event_id) = draft.event_id.as_ref().filter(|event_id| **event_id != content_id(draft)) {
        text.insert_str(1, &format!("\"event_id\":\"{event_id}\","));
    }
    text
}

/// Formats that need no mapping, and words that all their files contain.
const KNOWN: [(Format, &[&str]); 5] = [
    (Format::Otlp, &["\"resourceSpans\""]),
    (Format::Otlp, &["\"resourceLogs\""]),
    (Format::CloudEvents, &["\"specversion\""]),
    (Format::Jaeger, &["\"traceID\"", "\"processes\""]),
    (Format::Zipkin, &["\"traceId\"", "\"localEndpoint\""]),
];

/// Returns whether a text starts like JSON, as opposed to a time in brackets.
fn is_json(text: &str) -> bool {
    let inner = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || inner.is_some_and(|inner| inner.starts_with(['{', '[', ']', '"']))
}

fn is_calendar(text: &str) -> bool {
    text.get(..15).is_some_and(|start| start.eq_ignore_ascii_case("BEGIN:VCALENDAR"))
}

fn is_logfmt(text: &str) -> bool {
    let is_pair =
        |piece: &str| piece.split_once('=').is_some_and(|(key, _)| !key.is_empty() && !key.contains([',', '"', ';']));
    let is_line = |line: &&str| {
        line.split_whitespace().next().is_some_and(is_pair)
            && line.split_whitespace().filter(|piece| is_pair(piece)).count() > 1
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(GUESS_ROWS_MAX).collect();
    lines.first().is_some_and(is_line) && lines.iter().filter(|line| is_line(line)).count() * 2 > lines.len()
}

/// Writes an object with one member per line, in this order.
fn pretty(members: impl Iterator<Item = (&'static str, Value)>) -> String {
    let mut text = String::from("{");
    for (number, (name, value)) in members.enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n  \"{name}\": {value}");
    }
    text.push_str("\n}");
    text
}

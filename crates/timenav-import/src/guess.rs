//! A first look at a file: what it is, and a mapping that would import it.

mod access_log;
mod lines;
mod markers;
mod records;
mod roles;
mod syslog;
mod table;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::Value;

use crate::byte_order_mark::other_than_text;
use crate::content_id::canonical;
use crate::limits::GUESS_ROWS_MAX;
use crate::{Format, Mapping, read};
use markers::Markers;
use roles::Roles;

/// How many events are shown that a mapping would make.
const PREVIEW_EVENTS: usize = 3;

/// What a first look at a file found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// What the file is.
    pub format: Format,
    /// A mapping in JSON, as it can be saved and used. None for formats whose records name their fields.
    pub mapping: Option<String>,
    /// The first events that it makes, in JSON.
    pub events: Vec<String>,
    /// How many records of those that were looked at are events, and how many are refused.
    pub counts: (usize, usize),
    /// What nobody can know from the file alone, and what was taken for it.
    pub unsure: Vec<String>,
    /// Whether the first record is refused.
    is_first_refused: bool,
}

/// A column of a table, or a member of records, with the texts of the first of them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Column {
    name: String,
    /// Without blanks around them; empty where there is nothing.
    texts: Vec<String>,
    /// Which numbers in it stand for nothing, by all that was looked at.
    markers: Markers,
}

/// What is said of a file beside its columns, each a word of the mapping and its value in JSON.
type Settings = Vec<(&'static str, Value)>;

impl Guess {
    /// Looks at the start of a file, which ends with a whole line unless the file does.
    ///
    /// # Errors
    /// Nothing in it is known to be a time, or it is not text.
    pub fn of(start: &[u8], format: Option<Format>) -> Result<Self, String> {
        if let Some(other) = other_than_text(start) {
            return Err(format!("the file is not UTF-8 text: {other}"));
        }
        let start = start.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(start);
        let text = match str::from_utf8(start) {
            Ok(text) => text,
            // The start may end within a character.
            Err(error) if error.error_len().is_none() => str::from_utf8(&start[..error.valid_up_to()]).unwrap_or(""),
            Err(_) => return Err("the file is not UTF-8; save it in that encoding".to_owned()),
        };
        if text.trim().is_empty() {
            return Err("the file is empty".to_owned());
        }
        match format.unwrap_or_else(|| sniffed(text)) {
            Format::Csv => Self::of_table(text),
            found @ Format::Ndjson => match (Self::of_records(found, text), format) {
                // A document on a single line, with its records inside.
                (Err(error), None) => Self::of_records(Format::Json, text).map_err(|_| error),
                (guess, _) => guess,
            },
            found @ (Format::Json | Format::Logfmt | Format::GeoJson) => Self::of_records(found, text),
            found => Ok(Self::shown(found, None, text, Vec::new())),
        }
    }

    /// Looks at the rows of a table.
    fn of_table(text: &str) -> Result<Self, String> {
        if let Some(settings) = access_log::of(text).or_else(|| syslog::of(text)) {
            return Ok(Self::shown(Format::Csv, Some(pretty(settings.into_iter())), text, Vec::new()));
        }
        if let Some(lines) = lines::of(text) {
            return Self::of_lines(lines, text);
        }
        let (columns, mut settings) = table::columns(text);
        let roles = Roles::of(&columns)?;
        let of = |settings: &Settings| pretty(settings.iter().cloned().chain(roles.members()));
        let guess = Self::shown(Format::Csv, Some(of(&settings)), text, roles.unsure.clone());
        // A row below the names that is no event, such as one of units.
        if guess.is_first_refused && guess.counts.0 > 0 && !settings.iter().any(|(word, _)| *word == table::SKIP_ROWS) {
            settings.push((table::SKIP_ROWS, Value::from(1)));
            let mut unsure = roles.unsure.clone();
            unsure.push("the row below the column names is not an event, and is skipped (`skip_rows`)".to_owned());
            let other = Self::shown(Format::Csv, Some(of(&settings)), text, unsure);
            if other.counts.1 == 0 {
                return Ok(other);
            }
        }
        Ok(guess)
    }

    /// Looks at lines of a log.
    fn of_lines(lines: lines::Lines, text: &str) -> Result<Self, String> {
        let (members, unsure) = if let Some((year, members)) = lines.without_year {
            let told = format!("the lines have no year; {year} is assumed, so write the right one in `time`");
            (members, vec![told])
        } else {
            let roles = Roles::of(&lines.columns)?;
            (roles.members(), roles.unsure)
        };
        Ok(Self::shown(Format::Csv, Some(pretty(lines.settings.into_iter().chain(members))), text, unsure))
    }

    /// Looks at records in JSON, at lines of a log, or at the properties of features.
    fn of_records(format: Format, text: &str) -> Result<Self, String> {
        // What has the form of this service needs no mapping.
        if matches!(format, Format::Ndjson | Format::GeoJson) {
            let plain = Self::shown(format, None, text, Vec::new());
            let refused_max = if format == Format::Ndjson { 0 } else { plain.counts.0 };
            if plain.counts.0 > 0 && plain.counts.1 <= refused_max {
                return Ok(plain);
            }
        }
        let (columns, settings) = records::columns(format, text);
        let roles = Roles::of(&columns)?;
        let mapping = pretty(settings.into_iter().chain(roles.members()));
        Ok(Self::shown(format, Some(mapping), text, roles.unsure))
    }

    /// Tries a mapping.
    fn shown(format: Format, mapping: Option<String>, text: &str, mut unsure: Vec<String>) -> Self {
        let parsed = Mapping::parse(mapping.as_deref().unwrap_or_default()).unwrap_or_default();
        let (mut events, mut counts, mut refusal) = (Vec::new(), (0, 0), None);
        let mut is_first_refused = false;
        let outcome = read(format, &parsed, text.as_bytes(), &mut |item| {
            match &item.event {
                Ok(draft) => {
                    counts.0 += 1;
                    if events.len() < PREVIEW_EVENTS {
                        events.push(String::from_utf8_lossy(&canonical(draft)).into_owned());
                    }
                }
                Err(error) => {
                    is_first_refused |= counts == (0, 0);
                    counts.1 += 1;
                    refusal.get_or_insert_with(|| format!("line {}: {}", item.line, error.detail));
                }
            }
            if counts.0 + counts.1 < GUESS_ROWS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if let Some(refusal) = refusal {
            unsure.push(format!("{} of {} records would be refused; {refusal}", counts.1, counts.0 + counts.1));
        }
        if let (Err(error), 0) = (outcome, counts.0) {
            unsure.push(error.to_string());
        }
        Self { format, mapping, events, counts, unsure, is_first_refused }
    }
}

/// Returns what a text is that does not say so.
fn sniffed(text: &str) -> Format {
    // Values of a text sequence begin with what is no blank.
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{1E}');
    let mut lines = start.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let is_object = |line: &str| line.starts_with('{') && serde_json::from_str::<Value>(line).is_ok();
    let has = |name: &str| start.contains(&format!("\"{name}\""));
    match start.as_bytes().first() {
        Some(b'{' | b'[') if has("FeatureCollection") || (has("Feature") && has("geometry")) => Format::GeoJson,
        Some(b'{' | b'[') if has("resourceSpans") || has("resourceLogs") => Format::Otlp,
        Some(b'{' | b'[') if has("specversion") => Format::CloudEvents,
        Some(b'{' | b'[') if has("traceID") && has("processes") => Format::Jaeger,
        Some(b'{' | b'[') if has("traceId") && has("localEndpoint") => Format::Zipkin,
        Some(b'{') if is_object(first) && lines.next().is_none_or(is_object) => Format::Ndjson,
        Some(b'{' | b'[') => Format::Json,
        _ if start.get(..15).is_some_and(|start| start.eq_ignore_ascii_case("BEGIN:VCALENDAR")) => Format::ICalendar,
        _ if is_logfmt(first) => Format::Logfmt,
        _ => Format::Csv,
    }
}

fn is_logfmt(line: &str) -> bool {
    let is_pair =
        |piece: &str| piece.split_once('=').is_some_and(|(key, _)| !key.is_empty() && !key.contains([',', '"']));
    line.split_whitespace().next().is_some_and(is_pair)
        && line.split_whitespace().filter(|piece| is_pair(piece)).count() > 1
}

/// Writes an object with a member a line, in this order.
fn pretty(members: impl Iterator<Item = (&'static str, Value)>) -> String {
    let mut text = String::from("{");
    for (number, (name, value)) in members.enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n  \"{name}\": {value}");
    }
    text.push_str("\n}");
    text
}

//! A first look at a file: what it is, and a mapping that would import it.

mod markers;
mod records;
mod roles;
mod table;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::Value;

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
        let format = format.unwrap_or_else(|| sniffed(text));
        let (columns, settings) = match format {
            Format::Csv => table::columns(text),
            Format::Ndjson | Format::Json | Format::Logfmt => records::columns(format, text),
            _ => return Ok(Self::shown(format, None, text, Vec::new())),
        };
        // What has the form of this service needs no mapping.
        if format == Format::Ndjson {
            let plain = Self::shown(format, None, text, Vec::new());
            if plain.counts.0 > 0 && plain.counts.1 == 0 {
                return Ok(plain);
            }
        }
        let roles = Roles::of(&columns)?;
        let mapping = pretty(settings.into_iter().chain(roles.members()));
        Ok(Self::shown(format, Some(mapping), text, roles.unsure))
    }

    /// Tries a mapping.
    fn shown(format: Format, mapping: Option<String>, text: &str, mut unsure: Vec<String>) -> Self {
        let parsed = Mapping::parse(mapping.as_deref().unwrap_or_default()).unwrap_or_default();
        let (mut events, mut counts, mut refusal) = (Vec::new(), (0, 0), None);
        let outcome = read(format, &parsed, text.as_bytes(), &mut |item| {
            match &item.event {
                Ok(draft) => {
                    counts.0 += 1;
                    if events.len() < PREVIEW_EVENTS {
                        events.push(String::from_utf8_lossy(&canonical(draft)).into_owned());
                    }
                }
                Err(error) => {
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
        Self { format, mapping, events, counts, unsure }
    }
}

/// Returns what a text is that does not say so.
fn sniffed(text: &str) -> Format {
    let start = text.trim_start();
    let mut lines = start.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let is_object = |line: &str| line.starts_with('{') && serde_json::from_str::<Value>(line).is_ok();
    let has = |name: &str| start.contains(&format!("\"{name}\""));
    match start.as_bytes().first() {
        Some(b'{' | b'[') if has("FeatureCollection") || has("Feature") => Format::GeoJson,
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

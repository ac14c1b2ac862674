//! iCalendar export (RFC 5545).

use timenav_core::time::{Instant, Wall};

use super::ExportError;
use super::stored::{Stored, text_of};

/// Longest line, in bytes, without its end (§3.1).
const LINE_BYTES_MAX: usize = 75;

pub(super) fn begin(out: &mut String) {
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//timenav//timenav//EN", "CALSCALE:GREGORIAN"] {
        fold(line, out);
    }
}

/// Writes the part after the last event, including the number of events left out.
pub(super) fn end(left_out: u64, out: &mut String) {
    if left_out > 0 {
        fold(&format!("X-TIMENAV-LEFT-OUT:{left_out}"), out);
    }
    fold("END:VCALENDAR", out);
}

/// Writes an event. Returns whether it was written: calendars only support the years 0 to 9999.
pub(super) fn event(event: &Stored<'_>, stamp: Instant<Wall>, out: &mut String) -> Result<bool, ExportError> {
    let (time, end_time) = (text_of(event.time)?, text_of(event.end_time)?);
    let Some(start) = date_time(&time) else { return Ok(false) };
    let stamp = date_time(&stamp.to_string()).unwrap_or_else(|| "19700101T000000Z".to_owned());
    fold("BEGIN:VEVENT", out);
    property("UID", &text_of(event.event_id)?, out);
    fold(&format!("DTSTAMP:{stamp}"), out);
    let is_day = text_of(event.precision)? == "day" && is_midnight(&time);
    // An end must be later than the start (§3.6.1); any other is omitted.
    let end = date_time(&end_time).filter(|end| *end > start);
    match (is_day, end) {
        (true, end) if end.is_none() || is_midnight(&end_time) => {
            fold(&format!("DTSTART;VALUE=DATE:{}", &start[..8]), out);
            if let Some(end) = end {
                fold(&format!("DTEND;VALUE=DATE:{}", &end[..8]), out);
            }
        }
        (_, end) => {
            fold(&format!("DTSTART:{start}"), out);
            if let Some(end) = end {
                fold(&format!("DTEND:{end}"), out);
            }
        }
    }
    for (name, member) in [("SUMMARY", event.name), ("DESCRIPTION", event.description), ("LOCATION", event.location)] {
        property(name, &text_of(member)?, out);
    }
    if let Some(place) = event.place()? {
        // Latitude first, unlike in GeoJSON (§3.8.1.6).
        fold(&format!("GEO:{};{}", place.lat.get(), place.lon.get()), out);
    }
    related(event, out)?;
    for actor in event.people()? {
        fold(&format!("ATTENDEE;CN=\"{}\":invalid:nomail", parameter(&actor)), out);
    }
    let kind = text_of(event.kind)?;
    match (event.status()?, kind.as_str()) {
        (Some(status), _) => fold(&format!("STATUS:{status}"), out),
        (None, "scheduled") => fold("STATUS:CONFIRMED", out),
        (None, _) => {}
    }
    match kind.as_str() {
        "scheduled" => {}
        "predicted" => fold("X-TIMENAV-KIND:predicted", out),
        // The default kind is observed.
        _ => fold("X-TIMENAV-KIND:observed", out),
    }
    fold("END:VEVENT", out);
    Ok(true)
}

/// Writes the events that this one depends on (RFC 9253 §5).
fn related(event: &Stored<'_>, out: &mut String) -> Result<(), ExportError> {
    for reason in event.reasons()? {
        let relation = if reason.kind == "requires" { "DEPENDS-ON" } else { "X-CONTRIBUTES" };
        fold(&format!("RELATED-TO;RELTYPE={relation}:{}", escaped(&reason.event_id)), out);
    }
    Ok(())
}

fn property(name: &str, text: &str, out: &mut String) {
    if !text.is_empty() {
        fold(&format!("{name}:{}", escaped(text)), out);
    }
}

/// Returns `20240720T201740Z` for a stored timestamp; `None` if its year has a sign. Truncates a fraction.
fn date_time(timestamp: &str) -> Option<String> {
    let seconds = timestamp.get(..19).filter(|text| text.as_bytes()[0].is_ascii_digit())?;
    Some(format!("{}Z", seconds.replace(['-', ':'], "")))
}

fn is_midnight(timestamp: &str) -> bool {
    timestamp.ends_with("T00:00:00Z")
}

/// Escapes a text (§3.3.11). Control characters are not allowed, and become blanks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\\' | ';' | ',' => escaped.extend(['\\', character]),
            '\n' | '\r' => escaped.push_str("\\n"),
            '\t' => escaped.push('\t'),
            control if control.is_ascii_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes a text in quotation marks (RFC 6868).
fn parameter(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '^' => escaped.push_str("^^"),
            '"' => escaped.push_str("^'"),
            '\n' | '\r' => escaped.push_str("^n"),
            control if control.is_ascii_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Writes a line, folded to the maximum length at character boundaries.
fn fold(line: &str, out: &mut String) {
    let mut rest = line;
    let mut room = LINE_BYTES_MAX;
    while rest.len() > room {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(room));
        out.push_str(piece);
        out.push_str("\r\n ");
        rest = after;
        // The blank is part of the line.
        room = LINE_BYTES_MAX - 1;
    }
    out.push_str(rest);
    out.push_str("\r\n");
}

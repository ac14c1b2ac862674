//! iCalendar: one event a VEVENT (RFC 5545).
//!
//! A calendar is read as a whole, because the time zones that its events name may be defined after
//! them. What repeats is recorded as its first occurrence; the rule stays among the attributes.

mod content_line;
mod local_time;
mod lines;
mod vevent;
mod vtimezone;
#[cfg(test)]
mod tests;

use std::io::Read;

use timenav_core::event::EventDraft;

use crate::limits::{CALENDAR_BYTES_MAX, CALENDAR_DEPTH_MAX, RECORD_BYTES_MAX};
use crate::{Format, ImportError, Item, RecordError, RecordNote, Sink, assembly};
use content_line::ContentLine;
use lines::{Line, Lines};
use vtimezone::Zones;

const EVENT: &str = "VEVENT";
const ZONE: &str = "VTIMEZONE";
/// How much memory an event takes beside its text, or the reason why there is none.
const PENDING_BYTES: usize = 256;

/// Reads every calendar, and every component that stands outside of one.
pub(crate) fn read(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut calendar = Calendar::default();
    let mut is_begun = false;
    while let Some(line) = lines.next_line()? {
        let number = line.number;
        calendar.add(line)?;
        is_begun |= !calendar.open.is_empty();
        if !is_begun {
            return Err(not_a_calendar(number, "a calendar must start with `BEGIN:VCALENDAR`"));
        }
        if calendar.is_whole() && calendar.hand_over(sink).is_break() {
            return Ok(());
        }
    }
    match calendar.open.last() {
        None => Ok(()),
        Some(Open { name, line, .. }) => Err(not_a_calendar(*line, format!("`BEGIN:{name}` has no matching `END`"))),
    }
}

fn not_a_calendar(line: u64, detail: impl Into<String>) -> ImportError {
    ImportError::NotOfFormat { format: Format::ICalendar.as_str(), line, detail: crate::item::clipped(detail.into()) }
}

fn malformed(detail: impl Into<String>) -> RecordError {
    RecordError::whole(RecordError::MALFORMED_CALENDAR, detail)
}

/// A component that was begun.
struct Open {
    /// Its name, in capitals.
    name: String,
    line: u64,
}

/// What is known of an event before its calendar ends.
struct Pending {
    line: u64,
    /// Its lines, unfolded.
    text: Result<String, RecordError>,
}

/// A calendar as far as it was read.
#[derive(Default)]
struct Calendar {
    open: Vec<Open>,
    bytes: usize,
    /// The event that is being read. What is inside it, such as an alarm, is no part of it.
    event: Option<(usize, Pending)>,
    /// The time zone that is being read, with all that is inside it.
    zone: Option<(usize, String)>,
    pending: Vec<Pending>,
    zones: Zones,
}

impl Calendar {
    /// Returns whether nothing is open.
    fn is_whole(&self) -> bool {
        self.open.is_empty()
    }

    fn add(&mut self, line: Line) -> Result<(), ImportError> {
        self.bytes += line.text.as_ref().map_or(0, String::len);
        if self.bytes > CALENDAR_BYTES_MAX {
            let (what, bytes_max) = ("a calendar", CALENDAR_BYTES_MAX);
            return Err(ImportError::PartTooLarge { what, line: line.number, bytes_max });
        }
        let Line { number, text } = line;
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                self.refuse(number, error);
                return Ok(());
            }
        };
        let parsed = ContentLine::parse(&text);
        match parsed.as_ref().map(|line| (line.name.as_str(), line.value.trim())) {
            Ok(("BEGIN", name)) => self.begin(number, name),
            Ok(("END", name)) => {
                self.end(number, &name.to_ascii_uppercase());
                Ok(())
            }
            Ok(_) if self.open.is_empty() => {
                self.refuse(number, malformed("the line is outside of any calendar"));
                Ok(())
            }
            Ok(_) => {
                self.keep(&text);
                Ok(())
            }
            Err(error) => {
                let error = RecordError { detail: format!("line {number}: {error}"), ..error.clone() };
                self.refuse(number, error);
                Ok(())
            }
        }
    }

    fn begin(&mut self, line: u64, name: &str) -> Result<(), ImportError> {
        let name = name.to_ascii_uppercase();
        if !content_line::is_name(&name) {
            return Err(not_a_calendar(line, "`BEGIN` must name a component"));
        }
        if self.open.len() >= CALENDAR_DEPTH_MAX {
            let detail = format!("components can be nested at most {CALENDAR_DEPTH_MAX} levels deep");
            return Err(not_a_calendar(line, detail));
        }
        if self.event.is_none() && self.zone.is_none() {
            match name.as_str() {
                EVENT => self.event = Some((self.open.len(), Pending { line, text: Ok(String::new()) })),
                ZONE => self.zone = Some((self.open.len(), String::new())),
                _ => {}
            }
        } else if let Some((_, text)) = &mut self.zone {
            text.extend(["BEGIN:", &name, "\n"]);
        }
        self.open.push(Open { name, line });
        Ok(())
    }

    /// Ends the innermost component of that name, and all that was never ended inside of it.
    fn end(&mut self, line: u64, name: &str) {
        let Some(place) = self.open.iter().rposition(|open| open.name == name) else {
            self.refuse(
                line,
                malformed(format!(
                    "line {line}: `END:{}` has no matching `BEGIN`",
                    crate::item::clipped(name.to_owned())
                )),
            );
            return;
        };
        if let Some((_, text)) = &mut self.zone {
            text.extend(["END:", name, "\n"]);
        }
        let inner = self.open.drain(place..).nth(1);
        if let Some((_, mut event)) = self.event.take_if(|(depth, _)| *depth >= place) {
            if let Some(inner) = inner {
                let detail = format!("`BEGIN:{}` in line {} has no matching `END`", inner.name, inner.line);
                event.text = event.text.and(Err(malformed(detail)));
            } else if name != EVENT {
                event.text = event.text.and(Err(malformed(format!("`END:{EVENT}` is missing before line {line}"))));
            }
            self.pend(event);
        }
        if let Some((_, text)) = self.zone.take_if(|(depth, _)| *depth >= place) {
            self.zones.add(&text);
        }
    }

    /// Keeps a line of the event or the time zone that is being read.
    fn keep(&mut self, text: &str) {
        let depth = self.open.len();
        if let Some((event_depth, Pending { text: kept, .. })) = &mut self.event
            && *event_depth + 1 == depth
            && let Ok(lines) = kept
        {
            if lines.len() + text.len() >= RECORD_BYTES_MAX {
                let detail = format!("an event can have at most {RECORD_BYTES_MAX} bytes");
                *kept = Err(RecordError::whole(RecordError::TOO_LARGE, detail));
                return;
            }
            lines.push_str(text);
            lines.push('\n');
        } else if let Some((_, lines)) = &mut self.zone {
            lines.push_str(text);
            lines.push('\n');
        }
    }

    /// Refuses the event that is being read, or a line that is in none.
    fn refuse(&mut self, line: u64, error: RecordError) {
        match &mut self.event {
            Some((_, event)) => event.text = std::mem::replace(&mut event.text, Ok(String::new())).and(Err(error)),
            None => self.pend(Pending { line, text: Err(error) }),
        }
    }

    fn pend(&mut self, pending: Pending) {
        // Many small ones are large too.
        self.bytes += PENDING_BYTES;
        self.pending.push(pending);
    }

    /// Hands over what is in a calendar that is whole, and forgets it.
    fn hand_over(&mut self, sink: Sink<'_>) -> std::ops::ControlFlow<()> {
        let mut calendar = std::mem::take(self);
        calendar.pending.sort_by_key(|pending| pending.line);
        for Pending { line, text } in calendar.pending {
            let read = text.and_then(|text| draft(&text, &calendar.zones));
            let repeats = read.as_ref().is_ok_and(|(_, repeats)| *repeats);
            let note = repeats.then_some(RecordNote::RECURRENCE_KEPT);
            sink(Item { line, event: read.map(|(event, _)| event), note })?;
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// Returns the event, and whether it repeats.
fn draft(text: &str, zones: &Zones) -> Result<(EventDraft, bool), RecordError> {
    let (draft, repeats) = vevent::draft(text, zones)?;
    Ok((assembly::finish(draft)?, repeats))
}

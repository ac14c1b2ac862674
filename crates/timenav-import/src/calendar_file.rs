//! iCalendar: one event a VEVENT (RFC 5545).
//!
//! A calendar is read as a whole, because the time zones that its events name may be defined after
//! them. What repeats is recorded as its first occurrence; the rule stays among the attributes.

mod content_line;
mod local_time;
mod lines;
mod vevent;
mod vtimezone;
mod windows_zones;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::ControlFlow;

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
    let never_ended = match calendar.open.first() {
        None => return Ok(()),
        Some(Open { name, line }) => not_a_calendar(*line, format!("`BEGIN:{name}` has no matching `END`")),
    };
    // The events that are whole are known all the same.
    match calendar.hand_over(sink) {
        ControlFlow::Continue(()) => Err(never_ended),
        ControlFlow::Break(()) => Ok(()),
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
    /// Where each of them begins.
    numbers: Vec<u64>,
    /// What is told of lines that are left out.
    notes: Vec<RecordNote>,
}

impl Pending {
    fn new(line: u64, text: Result<String, RecordError>) -> Self {
        Self { line, text, numbers: Vec::new(), notes: Vec::new() }
    }

    /// Returns the event, and what is to be told of it.
    fn draft(self, zones: &Zones) -> Result<(EventDraft, Vec<RecordNote>), RecordError> {
        let Self { text, numbers, mut notes, .. } = self;
        let drafted = vevent::draft(&text?, &numbers, zones, &mut notes);
        match drafted.and_then(assembly::finish) {
            Ok(draft) => Ok((draft, notes)),
            // Perhaps what is missing is in a line that cannot be read.
            Err(error) => Err(match notes.first() {
                Some(note) => {
                    RecordError { detail: crate::item::clipped(format!("{}; {}", error.detail, note.detail)), ..error }
                }
                None => error,
            }),
        }
    }
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
                self.leave_out(number, error);
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
                self.leave_out(number, malformed("the line is outside of any calendar"));
                Ok(())
            }
            Ok(_) => {
                self.keep(number, &text);
                Ok(())
            }
            Err(error) => {
                self.leave_out(number, error.clone());
                Ok(())
            }
        }
    }

    fn begin(&mut self, line: u64, name: &str) -> Result<(), ImportError> {
        let name = name.to_ascii_uppercase();
        if !content_line::is_name(&name) {
            self.leave_out(line, malformed("`BEGIN` must name a component"));
            return Ok(());
        }
        if self.open.len() >= CALENDAR_DEPTH_MAX {
            let detail = format!("components can be nested at most {CALENDAR_DEPTH_MAX} levels deep");
            return Err(not_a_calendar(line, detail));
        }
        if self.event.is_none() && self.zone.is_none() {
            match name.as_str() {
                EVENT => self.event = Some((self.open.len(), Pending::new(line, Ok(String::new())))),
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
            let name = crate::item::clipped(name.to_owned());
            self.leave_out(line, malformed(format!("`END:{name}` has no matching `BEGIN`")));
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
    fn keep(&mut self, number: u64, text: &str) {
        let depth = self.open.len();
        if let Some((event_depth, Pending { text: kept, numbers, .. })) = &mut self.event
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
            numbers.push(number);
            self.bytes += size_of::<u64>();
        } else if let Some((_, lines)) = &mut self.zone {
            lines.push_str(text);
            lines.push('\n');
        }
    }

    /// Leaves a line out that cannot be read: of the event that is being read, or one that is in none.
    fn leave_out(&mut self, line: u64, error: RecordError) {
        if let Some((_, event)) = &mut self.event {
            self.bytes += PENDING_BYTES;
            event.notes.push(RecordNote::left_out(line, &error.detail));
        } else {
            self.pend(Pending::new(line, Err(error)));
        }
    }

    fn pend(&mut self, pending: Pending) {
        // Many small ones are large too.
        self.bytes += PENDING_BYTES;
        self.pending.push(pending);
    }

    /// Hands over what is in a calendar that is whole, and forgets it.
    fn hand_over(&mut self, sink: Sink<'_>) -> ControlFlow<()> {
        let mut calendar = std::mem::take(self);
        calendar.pending.sort_by_key(|pending| pending.line);
        for pending in calendar.pending {
            sink(Item::noted(pending.line, pending.draft(&calendar.zones)))?;
        }
        ControlFlow::Continue(())
    }
}

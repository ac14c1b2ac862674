//! iCalendar files: one event per VEVENT (RFC 5545).
//!
//! Time zones may be defined after the events that use them. Such an event waits for its zone, at most to the end of
//! its calendar, and so do the events after it. Recurring events are recorded as their first occurrence, with the rule
//! in the attributes.

mod content_line;
mod local_time;
mod lines;
mod vevent;
mod vtimezone;
mod windows_zones;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::Read;
use std::ops::ControlFlow;

use timenav_core::event::EventDraft;

use crate::limits::{CALENDAR_BYTES_MAX, CALENDAR_DEPTH_MAX, RECORD_BYTES_MAX};
use crate::{Format, ImportError, Item, RecordError, RecordNote, Sink, assembly};
use content_line::ContentLine;
use lines::{Line, Lines};
use vtimezone::Zones;

/// Described in the error if too much of a calendar has to be buffered.
const CALENDAR_PART: &str = "a calendar that names time zones before it defines them";
const EVENT: &str = "VEVENT";
const ZONE: &str = "VTIMEZONE";
/// Memory used by an event in addition to its text, and by an error.
const PENDING_BYTES: usize = 128;
const REASON_BYTES: usize = 256;

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
        let handed_over = if calendar.is_whole() { calendar.end_all(sink) } else { calendar.hand_over(sink) };
        if handed_over.is_break() {
            return Ok(());
        }
    }
    let never_ended = match calendar.open.first() {
        None => return Ok(()),
        Some(Open { name, line }) => not_a_calendar(*line, format!("`BEGIN:{name}` has no matching `END`")),
    };
    // Complete events are still valid.
    match calendar.end_all(sink) {
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

struct Open {
    /// In upper case.
    name: String,
    line: u64,
}

/// A parsed event that was not handed over yet, or an error.
struct Pending {
    line: u64,
    /// The unfolded lines.
    text: Result<String, Box<RecordError>>,
    /// The line numbers, relative to the first line.
    numbers: Vec<u32>,
    notes: Vec<RecordNote>,
    bytes: usize,
}

impl Pending {
    fn new(line: u64) -> Self {
        Self { line, text: Ok(String::new()), numbers: Vec::new(), notes: Vec::new(), bytes: PENDING_BYTES }
    }

    fn wrong(line: u64, error: RecordError) -> Self {
        Self { text: Err(Box::new(error)), bytes: PENDING_BYTES + REASON_BYTES, ..Self::new(line) }
    }

    /// Adds a line, and returns the additional memory used.
    fn add(&mut self, number: u64, line: &str) -> usize {
        let Ok(text) = &mut self.text else { return 0 };
        let (bytes, offset) = (line.len() + 1, u32::try_from(number - self.line));
        let Some(offset) = offset.ok().filter(|_| text.len() + bytes <= RECORD_BYTES_MAX) else {
            let detail = format!("an event can have at most {RECORD_BYTES_MAX} bytes");
            self.fail(RecordError::whole(RecordError::TOO_LARGE, detail));
            return 0;
        };
        text.push_str(line);
        text.push('\n');
        self.numbers.push(offset);
        let bytes = bytes + size_of::<u32>();
        self.bytes += bytes;
        bytes
    }

    /// Sets the error, unless there is one already.
    fn fail(&mut self, error: RecordError) {
        if self.text.is_ok() {
            self.text = Err(Box::new(error));
        }
    }

    /// Returns the name of a zone that the event uses and that is undefined so far.
    fn undefined_zone(&self, zones: &Zones) -> Option<String> {
        vevent::undefined_zone(self.text.as_ref().ok()?, zones)
    }

    fn draft(self, zones: &Zones) -> Result<(EventDraft, Vec<RecordNote>), RecordError> {
        let Self { line, text, numbers, mut notes, .. } = self;
        let text = text.map_err(|error| *error)?;
        let drafted = vevent::draft(&text, (line, &numbers), zones, &mut notes);
        match drafted.and_then(assembly::finish) {
            Ok(draft) => Ok((draft, notes)),
            // The missing part may be in a line that could not be parsed.
            Err(error) => Err(match notes.first() {
                Some(note) => {
                    RecordError { detail: crate::item::clipped(format!("{}; {}", error.detail, note.detail)), ..error }
                }
                None => error,
            }),
        }
    }
}

#[derive(Default)]
struct Calendar {
    open: Vec<Open>,
    /// Memory used by buffered zones and events.
    bytes: usize,
    /// The current event. Components inside it, such as alarms, are ignored.
    event: Option<(usize, Pending)>,
    /// The current time zone, including inner components.
    zone: Option<(usize, String)>,
    /// The parsed events, in file order.
    pending: VecDeque<Pending>,
    /// The time zone that the first pending event waits for.
    waits_for: Option<String>,
    zones: Zones,
}

impl Calendar {
    fn is_whole(&self) -> bool {
        self.open.is_empty()
    }

    fn add(&mut self, line: Line) -> Result<(), ImportError> {
        let Line { number, text } = line;
        if self.bytes > CALENDAR_BYTES_MAX {
            let (what, bytes_max) = (CALENDAR_PART, CALENDAR_BYTES_MAX);
            return Err(ImportError::PartTooLarge { what, line: number, bytes_max });
        }
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
                EVENT => self.event = Some((self.open.len(), Pending::new(line))),
                ZONE => self.zone = Some((self.open.len(), String::new())),
                _ => {}
            }
        } else if let Some((_, text)) = &mut self.zone {
            text.extend(["BEGIN:", &name, "\n"]);
        }
        self.open.push(Open { name, line });
        Ok(())
    }

    /// Ends the innermost component of that name, and all unclosed components inside it.
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
                event.fail(malformed(detail));
            } else if name != EVENT {
                event.fail(malformed(format!("`END:{EVENT}` is missing before line {line}")));
            }
            self.pend(event);
        }
        if let Some((_, text)) = self.zone.take_if(|(depth, _)| *depth >= place) {
            self.zones.add(&text);
            // Check the event again only if this was its zone, because calendars can define many.
            self.waits_for.take_if(|name| self.zones.defines(name));
        }
    }

    fn keep(&mut self, number: u64, text: &str) {
        let depth = self.open.len();
        if let Some((event_depth, event)) = &mut self.event
            && *event_depth + 1 == depth
        {
            self.bytes += event.add(number, text);
        } else if let Some((_, lines)) = &mut self.zone {
            self.bytes += text.len() + 1;
            lines.push_str(text);
            lines.push('\n');
        }
    }

    /// Skips a line that cannot be parsed, in the current event or outside of any.
    fn leave_out(&mut self, line: u64, error: RecordError) {
        if let Some((_, event)) = &mut self.event {
            self.bytes += REASON_BYTES;
            event.bytes += REASON_BYTES;
            event.notes.push(RecordNote::left_out(line, &error.detail));
        } else {
            let wrong = Pending::wrong(line, error);
            self.bytes += REASON_BYTES;
            self.pend(wrong);
        }
    }

    fn pend(&mut self, mut pending: Pending) {
        // Many small events use much memory too.
        self.bytes += PENDING_BYTES;
        if let Ok(text) = &mut pending.text {
            text.shrink_to_fit();
        }
        pending.numbers.shrink_to_fit();
        self.pending.push_back(pending);
    }

    /// Hands over the parsed events, up to the first one that waits for a time zone.
    fn hand_over(&mut self, sink: Sink<'_>) -> ControlFlow<()> {
        while self.waits_for.is_none()
            && let Some(first) = self.pending.front()
        {
            self.waits_for = first.undefined_zone(&self.zones);
            if let Some(pending) = self.pending.pop_front_if(|_| self.waits_for.is_none()) {
                self.bytes -= pending.bytes;
                sink(Item::noted(pending.line, pending.draft(&self.zones)))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands over all events of a complete calendar, and resets it.
    fn end_all(&mut self, sink: Sink<'_>) -> ControlFlow<()> {
        let calendar = std::mem::take(self);
        calendar
            .pending
            .into_iter()
            .try_for_each(|pending| sink(Item::noted(pending.line, pending.draft(&calendar.zones))))
    }
}

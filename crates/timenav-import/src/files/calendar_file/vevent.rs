use serde_json::{Map, Value, json};
use timenav_core::event::{Cause, CauseKind, EventDraft, EventKind, Precision};
use timenav_core::ids::EventId;
use timenav_core::limits::{
    DESCRIPTION_BYTES_MAX, EVENT_ACTORS_MAX, EVENT_CAUSES_MAX, EVENT_NAME_BYTES_MAX, ID_BYTES_MAX, LOCATION_BYTES_MAX,
};
use timenav_core::place::Geo;
use timenav_core::time::{Instant, Virtual};

use super::content_line::{ContentLine, items};
use super::local_time::{DAY_MICROS, Duration, Form, duration, offset_text, written};
use super::vtimezone::{Zoned, Zones};
use crate::content_id::id_of_name;
use crate::event_record::point;
use crate::json::json_object::Members;
use crate::json::object_of::object_of;
use crate::{RecordError, RecordNote};

/// The address of exported actors, which have none.
const NO_ADDRESS: &str = "invalid:nomail";

#[derive(Default)]
struct Event {
    number: u64,
    uid: Option<String>,
    recurrence: Option<ContentLine>,
    start: Option<ContentLine>,
    end: Option<(u64, ContentLine)>,
    duration: Option<(u64, String)>,
    summary: Option<String>,
    description: Option<String>,
    location: Option<String>,
    geo: Option<(u64, String)>,
    kind: Option<EventKind>,
    causes: Vec<Cause>,
    actors: Vec<String>,
    repeats: bool,
    attributes: Vec<(String, Value)>,
}

/// Returns the event of a VEVENT. `numbers` are the line numbers relative to `first`. Lines that cannot be parsed are
/// skipped with a note, but a start is required.
pub(super) fn draft(
    text: &str,
    (first, numbers): (u64, &[u32]),
    zones: &Zones,
    notes: &mut Vec<RecordNote>,
) -> Result<EventDraft, RecordError> {
    let mut event = Event::default();
    for (line, number) in text.lines().zip(numbers) {
        event.number = first + u64::from(*number);
        if let Err(error) = ContentLine::parse(line).and_then(|line| event.add(line)) {
            notes.push(RecordNote::left_out(event.number, &error.detail));
        }
    }
    if event.repeats {
        notes.push(RecordNote::RECURRENCE_KEPT);
    }
    event.into_draft(zones, notes)
}

/// Returns the name of a time zone that the event uses and the calendar has not defined so far. Only the first of
/// repeated lines counts, so there are at most three names.
pub(super) fn undefined_zone(text: &str, zones: &Zones) -> Option<String> {
    let named = ["DTSTART;", "DTEND;", "RECURRENCE-ID;"].into_iter().filter_map(|name| {
        let is_of = |line: &&str| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let line = ContentLine::parse(text.lines().find(is_of)?).ok()?;
        line.parameter("TZID").map(str::to_owned)
    });
    named.into_iter().find(|zone| !zones.defines(zone))
}

impl Event {
    fn add(&mut self, line: ContentLine) -> Result<(), RecordError> {
        match line.name.as_str() {
            "UID" => once("uid", &mut self.uid, line.text().trim().to_owned()),
            "DTSTART" => once("dtstart", &mut self.start, line),
            "DTEND" => once("dtend", &mut self.end, (self.number, line)),
            "DURATION" => once("duration", &mut self.duration, (self.number, line.value)),
            "RECURRENCE-ID" => once("recurrence-id", &mut self.recurrence, line),
            "SUMMARY" => once("summary", &mut self.summary, line.text()),
            "DESCRIPTION" => once("description", &mut self.description, line.text()),
            "LOCATION" => once("location", &mut self.location, line.text()),
            "GEO" => once("geo", &mut self.geo, (self.number, line.value)),
            "ATTENDEE" | "ORGANIZER" => {
                self.add_actor(&line);
                Ok(())
            }
            "RELATED-TO" => {
                self.add_cause(&line);
                Ok(())
            }
            "X-TIMENAV-KIND" => {
                self.kind = EventKind::parse(&line.value);
                Ok(())
            }
            name => {
                self.repeats |= matches!(name, "RRULE" | "RDATE");
                self.attributes.push(attribute(&line));
                Ok(())
            }
        }
    }

    /// Adds an actor. Further information about it becomes an attribute.
    fn add_actor(&mut self, line: &ContentLine) {
        let address = line.value.trim();
        let bare =
            address.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("mailto:")).map_or(address, |_| &address[7..]);
        let name = line.parameter("CN").map(str::trim).filter(|name| !name.is_empty()).unwrap_or(bare);
        // One too many leads to an error, so the others can be dropped.
        let has_room = self.actors.len() <= EVENT_ACTORS_MAX;
        if has_room && (1..=ID_BYTES_MAX).contains(&name.len()) && !self.actors.iter().any(|known| known == name) {
            self.actors.push(name.to_owned());
        }
        if address != NO_ADDRESS || line.parameters.len() > 1 {
            self.attributes.push(attribute(line));
        }
    }

    /// Adds an event that this one depends on (RFC 9253 §5) or is part of. Other relations are not causes, and become
    /// attributes.
    fn add_cause(&mut self, line: &ContentLine) {
        let relation = line.parameter("RELTYPE").unwrap_or("PARENT").to_ascii_uppercase();
        let kind = match relation.as_str() {
            "DEPENDS-ON" => CauseKind::Requires,
            "PARENT" | "X-CONTRIBUTES" => CauseKind::Contributes,
            _ => {
                self.attributes.push(attribute(line));
                return;
            }
        };
        let event_id = id_of(line.text().trim());
        if self.causes.len() <= EVENT_CAUSES_MAX && self.causes.iter().all(|known| known.event_id != event_id) {
            self.causes.push(Cause { event_id, kind });
        }
    }

    fn into_draft(mut self, zones: &Zones, notes: &mut Vec<RecordNote>) -> Result<EventDraft, RecordError> {
        let start = self
            .start
            .take()
            .ok_or_else(|| RecordError::of(RecordError::MISSING, "dtstart", "the event does not say when it starts"))?;
        let begins = When::of("dtstart", &start, zones, notes)?;
        let end = self.end(&begins, zones, notes);
        let mut draft = EventDraft::at(begins.at, self.description.take().unwrap_or_default());
        draft.end_time = end;
        draft.precision = (begins.form == Form::Date).then_some(Precision::Day);
        draft.kind = Some(self.kind.unwrap_or(EventKind::Scheduled));
        if begins.is_floating() {
            self.attributes.push(("time_is_floating".to_owned(), Value::Bool(true)));
        } else if let Some(zone) = &begins.zone {
            self.attributes.push(("time_zone".to_owned(), Value::from(zone.as_str())));
        }
        draft.event_id = self.event_id(zones, notes)?;
        draft.geo = self.geo.take().and_then(|(number, text)| left_out(notes, number, geo(&text)));
        if draft.description.is_empty()
            && let Some(summary) =
                self.summary.take_if(|text| (EVENT_NAME_BYTES_MAX + 1..=DESCRIPTION_BYTES_MAX).contains(&text.len()))
        {
            draft.description = summary;
        }
        draft.name = self.short("summary", |event| event.summary.take(), EVENT_NAME_BYTES_MAX);
        draft.location = self.short("location", |event| event.location.take(), LOCATION_BYTES_MAX);
        draft.causes = self.causes;
        draft.actors = self.actors;
        let attributes: Map<String, Value> = object_of(self.attributes);
        draft.attributes = Members::of(attributes).into_attributes()?;
        Ok(draft)
    }

    /// Takes the text of a field. A text that is too long becomes an attribute.
    fn short(&mut self, name: &str, take: fn(&mut Self) -> Option<String>, bytes_max: usize) -> Option<String> {
        let text = take(self).filter(|text| !text.is_empty())?;
        if text.len() <= bytes_max {
            return Some(text);
        }
        self.attributes.push((name.to_owned(), Value::from(text)));
        None
    }

    /// Returns the end, if there is one and it can be parsed.
    fn end(&mut self, begins: &When, zones: &Zones, notes: &mut Vec<RecordNote>) -> Option<Instant<Virtual>> {
        let end = self.end.take().and_then(|(number, end)| {
            let at = When::of("dtend", &end, zones, notes).and_then(|end| not_before(begins.at, end.at));
            left_out(notes, number, at)
        });
        let Some((number, text)) = self.duration.take() else { return end };
        if end.is_some() {
            let error = RecordError::invalid("duration", "an event can have an end or a duration, not both");
            return left_out(notes, number, Err(error)).or(end);
        }
        let later = duration(&text)
            .ok_or_else(|| RecordError::invalid("duration", "write a duration like `P1DT2H30M`"))
            .and_then(|duration| {
                let end = begins.later(duration, zones, notes);
                end.ok_or_else(|| {
                    let detail = "the event ends outside the years -9999 to 9999";
                    RecordError::of(RecordError::OUT_OF_RANGE, "duration", detail)
                })
            })
            .and_then(|end| not_before(begins.at, end));
        left_out(notes, number, later)
    }

    /// Returns the id: the UID, followed by the occurrence for a changed occurrence of a recurring event.
    fn event_id(&mut self, zones: &Zones, notes: &mut Vec<RecordNote>) -> Result<Option<EventId>, RecordError> {
        let Some(uid) = self.uid.take().filter(|uid| !uid.is_empty()) else {
            if let Some(line) = self.recurrence.take() {
                self.attributes.push(attribute(&line));
            }
            return Ok(None);
        };
        let Some(line) = self.recurrence.take() else {
            let event_id = id_of(&uid);
            if event_id.as_str() != uid {
                self.attributes.push(("uid".to_owned(), Value::from(uid)));
            }
            return Ok(Some(event_id));
        };
        let original = When::of("recurrence-id", &line, zones, notes)?.at;
        let event_id = id_of(&format!("{uid}:{original}"));
        self.attributes.push(("uid".to_owned(), Value::from(uid)));
        self.attributes.push(("recurrence-id".to_owned(), Value::from(original.to_string())));
        Ok(Some(event_id))
    }
}

/// Returns the name as an id if it is valid, or else a derived id.
fn id_of(name: &str) -> EventId {
    EventId::new(name).unwrap_or_else(|_| id_of_name(name))
}

fn not_before(start: Instant<Virtual>, end: Instant<Virtual>) -> Result<Instant<Virtual>, RecordError> {
    let error = || RecordError::invalid("dtend", "the event would end before it begins");
    (end >= start).then_some(end).ok_or_else(error)
}

/// Sets a property that may occur once. The first one counts.
fn once<T>(field: &str, place: &mut Option<T>, value: T) -> Result<(), RecordError> {
    if place.is_some() {
        return Err(RecordError::invalid(field, format!("`{}` is given twice", field.to_ascii_uppercase())));
    }
    *place = Some(value);
    Ok(())
}

/// Returns a value, or adds a note that the line is skipped.
fn left_out<T>(notes: &mut Vec<RecordNote>, number: u64, read: Result<T, RecordError>) -> Option<T> {
    read.map_err(|error| notes.push(RecordNote::left_out(number, &error.detail))).ok()
}

struct When {
    at: Instant<Virtual>,
    local: Instant<Virtual>,
    form: Form,
    zone: Option<String>,
}

impl When {
    fn of(field: &str, line: &ContentLine, zones: &Zones, notes: &mut Vec<RecordNote>) -> Result<Self, RecordError> {
        let found = written(&line.value).ok_or_else(|| {
            let detail = "write a time like `20240720T201740Z`, a date like `20240720`";
            RecordError::invalid(field, detail)
        })?;
        let zone = line.parameter("TZID").filter(|_| found.form == Form::Local);
        let at = match zone {
            // A date means the day in UTC, and a time without a zone is in UTC.
            None => found.local,
            Some(zone) => noted(zones.instant(zone, found.local), zone, found.local, notes).ok_or_else(|| {
                let zone = crate::item::clipped(zone.to_owned());
                let detail = format!("`{zone}` is neither defined by a valid VTIMEZONE nor an IANA time zone name");
                RecordError::invalid(field, detail)
            })?,
        };
        Ok(Self { at, local: found.local, form: found.form, zone: zone.map(str::to_owned) })
    }

    fn is_floating(&self) -> bool {
        self.form == Form::Local && self.zone.is_none()
    }

    /// Returns the time plus a duration: calendar days, then an exact time (RFC 5545 §3.3.6).
    fn later(&self, duration: Duration, zones: &Zones, notes: &mut Vec<RecordNote>) -> Option<Instant<Virtual>> {
        let days = duration.days.checked_mul(DAY_MICROS)?;
        let local = Instant::from_micros(self.local.micros().checked_add(days)?)?;
        let day = match &self.zone {
            // Without days, the second occurrence of a repeated local time remains the second.
            Some(_) if days == 0 => self.at,
            Some(zone) => noted(zones.instant(zone, local), zone, local, notes)?,
            None => local,
        };
        Instant::from_micros(day.micros().checked_add(duration.micros)?)
    }
}

/// Returns the instant of a local time, and adds one note per event if the offset was assumed.
fn noted(
    zoned: Option<Zoned>,
    zone: &str,
    local: Instant<Virtual>,
    notes: &mut Vec<RecordNote>,
) -> Option<Instant<Virtual>> {
    let Zoned { at, assumed } = zoned?;
    if let Some(offset) = assumed.filter(|_| notes.iter().all(|note| note.code != RecordNote::OFFSET_ASSUMED)) {
        let local = local.to_string();
        notes.push(RecordNote::offset_assumed(zone, &offset_text(offset), local.trim_end_matches('Z')));
    }
    Some(at)
}

fn geo(text: &str) -> Result<Geo, RecordError> {
    // Some programs escape it like a text.
    let text = &text.replace("\\;", ";");
    let wrong = || RecordError::invalid("geo", "write a place as degrees north, `;`, degrees east");
    let (lat, lon) = text.split_once(';').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wrong);
    Ok(Geo { point: point("geo", "geo", number(lat)?, number(lon)?)?, radius_m: None })
}

/// Returns a property as an attribute: its text, or an object if it has parameters.
fn attribute(line: &ContentLine) -> (String, Value) {
    let name = line.name.to_ascii_lowercase();
    let value = match line.name.as_str() {
        "CATEGORIES" | "RESOURCES" => Value::from(items(&line.value)),
        _ => Value::from(line.text()),
    };
    if line.parameters.is_empty() {
        return (name, value);
    }
    let parameters =
        line.parameters.iter().map(|(name, value)| (name.to_ascii_lowercase(), Value::from(value.as_str())));
    let parameters = object_of(parameters);
    (name, json!({ "value": value, "parameters": parameters }))
}

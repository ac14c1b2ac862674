//! Builds an event draft from the texts of a record.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use timenav_core::event::{Assertion, Cause, CauseKind, EventDraft, EventKind, Precision};
use timenav_core::ids::EventId;
use timenav_core::limits::{
    DESCRIPTION_BYTES_MAX, EVENT_NAME_BYTES_MAX, EVENT_SEQUENCE_MAX, ID_BYTES_MAX, LOCATION_BYTES_MAX, SOURCE_BYTES_MAX,
};
use timenav_core::place::Geo;
use timenav_core::time::{DurationError, Instant, TimestampError, Virtual, Zone, parse_duration, parse_timestamp};

use crate::attributes;
use crate::content_id::content_id;
use crate::coordinates::{self, Axis, degrees};
use crate::event_record::{AssertionRecord, CauseRecord, point, without_position};
use crate::item::{RecordError, RecordNote};
use crate::limits::TEMPLATE_TEXT_BYTES_MAX;
use crate::mapping::field::{self, Field};
use crate::mapping::{Missing, Reading, TimePart, TimeRules};
use crate::time::excel_date::parse_excel;
use crate::time::partial_time::{self, Known, PartText, Wrong};
use crate::time::unix_time::parse_unix;

pub(crate) struct Cell<'a> {
    /// The text, trimmed and not empty.
    pub(crate) text: Cow<'a, str>,
    pub(crate) reading: &'a Reading,
    /// Its source, for errors: `column` and `lat`. A template has no name.
    pub(crate) origin: (&'static str, Option<&'a str>),
}

pub(crate) trait Cells {
    fn cell(&self, field: Field) -> Result<Option<Cell<'_>>, RecordError>;

    /// Returns the available parts of a time that is mapped in parts.
    fn parts(&self, field: Field) -> Result<Vec<PartText<'_>>, RecordError>;

    fn rules(&self, field: Field) -> Cow<'_, TimeRules>;

    /// Returns the texts and places that mean "unknown".
    fn missing(&self) -> &Missing;
}

/// Returns the draft of a record, without attributes, and notes on it. Limits are not checked, see [`finish`].
pub(crate) fn draft(cells: &dyn Cells) -> Result<(EventDraft, Vec<RecordNote>), RecordError> {
    let time = time(cells, Field::Time)?
        .ok_or_else(|| RecordError::of(RecordError::MISSING, "time", "the record does not say when it happened"))?;
    let end_time = self::time(cells, Field::EndTime)?;
    let text_of =
        |field| -> Result<Option<String>, RecordError> { Ok(cells.cell(field)?.map(|cell| cell.text.into_owned())) };
    let precision = cells.cell(Field::Precision)?.map(|cell| precision(&cell)).transpose()?;
    let has_gap = time.has_gap || end_time.is_some_and(|end| end.has_gap);
    let mut notes = if has_gap { vec![RecordNote::TIME_IN_PART] } else { Vec::new() };
    let without_zone = [(Field::Time, Some(time)), (Field::EndTime, end_time)];
    let without_zone = without_zone.into_iter().find(|(_, known)| known.is_some_and(|known| known.is_zone_assumed));
    notes.extend(without_zone.map(|(field, _)| RecordNote::zone_assumed(field.as_str())));
    let draft = EventDraft {
        event_id: cells.cell(Field::EventId)?.map(|cell| event_id("event_id", &cell)).transpose()?,
        time: time.at,
        end_time: end_time.map(|end| end.at),
        precision: precision.or(time.precision),
        description: text_of(Field::Description)?.unwrap_or_default(),
        name: text_of(Field::Name)?,
        location: text_of(Field::Location)?,
        geo: geo(cells)?,
        causes: cells.cell(Field::Causes)?.map_or_else(|| Ok(Vec::new()), |cell| causes(&cell))?,
        actors: cells.cell(Field::Actors)?.map_or_else(Vec::new, |cell| actors(&cell)),
        kind: cells.cell(Field::Kind)?.map(|cell| kind(&cell)).transpose()?,
        asserts: cells.cell(Field::Asserts)?.map_or_else(|| Ok(Vec::new()), |cell| asserts(&cell))?,
        attributes: None,
        source: text_of(Field::Source)?,
        sequence: cells.cell(Field::Sequence)?.map(|cell| number_in_sequence(&cell)).transpose()?,
    };
    Ok((draft, notes))
}

/// Removes texts that are too long for their fields from a draft, and returns them as attributes. A long name becomes
/// the description if there is none.
pub(crate) fn take_long_texts(draft: &mut EventDraft, notes: &mut Vec<RecordNote>) -> Vec<(String, Value)> {
    if draft.description.is_empty()
        && let Some(name) =
            draft.name.take_if(|name| (EVENT_NAME_BYTES_MAX + 1..=DESCRIPTION_BYTES_MAX).contains(&name.len()))
    {
        draft.description = name;
    }
    let too_long = |text: &mut Option<String>, bytes_max: usize| text.take_if(|text| text.len() > bytes_max);
    let mut long = Vec::new();
    for (name, text, bytes_max) in [
        ("name", &mut draft.name, EVENT_NAME_BYTES_MAX),
        ("location", &mut draft.location, LOCATION_BYTES_MAX),
        ("source", &mut draft.source, SOURCE_BYTES_MAX),
    ] {
        long.extend(too_long(text, bytes_max).map(|text| (name, text, bytes_max)));
    }
    if draft.description.len() > DESCRIPTION_BYTES_MAX {
        long.push(("description", std::mem::take(&mut draft.description), DESCRIPTION_BYTES_MAX));
    }
    let actors = draft.actors.extract_if(.., |actor| actor.len() > ID_BYTES_MAX);
    long.extend(actors.map(|actor| ("actors", actor, ID_BYTES_MAX)));
    notes.extend(long.iter().map(|(name, text, bytes_max)| RecordNote::long_text_kept(name, text.len(), *bytes_max)));
    long.into_iter().map(|(name, text, _)| (name.to_owned(), Value::from(text))).collect()
}

/// Checks the limits, and sets the content id if the draft has no id.
pub(crate) fn finish(mut draft: EventDraft) -> Result<EventDraft, RecordError> {
    draft.check()?;
    if draft.event_id.is_none() {
        draft.event_id = Some(content_id(&draft));
    }
    Ok(draft)
}

impl Cell<'_> {
    /// Returns the error that the text is not valid for the field.
    fn invalid(&self, field: impl Into<String>, detail: impl std::fmt::Display) -> RecordError {
        let detail = match self.origin {
            (what, Some(name)) => format!("{what} `{name}`: {detail}"),
            (_, None) => detail.to_string(),
        };
        RecordError::invalid(field, detail)
    }
}

fn time(cells: &dyn Cells, field: Field) -> Result<Option<Known>, RecordError> {
    let name = field.as_str();
    let parts = cells.parts(field)?;
    if parts.is_empty() {
        return cells.cell(field)?.map(|cell| instant(field, &cell, &cells.rules(field))).transpose();
    }
    if !parts.iter().any(|part| matches!(part.part, TimePart::Year | TimePart::Date)) {
        return Err(RecordError::of(RecordError::MISSING, name, "the record does not say in which year it happened"));
    }
    partial_time::of_parts(&parts, &cells.rules(field)).map(Some).map_err(|wrong| of_wrong(name, wrong))
}

pub(crate) fn template_too_long(field: Field) -> RecordError {
    let detail = format!("the template produces more than {TEMPLATE_TEXT_BYTES_MAX} bytes");
    RecordError::invalid(field.as_str(), detail)
}

fn of_wrong(field: &str, wrong: Wrong) -> RecordError {
    let code = if wrong.is_out_of_range { RecordError::OUT_OF_RANGE } else { RecordError::INVALID };
    RecordError::of(code, field, wrong.detail)
}

fn instant(field: Field, cell: &Cell<'_>, rules: &TimeRules) -> Result<Known, RecordError> {
    let name = field.as_str();
    match cell.reading {
        Reading::Unix(unit) => parse_unix(&cell.text, *unit).map(Known::exactly).ok_or_else(|| {
            let counted = unit.as_str();
            let text = &cell.text;
            let detail = format!("`{text}` is not a number of {counted} since 1970 in the years -9999 to 9999");
            cell.invalid(name, detail)
        }),
        Reading::Excel => spreadsheet_date(name, cell, rules),
        Reading::Sum => sum(name, cell).map(Known::exactly),
        Reading::Format(format) => partial_time::of_format(&cell.text, format, rules).map_err(|wrong| {
            let detail = cell.invalid(name, &wrong.detail).detail;
            of_wrong(name, Wrong { detail, ..wrong })
        }),
        Reading::Default | Reading::LonLat | Reading::SplitAtBlanks | Reading::SplitAt(_) => {
            let parsed = parse_timestamp(&cell.text).map(Known::exactly);
            parsed.or_else(|error| match partial_time::of_usual(&cell.text, rules) {
                Some(known) => Ok(known),
                None if number(&cell.text).is_some() => Err(cell.invalid(
                    name,
                    format!(
                        "a number needs a unit to be a time; map `{name}` with `|unix`, `|unix_ms` or \
                         `|unix_us`, or with a pattern such as `|YYYYMMDD`, or as `{name}.year`"
                    ),
                )),
                None if matches!(error, TimestampError::ZoneMissing { .. }) => {
                    Err(cell.invalid(name, format!("{error}; or map `{name}.zone`, the zone of all times")))
                }
                None => Err(cell.invalid(name, error)),
            })
        }
    }
}

/// Parses a day number. Spreadsheets do not specify its zone.
fn spreadsheet_date(field: &str, cell: &Cell<'_>, rules: &TimeRules) -> Result<Known, RecordError> {
    let (local, precision) = parse_excel(&cell.text).ok_or_else(|| {
        let text = &cell.text;
        let rule = "a number of days as spreadsheets count them, from 1 (1900-01-01) to 2958465";
        cell.invalid(field, format!("`{text}` is not {rule}"))
    })?;
    let at = rules.zone.as_ref().map_or(Some(local), |zone| zone.instant_of_local(local));
    let outside = || RecordError::of(RecordError::OUT_OF_RANGE, field, TimestampError::OutOfRange.to_string());
    let is_zone_assumed = rules.zone.is_none() && precision.is_none();
    Ok(Known { at: at.ok_or_else(outside)?, precision, has_gap: false, is_zone_assumed })
}

/// Parses a timestamp followed by durations to add, or with a minus sign to subtract.
fn sum(field: &str, cell: &Cell<'_>) -> Result<Instant<Virtual>, RecordError> {
    let mut terms = cell.text.split(" + ").map(str::trim);
    let first = terms.next().unwrap_or_default();
    let mut instant = parse_timestamp(first).map_err(|error| cell.invalid(field, format!("`{first}`: {error}")))?;
    for term in terms {
        let (is_negative, length) = term.strip_prefix('-').map_or((false, term), |length| (true, length));
        let moved = match parse_duration(length) {
            Ok(duration) if is_negative => duration.earlier(instant, &Zone::utc()),
            Ok(duration) => duration.later(instant, &Zone::utc()),
            // Elsewhere a zero duration is an error; here it is a cell with the value 0.
            Err(DurationError::Zero) => Some(instant),
            Err(error) => return Err(cell.invalid(field, format!("`{term}`: {error}"))),
        };
        instant = moved.ok_or_else(|| {
            let detail = format!("`{}` is outside the years -9999 to 9999", cell.text);
            RecordError::of(RecordError::OUT_OF_RANGE, field, detail)
        })?;
    }
    Ok(instant)
}

fn event_id(field: impl Into<String>, cell: &Cell<'_>) -> Result<EventId, RecordError> {
    EventId::new(&cell.text).map_err(|error| cell.invalid(field, error))
}

fn precision(cell: &Cell<'_>) -> Result<Precision, RecordError> {
    let named = Precision::parse(&cell.text);
    named.ok_or_else(|| {
        let words = Precision::ALL.map(Precision::as_str).join("`, `");
        let detail = format!("a precision must be one of `{words}`; map `precision=` to leave it out");
        cell.invalid("precision", detail)
    })
}

fn kind(cell: &Cell<'_>) -> Result<EventKind, RecordError> {
    let named = EventKind::parse(&cell.text);
    named.ok_or_else(|| {
        let words = EventKind::ALL.map(EventKind::as_str).join("`, `");
        cell.invalid("kind", format!("a kind must be one of `{words}`"))
    })
}

fn number_in_sequence(cell: &Cell<'_>) -> Result<u64, RecordError> {
    let number = field::sequence(&cell.text);
    number.ok_or_else(|| cell.invalid("sequence", format!("a sequence number must be from 0 to {EVENT_SEQUENCE_MAX}")))
}

/// Parses attributes in a single text, a JSON object.
pub(crate) fn attributes(cell: &Cell<'_>) -> Result<Map<String, Value>, RecordError> {
    let object = serde_json::from_str(&cell.text);
    let object =
        object.map_err(|_| cell.invalid("attributes", "attributes must be a JSON object, such as `{\"a\": 1}`"))?;
    attributes::check_text(cell.text.as_bytes(), "attributes")?;
    Ok(object)
}

fn geo(cells: &dyn Cells) -> Result<Option<Geo>, RecordError> {
    let number_of = |field: Field, path| -> Result<Option<f64>, RecordError> {
        let Some(cell) = cells.cell(field)? else { return Ok(None) };
        let value = match field {
            Field::Lat => degrees(&cell.text, Axis::Lat),
            Field::Lon => degrees(&cell.text, Axis::Lon),
            _ => number(&cell.text),
        };
        value.map(Some).ok_or_else(|| match field {
            Field::RadiusM => cell.invalid(path, format!("`{}` is not a number", cell.text)),
            _ => cell.invalid(
                path,
                format!("`{}` is not a number of degrees, such as `-33.675` or `33.675{}`", cell.text, side_of(field)),
            ),
        })
    };
    let missing = |path| {
        let detail = "a place needs a latitude and a longitude";
        Err(RecordError::of(RecordError::MISSING, path, detail))
    };
    let both = cells.cell(Field::Geo)?.map(|cell| {
        let read = coordinates::pair(&cell.text, matches!(cell.reading, Reading::LonLat));
        let wrong = "a latitude and a longitude, such as `33.675N 106.475W` or `33.675, -106.475`";
        read.ok_or_else(|| cell.invalid("geo", format!("`{}` is not {wrong}", cell.text)))
    });
    let (lat, lon) = match both.transpose()? {
        Some((lat, lon)) => (Some(lat), Some(lon)),
        None => (number_of(Field::Lat, "geo/lat")?, number_of(Field::Lon, "geo/lon")?),
    };
    let radius_m = number_of(Field::RadiusM, "geo/radius_m")?;
    match (lat, lon, radius_m) {
        (None, None, None) => Ok(None),
        (Some(lat), Some(lon), _) if cells.missing().includes_place(lat, lon) => Ok(None),
        (Some(lat), Some(lon), radius_m) => Ok(Some(Geo { point: point("geo/lat", "geo/lon", lat, lon)?, radius_m })),
        (None, _, _) => missing("geo/lat"),
        (Some(_), None, _) => missing("geo/lon"),
    }
}

fn side_of(field: Field) -> char {
    if field == Field::Lat { 'S' } else { 'W' }
}

/// Parses a decimal number. `inf`, `nan` and the like are words, not numbers.
fn number(text: &str) -> Option<f64> {
    let decimal = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    let text = coordinates::with_point(text)?;
    if text.bytes().all(decimal) { text.parse().ok() } else { None }
}

fn causes(cell: &Cell<'_>) -> Result<Vec<Cause>, RecordError> {
    // No id starts like this.
    if is_json_list(cell) {
        let records: Vec<CauseRecord> = json_list(cell, "causes")?;
        return records.into_iter().enumerate().map(|(index, record)| record.into_cause(index)).collect();
    }
    // Ids contain no blanks, semicolons or commas.
    let pieces = pieces(cell, |c| c.is_whitespace() || c == ';');
    let cause = |(index, piece): (usize, &str)| {
        let event_id = EventId::new(piece).map_err(|error| cell.invalid(format!("causes/{index}"), error))?;
        Ok(Cause { event_id, kind: CauseKind::Requires })
    };
    pieces.into_iter().enumerate().map(cause).collect()
}

fn actors(cell: &Cell<'_>) -> Vec<String> {
    // A name may start like this too. It is one if the text is not a list.
    if is_json_list(cell)
        && let Ok(names) = json_list(cell, "actors")
    {
        return names;
    }
    // Names contain blanks.
    pieces(cell, |c| c == ';').into_iter().map(str::to_owned).collect()
}

/// Parses assertions: a JSON list, or the three parts of one assertion.
fn asserts(cell: &Cell<'_>) -> Result<Vec<Assertion>, RecordError> {
    let pieces: Vec<&str> = match cell.reading {
        Reading::SplitAtBlanks => cell.text.split_whitespace().collect(),
        Reading::SplitAt(separator) => cell.text.split(separator.as_str()).map(str::trim).collect(),
        Reading::Default | Reading::Unix(_) | Reading::Excel | Reading::Format(_) | Reading::Sum | Reading::LonLat => {
            let records: Vec<AssertionRecord> = json_list(cell, "asserts")?;
            return records.into_iter().enumerate().map(|(index, record)| record.into_assertion(index)).collect();
        }
    };
    let &[subject, predicate, value] = pieces.as_slice() else {
        let detail =
            format!("an assertion needs a subject, a predicate and a value; `{}` has {}", cell.text, pieces.len());
        return Err(cell.invalid("asserts", detail));
    };
    // An empty column asserts nothing.
    if subject.is_empty() || value.is_empty() {
        return Ok(Vec::new());
    }
    let [subject, predicate, value] = [subject, predicate, value].map(str::to_owned);
    let record = AssertionRecord { subject: Some(subject), predicate: Some(predicate), value: Some(value.into()) };
    Ok(vec![record.into_assertion(0)?])
}

/// Returns whether a list without a configured separator is written in JSON.
fn is_json_list(cell: &Cell<'_>) -> bool {
    matches!(cell.reading, Reading::Default) && cell.text.starts_with('[')
}

fn json_list<T: DeserializeOwned>(cell: &Cell<'_>, field: &str) -> Result<Vec<T>, RecordError> {
    let list = serde_json::from_str(&cell.text).map_err(|error| cell.invalid(field, without_position(&error)))?;
    attributes::check_text(cell.text.as_bytes(), field)?;
    Ok(list)
}

/// Returns the trimmed items of a list, without empty ones.
fn pieces<'t>(cell: &'t Cell<'_>, is_separator: fn(char) -> bool) -> Vec<&'t str> {
    let pieces: Vec<&str> = match cell.reading {
        Reading::Default | Reading::Unix(_) | Reading::Excel | Reading::Format(_) | Reading::Sum | Reading::LonLat => {
            cell.text.split(is_separator).collect()
        }
        Reading::SplitAtBlanks => cell.text.split_whitespace().collect(),
        Reading::SplitAt(separator) => cell.text.split(separator.as_str()).collect(),
    };
    pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect()
}

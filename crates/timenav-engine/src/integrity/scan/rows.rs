//! Compares rows of events and sealed records with their entries.

use std::borrow::Cow;

use serde::Deserialize;
use timenav_core::data::SealedData;
use timenav_core::place::Point;
use timenav_core::scan::{FindingKind, Findings};
use timenav_core::time::{Virtual, parse_timestamp};

use super::compared::Compared;
use super::replay::{RecordedData, RecordedEvent};
use crate::events::event_columns::EventColumns;
use crate::events::location::named_point;
use crate::events::participants::parties_in;
use crate::ports::archive::{StoredRows, StoredVersion};
use crate::ports::gazetteer::Gazetteer;
use crate::ports::rows::DataRecord;
use crate::ports::seen_events::SeenEvent;
use crate::writer::project::EventMade;

/// Upper bound of the rounding error of decimal numbers, in degrees.
const ROUNDING_DEGREES: f64 = 1e-9;

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(default, borrow)]
    end_time: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    location: Option<Cow<'a, str>>,
    #[serde(default)]
    geo: Option<Geo>,
}

#[derive(Deserialize)]
struct Geo {
    lat: f64,
    lon: f64,
}

/// Returns whether the row is missing: it may have been erased in the meantime.
pub(super) fn is_missing(
    compared: &mut Compared,
    gazetteer: Option<&dyn Gazetteer>,
    event: &RecordedEvent,
    rows: &StoredRows,
) -> bool {
    let Compared { findings, unplaced, .. } = compared;
    let mut found = |what: &str| {
        let evidence = format!("table events, {}: {what}", event.event_id);
        findings.add(FindingKind::StateMismatch, Some(event.position), evidence);
    };
    if event.intervention_id.is_some() && rows.intervention_id != event.intervention_id {
        found("the row of the intervention is missing or has another id");
    }
    let ended_here = rows.before.is_some_and(|before| before.until == Some(event.position));
    // The preceding version may have been erased. If it exists, it may have ended here, earlier, or not at all.
    if event.ends && rows.before.is_some() && !ended_here {
        found("the previous version is not marked as ending here");
    }
    if !event.ends && ended_here {
        found("the previous version is marked as ending here, but no entry says so");
    }
    let (row, content): (&StoredVersion, _) = match (&event.made, &rows.version) {
        (EventMade::Nothing | EventMade::Erased, None) => return false,
        (EventMade::Nothing, Some(_)) => {
            found("the entry created no version, but there is one");
            return false;
        }
        (EventMade::Erased, Some(_)) => {
            found("the event was erased, but its row is there");
            return false;
        }
        (EventMade::Version(_) | EventMade::Tombstone, None) => return true,
        (EventMade::Tombstone, Some(row)) => {
            if row.until != Some(row.position) || !row.content.is_empty() {
                found("an inherited event was canceled here, but the row does not say so");
            }
            return false;
        }
        (EventMade::Version(content), Some(row)) => (row, content),
    };
    if row.content.as_bytes() != content {
        found("its content differs from what was recorded");
        return false;
    }
    // Later versions and interventions are compared with their own entries.
    if row.until.is_some() && !rows.is_end_recorded {
        found("it is marked as canceled, but no entry says so");
    }
    match compare_columns(&row.seen(&event.event_id), gazetteer) {
        Err(column) => found(&format!("{column} of the row does not match the event")),
        Ok(Place::OfGazetteer) => unplaced.is_placed(row.position),
        Ok(Place::Missing) => unplaced.is_not(row.position, &event.event_id),
        Ok(Place::Own) => {}
    }
    false
}

/// Compares the row of a sealed record with its entry. Returns which entry erased it according to the row.
pub(super) fn compare_data(findings: &mut Findings, data: &RecordedData, record: Option<&DataRecord>) -> Option<u64> {
    let mut found = |what: &str| {
        let evidence = format!("table data_records, {}: {what}", data.data_id);
        findings.add(FindingKind::StateMismatch, Some(data.position), evidence);
    };
    let Some(record) = record else {
        found("the row is missing");
        return None;
    };
    if record.data_id.as_str() != data.data_id {
        found("the row belongs to another record");
    }
    let SealedData { salt, nonce, commitment, ciphertext, .. } = &record.sealed;
    if record.erased.is_none() && record.sealed.hash().to_hex() != data.sha256 {
        found("the sealed data does not match the entry");
    }
    if record.erased.is_some() && [salt, nonce, commitment, ciphertext].iter().any(|part| !part.is_empty()) {
        found("it is marked as erased, but the row still holds something");
    }
    record.erased
}

pub(super) enum Place {
    /// The event itself, or there are none.
    Own,
    OfGazetteer,
    /// They could come from the gazetteer, but are missing.
    Missing,
}

/// Returns the source of the coordinates, or the column that does not follow from the content.
pub(super) fn compare_columns(row: &SeenEvent<'_>, gazetteer: Option<&dyn Gazetteer>) -> Result<Place, &'static str> {
    let content: Content<'_> = serde_json::from_str(row.content).map_err(|_| "the content")?;
    let time = parse_timestamp::<Virtual>(&content.time).map_err(|_| "the time")?;
    let end_time = content.end_time.map(|end| parse_timestamp(&end)).transpose().map_err(|_| "the end")?;
    let point = row.point.and_then(|(lat, lon)| Point::new(lat, lon));
    let columns =
        EventColumns::made_of((time, end_time), content.name.as_deref(), content.location.as_deref(), (point, None));
    if columns.time.micros() != row.time_micros {
        return Err("the time");
    }
    if columns.name_key.as_deref() != row.name_key {
        return Err("the name");
    }
    if columns.place.as_deref() != row.place {
        return Err("the place");
    }
    if columns.length_class.map(|class| i64::from(class.number())) != row.length_class {
        return Err("the length");
    }
    // A missing value is fine, because the event is read instead.
    if row.parties.is_some_and(|stored| parties_in(row.content).as_deref() != Some(stored)) {
        return Err("the source or the actors");
    }
    let place = compare_point(row, content.geo.as_ref(), gazetteer).ok_or("the point")?;
    let cell = columns.cell.map(|cell| i64::from(cell.number()));
    if cell == row.cell { Ok(place) } else { Err("the cell") }
}

fn compare_point(row: &SeenEvent<'_>, own: Option<&Geo>, gazetteer: Option<&dyn Gazetteer>) -> Option<Place> {
    let is_near = |lat: f64, lon: f64| {
        let near = |a: f64, b: f64| (a - b).abs() < ROUNDING_DEGREES;
        row.point.is_some_and(|point| near(point.0, lat) && near(point.1, lon))
    };
    match (own, row.place) {
        (Some(geo), _) => is_near(geo.lat, geo.lon).then_some(Place::Own),
        (None, None) => row.point.is_none().then_some(Place::Own),
        // An event without coordinates gets those of its named place, which are not in the entry.
        (None, Some(place)) => match (gazetteer, row.point) {
            (None, _) => Some(Place::Own),
            (Some(gazetteer), None) => match named_point(gazetteer, place) {
                Some(_) => Some(Place::Missing),
                None => Some(Place::Own),
            },
            (Some(gazetteer), Some(_)) => {
                let point = named_point(gazetteer, place)?;
                is_near(point.lat(), point.lon()).then_some(Place::OfGazetteer)
            }
        },
    }
}

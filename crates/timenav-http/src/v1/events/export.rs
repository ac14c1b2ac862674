use std::cmp::Reverse;

use crate::schema::ToSchema;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, header};
use serde::Deserialize;
use timenav_core::ids::TimelineId;
use timenav_core::place::LocationQuery;
use timenav_core::time::{TimeRange, Virtual};
use timenav_engine::{EventExport, ExportEvents, StoredEvent};
use timenav_import::{AttributeColumns, Export, ExportError, ExportFormat};

use crate::request::accept::{Accept, essence};
use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::events::filter::{self, Attributes, EventOrder};
use crate::v1::parameters::timeline;
use crate::wire::{self, Location, MomentText, Text};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/export-events",
            "export_events",
            "Exports the events of a place and time as a file",
            export_events,
        )
        .takes::<ExportRequest>()
        .gives_file()
        .tag("events"),
    ]
}

/// Events to export, and the format.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportRequest {
    /// The place, as in `monitor-events`. Defaults to anywhere.
    #[schema(value_type = Option<String>, format = "location", example = "bbox:-98,18,-81,31")]
    location: Option<Text<Location>>,
    /// `<start>/<end>`, both ends included, as in `monitor-events`. Defaults to all time.
    #[schema(value_type = Option<String>, format = "time-range", example = "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")]
    time_range: Option<Text<TimeRange<Virtual>>>,
    /// Only events that contain these words or word prefixes, ignoring case and accents: in name, description,
    /// location, id, actors or attributes.
    #[schema(format = "words", example = "hurricane")]
    text: Option<String>,
    /// Only events with exactly this actor.
    #[schema(format = "actor", example = "Katrina")]
    actor: Option<String>,
    /// Only events with exactly this source.
    #[schema(min_length = 1, max_length = 512, example = "https://www.nhc.noaa.gov")]
    source: Option<String>,
    /// Only events with these attribute values.
    #[schema(schema_with = crate::v1::events::filter::attributes_schema, required = false)]
    #[serde(default)]
    attribute: Option<Attributes>,
    /// The order of events. Defaults to the earliest first.
    order: Option<EventOrder>,
    /// `ndjson`, `csv`, `geojson` or `icalendar`. Defaults to the format that `Accept` asks for, or `ndjson`.
    #[schema(format = "export-format", example = "csv")]
    format: Option<String>,
    /// Attributes that get their own columns after all others: a list of `attribute.KEY`, separated by commas. The
    /// column `attributes` still has all of them. Only for `csv`.
    #[schema(format = "attribute-columns", example = "attribute.status,attribute.max_wind_kt")]
    columns: Option<String>,
    /// As of a ledger position, an anchor id, or a host time. Defaults to now.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

async fn export_events(
    headers: HeaderMap,
    Read { app, caller, request }: Read<ExportRequest>,
) -> Result<Response, Failure> {
    let format = format(request.format.as_deref(), &headers)?;
    let columns = columns(request.columns.as_deref(), format)?;
    let (location_text, location) = match request.location {
        None => ("*".to_owned(), LocationQuery::Anywhere),
        Some(Text(Location { text, query })) => (text, query),
    };
    let filter = filter::filter(request.text, (request.actor, request.source), request.attribute)?;
    let export = app
        .engine
        .export_events(
            &caller,
            ExportEvents {
                timeline: timeline(request.timeline_id),
                location_text,
                location,
                range: request.time_range.map_or_else(TimeRange::everything, |range| range.0),
                as_of: request.as_of.map(|moment| (moment.text, moment.as_of)),
                filter,
                newest_first: EventOrder::is_newest_first(request.order),
                format: format.as_str(),
            },
        )
        .await?;
    let name = format!("attachment; filename=\"{}.{}\"", export.timeline_id(), format.extension());
    let headers = [(header::CONTENT_TYPE, format.content_type().to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, written(export, format, columns)).into_response())
}

/// Returns the named format, or else the accepted one with the highest weight.
fn format(named: Option<&str>, headers: &HeaderMap) -> Result<ExportFormat, Failure> {
    if let Some(named) = named {
        let parsed = named.parse();
        return parsed
            .map_err(|error: timenav_import::UnknownExportFormat| Failure::invalid("format", error.to_string()));
    }
    let accept = Accept::of(headers);
    let accepted = ExportFormat::ALL.into_iter().filter_map(|format| {
        let media_type = essence(format.content_type());
        let place = accept.place(media_type)?;
        accept
            .asks_for(media_type, ExportFormat::Ndjson.content_type())
            .then(|| (accept.weight(media_type), Reverse(place), format))
    });
    let best = accepted.max_by_key(|(weight, place, _)| (*weight, *place));
    Ok(best.map_or(ExportFormat::Ndjson, |(_, _, format)| format))
}

fn columns(list: Option<&str>, format: ExportFormat) -> Result<AttributeColumns, Failure> {
    let Some(list) = list else { return Ok(AttributeColumns::default()) };
    if format != ExportFormat::Csv {
        let detail = format!("only `csv` has columns, and the format is `{}`", format.as_str());
        return Err(Failure::invalid("columns", detail));
    }
    AttributeColumns::parse(list).map_err(|wrong| Failure::invalid("columns", wrong.to_string()))
}

enum Left {
    All,
    Events,
    Nothing,
}

/// Streams as fast as the client reads. If a part fails, the body is aborted, so clients notice the incomplete file.
fn written(export: EventExport, format: ExportFormat, columns: AttributeColumns) -> Body {
    let writer = Export::new(format, export.now()).with_columns(columns);
    let parts = stream::try_unfold((export, writer, Left::All), |(mut export, mut writer, mut left)| async move {
        let mut text = String::new();
        // An empty chunk would end the body.
        while text.is_empty() {
            match left {
                Left::Nothing => return Ok(None),
                Left::All => {
                    writer.begin(&mut text);
                    left = Left::Events;
                }
                Left::Events => {
                    let of_part = writer.clone();
                    let part = export.next_part(move |events| part(of_part, events)).await;
                    if let Some(part) = part.map_err(|refusal| broken(&refusal))? {
                        (writer, text) = part.map_err(|error| broken(&error))?;
                    } else {
                        writer.end(&mut text);
                        left = Left::Nothing;
                    }
                }
            }
        }
        Ok::<_, std::io::Error>(Some((Bytes::from(text), (export, writer, left))))
    });
    Body::from_stream(parts)
}

fn part(mut writer: Export, events: &[StoredEvent]) -> Result<(Export, String), ExportError> {
    let mut text = String::new();
    for event in events {
        writer.event(&event.content, &mut text)?;
    }
    Ok((writer, text))
}

fn broken(why: &dyn std::fmt::Display) -> std::io::Error {
    tracing::warn!("an export was interrupted: {why}");
    std::io::Error::other(why.to_string())
}

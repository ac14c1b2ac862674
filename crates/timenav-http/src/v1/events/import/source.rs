use axum::body::Body;
use http::{HeaderMap, header};
use timenav_core::ids::UserId;
use timenav_import::{Format, Mapping, Packing, RecordError, cloud_event_of_parts};

use crate::request::body::Rooms;
use crate::request::params::is_utf_8;
use crate::response::problem::{Failure, FaultKind, ParameterFault};

/// The header prefix of a `CloudEvent` in binary mode.
const CLOUD_EVENT_PREFIX: &str = "ce-";
const CLOUD_EVENT_VERSION: &str = "ce-specversion";

pub(super) struct Source {
    pub(super) format: Format,
    pub(super) mapping: Mapping,
    pub(super) packing: Option<Packing>,
    /// Whether the headers are the event and the body is its data.
    pub(super) is_binary_cloud_event: bool,
}

impl Source {
    pub(super) fn new(named: Option<&str>, map: Option<&str>, headers: &HeaderMap) -> Result<Self, Failure> {
        let packing = packing(headers)?;
        let mapping = mapping(map)?;
        // If the content type is itself an event format, `ce-` headers are ignored.
        let tells_events = content_type(headers).and_then(Format::from_content_type).is_some();
        let is_binary_cloud_event = headers.contains_key(CLOUD_EVENT_VERSION)
            && named.is_none_or(|named| named == Format::CloudEvents.as_str())
            && !tells_events;
        if is_binary_cloud_event && packing.is_some() {
            return Err(Failure::invalid(
                "Content-Encoding",
                "the data of a CloudEvent in binary mode cannot be compressed",
            ));
        }
        if !is_binary_cloud_event && !content_type(headers).is_none_or(is_utf_8) {
            return Err(Failure::MediaType { expected: "…; charset=utf-8", of_query: false });
        }
        let format = if is_binary_cloud_event { Format::CloudEvents } else { format(named, headers)? };
        Ok(Self { format, mapping, packing, is_binary_cloud_event })
    }
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
}

fn packing(headers: &HeaderMap) -> Result<Option<Packing>, Failure> {
    let mut given = headers.get_all(header::CONTENT_ENCODING).iter();
    let one = match (given.next(), given.next()) {
        (None, _) => return Ok(None),
        (Some(one), None) => one.as_bytes(),
        (Some(_), Some(_)) => b"",
    };
    let named = |packing: &Packing| one.eq_ignore_ascii_case(packing.as_str().as_bytes());
    match Packing::ALL.into_iter().find(named) {
        None if one.eq_ignore_ascii_case(b"identity") => Ok(None),
        None if one.eq_ignore_ascii_case(b"zstd") => Err(Failure::invalid(
            "Content-Encoding",
            "zstd is not supported; unpack the file with `zstd -d`, or use `gzip`",
        )),
        None => Err(Failure::invalid("Content-Encoding", "compress a file once, with `gzip`")),
        packing => Ok(packing),
    }
}

/// Converts an event in binary mode to the body of structured mode.
pub(super) async fn cloud_event_body(
    rooms: &Rooms,
    user_id: &UserId,
    headers: &HeaderMap,
    body: Body,
) -> Result<Body, Failure> {
    let held = rooms.read(user_id, body, timenav_import::limits::RECORD_BYTES_MAX).await?;
    let data = &held.body.0;
    let attributes = headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().strip_prefix(CLOUD_EVENT_PREFIX)?, value.as_bytes())));
    let event = cloud_event_of_parts(attributes, content_type(headers), data).map_err(|error: RecordError| {
        let name = error.field.as_deref().unwrap_or_default();
        Failure::invalid(format!("{CLOUD_EVENT_PREFIX}{name}"), error.detail)
    })?;
    Ok(Body::from(event))
}

fn format(named: Option<&str>, headers: &HeaderMap) -> Result<Format, Failure> {
    if let Some(named) = named {
        return named
            .parse()
            .map_err(|error: timenav_import::UnknownFormat| Failure::invalid("format", error.to_string()));
    }
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.and_then(Format::from_content_type).ok_or_else(|| {
        let all = Format::ALL.map(Format::as_str).join(", ");
        let detail = format!("give the format of the file, as in `?format=csv`: {all}");
        Failure::Parameter(ParameterFault { kind: FaultKind::Missing, path: "format".to_owned(), detail })
    })
}

fn mapping(text: Option<&str>) -> Result<Mapping, Failure> {
    let read = text.map_or_else(|| Ok(Mapping::default()), Mapping::parse);
    read.map_err(|error| Failure::invalid("map", error.to_string()))
}

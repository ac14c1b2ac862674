use crate::schema::ToSchema;
use axum::Json;
use axum::body::{Body, HttpBody};
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use serde::Serialize;
use timenav_engine::LedgerPosition;

/// A response that only confirms success.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusBody {
    /// A sentence that says what happened.
    pub(crate) status: String,
}

/// The place of a write in its timeline's ledger, and the signed tree that contains it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LedgerBody {
    /// Position of the last entry that the request wrote, counted from 0.
    pub(crate) position: u64,
    /// Entries in the signed tree.
    pub(crate) size: u64,
    /// The root of the tree: 64 hexadecimal digits.
    pub(crate) root: String,
}

impl From<LedgerPosition> for LedgerBody {
    fn from(ledger: LedgerPosition) -> Self {
        Self { position: ledger.position, size: ledger.size, root: ledger.root.to_hex() }
    }
}

/// If the write created its timeline, the status sentence says so first.
pub(crate) fn created_first(ledger: LedgerPosition, timeline_id: &str, status: String) -> (String, Option<bool>) {
    if !ledger.timeline_created {
        return (status, None);
    }
    (format!("There was no timeline `{timeline_id}`, so it was created, with you as its admin. {status}"), Some(true))
}

pub(crate) struct Changed<T> {
    status: StatusCode,
    replayed: bool,
    body: T,
}

impl<T> Changed<T> {
    pub(crate) const fn ok(body: T, replayed: bool) -> Self {
        Self { status: StatusCode::OK, replayed, body }
    }

    pub(crate) const fn created(body: T, replayed: bool) -> Self {
        Self { status: StatusCode::CREATED, replayed, body }
    }
}

impl<T> Changed<T> {
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Changed<U> {
        Changed { status: self.status, replayed: self.replayed, body: change(self.body) }
    }
}

impl<T: Serialize> IntoResponse for Changed<T> {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if self.replayed {
            let name = HeaderName::from_static("idempotency-replayed");
            response.headers_mut().insert(name, HeaderValue::from_static("true"));
        }
        response
    }
}

/// Responses up to this size, in bytes, count as sent once their head is ready.
const SHORT_BYTES_MAX: u64 = 64 * 1024;

/// Holds `place` until the whole response body has been read. Streams have their own limit and release it at once.
pub(crate) fn hold<P: Send + 'static>(response: Response, place: P) -> Response {
    let is_stream = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    let is_short = response.body().size_hint().upper().is_some_and(|bytes| bytes <= SHORT_BYTES_MAX);
    if is_stream || is_short {
        return response;
    }
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held = &place;
            frame
        }))
    })
}

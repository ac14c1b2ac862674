//! Response compression with gzip (RFC 9110 §12.5.3).
//!
//! Only responses of lookups are compressed. If a secret and attacker-controlled text are compressed together, the
//! lengths of many responses reveal the secret (BREACH). Operations that return or decrypt a secret (`api-keys`,
//! `login`, `decrypt-data`, …) are therefore changes, and changes are never compressed. `scan-events` is a lookup
//! although it uses POST. A lookup must never return a secret.

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body::{Frame, SizeHint};
use tower::{ServiceBuilder, ServiceExt as _, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::predicate::Predicate;
use tower_http::compression::{CompressionBody, CompressionLayer};

use crate::request::accept::essence;

/// Shorter responses are sent uncompressed: they fit into one packet either way.
const COMPRESSED_BYTES_MIN: u64 = 1_024;
/// The fastest level that makes responses smaller.
const LEVEL: CompressionLevel = CompressionLevel::Precise(1);
/// Compressible media types. Stream messages are sent one by one, and hashes and sealed data do not shrink.
const TYPES: [&str; 6] = [
    "application/json",
    "application/x-ndjson",
    "application/geo+json",
    "application/openmetrics-text",
    "text/calendar",
    "text/csv",
];
/// Chunks of a body that are compressed before the task yields. A chunk is at most 4 KB of compressed output.
const PIECES_AT_ONCE: u8 = 4;

/// Compresses a response if that is worthwhile and the client accepts it.
pub(crate) async fn compressed(accepted: Vec<HeaderValue>, response: Response) -> Response {
    if !CompressibleResponse.should_compress(&response) {
        return response;
    }
    let mut request = Request::new(Body::empty());
    request.headers_mut().extend(accepted.into_iter().map(|value| (header::ACCEPT_ENCODING, value)));
    let mut response = Some(response);
    let answer = service_fn(move |_| ready(Ok::<_, Infallible>(response.take().unwrap_or_default())));
    let layer = CompressionLayer::new().quality(LEVEL).compress_when(CompressibleResponse);
    let answered = ServiceBuilder::new().map_response(paced).layer(layer).service(answer).oneshot(request).await;
    answered.unwrap_or_else(|never| match never {})
}

pub(crate) fn accepted(headers: &HeaderMap) -> Vec<HeaderValue> {
    headers.get_all(header::ACCEPT_ENCODING).iter().cloned().collect()
}

/// Selects the responses to compress. A response with an entity tag is excluded: the tag identifies its exact bytes and
/// is sent back in `If-Match`. A streamed response may be long, so it is compressed. Its body must not hold anything
/// that others wait for: the compressor polls ahead, and may then not poll again until the client has read.
#[derive(Clone, Copy)]
struct CompressibleResponse;

impl Predicate for CompressibleResponse {
    fn should_compress<B: HttpBody>(&self, response: &http::Response<B>) -> bool {
        let is_long = response.body().size_hint().exact().is_none_or(|bytes| bytes >= COMPRESSED_BYTES_MIN);
        is_long && is_compressible(response.status(), response.headers())
    }
}

fn is_compressible(status: StatusCode, headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    status == StatusCode::OK && !headers.contains_key(header::ETAG) && TYPES.contains(&essence(content_type))
}

fn paced(response: Response<CompressionBody<Body>>) -> Response {
    let is_compressed = response.headers().contains_key(header::CONTENT_ENCODING);
    response.map(|body| {
        let body = Body::new(body);
        if is_compressed { Body::new(Paced { body, pieces: 0 }) } else { body }
    })
}

/// A body whose chunks cost CPU time: it yields after a few of them.
struct Paced {
    body: Body,
    /// Chunks returned since the last yield.
    pieces: u8,
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.pieces >= PIECES_AT_ONCE {
            self.pieces = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        self.pieces += 1;
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

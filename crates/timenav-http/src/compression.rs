//! Response compression with gzip (RFC 9110 §12.5.3).
//!
//! Only what lookups answer is compressed, because how long a compressed answer is tells something of its content:
//! where a secret and a text of somebody else's choice are compressed together, whoever sees the lengths of many answers
//! can guess the secret (BREACH). So what hands out a secret or opens one (`api-keys`, `log-in`, `decrypt-data`, …) is a
//! change, and no change is compressed; `scan-events` only looks, though it is a POST. A lookup that tells a secret must
//! not be made.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::response::Response;
use axum::routing::MethodRouter;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body::{Frame, SizeHint};
use tower::ServiceBuilder;
use tower_http::CompressionLevel;
use tower_http::compression::predicate::Predicate;
use tower_http::compression::{CompressionBody, CompressionLayer};

use crate::accept::essence;

/// Shorter answers are sent as they are: they fit into a packet, compressed or not.
const COMPRESSED_BYTES_MIN: u64 = 1_024;
/// The fastest level that makes responses smaller.
const LEVEL: CompressionLevel = CompressionLevel::Precise(1);
/// What is compressed. Messages of a stream are sent one by one, and hashes and sealed data do not get smaller.
const TYPES: [&str; 6] = [
    "application/json",
    "application/x-ndjson",
    "application/geo+json",
    "application/openmetrics-text",
    "text/calendar",
    "text/csv",
];
/// Pieces of a body that are compressed before others have their turn on the thread. One piece is at most 4 KB of
/// what is sent.
const PIECES_AT_ONCE: u8 = 4;

/// Compresses the answers of a route that only looks.
pub(crate) fn compressed<S: Clone + Send + Sync + 'static>(route: MethodRouter<S>) -> MethodRouter<S> {
    let layer = CompressionLayer::new().quality(LEVEL).compress_when(Meant);
    let paced = ServiceBuilder::new().map_response(paced).layer(layer);
    route.layer::<_, Infallible>(paced)
}

/// Which answers may be compressed. One with an entity tag may not: its tag is that of its bytes as they are, and is sent
/// back in `If-Match`. One that is made as it is sent may be long, so it is compressed; its body must hold nothing that
/// others wait for: what compresses asks it for more, and may then not ask again until the client has read.
#[derive(Clone, Copy)]
struct Meant;

impl Predicate for Meant {
    fn should_compress<B: HttpBody>(&self, response: &http::Response<B>) -> bool {
        let is_long = response.body().size_hint().exact().is_none_or(|bytes| bytes >= COMPRESSED_BYTES_MIN);
        is_long && is_meant(response.status(), response.headers())
    }
}

fn is_meant(status: StatusCode, headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    status == StatusCode::OK && !headers.contains_key(header::ETAG) && TYPES.contains(&essence(content_type))
}

/// Lets others have their turn between the pieces of a body that is compressed.
fn paced(response: Response<CompressionBody<Body>>) -> Response {
    let is_compressed = response.headers().contains_key(header::CONTENT_ENCODING);
    response.map(|body| {
        let body = Body::new(body);
        if is_compressed { Body::new(Paced { body, pieces: 0 }) } else { body }
    })
}

/// A body whose pieces take work: after some of them it waits for its next turn.
struct Paced {
    body: Body,
    /// How many were handed over in this turn.
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
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
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

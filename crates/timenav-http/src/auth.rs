//! Who asks. Nothing behind this layer runs for somebody who could not be identified.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{ConnectInfo, FromRequestParts, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use http::request::Parts;
use http::{HeaderMap, Method, header};
use timenav_core::ids::TimelineId;
use timenav_engine::{AuthFailure, Caller};
use tokio::time::timeout;

use crate::app::App;
use crate::params::{CHANGE_BODY_BYTES_MAX, LOOKUP_BODY_BYTES_MAX, WholeBody};
use crate::problem::Failure;

/// The path of the one operation whose body is read as it comes.
pub(crate) const IMPORT_PATH: &str = "/import-events";

/// Bytes of a file that are read and thrown away after it is refused: a client that still sends
/// does not read its answer.
pub(crate) const DRAINED_BYTES_MAX: u64 = 4 << 20;

/// How long a refused file is read and thrown away.
const DRAIN_WAIT: Duration = Duration::from_secs(1);
/// How long a body may take to arrive; for imports, how long nothing may arrive.
pub(crate) const BODY_WAIT: Duration = Duration::from_secs(30);

/// The user who asks.
pub(crate) struct Authenticated(pub(crate) Caller);

impl<S: Sync> FromRequestParts<S> for Authenticated {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        // Absent only where a route was registered outside the layer below: it then lets nobody in.
        let caller = parts.extensions.get::<Caller>().cloned();
        caller.map(Self).ok_or(Failure::Unidentified(AuthFailure::Missing))
    }
}

/// Where the connection comes from.
pub(crate) struct Peer(pub(crate) Option<IpAddr>);

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(address(parts)))
    }
}

/// Identifies the caller, or logs the attempt and refuses.
pub(crate) async fn identify(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let identified = credentials(&parts.headers).and_then(|key| app.engine.authenticate(key));
    let streams = parts.uri.path().ends_with(IMPORT_PATH);
    let body = match (&identified, streams) {
        (Ok(_), true) => body,
        // What a stranger would import is of no interest; what it was aimed at is in the query.
        (Err(_), true) => {
            drain(body).await;
            Body::empty()
        }
        (_, false) => match whole_body(&parts.method, body).await {
            Ok(body) => {
                parts.extensions.insert(body);
                Body::empty()
            }
            // An attempt is logged whatever its body is.
            Err(_) if identified.is_err() => Body::empty(),
            Err(failure) => return failure.into_response(),
        },
    };
    match identified {
        Ok(caller) => {
            let left = match app.rates.request(&caller.key_id) {
                Ok(left) => left,
                Err(left) => return Failure::TooMany(left).into_response(),
            };
            parts.extensions.insert(caller);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            if let Some(left) = left {
                left.write(response.headers_mut());
            }
            response
        }
        Err(failure) => {
            // Past the limit an attempt is not logged either: nobody shall fill a ledger with them.
            if let Some(Err(left)) = address(&parts).map(|address| app.rates.failed_attempt(address)) {
                return Failure::TooMany(left).into_response();
            }
            let operation = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
            let aimed = aimed_at(&parts);
            match app.engine.log_unidentified(aimed, &operation, failure).await {
                Ok(()) => Failure::Unidentified(failure).into_response(),
                Err(refusal) => Failure::Refused(refusal).into_response(),
            }
        }
    }
}

/// Returns where the connection comes from. Headers that say something else are not believed.
fn address(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip())
}

/// Returns the key that the request shows (RFC 6750 §2.1).
fn credentials(headers: &HeaderMap) -> Result<&str, AuthFailure> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let first = shown.next().ok_or(AuthFailure::Missing)?;
    if shown.next().is_some() {
        return Err(AuthFailure::Malformed);
    }
    let text = first.to_str().map_err(|_| AuthFailure::Malformed)?;
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.trim()),
        None if text.eq_ignore_ascii_case("bearer") => Err(AuthFailure::Malformed),
        // Another scheme is no credential that is known here.
        Some(_) | None => Err(AuthFailure::Missing),
    }
}

async fn whole_body(method: &Method, body: Body) -> Result<WholeBody, Failure> {
    if body.is_end_stream() {
        return Ok(WholeBody::default());
    }
    let looks = matches!(*method, Method::GET | Method::HEAD);
    let bytes_max = if looks { LOOKUP_BODY_BYTES_MAX } else { CHANGE_BODY_BYTES_MAX };
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(Failure::TooLarge { bytes_max });
    }
    let whole = timeout(BODY_WAIT, to_bytes(body, bytes_max)).await.map_err(|_| Failure::BodyLost)?;
    whole.map(WholeBody).map_err(|error| {
        let source = std::error::Error::source(&error);
        if source.is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>) {
            Failure::TooLarge { bytes_max }
        } else {
            Failure::BodyLost
        }
    })
}

/// Reads on in a body that nobody wants, for a while.
pub(crate) async fn drain(body: Body) {
    let mut frames = body.into_data_stream();
    let mut bytes = 0;
    let reading = async {
        while bytes < DRAINED_BYTES_MAX
            && let Some(Ok(frame)) = frames.next().await
        {
            bytes += frame.len() as u64;
        }
    };
    // Whoever sends nothing in that time waits for the answer already.
    let _ = timeout(DRAIN_WAIT, reading).await;
}

/// Returns the timeline that a request names, if it names one: in its path, query or body.
fn aimed_at(parts: &Parts) -> Option<TimelineId> {
    let in_path = parts.uri.path().split_once("/timeline/").and_then(|(_, rest)| rest.split('/').next());
    let query = parts.uri.query().unwrap_or("");
    let in_query = || {
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "timeline_id").map(|(_, id)| id.into_owned())
    };
    let in_body = || {
        let body = parts.extensions.get::<WholeBody>()?;
        let named: Named = serde_json::from_slice(&body.0).ok()?;
        named.timeline_id
    };
    let named = in_path.map(str::to_owned).or_else(in_query).or_else(in_body)?;
    TimelineId::new(&named).ok()
}

#[derive(serde::Deserialize)]
struct Named {
    timeline_id: Option<String>,
}

//! Who asks. Nothing behind this layer runs for somebody who could not be identified.

use std::convert::Infallible;
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
use timenav_engine::{AuthFailure, Caller, Refusal};
use tokio::time::timeout;

use crate::app::App;
use crate::params::{CHANGE_BODY_BYTES_MAX, LOOKUP_BODY_BYTES_MAX, WholeBody};
use crate::problem::Failure;
use crate::{same_origin, session_cookie};

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
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(address(parts)))
    }
}

/// Who asks, where nobody has to show anything.
pub(crate) struct MaybeAuthenticated(pub(crate) Option<Caller>);

impl<S: Sync> FromRequestParts<S> for MaybeAuthenticated {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.extensions.get::<Caller>().cloned()))
    }
}

/// Why nobody is let in.
enum Stranger {
    /// Nobody could be identified.
    Unidentified(AuthFailure),
    /// A page of another site asked with a cookie, which may be that of a session.
    CrossSite(Option<Caller>),
}

/// Identifies the caller, or logs the attempt and refuses.
pub(crate) async fn identify(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut identified = who(&app, &parts);
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
    if let Ok(caller) = &identified {
        match app.engine.renew_session(caller).await {
            Ok(()) => {}
            // It ended while the body came.
            Err(Refusal::NotFound { .. }) => identified = Err(Stranger::Unidentified(AuthFailure::Session)),
            Err(refusal) => return Failure::Refused(refusal).into_response(),
        }
    }
    match identified {
        Ok(caller) => pass(&app, caller, parts, body, next).await,
        Err(stranger) => refuse(&app, stranger, &parts).await,
    }
}

/// Identifies whoever shows something, and lets others pass too.
pub(crate) async fn identify_if_shown(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    // Strangers send little here: the limit is that of requests that only look.
    match whole_body(&Method::GET, body).await {
        Ok(body) => parts.extensions.insert(body),
        Err(failure) => return failure.into_response(),
    };
    match who(&app, &parts) {
        Ok(caller) => pass(&app, caller, parts, Body::empty(), next).await,
        Err(Stranger::Unidentified(AuthFailure::Missing)) => next.run(Request::from_parts(parts, Body::empty())).await,
        Err(Stranger::Unidentified(AuthFailure::Session)) => {
            let mut response = next.run(Request::from_parts(parts, Body::empty())).await;
            if !response.headers().contains_key(header::SET_COOKIE) {
                take_back_cookie(&app, &mut response);
            }
            response
        }
        Err(stranger) => refuse(&app, stranger, &parts).await,
    }
}

/// Returns who asks, by what the request shows: a key, or else the cookie of a session.
fn who(app: &App, parts: &Parts) -> Result<Caller, Stranger> {
    let unidentified = |failure| Err(Stranger::Unidentified(failure));
    match credentials(&parts.headers) {
        Ok(key) => app.engine.authenticate(key).map_err(Stranger::Unidentified),
        Err(AuthFailure::Missing) => {
            let Some(secret) = session_cookie::shown(&parts.headers, &app.options) else {
                return unidentified(AuthFailure::Missing);
            };
            let in_session = secret.and_then(|secret| app.engine.authenticate_session(secret));
            if !same_origin::is_own_page(parts, &app.options) {
                return Err(Stranger::CrossSite(in_session.ok()));
            }
            in_session.map_err(Stranger::Unidentified)
        }
        Err(failure) => unidentified(failure),
    }
}

async fn pass(app: &App, caller: Caller, mut parts: Parts, body: Body, next: Next) -> Response {
    let left = match app.rates.request(&caller.credential) {
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

/// Logs an attempt and refuses it.
async fn refuse(app: &App, stranger: Stranger, parts: &Parts) -> Response {
    // Past the limit an attempt is not logged either: nobody shall fill a ledger with them.
    if let Some(Err(left)) = address(parts).map(|address| app.rates.failed_attempt(address)) {
        return Failure::TooMany(left).into_response();
    }
    let operation = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
    let aimed = aimed_at(parts);
    let (logged, failure) = match stranger {
        Stranger::Unidentified(failure) => {
            (app.engine.log_unidentified(aimed, &operation, failure).await, Failure::Unidentified(failure))
        }
        Stranger::CrossSite(caller) => {
            (app.engine.log_cross_site(caller.as_ref(), aimed, &operation).await, Failure::CrossSite)
        }
    };
    if let Err(refusal) = logged {
        return Failure::Refused(refusal).into_response();
    }
    let has_ended = matches!(failure, Failure::Unidentified(AuthFailure::Session));
    let mut response = failure.into_response();
    if has_ended {
        take_back_cookie(app, &mut response);
    }
    response
}

fn take_back_cookie(app: &App, response: &mut Response) {
    if let Some(cookie) = session_cookie::cleared(&app.options) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// Waits until the session that a caller asks in has ended, whatever ends it. A key has none: whoever streams asks
/// about it at each message.
pub(crate) async fn session_end(app: App, caller: Caller) {
    if caller.session_id().is_none() {
        return std::future::pending().await;
    }
    let Ok(mut changes) = app.engine.identity_changes() else { return };
    while app.engine.is_live(&caller) {
        let Some(session) = app.engine.session_of(&caller) else { return };
        let left = session.idle_expires_at.since(app.engine.now()).micros();
        // Whatever else ends a session is an entry of `system`.
        let left = Duration::from_micros(u64::try_from(left).unwrap_or(0));
        if let Ok(Err(_)) = timeout(left, changes.changed()).await {
            return;
        }
    }
}

/// Returns where the connection comes from. Headers that say something else are not believed.
pub(crate) fn address(parts: &Parts) -> Option<IpAddr> {
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

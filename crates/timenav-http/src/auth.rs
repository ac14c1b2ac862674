//! Who asks. Nothing behind this layer runs for somebody who could not be identified.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{ConnectInfo, FromRequestParts, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use http::request::Parts;
use http::{HeaderMap, Method, header};
use timenav_core::ids::TimelineId;
use timenav_engine::{AuthFailure, Caller, Engine, Refusal};
use tokio::time::timeout;

use crate::app::App;
use crate::params::{CHANGE_BODY_BYTES_MAX, LOOKUP_BODY_BYTES_MAX, WholeBody};
use crate::problem::{Failure, Unwritten};
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

/// How long a timer runs at most for the end of what a caller showed.
const LOOK_AGAIN: Duration = Duration::from_hours(24);

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
    let identified = who(&app, &parts);
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
            // It ended while the body came, and the engine has logged that.
            Err(refusal) => return refused(&app, refusal.into()),
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
    let looks = matches!(parts.method, Method::GET | Method::HEAD);
    let operation = operation(&parts);
    parts.extensions.insert(caller.clone());
    let mut response = next.run(Request::from_parts(parts, body)).await;
    // What took long to find is not told to whoever may not ask for it any more. What was changed was decided by
    // the engine when it was changed, and is told.
    if looks
        && response.status().is_success()
        && let Err(refusal) = app.engine.check_told(&caller, &operation).await
    {
        response = Failure::from(refusal).into_response();
    }
    if has_ended(&response) {
        take_back_cookie(app, &mut response);
    }
    if let Some(left) = left {
        left.write(response.headers_mut());
    }
    response
}

/// Returns what is attempted, as an entry about a refusal names it.
fn operation(parts: &Parts) -> String {
    parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned()
}

/// Returns the answer of a failure. Whose session has ended gives its cookie back.
fn refused(app: &App, failure: Failure) -> Response {
    let mut response = failure.into_response();
    if has_ended(&response) {
        take_back_cookie(app, &mut response);
    }
    response
}

fn has_ended(response: &Response) -> bool {
    let unwritten = response.extensions().get::<Unwritten>();
    unwritten.is_some_and(|unwritten| matches!(unwritten.0, Failure::Unidentified(AuthFailure::Session)))
}

/// Logs an attempt and refuses it.
async fn refuse(app: &App, stranger: Stranger, parts: &Parts) -> Response {
    // Past the limit an attempt is not logged either: nobody shall fill a ledger with them.
    if let Some(Err(left)) = address(parts).map(|address| app.rates.failed_attempt(address)) {
        return Failure::TooMany(left).into_response();
    }
    let operation = operation(parts);
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
        return Failure::from(refusal).into_response();
    }
    refused(app, failure)
}

fn take_back_cookie(app: &App, response: &mut Response) {
    if let Some(cookie) = session_cookie::cleared(&app.options) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// Waits until what a caller showed is no longer good, whatever ends it: the session, or the key.
pub(crate) async fn credential_end(engine: Engine, caller: Caller) {
    let Ok(mut changes) = engine.identity_changes() else { return };
    while engine.is_live(&caller) {
        // What does not end by itself, or in a time that a timer does not hold, is looked at again after a day.
        let left = engine.ends_at(&caller).map_or(LOOK_AGAIN, |end| {
            Duration::from_micros(u64::try_from(end.since(engine.now()).micros()).unwrap_or(0)).min(LOOK_AGAIN)
        });
        // Whatever else ends it is an entry of `system`.
        if let Ok(false) = timeout(left, changes.changed()).await {
            return;
        }
    }
}

/// Does what takes long, as long as what its caller showed is good. What was recorded until then stays recorded.
pub(crate) async fn while_live<T, E: From<Refusal>>(
    engine: &Engine,
    caller: &Caller,
    (timeline, operation): (&TimelineId, &str),
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match select(pin!(work), pin!(credential_end(engine.clone(), caller.clone()))).await {
        Either::Left((done, _)) => done,
        Either::Right(((), _)) => Err(engine.refuse_ended(caller, timeline, operation).await.into()),
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

//! Authentication. Inner layers and handlers never run for an unauthenticated request, except on open routes.

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::future::{Either, select};
use http::request::Parts;
use http::{HeaderMap, Method, header};
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Wall};
use timenav_engine::{AuthFailure, Caller, Code, Engine, Refusal};
use tokio::time::timeout;

use crate::handler::{Argument, Incoming};
use crate::rate::RefusalKind;
use crate::request::body::{
    CHANGE_BODY_BYTES_MAX, LOOKUP_BODY_BYTES_MAX, UNAUTHENTICATED_BODY_BYTES_MAX, WholeBody, drain,
};
use crate::request::network::Network;
use crate::request::{same_origin, session_cookie, timeline_header};
use crate::response::problem::{Failure, Unwritten, codes};
use crate::response::{answer, finish};
use crate::state::App;
use crate::traces::{IsTraced, TracedTimeline};

/// The only operation whose body is streamed instead of buffered.
pub(crate) const IMPORT_PATH: &str = "/import-events";

/// Upper bound for one wait for a credential to expire.
const LOOK_AGAIN: Duration = Duration::from_hours(24);

pub(crate) struct Authenticated(pub(crate) Caller);

impl Argument for Authenticated {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        // Absent only if a route was registered outside the layer below; such a request is rejected.
        let caller = incoming.parts.extensions.get::<Caller>().cloned();
        caller.map(Self).ok_or(Failure::Unidentified(AuthFailure::Missing))
    }
}

pub(crate) struct Peer(pub(crate) Option<Network>);

impl Argument for Peer {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(Self(network(&incoming.parts)))
    }
}

/// The caller of an open route, if the request has valid credentials.
pub(crate) struct MaybeAuthenticated(pub(crate) Option<Caller>);

impl Argument for MaybeAuthenticated {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        Ok(Self(incoming.parts.extensions.get::<Caller>().cloned()))
    }
}

enum Stranger {
    Unidentified(AuthFailure),
    /// A page of another site sent the request with a cookie, which may be a session cookie.
    CrossSite(Option<Caller>),
    /// The engine could not look up the credentials.
    Unknown(Refusal),
}

impl Stranger {
    const fn code(&self) -> Code {
        match self {
            Self::Unidentified(failure) => codes::of_stranger(*failure),
            Self::CrossSite(_) => Code::CrossSiteRequest,
            Self::Unknown(_) => Code::Unavailable,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Buffered up to this many bytes before the caller is identified.
    Whole(usize),
    AsItComes,
}

/// Identifies the caller, or logs and rejects the attempt.
pub(crate) async fn identify(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    finish::noted(identify_caller(&app, request, next).await, route)
}

async fn identify_caller(app: &App, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let reading = if parts.uri.path().ends_with(IMPORT_PATH) {
        Reading::AsItComes
    } else if matches!(parts.method, Method::GET | Method::HEAD) {
        Reading::Whole(LOOKUP_BODY_BYTES_MAX)
    } else {
        Reading::Whole(CHANGE_BODY_BYTES_MAX)
    };
    match who(app, &parts).await {
        Ok(caller) => admit(app, caller, parts, body, reading, true, next).await,
        Err(stranger) => turn_away(app, stranger, parts, body, reading).await,
    }
}

/// Identifies the caller if the request has credentials. Requests without any, or of an ended session, pass through.
pub(crate) async fn identify_if_present(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    finish::noted(identify_caller_if_present(&app, request, next).await, route)
}

async fn identify_caller_if_present(app: &App, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let has_ended = match who(app, &parts).await {
        Ok(caller) => {
            return admit(app, caller, parts, body, Reading::Whole(LOOKUP_BODY_BYTES_MAX), false, next).await;
        }
        Err(Stranger::Unidentified(AuthFailure::Missing | AuthFailure::OtherScheme | AuthFailure::Elsewhere)) => false,
        Err(Stranger::Unidentified(AuthFailure::Session)) => true,
        Err(stranger) => return turn_away(app, stranger, parts, body, Reading::AsItComes).await,
    };
    let held = match app.rooms.read_of_stranger(network(&parts), body).await {
        Ok(held) => held,
        Err(failure) => return failure.into_response(),
    };
    parts.extensions.insert(held.body.clone());
    let mut response = next.run(Request::from_parts(parts, Body::empty())).await;
    if has_ended && !response.headers().contains_key(header::SET_COOKIE) {
        take_back_cookie(app, &mut response);
    }
    response
}

/// Admits an authenticated caller within their quota and limits. Quotas are charged before the body is read.
async fn admit(
    app: &App,
    caller: Caller,
    mut parts: Parts,
    body: Body,
    reading: Reading,
    is_use: bool,
    next: Next,
) -> Response {
    let place = app.requests.take(&caller.user_id, 1);
    let place = place.map_err(|spent| Failure::Full { what: "requests", spent, retry_after_seconds: 1 });
    let counted = place.and_then(|place| {
        let left = app.rates.request(&caller.user_id).map_err(Failure::TooMany)?;
        Ok((place, left))
    });
    let (place, left) = match counted {
        Ok(counted) => counted,
        Err(failure) => {
            drain(body).await;
            return failure.into_response();
        }
    };
    let (_held, body) = match reading {
        Reading::AsItComes => (None, body),
        Reading::Whole(bytes_max) => match app.rooms.read(&caller.user_id, body, bytes_max).await {
            Ok(held) => {
                parts.extensions.insert(held.body.clone());
                (Some(held), Body::empty())
            }
            Err(failure) => return failure.into_response(),
        },
    };
    if let Err(failure) = timeline_header::check(&parts.headers, || aimed_at(&parts)) {
        return failure.into_response();
    }
    if is_use {
        // If the session ended while the body arrived, the engine has logged that.
        if let Err(refusal) = app.engine.renew_session(&caller).await {
            return refused(app, refusal.into());
        }
    }
    let looks = matches!(parts.method, Method::GET | Method::HEAD);
    let operation = operation(&parts);
    let traced = parts.extensions.get::<IsTraced>().map(|_| aimed_at(&parts).unwrap_or(caller.timeline_id.clone()));
    parts.extensions.insert(caller.clone());
    let mut response = next.run(Request::from_parts(parts, body)).await;
    // A lookup can take long: if the credential has ended meanwhile, its result must not be revealed. A change was
    // authorized when it was committed, so its response is sent. Open routes return nothing that needs protection.
    if is_use
        && looks
        && response.status().is_success()
        && let Err(refusal) = app.engine.check_log_access(&caller, &operation).await
    {
        response = Failure::from(refusal).into_response();
    }
    if has_ended(&response) {
        take_back_cookie(app, &mut response);
    }
    if let Some(timeline) = traced {
        response.extensions_mut().insert(TracedTimeline(timeline));
    }
    if let Some(left) = left {
        left.write(response.headers_mut());
    }
    answer::hold(response, place)
}

/// Charges a failed attempt, reads which timeline it was aimed at, logs it and rejects it.
async fn turn_away(app: &App, stranger: Stranger, mut parts: Parts, body: Body, reading: Reading) -> Response {
    if let Stranger::Unknown(refusal) = stranger {
        return Failure::from(refusal).into_response();
    }
    let network = network(&parts);
    if let Some(Err(left)) = network.map(|network| app.rates.failed_attempt(network)) {
        // Above the limit the body is not read and the attempt has no entry of its own.
        let operation = operation(&parts);
        app.refusals.count(network, &operation, stranger.code());
        return Failure::TooMany(left).into_response();
    }
    let is_short = body.size_hint().lower() <= UNAUTHENTICATED_BODY_BYTES_MAX as u64;
    if reading != Reading::AsItComes && is_short {
        // The attempt is logged even if the body cannot be read.
        if let Ok(held) = app.rooms.read_of_stranger(network, body).await {
            parts.extensions.insert(held.body);
        }
    } else {
        // The target timeline of an import is in the query, so its body is discarded.
        drain(body).await;
    }
    refuse(app, stranger, &parts).await
}

/// Authenticates a request by its API key, or else by its session cookie.
async fn who(app: &App, parts: &Parts) -> Result<Caller, Stranger> {
    let unidentified = |failure| Err(Stranger::Unidentified(failure));
    match credentials(&parts.headers) {
        Ok(key) => match app.engine.identify(key).await {
            Ok(found) => found.map_err(Stranger::Unidentified),
            Err(refusal) => Err(Stranger::Unknown(refusal)),
        },
        Err(missing @ (AuthFailure::Missing | AuthFailure::OtherScheme)) => {
            let Some(secret) = session_cookie::session_secret(&parts.headers, &app.options) else {
                let is_elsewhere = missing == AuthFailure::Missing && shows_key_elsewhere(parts);
                return unidentified(if is_elsewhere { AuthFailure::Elsewhere } else { missing });
            };
            let in_session = match secret {
                Ok(secret) => app.engine.identify_session(secret).await.map_err(Stranger::Unknown)?,
                Err(failure) => Err(failure),
            };
            if !same_origin::is_own_page(parts, &app.options) {
                return Err(Stranger::CrossSite(in_session.ok()));
            }
            in_session.map_err(Stranger::Unidentified)
        }
        Err(failure) => unidentified(failure),
    }
}

/// If the session has ended, the response clears its cookie.
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

/// Logs and rejects an attempt that has been charged already.
async fn refuse(app: &App, stranger: Stranger, parts: &Parts) -> Response {
    let operation = operation(parts);
    let aimed = aimed_at(parts);
    let (network, code) = (network(parts), stranger.code());
    let is_nobody = !matches!(stranger, Stranger::CrossSite(Some(_)));
    let logged = if is_nobody && !app.rates.logs_refusal(RefusalKind::Other, network) {
        app.refusals.count(network, &operation, code);
        Ok(())
    } else {
        match &stranger {
            Stranger::Unidentified(failure) => app.engine.log_unidentified(aimed, &operation, *failure).await,
            Stranger::CrossSite(caller) => app.engine.log_cross_site(caller.as_ref(), aimed, &operation).await,
            Stranger::Unknown(_) => Ok(()),
        }
    };
    if let Err(refusal) = logged {
        return Failure::from(refusal).into_response();
    }
    let failure = match stranger {
        Stranger::Unidentified(failure) => Failure::Unidentified(failure),
        Stranger::CrossSite(_) => Failure::CrossSite,
        Stranger::Unknown(refusal) => Failure::from(refusal),
    };
    refused(app, failure)
}

fn operation(parts: &Parts) -> String {
    parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned()
}

fn take_back_cookie(app: &App, response: &mut Response) {
    if let Some(cookie) = session_cookie::cleared(&app.options) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// Waits until the credential of the caller, a session or an API key, is no longer valid for any reason.
pub(crate) async fn credential_end(engine: Engine, caller: Caller) {
    let mut changes = engine.identity_changes();
    while engine.is_live(&caller) {
        // Every other end of a credential is an entry of `system`.
        if let Ok(false) = timeout(left(&engine, engine.ends_at(&caller)), changes.changed()).await {
            return;
        }
    }
}

/// Waits until a caller loses access to a timeline: the credential ends, the role is lost or the timeline ends.
pub(crate) async fn access_end(
    engine: Engine,
    caller: Caller,
    timeline: TimelineId,
    may: fn(&Engine, &Caller, &TimelineId) -> bool,
) {
    let mut changes = engine.access_changes();
    while may(&engine, &caller, &timeline) {
        let left = left(&engine, engine.access_ends_at(&caller, &timeline));
        if let Ok(false) = timeout(left, changes.changed()).await {
            return;
        }
    }
}

/// Without an end, or with one further away than a timer can represent, the caller checks again after a day.
fn left(engine: &Engine, end: Option<Instant<Wall>>) -> Duration {
    end.map_or(LOOK_AGAIN, |end| {
        Duration::from_micros(u64::try_from(end.since(engine.now()).micros()).unwrap_or(0)).min(LOOK_AGAIN)
    })
}

/// Runs a long operation for as long as the caller's credential is valid. Entries recorded before it ends stay.
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

/// Forwarding headers are not trusted.
pub(crate) fn network(parts: &Parts) -> Option<Network> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| Network::of(info.0.ip()))
}

/// Returns the bearer token of a request (RFC 6750 §2.1).
fn credentials(headers: &HeaderMap) -> Result<&str, AuthFailure> {
    let mut authorization = headers.get_all(header::AUTHORIZATION).iter();
    let first = authorization.next().ok_or(AuthFailure::Missing)?;
    if authorization.next().is_some() {
        return Err(AuthFailure::Malformed);
    }
    let text = first.to_str().map_err(|_| AuthFailure::Malformed)?;
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.trim()),
        None if text.eq_ignore_ascii_case("bearer") => Err(AuthFailure::Malformed),
        Some(_) | None => Err(AuthFailure::OtherScheme),
    }
}

/// Headers and parameters in which other services expect a key.
const OTHER_HEADERS: [&str; 4] = ["x-api-key", "api-key", "x-auth-token", "x-access-token"];
const OTHER_PARAMETERS: [&str; 4] = ["api_key", "apikey", "access_token", "token"];

fn shows_key_elsewhere(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or("");
    let named = |name: &str| OTHER_PARAMETERS.iter().any(|other| name.eq_ignore_ascii_case(other));
    OTHER_HEADERS.iter().any(|name| parts.headers.contains_key(*name))
        || form_urlencoded::parse(query.as_bytes()).any(|(name, _)| named(&name))
}

/// Returns the timeline that a request names in its path, query or body.
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

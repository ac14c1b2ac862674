//! The outermost layer: request ids, panics, problems and response headers.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use crate::schema::ToSchema;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Json, body::Body};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use serde::Serialize;
use timenav_core::time::{Instant, Wall};
use timenav_engine::Refusal;

use crate::handler::{Argument, Incoming};
use crate::request::accept::{Accept, JSON};
use crate::request::host;
use crate::request::params::SentAsQuery;
use crate::response::problem::{Failure, FieldError, Problem, Unwritten};
use crate::state::App;
use crate::traces::{IsTraced, TraceParent, TracedRequest, TracedTimeline};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_CHARS_MAX: usize = 128;
/// Delay of a 429 response, so that a client that retries immediately cannot send thousands of requests a second.
pub(crate) const TOO_MANY_REQUESTS_HELD_MILLIS: u64 = 200;
const PROBLEM_JSON: &str = "application/problem+json";

/// The request id, supplied by the client or generated.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(String);

impl RequestId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Argument for RequestId {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        // Absent only if a route was registered outside this layer.
        Ok(incoming.parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self(String::new())))
    }
}

/// Routes QUERY (RFC 10008) as GET: axum 0.8 has no route for QUERY, and handlers with `any()` would each have to set
/// `Allow` and return 405.
fn query_as_get(request: &mut Request) {
    if request.method().as_str() == "QUERY" {
        *request.method_mut() = Method::GET;
        request.extensions_mut().insert(SentAsQuery);
    }
}

/// The matched route of a response. Only layers inside the router can see it in the request.
#[derive(Clone, Debug)]
struct Route(MatchedPath);

pub(crate) fn noted(mut response: Response, route: Option<MatchedPath>) -> Response {
    if let Some(route) = route {
        response.extensions_mut().insert(Route(route));
    }
    response
}

/// Records the matched route.
pub(crate) async fn note_route(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    noted(response, route)
}

pub(crate) async fn finish(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = app.engine.now();
    let id = RequestId(request_id(&app, began, request.headers()));
    let method = method_name(request.method());
    let wants_problem = Accept::of(request.headers()).asks_for(PROBLEM_JSON, JSON);
    let is_http1 = request.version() <= Version::HTTP_11;
    let asks_options = request.method() == Method::OPTIONS;
    let parent = TraceParent::of(request.headers());
    let traces = app.options.traces.as_ref().filter(|_| parent.is_none_or(|parent| parent.is_sampled));
    if traces.is_some() {
        request.extensions_mut().insert(IsTraced);
    }
    request.extensions_mut().insert(id.clone());
    let response = if let Some(refused) = host::refused(&request) {
        refused
    } else {
        query_as_get(&mut request);
        let caught = AssertUnwindSafe(next.run(request)).catch_unwind().await;
        caught.unwrap_or_else(|_| Failure::Panicked.into_response())
    };
    let route = response.extensions().get::<Route>().map(|Route(route)| route.clone());
    let timeline_id = response.extensions().get::<TracedTimeline>().map(|TracedTimeline(timeline)| timeline.clone());
    let mut response = if asks_options && response.status() == StatusCode::METHOD_NOT_ALLOWED {
        options(&response)
    } else {
        written(&app, response, &id, wants_problem)
    };
    let ended = app.engine.now();
    let took = ended.since(began);
    let status = response.status().as_u16();
    let name = route.as_ref().map_or("none", MatchedPath::as_str);
    app.metrics.record(method, name, status, took);
    let (duration_us, request_id) = (took.micros(), &id.0);
    let trace_id = parent.map(|parent| format!("{:032x}", parent.trace_id)).unwrap_or_default();
    tracing::debug!(method, route = name, status, duration_us, request_id, trace_id, "request completed");
    if let Some(traces) = traces {
        let (request_id, route) = (id.0.clone(), route.map(|route| route.as_str().to_owned()));
        traces.answered(TracedRequest { parent, method, route, status, timeline_id, request_id, began, ended });
    }
    headers(response.headers_mut(), &id, app.options.encrypted);
    if is_http1 && app.options.draining.is_cancelled() {
        // A proxy that keeps connections open would send the next request to this replica too.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if response.status() == StatusCode::TOO_MANY_REQUESTS {
        hold_back().await;
    }
    response
}

#[expect(clippy::disallowed_methods, reason = "the wait of a rate-limited caller is short")]
async fn hold_back() {
    tokio::time::sleep(Duration::from_millis(TOO_MANY_REQUESTS_HELD_MILLIS)).await;
}

/// Maps a method to a fixed set of names, so that clients cannot create new metric labels.
fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "QUERY" => "QUERY",
        "POST" => "POST",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

pub(crate) async fn no_route() -> Failure {
    Failure::NoRoute
}

/// Handles methods that a path does not support. The router sets `Allow`.
pub(crate) async fn no_method() -> Failure {
    Failure::Method { allow: String::new() }
}

fn request_id(app: &App, now: Instant<Wall>, headers: &HeaderMap) -> String {
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let usable = |text: &&str| {
        (1..=REQUEST_ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    given.filter(usable).map_or_else(|| app.request_ids.next(now), str::to_owned)
}

fn options(refused: &Response) -> Response {
    let allow = allow(refused.headers());
    (StatusCode::NO_CONTENT, [(header::ALLOW, allow)]).into_response()
}

/// Returns the methods of a path: those of the router, and QUERY if there is GET.
fn allow(headers: &HeaderMap) -> String {
    let known = headers.get(header::ALLOW).and_then(|value| value.to_str().ok()).unwrap_or("");
    let mut methods: Vec<&str> = known.split(',').map(str::trim).filter(|method| !method.is_empty()).collect();
    if methods.contains(&"GET") {
        methods.push("QUERY");
    }
    methods.push("OPTIONS");
    methods.join(", ")
}

fn written(app: &App, mut response: Response, id: &RequestId, wants_problem: bool) -> Response {
    let Some(Unwritten(failure)) = response.extensions_mut().remove::<Unwritten>() else { return response };
    let failure = match failure {
        Failure::Method { .. } => Failure::Method { allow: allow(response.headers()) },
        other => other,
    };
    log_seldom(app, &failure, id);
    if let Failure::Method { allow } = &failure
        && let Ok(value) = HeaderValue::from_str(allow)
    {
        response.headers_mut().insert(header::ALLOW, value);
    }
    let (status, problem) = (response.status(), failure.problem(&id.0));
    let mut headers = std::mem::take(response.headers_mut());
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::CONTENT_TYPE);
    let mut written: Response<Body> =
        if wants_problem { problem_json(status, problem) } else { (status, Json(problem)).into_response() };
    written.headers_mut().extend(headers);
    written
}

/// Logs a failure. Failures that affect all requests are logged at most once a minute.
fn log_seldom(app: &App, failure: &Failure, id: &RequestId) {
    let error = match failure {
        Failure::Refused(Refusal::Unavailable(error)) => error.clone(),
        Failure::Refused(refusal @ Refusal::Diverged(_)) => refusal.to_string(),
        _ => return log_once(failure, id),
    };
    if let Some(suppressed) = app.unavailable.record(app.engine.now()) {
        tracing::warn!(request_id = &id.0, error, suppressed, "a request could not be carried out");
    }
}

/// Logs failures that are specific to one request. A failure that has stopped the ledger was logged at its source.
pub(crate) fn log_once(failure: &Failure, id: &RequestId) {
    let request_id = &id.0;
    match failure {
        Failure::Refused(Refusal::Damaged(error)) => {
            tracing::error!(request_id, error, "stored data is inconsistent");
        }
        Failure::Refused(Refusal::Unavailable(error) | Refusal::OutcomeUnknown(error)) => {
            tracing::warn!(request_id, error, "a request could not be carried out");
        }
        Failure::Refused(Refusal::Diverged(divergence)) => {
            tracing::warn!(request_id, %divergence, "a request could not be carried out");
        }
        Failure::Panicked => tracing::error!(request_id, "a handler panicked"),
        Failure::BrokenOff { because, .. } => log_once(because, id),
        Failure::Refused(_)
        | Failure::OneEventExists(_)
        | Failure::Unidentified(_)
        | Failure::CrossSite
        | Failure::InsecureLogin
        | Failure::Parameter(_)
        | Failure::Parameters(_)
        | Failure::MalformedJson { .. }
        | Failure::MalformedFile { .. }
        | Failure::MediaType { .. }
        | Failure::Encoding
        | Failure::TooLarge { .. }
        | Failure::TooManyValues { .. }
        | Failure::BodyLost
        | Failure::Host { .. }
        | Failure::NoRoute
        | Failure::NotATile { .. }
        | Failure::TooMany(_)
        | Failure::Full { .. }
        | Failure::Method { .. } => {}
    }
}

/// Problem details for HTTP APIs (RFC 9457).
#[derive(Serialize, ToSchema)]
pub(crate) struct ProblemDetails {
    /// The type of the problem: `urn:timenav:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// A sentence that says what happened.
    title: String,
    /// The HTTP status.
    status: u16,
    /// An explanation of the error.
    detail: String,
    /// A stable code for the error.
    code: String,
    /// The affected fields, if any.
    errors: Vec<FieldError>,
    /// The id of the request, for support.
    request_id: String,
}

fn problem_json(status: StatusCode, problem: Problem) -> Response {
    let Problem { status: title, code, detail, errors, request_id } = problem;
    let kind = format!("urn:timenav:problem:{code}");
    let details = ProblemDetails { kind, title, status: status.as_u16(), detail, code, errors, request_id };
    let mut response = (status, Json(details)).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    response
}

/// Sets the common headers. Headers that a handler has set take precedence.
fn headers(headers: &mut HeaderMap, id: &RequestId, encrypted: bool) {
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::CACHE_CONTROL, "no-store");
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    set(header::REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    let is_negotiated = headers.get(header::VARY).is_some_and(|value| value == "accept-encoding");
    if is_negotiated {
        headers.remove(header::VARY);
    }
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::VARY, if is_negotiated { "Authorization, Cookie, Accept-Encoding" } else { "Authorization, Cookie" });
    if encrypted {
        set(header::STRICT_TRANSPORT_SECURITY, "max-age=31536000; includeSubDomains");
    }
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, value);
    }
}

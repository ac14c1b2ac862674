//! Unauthenticated endpoints: health, readiness, OpenAPI.

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{HeaderMap, header};
use serde::Serialize;
use timenav_core::text::counted;
use timenav_engine::Refusal;
use tokio::time::timeout;

use crate::metrics::Process;
use crate::openapi::{OPENAPI_3_1_SERVED, OPENAPI_3_2_SERVED, Served};
use crate::request::accept::prefers_coding;
use crate::response::answer::StatusBody;
use crate::response::compression::{accepted, compressed};
use crate::response::problem::Failure;
use crate::state::{App, HttpOptions};

/// The response of `/` for programs. Browsers get the console.
#[derive(Serialize)]
pub(crate) struct Welcome {
    status: &'static str,
    documentation: &'static str,
    clock: &'static str,
}

pub(crate) fn probe_routes() -> Router<App> {
    Router::new().route("/healthz", get(healthz)).route("/readyz", get(readyz))
}

pub(crate) fn metrics_route() -> Router<App> {
    Router::new().route("/metrics", get(metrics))
}

pub(crate) fn routes() -> Router<App> {
    probe_routes().route("/openapi.json", get(openapi)).route("/openapi-3.2.json", get(openapi_3_2))
}

pub(crate) const fn welcome() -> Json<Welcome> {
    Json(Welcome {
        status: "This is timenav: a controllable clock for whole systems.",
        documentation: "/openapi.json",
        clock: "/v1/clock",
    })
}

async fn healthz() -> Json<StatusBody> {
    running()
}

pub(crate) fn running() -> Json<StatusBody> {
    Json(StatusBody { status: "The process is running.".to_owned() })
}

pub(crate) const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Time limit of a readiness check. Probes have short timeouts.
const READY_WAIT: Duration = Duration::from_secs(10);

/// The same for scrapes, which happen even if the store does not respond: Prometheus times out after 10 seconds.
const READY_SCRAPE_WAIT: Duration = Duration::from_secs(3);

/// Succeeds if the store responds and writing has not stopped.
async fn readyz(State(app): State<App>) -> Result<Json<StatusBody>, Failure> {
    ready(&app, READY_WAIT).await?;
    let status = if app.engine.is_unseen() {
        "The service is ready. It started without a local checkpoint, so it trusted the database as found (--join)."
    } else {
        "The service is ready."
    };
    Ok(Json(StatusBody { status: status.to_owned() }))
}

async fn ready(app: &App, wait: Duration) -> Result<(), Refusal> {
    if app.options.draining.is_cancelled() {
        return Err(Refusal::Unavailable("the service is about to stop".to_owned()));
    }
    let ready = timeout(wait, app.engine.ready()).await;
    ready.unwrap_or_else(|_| {
        let seconds = wait.as_secs();
        Err(Refusal::Unavailable(format!("the store has not responded for {}", counted(seconds, "second"))))
    })
}

async fn metrics(State(app): State<App>, headers: HeaderMap) -> Response {
    let is_ready = ready(&app, READY_SCRAPE_WAIT).await.is_ok();
    let HttpOptions { version, process, connections, traces, .. } = &*app.options;
    let traces = traces.as_ref().map(|traces| traces.counts());
    let process = Process { version, stats: process(), connections, traces };
    let text = app.metrics.text(&app.engine, is_ready, &process);
    compressed(accepted(&headers), ([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response()).await
}

async fn openapi(headers: HeaderMap) -> Response {
    document(&OPENAPI_3_1_SERVED, &headers)
}

/// Serves OpenAPI 3.2, the first version with QUERY. Few tools support it yet.
async fn openapi_3_2(headers: HeaderMap) -> Response {
    document(&OPENAPI_3_2_SERVED, &headers)
}

fn document(served: &Served, headers: &HeaderMap) -> Response {
    let fields = [(header::CONTENT_TYPE, "application/json"), (header::VARY, "accept-encoding")];
    // `x-gzip` is an alias (RFC 9110 §8.4.1.3).
    if ["gzip", "x-gzip"].into_iter().any(|coding| prefers_coding(headers, coding)) {
        return (fields, [(header::CONTENT_ENCODING, "gzip")], served.gzip.clone()).into_response();
    }
    (fields, served.plain.clone()).into_response()
}

//! The operations below `/v1` and `/api/v1`.

mod clock;
pub(crate) mod timers;
mod events;
mod set_anchor;
mod set_retention;
mod detect_tampering;
mod data;
mod access;
pub(crate) mod messages;

use serde_json::{Value, json};

use crate::support::http::{Answer, Request};
use crate::support::service::Service;

/// Both prefixes of every operation.
const PREFIXES: [&str; 2] = ["/v1", "/api/v1"];

/// Sends a POST and returns the response with any status.
fn send(service: &Service, path: &str, body: &Value) -> Answer {
    service.send(Request::post(path).json(body))
}

/// Returns a service whose clock is paused at midnight of 2000-01-01.
fn paused_service() -> Service {
    let service = Service::start();
    create_paused(&service, "2000-01-01T00:00:00Z");
    service
}

/// Pauses the clock of `main` at a time.
fn create_paused(service: &Service, at: &str) {
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": at }));
}

/// The members of a clock that do not depend on the time of the request.
fn lasting(clock: &Value) -> Value {
    let names = ["timeline_id", "state", "rate", "location", "generation", "origin_host", "origin_virtual"];
    names.iter().map(|name| ((*name).to_owned(), clock[*name].clone())).collect()
}

/// Checks that a rejection leaves a clock unchanged.
#[track_caller]
fn refused_and_unchanged(service: &Service, path: &str, body: &Value, status: u16, code: &str) -> Value {
    let before = service.get("/v1/clock", &[]);
    let refused = send(service, path, body).refused(status, code);
    let after = service.get("/v1/clock", &[]);
    assert_eq!(lasting(&after), lasting(&before), "{body}");
    refused
}

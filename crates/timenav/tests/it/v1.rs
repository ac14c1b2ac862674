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

/// Checks that a response rejects a parameter, named by its JSON pointer. Returns the error.
#[track_caller]
pub(crate) fn assert_invalid(answer: Answer, pointer: &str) -> Value {
    let refused = answer.refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    refused
}

/// Sends a POST with an invalid parameter. Returns the error.
#[track_caller]
fn post_invalid(service: &Service, path: &str, body: &Value, pointer: &str) -> Value {
    assert_invalid(send(service, path, body), pointer)
}

/// Checks some members of an object. Null stands for a missing member.
#[track_caller]
pub(crate) fn assert_members(object: &Value, expected: &Value) {
    let names = expected.as_object().expect("an object").keys();
    let found: Value = names.map(|name| (name.clone(), object[name].clone())).collect();
    assert_eq!(found, *expected, "{object:#}");
}

#[track_caller]
pub(crate) fn permit(service: &Service, timeline: &str, lists: &Value) {
    service.post("/v1/set-access-control", &json!({ "timeline_id": timeline, "permissions": lists }));
}

/// Reads a list page by page: `read` gets the cursor as a parameter. Returns the items of each page.
pub(crate) fn pages(list: &str, read: impl Fn(&[(&str, &str)]) -> Value) -> Vec<Vec<Value>> {
    let (mut pages, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let parameters: Vec<(&str, &str)> = cursor.iter().map(|cursor| ("cursor", cursor.as_str())).collect();
        let page = read(&parameters);
        pages.push(page[list].as_array().expect("a list").clone());
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        assert_eq!(page["has_more"], cursor.is_some(), "{page}");
        if cursor.is_none() {
            return pages;
        }
    }
}

pub(crate) fn texts<'a>(items: &'a [Value], name: &str) -> Vec<&'a str> {
    items.iter().map(|item| item[name].as_str().unwrap_or_else(|| panic!("no {name} in {item}"))).collect()
}

/// Returns the files in the data folder that contain a text, and the log if it does.
fn files_with(service: &Service, text: &[u8]) -> Vec<String> {
    let contains = |bytes: &[u8]| memchr::memmem::find(bytes, text).is_some();
    let (mut found, mut folders) = (Vec::new(), vec![service.data()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if contains(&std::fs::read(&path).unwrap()) {
                found.push(path.display().to_string());
            }
        }
    }
    found.extend(contains(service.log_text().as_bytes()).then(|| "the log".to_owned()));
    found
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

//! Responses assembled from stored JSON have the members that the OpenAPI document requires.

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::Service;

const TIME: &str = "1969-07-16T13:00:00Z";

/// Returns the places in a value that lack a required member.
fn lacking(schema: &Value, value: &Value, document: &Value, place: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = document.pointer(&reference[1..]).expect("the schema is in the document");
        return lacking(schema, value, document, place);
    }
    let mut found = Vec::new();
    let parts = schema["allOf"].as_array().into_iter().flatten();
    parts.for_each(|part| found.extend(lacking(part, value, document, place)));
    if let Some(variants) = schema["oneOf"].as_array() {
        if value.is_null() && variants.iter().any(|variant| variant["type"] == "null") {
            return found;
        }
        let kinds = variants.iter().filter(|variant| variant["type"] != "null");
        let of_each = kinds.map(|variant| lacking(variant, value, document, place));
        found.extend(of_each.min_by_key(Vec::len).unwrap_or_default());
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    found.extend(required.filter(|name| value.get(name).is_none()).map(|name| format!("{place}/{name}")));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            found.extend(lacking(property, value, document, &format!("{place}/{name}")));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(lacking(&schema["items"], item, document, &format!("{place}/{index}")));
    }
    found
}

/// Checks a response against the OpenAPI document.
#[track_caller]
fn check(service: &Service, path: &str, request: Request) {
    let document = service.send(Request::get("/openapi.json").anonymous()).expect(200);
    let method = request.method.to_lowercase();
    let answer = service.send(request);
    let operation = &document["paths"][path][method.as_str()];
    let schema = &operation["responses"][answer.status.to_string()]["content"]["application/json"]["schema"];
    assert!(schema["$ref"].is_string(), "{path}: {answer}");
    assert_eq!(lacking(schema, &answer.json(), &document, path), Vec::<String>::new());
}

#[test]
fn event_responses_match_the_openapi_document() {
    let service = Service::start();
    let event = |name: &str| json!({ "event_id": "launch", "time": TIME, "name": name });
    let change = |action: &str, dry_run: bool| json!({ "event_id": "launch", "action": action, "time": TIME, "dry_run": dry_run, "timeline_id": "fork" });
    let post = |path: &str, body: &Value| check(&service, path, Request::post(path).json(body));
    post("/v1/events", &event("Launch"));
    post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    post("/v1/correct-event", &json!({ "event": event("Lift-off") }));
    post("/v1/manipulate-event", &change("delay by 2h", true));
    post("/v1/manipulate-event", &change("delay by 2h", false));
    post("/v1/manipulate-event", &change("cancel", false));
    post("/v1/manipulate-event", &change("restore", false));
    post("/v1/scan-events", &json!({ "location": "*", "time_range": "../.." }));
    let get = |path: &str, query: &str| check(&service, path, Request::get(&format!("{path}?{query}")));
    for timeline in ["main", "fork"] {
        let target = format!("/v1/events/launch?timeline_id={timeline}");
        check(&service, "/v1/events/{event_id}", Request::get(&target));
        get("/v1/monitor-events", &format!("location=*&time_range=../..&timeline_id={timeline}"));
        get("/v1/check-timeline", &format!("significant_event=launch&timeline_id={timeline}"));
    }
    get("/timelines/diff", "base=main&compare=fork");
    service.audit();
}

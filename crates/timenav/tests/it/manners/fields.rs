//! Every field of every operation: missing, misspelled, duplicate, and of a wrong type.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::operations::{self, Operation, Takes};
use crate::support::http::{Request, target};
use crate::support::service::Service;

fn with_fields(service: &Service, check: impl Fn(&Operation, &Map<String, Value>, &[String])) {
    for operation in operations::all(service) {
        if let Takes::Parameters { properties, required } = &operation.takes {
            check(&operation, properties, required);
        }
    }
}

/// Returns the only field of an error.
fn pointer(answer: &Value) -> &str {
    let [error] = answer["errors"].as_array().expect("errors").as_slice() else { panic!("{answer}") };
    assert_eq!(error["code"], answer["code"]);
    assert_eq!(error["detail"], answer["detail"]);
    error["pointer"].as_str().expect("a pointer")
}

#[test]
fn missing_required_fields_are_named() {
    let service = Service::start();
    with_fields(&service, |operation, _, required| {
        for name in required {
            let mut parameters = operation.parameters();
            parameters.as_object_mut().unwrap().remove(name).expect("what is required is given");
            let refused = service.send(operation.request().json(&parameters)).refused(400, "missing_parameter");
            assert_eq!(pointer(&refused), format!("#/{name}"), "{operation:?}");
            assert_eq!(refused["detail"], format!("`{name}` is required"), "{operation:?}");
        }
        if !required.is_empty() {
            service.send(operation.request()).refused(400, "missing_parameter");
        }
    });
    service.audit();
}

#[test]
fn unknown_fields_are_named_with_the_nearest_known_one() {
    let service = Service::start();
    with_fields(&service, |operation, properties, _| {
        for name in properties.keys() {
            // One extra letter, as a typo.
            let misspelt = format!("{name}e");
            let mut parameters = operation.parameters();
            parameters[&misspelt] = json!("x");
            let refused = service.send(operation.request().json(&parameters)).refused(400, "unknown_parameter");
            assert_eq!(pointer(&refused), format!("#/{misspelt}"), "{operation:?}");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains(&format!("`{misspelt}`")), "{operation:?}: {detail}");
            assert!(detail.contains(&format!("did you mean `{name}`?")), "{operation:?}: {detail}");
        }
        let mut parameters = operation.parameters();
        parameters["zzzzzz"] = json!(1);
        let refused = service.send(operation.request().json(&parameters)).refused(400, "unknown_parameter");
        let detail = refused["detail"].as_str().unwrap();
        let known = properties.keys().filter(|name| detail.contains(name.as_str())).count();
        assert_eq!(known, properties.len(), "all are named where none is near: {operation:?}: {detail}");
        let answer = service.send(
            Request::new(&operation.method, &target(&operation.path, &[("zzzzzz", "1")])).json(&operation.parameters()),
        );
        answer.refused(400, "unknown_parameter");
    });
    service.audit();
}

#[test]
fn values_of_wrong_type_are_rejected() {
    let service = Service::start();
    with_fields(&service, |operation, properties, _| {
        for (name, schema) in properties {
            for wrong in wrong_values(name, schema) {
                let mut parameters = operation.parameters();
                parameters[name] = wrong.clone();
                let answer = service.send(operation.request().json(&parameters));
                let context = format!("{operation:?} {name} {wrong}: {answer}");
                assert_eq!(answer.status, 400, "{context}");
                let refused = answer.json();
                assert_eq!(refused["code"], "invalid_parameter", "{context}");
                // If a word is expected, the error lists the valid ones.
                assert_ne!(refused["detail"], "expected value", "{context}");
                let at = pointer(&refused);
                assert!(at == format!("#/{name}") || at.starts_with(&format!("#/{name}/")), "{context}");
            }
        }
    });
    service.audit();
}

/// Returns invalid values for a field of this schema.
fn wrong_values(name: &str, schema: &Value) -> Vec<Value> {
    // A timer payload is arbitrary JSON.
    if name == "payload" {
        return Vec::new();
    }
    let types: BTreeSet<&str> = match &schema["type"] {
        Value::String(one) => BTreeSet::from([one.as_str()]),
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    };
    let mut wrong = vec![json!([{}])];
    if !types.contains("object") && schema.get("$ref").is_none() && schema.get("oneOf").is_none() {
        wrong.push(json!({}));
    }
    if !types.contains("number") && !types.contains("integer") {
        wrong.push(json!(7));
    }
    if !types.contains("boolean") {
        wrong.push(json!(true));
    }
    // Texts that are not a number, boolean, time, location or name. Free text fields accept them. The action of an
    // intervention is free text, that of an access log filter is not.
    let is_deed = name == "action" && schema["maxLength"] == 1_024;
    let is_password = name.ends_with("password");
    if !is_deed
        && !is_password
        && !["description", "label", "location", "encryption_key", "significant_event", "reason", "order_key", "values"]
            .contains(&name)
    {
        // Search terms may be any nonempty text.
        if !["text", "actor", "source"].contains(&name) {
            wrong.push(json!("no such value!"));
        }
        wrong.push(json!(""));
    }
    if is_deed || is_password || name == "encryption_key" {
        wrong.push(json!(""));
    }
    // Too long for every text.
    wrong.push(json!("x".repeat(20_000)));
    wrong
}

#[test]
fn duplicate_fields_are_rejected_as_conflicts() {
    let service = Service::start();
    // Also in objects that are stored unparsed.
    let event = r#"{"event_id":"e","time":"2000-01-01T00:00:00Z","attributes":{"a":[{"b":1,"c":2,"b":3}]}}"#;
    let deed = r#"{"event_id":"e","action":"x","time":"2000-01-01T00:00:00Z","effect":{"kind":"describe","description":"a","description":"b"}}"#;
    for (path, body, at) in [
        ("/v1/events", event.to_owned(), "attributes/a/0/b"),
        ("/v1/events", format!("[{event}]"), "0/attributes/a/0/b"),
        ("/v1/correct-event", format!("{{\"event\":{event}}}"), "event/attributes/a/0/b"),
        ("/v1/encrypt-data", r#"{"data":{"x":{},"x":1},"encryption_key":"k"}"#.to_owned(), "data/x"),
        ("/v1/manipulate-event", deed.to_owned(), "effect/description"),
        ("/v1/fast-forward?timeline_id=main", r#"{"duration":"1h","duration":"1h"}"#.to_owned(), "duration"),
    ] {
        let refused = service.send(Request::post(path).body("application/json", body.as_bytes()));
        assert_eq!(pointer(&refused.refused(400, "conflicting_parameters")), format!("#/{at}"), "{path}");
    }
    let imported = service.send(Request::post("/v1/import-events").body("application/x-ndjson", event.as_bytes()));
    let imported = imported.expect(200);
    assert_eq!((&imported["imported"], &imported["rejected"]), (&json!(0), &json!(1)), "{imported}");
    let other = Request::post("/v1/import-events?format=csv").body("text/csv; charset=utf-16", b"time\n2000-01-01\n");
    service.send(other).refused(415, "unsupported_media_type");
    let in_query = service.send(Request::get("/v1/clock?timeline_id=main&timeline_id=other"));
    in_query.refused(400, "conflicting_parameters");
    service.get("/v1/clock", &[("timeline_id", "main"), ("timeline_id", "main")]);
    service.audit();
}

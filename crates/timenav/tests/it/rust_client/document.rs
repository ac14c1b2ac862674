//! Every operation of the OpenAPI document has a call in the client for Rust, with all that it takes.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use timenav_client::header::{ACCEPT, CONTENT_TYPE};
use timenav_client::schemas::{CronRequest, DeliverRequest, DeliverTo, EveryRequest, MisfireWord};
use timenav_client::{Client, Error, Request, Timer};

use super::every_call::{EVERY, Every};
use super::{START, at, runtime};
use crate::service::Service;

/// What would tell that a call was built wrongly, and not that what it asks for is not there.
const MISBUILT: [&str; 5] =
    ["unknown_parameter", "missing_parameter", "malformed_json", "unsupported_media_type", "method_not_allowed"];
/// What `Client::inside` says, and no call.
const OF_THE_CLIENT: &str = "Timenav-Firing";

/// An operation, as the document has it.
struct Told {
    path: String,
    method: String,
    operation: Value,
}

fn document() -> Value {
    let text = include_str!("../../../../../docs/api/openapi.json");
    serde_json::from_str(text).unwrap()
}

fn told(document: &Value) -> Vec<Told> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| item.as_object().unwrap().iter().map(move |one| (path, one)));
    all.map(|(path, (method, operation))| Told {
        path: path.clone(),
        method: method.to_ascii_uppercase(),
        operation: operation.clone(),
    })
    .collect()
}

impl Told {
    fn name(&self) -> &str {
        self.operation["operationId"].as_str().unwrap()
    }

    fn call(&self) -> &'static Every {
        EVERY.iter().find(|call| call.name == self.name()).unwrap_or_else(|| panic!("there is no {}", self.name()))
    }

    /// Returns the names of the parameters of one place.
    fn parameters(&self, place: &str) -> BTreeSet<String> {
        let parameters = self.operation["parameters"].as_array().into_iter().flatten();
        parameters.filter(|one| one["in"] == place).map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    }

    fn contents(&self) -> Vec<(&String, &Value)> {
        self.operation["requestBody"]["content"].as_object().into_iter().flatten().collect()
    }
}

/// Returns the names of the members that an object can have.
fn members(document: &Value, schema: &Value) -> BTreeSet<String> {
    let schema = match schema["$ref"].as_str() {
        Some(name) => &document["components"]["schemas"][name.rsplit('/').next().unwrap()],
        None => schema,
    };
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
    // Of several alternatives the first one is sent.
    let first = schema["oneOf"].get(0).map(|first| members(document, first)).unwrap_or_default();
    own.chain(first).collect()
}

fn some_client() -> Client {
    Client::builder().key("tnk_none").build().unwrap()
}

/// Checks that a path is one of those that the template stands for.
fn check_path(template: &str, path: &[String]) {
    let mut segments = path.iter();
    for wanted in template.trim_start_matches('/').split('/') {
        let segment = segments.next().unwrap_or_else(|| panic!("{template}: {path:?}"));
        match wanted {
            // It is the only value that has slashes, and the last one.
            "{tile}" => assert!(segments.by_ref().count() > 0, "{path:?}"),
            wanted if wanted.starts_with('{') => assert!(!segment.is_empty()),
            wanted => assert_eq!(segment, wanted, "{template}"),
        }
    }
    assert_eq!(segments.next(), None, "{template}");
}

#[test]
fn every_operation_has_a_call_and_every_call_an_operation() {
    let document = document();
    let operations: BTreeSet<String> = told(&document).iter().map(|told| told.name().to_owned()).collect();
    let calls: BTreeSet<String> = EVERY.iter().map(|call| call.name.to_owned()).collect();
    assert_eq!((operations.len(), &operations), (EVERY.len(), &calls));
}

#[test]
fn every_call_takes_what_its_operation_takes() {
    let document = document();
    for told in told(&document) {
        let name = told.name();
        let request = (told.call().whole)(&some_client()).unwrap();
        assert_eq!(request.method().as_str(), told.method, "{name}");
        check_path(&told.path, request.path());
        let query: BTreeSet<String> =
            request.parameters().iter().map(|(name, _)| name.split('.').next().unwrap().to_owned()).collect();
        assert_eq!(query, told.parameters("query"), "{name}");
        let own = [ACCEPT, CONTENT_TYPE];
        let head: BTreeSet<String> =
            request.head().keys().filter(|field| !own.contains(field)).map(ToString::to_string).collect();
        let wanted = told.parameters("header").into_iter().filter(|field| field != OF_THE_CLIENT);
        assert_eq!(head, wanted.map(|field| field.to_ascii_lowercase()).collect(), "{name}");
        check_body(&document, &told, &request);
    }
}

fn check_body(document: &Value, told: &Told, request: &Request) {
    let (name, contents) = (told.name(), told.contents());
    let kind = request.head().get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap());
    let Some((kind_wanted, content)) = contents.first() else { return assert_eq!(kind, None, "{name}") };
    if content["schema"]["format"] == "binary" {
        return assert_eq!((request.content(), kind), (None, Some(kind_wanted.as_str())), "{name}");
    }
    assert_eq!(kind, Some(kind_wanted.as_str()), "{name}");
    let body: Value = serde_json::from_slice(request.content().unwrap()).unwrap();
    let sent: BTreeSet<String> = body.as_object().unwrap().keys().cloned().collect();
    let wanted = members(document, &content["schema"]);
    match name {
        // What the call is given is a type of its own, which has tests of its own.
        "set_timer" => assert!(sent.is_subset(&wanted) && sent.contains("timeline_id"), "{sent:?}"),
        "record_events" => assert!(sent.is_subset(&wanted) && sent.contains("time"), "{sent:?}"),
        _ => assert_eq!(sent, wanted, "{name}"),
    }
}

#[test]
fn a_timer_can_be_all_that_the_document_says() {
    let document = document();
    let client = some_client();
    let queue = DeliverRequest::new(DeliverTo::Queue).queue("billing");
    let rule = EveryRequest::new("FREQ=DAILY").starts(at(START)).zone("Europe/Paris");
    let timers = [
        Timer::at(at(START)).id("t").payload(json!({ "a": 1 })).order_key("k").queue("q"),
        Timer::every(&rule).misfire(&MisfireWord::Once).catch_up().deliver(&queue),
        Timer::cron("0 9 * * *", "UTC"),
    ];
    let mut sent = BTreeSet::from(["timeline_id".to_owned()]);
    for timer in &timers {
        let request = client.set_timer(timer).request().unwrap();
        let body: Value = serde_json::from_slice(request.content().unwrap()).unwrap();
        sent.extend(body.as_object().unwrap().keys().cloned());
        if let Some(every) = body.get("every") {
            let expected = json!({ "rule": "FREQ=DAILY", "starts": START, "zone": "Europe/Paris" });
            assert_eq!(
                (every, &body["misfire"], &body["deliver"]["queue"]),
                (&expected, &json!("once"), &json!("billing"))
            );
        }
    }
    assert_eq!(sent, members(&document, &json!({ "$ref": "#/components/schemas/SetTimerRequest" })));
    let changed = client.change_timer("t").order_key(None).cron(CronRequest::new("0 9 * * *")).request().unwrap();
    let body: Value = serde_json::from_slice(changed.content().unwrap()).unwrap();
    assert_eq!(body, json!({ "order_key": null, "cron": { "expression": "0 9 * * *" } }));
}

/// Returns an example in which each text that stands for any text is a moment, since it may stand for one.
fn with_moments(example: &Value) -> Value {
    match example {
        Value::String(text) if text == "text" => START.into(),
        Value::Array(items) => items.iter().map(with_moments).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), with_moments(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn every_answer_of_the_document_is_read() {
    let document = document();
    let mut read = 0;
    for told in told(&document) {
        let answers = told.operation["responses"].as_object().unwrap().iter();
        for (_, answer) in answers.filter(|(status, _)| status.starts_with('2')) {
            let content = &answer["content"]["application/json"];
            let named = content["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]);
            for example in content.get("example").into_iter().chain(named) {
                let reads = told.call().reads.unwrap();
                let example = with_moments(example);
                let mut newer = example.clone();
                // What a newer service adds is passed over.
                newer["something_new"] = json!({ "a": [1] });
                for answer in [example.clone(), newer] {
                    reads(answer).unwrap_or_else(|error| panic!("{}: {error} in {example}", told.name()));
                }
                read += 1;
            }
        }
    }
    assert!(read > 70, "{read}");
}

#[test]
fn every_call_is_understood_by_a_service() {
    let service = Service::start();
    let client = Client::builder().url(service.url()).key(&service.admin).build().unwrap();
    runtime().block_on(async {
        for call in &EVERY {
            match (call.sent)(&client).await {
                Ok(()) => {}
                Err(Error::Problem(problem)) => {
                    let codes = problem.errors.iter().map(|error| &error.code).chain([&problem.code]);
                    let misbuilt: Vec<&String> = codes.filter(|code| MISBUILT.contains(&code.as_str())).collect();
                    assert!(misbuilt.is_empty(), "{}: {problem}", call.name);
                    assert!(![405, 406, 415, 500].contains(&problem.http_status), "{}: {problem}", call.name);
                }
                Err(error) => panic!("{}: {error}", call.name),
            }
        }
    });
    service.audit();
}

//! Unauthenticated endpoints: health, readiness, metrics, OpenAPI.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn service_pages_match_their_snapshots() {
    let service = Service::start();
    let ask = |path: &str| service.send(Request::get(path).anonymous());
    snapshot::check("welcome", &ask("/"));
    snapshot::check("healthz", &ask("/healthz"));
    snapshot::check("readyz", &ask("/readyz"));
    snapshot::check("limits", &service.send(Request::get("/v1/limits")));
    snapshot::check("no-route", &ask("/nowhere"));
    service.audit();
}

#[test]
fn served_openapi_document_matches_committed_file() {
    let service = Service::start();
    let answer = service.send(Request::get("/openapi.json").anonymous());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.text(), document("docs/api/openapi.json"));
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut references = BTreeSet::new();
    collect_references(&document, &mut references);
    for reference in &references {
        let pointer = reference.strip_prefix('#').expect("a reference into the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let documented: Vec<&String> =
        schemas.keys().filter(|name| !references.contains(&format!("#/components/schemas/{name}"))).collect();
    println!("schemas that nothing refers to: {documented:?}");
    service.audit();
}

/// The differences between the two documents: QUERY, and stream messages.
#[test]
fn openapi_3_2_document_adds_only_query_and_streams() {
    let service = Service::start();
    let answer = service.send(Request::get("/openapi-3.2.json").anonymous());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let mut newer = answer.json();
    let mut older = service.send(Request::get("/openapi.json").anonymous()).json();
    assert_eq!(newer["openapi"], "3.2.0");
    newer["openapi"] = older["openapi"].clone();
    for document in [&mut newer, &mut older] {
        for path in ["~1v1~1clock~1stream", "~1v1~1firings~1stream", "~1v1~1stream"] {
            let content = document.pointer_mut(&format!("/paths/{path}/get/responses/200/content/text~1event-stream"));
            *content.expect("the stream is described") = json!("a stream");
        }
    }
    // Schemas referenced only by these messages.
    let known = older["components"]["schemas"].as_object().unwrap().clone();
    newer["components"]["schemas"].as_object_mut().unwrap().retain(|name, _| known.contains_key(name));
    let mut lookups = 0;
    for methods in newer["paths"].as_object_mut().unwrap().values_mut() {
        let methods = methods.as_object_mut().unwrap();
        let by_query = methods.remove("query");
        assert_eq!(by_query.is_some(), methods.contains_key("get"));
        if let Some(by_query) = by_query {
            let get = &methods["get"];
            let id = get["operationId"].as_str().unwrap();
            assert_eq!(by_query["operationId"], format!("{id}_by_query"));
            assert_eq!(by_query["requestBody"]["required"], true, "{id}");
            lookups += 1;
        }
    }
    assert!(lookups > 10, "{lookups}");
    assert_eq!(newer, older);
    service.audit();
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                found.insert(reference.to_owned());
            }
            fields.values().for_each(|field| collect_references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

#[test]
fn limits_are_numbers_with_a_unit_suffix() {
    let service = Service::start();
    let answer = service.get("/v1/limits", &[]);
    let limits = answer["limits"].as_object().unwrap();
    assert!(limits.len() > 20, "{limits:?}");
    for (name, value) in limits {
        assert!(value.is_number(), "{name}: {value}");
        let is_named = ["_max", "_min", "_default", "_days"].iter().any(|end| name.ends_with(end));
        assert!(is_named || name == "requests_per_minute", "{name}");
    }
    assert_eq!(answer["status"], format!("{} limits.", limits.len()));
    service.audit();
}

/// A sample of `OpenMetrics` text.
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// Parses `OpenMetrics` 1.0 text strictly: contiguous families with their type before their samples, counters that end
/// in `_total`, and an end marker.
fn samples(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("OpenMetrics ends with # EOF");
    let mut types: BTreeMap<String, String> = BTreeMap::new();
    let mut samples = Vec::new();
    let mut family = String::new();
    for line in body.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["#", "TYPE", name, kind] => {
                assert!(types.insert((*name).to_owned(), (*kind).to_owned()).is_none(), "{name} comes twice");
                (*name).clone_into(&mut family);
            }
            ["#", "HELP" | "UNIT", name, text] => assert!(!name.is_empty() && !text.is_empty(), "{line}"),
            _ => {
                let sample = sample(line);
                let suffix = sample.name.strip_prefix(family.as_str()).unwrap_or_else(|| panic!("{line} in {family}"));
                let allowed: &[&str] = match types[&family].as_str() {
                    "counter" => &["_total", "_created"],
                    "gauge" => &[""],
                    "info" => &["_info"],
                    "histogram" => &["_bucket", "_sum", "_count", "_created"],
                    kind => panic!("a family of type {kind}"),
                };
                assert!(allowed.contains(&suffix), "{line}");
                samples.push(sample);
            }
        }
    }
    samples
}

fn sample(line: &str) -> Sample {
    let (head, value) = line.rsplit_once(' ').expect("a sample has a value");
    let (name, labels) = match head.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}').expect("labels end")),
        None => (head, ""),
    };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').expect("a label has a value");
        (name.to_owned(), value.trim_matches('"').to_owned())
    };
    // No label value of this service contains a comma.
    let labels = labels.split(',').filter(|text| !text.is_empty()).map(pair).collect();
    Sample { name: name.to_owned(), labels, value: value.parse().unwrap_or_else(|_| panic!("{line}")) }
}

#[test]
fn metrics_parse_and_count_requests() {
    let service = Service::start();
    let read = || {
        let answer = service.send(Request::get("/metrics").anonymous());
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert_eq!(answer.header("content-type"), Some(kind));
        samples(&answer.text())
    };
    let count = |samples: &[Sample], name: &str, labels: &[(&str, &str)]| -> f64 {
        let fits = |sample: &&Sample| {
            sample.name == name
                && labels.iter().all(|(name, value)| sample.labels.get(*name).is_some_and(|given| given == value))
        };
        samples.iter().filter(fits).map(|sample| sample.value).sum()
    };
    let before = read();
    for _ in 0..3 {
        service.post("/v1/pause-time", &json!({ "timeline_id": "counted" }));
    }
    service.send(Request::post("/api/v1/rewind").json(&json!({}))).refused(400, "missing_parameter");
    service.send(Request::new("QUERY", "/v1/clock").json(&json!({}))).expect(200);
    service.send(Request::get("/timeline/no-such-secret-name")).refused(404, "not_found");
    service.send(Request::get("/no-such-path")).refused(404, "not_found");
    let after = read();
    let grown = |name: &str, labels: &[(&str, &str)]| {
        #[expect(clippy::cast_possible_truncation, reason = "counts are small whole numbers")]
        let grown = (count(&after, name, labels) - count(&before, name, labels)).round() as i64;
        grown
    };
    let requests = "timenav_http_requests_total";
    assert_eq!(grown(requests, &[("method", "POST"), ("route", "/v1/pause-time"), ("status", "200")]), 3);
    assert_eq!(grown(requests, &[("route", "/api/v1/rewind"), ("status", "400")]), 1);
    assert_eq!(grown(requests, &[("method", "QUERY"), ("route", "/v1/clock")]), 1);
    assert_eq!(grown(requests, &[("route", "/timeline/{timeline_id}"), ("status", "404")]), 1);
    assert_eq!(grown("timenav_http_request_duration_seconds_count", &[("route", "/v1/pause-time")]), 3);
    assert_eq!(grown("timenav_timelines", &[]), 1);
    let (entries, commits) = (grown("timenav_ledger_entries_total", &[]), grown("timenav_commits_total", &[]));
    // The timeline on `system` and on its own ledger, and three pauses.
    assert_eq!((entries, commits), (5, 3));
    for sample in &after {
        let context = format!("{} {:?}", sample.name, sample.labels);
        assert!(!context.contains("no-such"), "what a client makes up is no label: {context}");
    }
    service.audit();
}

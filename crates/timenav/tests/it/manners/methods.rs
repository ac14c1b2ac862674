//! Which methods a path takes, and what it says to others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::operations;
use crate::http::Request;
use crate::service::Service;

/// Returns the methods of every path, as a client should be told.
fn allowed(service: &Service) -> BTreeMap<String, BTreeSet<String>> {
    let mut paths: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for operation in operations::all(service) {
        let methods = paths.entry(operation.path.clone()).or_default();
        methods.insert("OPTIONS".to_owned());
        if operation.looks() {
            methods.extend(["HEAD", "QUERY"].map(str::to_owned));
        }
        methods.insert(operation.method);
    }
    paths
}

fn listed(allow: Option<&str>) -> BTreeSet<String> {
    let methods: Vec<String> = allow.expect("Allow is set").split(',').map(|one| one.trim().to_owned()).collect();
    let set: BTreeSet<String> = methods.iter().cloned().collect();
    assert_eq!(set.len(), methods.len(), "{methods:?}");
    set
}

#[test]
fn other_methods_are_refused_with_all_that_there_are() {
    let service = Service::start();
    for (path, expected) in allowed(&service) {
        let strangers = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "QUERY", "TRACE", "CONNECT", "BREW"];
        for method in strangers.into_iter().filter(|method| !expected.contains(*method)) {
            let answer = service.send(Request::new(method, &path));
            assert_eq!(answer.status, 405, "{method} {path}: {answer}");
            assert_eq!(listed(answer.header("allow")), expected, "{method} {path}: {answer}");
            if method != "HEAD" {
                answer.refused(405, "method_not_allowed");
            }
        }
    }
    service.audit();
}

#[test]
fn options_tells_the_methods() {
    let service = Service::start();
    for (path, expected) in allowed(&service) {
        let answer = service.send(Request::new("OPTIONS", &path));
        assert_eq!(answer.status, 204, "{path}: {answer}");
        assert_eq!(listed(answer.header("allow")), expected, "{path}");
        assert!(answer.header("access-control-allow-origin").is_none(), "no origin is trusted unless configured");
    }
    for path in ["/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/openapi-3.2.json"] {
        let answer = service.send(Request::new("OPTIONS", path));
        assert_eq!(answer.status, 204, "{path}: {answer}");
        assert!(listed(answer.header("allow")).contains("GET"), "{path}");
        let answer = service.send(Request::post(path));
        let allow = listed(answer.header("allow"));
        assert_eq!(answer.status, 405, "{path}: {answer}");
        assert!(allow.contains("GET") && allow.contains("HEAD"), "{path}: {allow:?}");
    }
    service.audit();
}

#[test]
fn head_is_get_without_the_body() {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    for operation in operations::all(&service).iter().filter(|operation| operation.looks()) {
        if operation.id.ends_with("stream") {
            continue;
        }
        let request = |method| Request::new(method, &operation.path).json(&operation.parameters());
        let (head, get) = (service.send(request("HEAD")), service.send(request("GET")));
        assert_eq!(head.status, get.status, "{operation:?}");
        assert!(head.body.is_empty());
        assert_eq!(head.header("content-type"), get.header("content-type"), "{operation:?}");
        let length: Option<usize> = head.header("content-length").map(|length| length.parse().unwrap());
        // A read is an entry, so what tells of a ledger's size may be a digit longer the next time.
        let near = length.is_none_or(|length| length.abs_diff(get.body.len()) < 200);
        assert!(near, "{operation:?}: {length:?} and {}", get.body.len());
    }
    service.audit();
}

#[test]
fn a_query_says_what_its_body_is() {
    let service = Service::start();
    service.post("/v1/events", &json!({ "event_id": "none", "time": "2001-01-01T00:00:00Z" }));
    service.post("/v1/timers", &json!({ "timer_id": "timer_none", "at": "9000-01-01T00:00:00Z" }));
    let mut seen = 0;
    for operation in operations::all(&service).iter().filter(|operation| operation.looks()) {
        // An advance has a name that the service makes.
        if operation.id.ends_with("stream") || operation.id == "receipt" {
            continue;
        }
        seen += 1;
        let query = || Request::new("QUERY", &operation.path);
        let body = operation.parameters().to_string();
        service.send(query().json(&operation.parameters())).expect_ok(operation);
        service.send(query().untyped(body.as_bytes())).refused(400, "invalid_parameter");
        service.send(query()).refused(400, "invalid_parameter");
        let answer = service.send(query().body("text/plain", body.as_bytes()));
        assert_eq!(answer.header("accept-query"), Some("\"application/json\""), "{operation:?}");
        answer.refused(415, "unsupported_media_type");
        service.send(query().body("application/json", b"{")).refused(400, "malformed_json");
    }
    assert!(seen > 20, "{seen}");
    service.audit();
}

impl crate::http::Answer {
    fn expect_ok(&self, operation: &operations::Operation) {
        assert_eq!(self.status, 200, "{operation:?}: {self}");
    }
}

//! All operations reject invalid requests in the same way, with advice.

use serde_json::json;

use super::operations::{self, Operation, Takes};
use crate::support::http::{Answer, Request};
use crate::support::service::Service;

const NO_CREDENTIALS: &str = "Bearer realm=\"timenav\"";

#[test]
fn operations_without_credentials_return_401() {
    let service = Service::start();
    // Anyone may read the session and log in.
    let is_closed = |operation: &operations::Operation| !["session", "log_in"].contains(&operation.id.as_str());
    for operation in operations::all(&service).into_iter().filter(is_closed) {
        let answer = service.send(operation.request().json(&operation.parameters()).anonymous());
        assert_eq!(answer.header("www-authenticate"), Some(NO_CREDENTIALS), "{operation:?}");
        answer.refused(401, "missing_credentials");
    }
    service.audit();
}

#[test]
fn malformed_json_bodies_are_rejected() {
    let service = Service::start();
    for operation in operations::all(&service) {
        let sent = |body: &str| service.send(operation.request().body("application/json", body.as_bytes()));
        match operation.takes {
            Takes::File | Takes::Nothing => continue,
            Takes::Parameters { .. } | Takes::Events => {}
        }
        for body in ["{\"a\":", "{} {}", "nonsense", "\n"] {
            sent(body).refused(400, "malformed_json");
        }
        assert_eq!(sent("\u{feff}{\"no_such\": 1}").json()["code"], sent("{\"no_such\": 1}").json()["code"]);
        let others = ["[]", "\"text\"", "null"];
        for body in others.into_iter().filter(|body| *body != "[]" || !matches!(operation.takes, Takes::Events)) {
            let answer = sent(body);
            assert_eq!(answer.status, 400, "{operation:?} {body} {answer}");
            let code = answer.json()["code"].clone();
            assert!(code == "invalid_parameter" || code == "malformed_json", "{operation:?} {body} {answer}");
        }
    }
    service.audit();
}

/// Errors are short, whatever was sent.
#[test]
fn errors_quote_long_values_only_in_part() {
    const ANSWER_BYTES_MAX: usize = 8_192;
    let service = Service::start();
    let long = "_é\"".repeat(10_000);
    for operation in operations::all(&service) {
        let Takes::Parameters { properties, .. } = &operation.takes else { continue };
        let mut unknown = operation.parameters();
        unknown[&long] = json!(1);
        let wrong = properties.keys().map(|name| {
            let mut wrong = operation.parameters();
            wrong[name] = json!(long);
            wrong
        });
        for body in wrong.chain([unknown]) {
            let answer = service.send(operation.request().json(&body));
            // A timer payload is arbitrary JSON and returned unchanged.
            let is_refused = answer.status >= 400;
            assert!(!is_refused || answer.body.len() <= ANSWER_BYTES_MAX, "{} bytes: {operation:?}", answer.body.len());
        }
    }
    service.audit();
}

#[test]
fn unsupported_content_types_are_rejected() {
    let service = Service::start();
    for operation in operations::all(&service) {
        if matches!(operation.takes, Takes::File | Takes::Nothing) {
            continue;
        }
        let body = operation.parameters().to_string();
        for wrong in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "json",
            "application/json;charset=utf-16",
        ] {
            let answer = service.send(operation.request().body(wrong, body.as_bytes()));
            answer.refused(415, "unsupported_media_type");
        }
        service.send(operation.request().untyped(body.as_bytes())).refused(415, "unsupported_media_type");
        for right in ["application/json; charset=utf-8", "application/json;Charset=\"UTF-8\"", "Application/JSON"] {
            let answer = service.send(operation.request().body(right, b"{\"no_such_thing\": 1}"));
            assert!(answer.status == 400, "{operation:?} {answer}");
        }
    }
    service.audit();
}

#[test]
fn request_body_size_is_limited() {
    let service = Service::start();
    let limits = service.get("/v1/limits", &[])["limits"].clone();
    let looking = usize::try_from(limits["lookup_body_bytes_max"].as_u64().unwrap()).unwrap();
    let changing = usize::try_from(limits["change_body_bytes_max"].as_u64().unwrap()).unwrap();
    for operation in operations::all(&service) {
        if matches!(operation.takes, Takes::File) {
            continue;
        }
        // Login is a change, but has the limit of lookups.
        let bytes_max = if operation.looks() || operation.id == "log_in" { looking } else { changing };
        // With a length, so it is rejected before it is sent.
        let request = service.signed(operation.request().header("Content-Type", "application/json"));
        let request = request.header("Content-Length", &(bytes_max + 1).to_string());
        let answer = service.connect().exchange(&request).unwrap();
        let refused = answer.refused(413, "content_too_large");
        assert_eq!(refused["detail"], format!("the body can have at most {bytes_max} bytes"), "{operation:?}");
    }
    // Without a length.
    let mut body = json!({ "duration": "1h" }).to_string().into_bytes();
    body.resize(changing + 1, b' ');
    let mut connection = service.connect();
    let request = service.signed(Request::post("/v1/fast-forward").header("Content-Type", "application/json"));
    // The service may stop reading as soon as the limit is exceeded.
    let _ = connection.send_chunked(&request, body.chunks(1 << 16));
    connection.answer(false).unwrap().refused(413, "content_too_large");
    // The maximum length.
    body.truncate(changing);
    service.send(Request::post("/v1/fast-forward").body("application/json", &body)).expect(200);
    body.truncate(looking);
    let body = [json!({}).to_string().as_bytes(), &vec![b' '; looking - 2]].concat();
    service.send(Request::get("/v1/clock").body("application/json", &body)).expect(200);
    service.audit();
}

#[test]
fn missing_resources_return_404() {
    let service = Service::start();
    let check = |request: Request| {
        let answer = service.send(request.clone());
        assert_eq!(answer.status, 404, "{request:?}: {answer}");
        answer.refused(404, "not_found");
    };
    // A queue exists as soon as it is named.
    let of_things = |operation: &&Operation| operation.template.contains('{') && operation.id != "claim_firings";
    for operation in operations::all(&service).iter().filter(of_things) {
        for name in ["no-such", "no%20name%21", "%FF", "%2e%2e", "a%2Fb"] {
            let parts = operation.template.split('/').map(|part| if part.starts_with('{') { name } else { part });
            let request = Request::new(&operation.method, &parts.collect::<Vec<_>>().join("/"));
            check(match operation.id.as_str() {
                "proof" => request.json(&json!({ "position": 0 })),
                "set_fault" => request.json(&json!({ "fault": null })),
                _ => request,
            });
        }
    }
    for operation in operations::all(&service).iter().filter(|operation| operation.looks()) {
        let Takes::Parameters { properties, .. } = &operation.takes else { continue };
        for name in ["timeline_id", "user_id"].into_iter().filter(|name| properties.contains_key(*name)) {
            let mut parameters = operation.parameters();
            parameters[name] = json!("no-such");
            if ["api_keys", "sessions"].contains(&operation.id.as_str())
                || (operation.id == "access_logs" && name == "user_id")
            {
                // For missing resources, a list may be empty or 404.
                assert!(matches!(service.send(operation.request().json(&parameters)).status, 200 | 404));
            } else {
                check(operation.request().json(&parameters));
            }
        }
    }
    check(Request::post("/v1/return-to-anchor").json(&json!({ "anchor_id": "anchor_none" })));
    check(Request::post("/v1/return-to-anchor").json(&json!({ "anchor_id": "anchor_none", "timeline_id": "no-such" })));
    check(Request::post("/v1/api-keys").json(&json!({ "user_id": "nobody" })));
    for path in
        ["/v2/clock", "/v1/", "/v1", "/v1/clock/", "/v1/Clock", "/api/clock", "/timeline", "/timeline/", "/nothing"]
    {
        check(Request::get(path));
    }
    assert!(!service.timelines().contains(&"no-such".to_owned()), "a look has made a timeline");
    service.audit();
}

#[test]
fn error_content_type_follows_the_accept_header() {
    let service = Service::start();
    let requests = [
        (Request::get("/nothing"), 404),
        (Request::new("PATCH", "/v1/clock"), 405),
        (Request::get("/v1/clock").anonymous(), 401),
        (Request::post("/v1/travel").json(&json!({ "destination_time": "soon" })), 400),
        (Request::post("/v1/travel").body("text/plain", b"x"), 415),
        (Request::post("/v1/fast-forward").json(&json!({ "duration": "P19000Y" })), 422),
        (Request::post("/v1/users").json(&json!({ "user_id": "admin" })), 409),
        (Request::get("/v1/clock").body("application/json", &vec![b' '; 70_000]), 413),
    ];
    for (request, status) in requests {
        let plain = service.send(request.clone());
        assert_eq!(plain.header("content-type"), Some("application/json"), "{plain}");
        let plain = plain.expect(status);
        for accept in [
            "application/problem+json",
            "Application/Problem+JSON",
            "application/json;q=0.5, application/problem+json; q=0.9",
        ] {
            let problem = service.send(request.clone().header("Accept", accept));
            check_problem(&problem, status);
            let problem = problem.json();
            assert_eq!(problem["title"], plain["status"]);
            for same in ["code", "detail", "errors"] {
                assert_eq!(problem[same], plain[same]);
            }
        }
        for accept in ["application/problem+json;q=0, application/json", "*/*", "application/problem+jsonp"] {
            let answer = service.send(request.clone().header("Accept", accept));
            assert_eq!(answer.header("content-type"), Some("application/json"), "{accept}: {answer}");
        }
    }
    service.audit();
}

fn check_problem(answer: &Answer, status: u16) {
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{answer}");
    assert_eq!(answer.status, status, "{answer}");
    let problem = answer.json();
    assert_eq!(problem["status"], status, "{answer}");
    assert_eq!(problem["type"], format!("urn:timenav:problem:{}", problem["code"].as_str().unwrap()));
    assert_eq!(problem["request_id"].as_str(), answer.header("x-request-id"));
}

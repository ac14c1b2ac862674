//! `POST /v1/erase-events` and `POST /v1/erase-reads`.

use serde_json::json;

use crate::support::http::Request;
use crate::support::service::{Service, run};
use crate::v1::{assert_members, files_with, post_invalid, send, texts};

const PERSON: &str = "Kenneth Arrowsmith-Vane";

fn event(service: &Service, event_id: &str, year: u32) {
    let time = format!("{year}-08-29T11:10:00Z");
    let body = json!({ "event_id": event_id, "time": time, "description": PERSON, "location": PERSON });
    service.post("/v1/events", &body);
}

/// Verifies the ledger of `main` with its contents. Returns the output.
fn verify(service: &Service) -> String {
    let key = crate::ledger::verifier_key("timenav.local/main", &service.public_key);
    let url = service.url();
    let verify = ["verify", "--url", &url, "--contents", "--timeline", "main", "--verifier-key", &key];
    let (code, stdout, stderr) = run(&mut crate::cli::command(service, &verify), "");
    assert_eq!(code, Some(0), "{stdout} {stderr}");
    stdout
}

#[test]
fn dry_run_selects_events_that_are_then_erased() {
    let mut service = Service::start();
    for (event_id, year) in [("a", 1999), ("b", 2000), ("c", 2001)] {
        event(&service, event_id, year);
    }
    let corrected = json!({ "event_id": "a", "time": "1999-01-01T00:00:00Z", "name": PERSON });
    let correcting = json!({ "event": corrected, "timeline_id": "main" });
    let correct = Request::post("/v1/correct-event").json(&correcting).idempotent("correct");
    service.send(correct.clone()).expect(200);
    let mut body = json!({ "location": "*", "time_range": "../2000-12-31T00:00:00Z", "dry_run": true });
    let foreseen = service.post("/v1/erase-events", &body);
    assert_members(&foreseen, &json!({ "events_count": 2, "event_ids": ["a", "b"], "dry_run": true, "forks": [] }));
    body["dry_run"] = json!(false);
    send(&service, "/v1/erase-events", &body).refused(400, "invalid_parameter");
    body["as_of_size"] = foreseen["as_of_size"].clone();
    event(&service, "d", 1998);
    send(&service, "/v1/erase-events", &body).refused(409, "selection_changed");
    service.post("/v1/erase-events", &json!({ "event_ids": ["d"] }));
    let erased = service.post("/v1/erase-events", &body);
    assert_members(&erased, &json!({ "events_count": 2, "payloads_count": 3, "remaining": 0 }));
    // The position is returned again, the content is not.
    let repeated = service.send(correct).refused(410, "content_erased");
    assert!(!repeated.to_string().contains(PERSON), "{repeated}");
    assert_eq!(texts(&service.find_all("main", "*", "../..", "10"), "event_id"), ["c"]);
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    post_invalid(&service, "/v1/erase-events", &json!({ "event_ids": "c" }), "#/include_forks");
    service.post("/v1/erase-events", &json!({ "event_ids": "c", "include_forks": true }));
    assert_eq!(files_with(&service, PERSON.as_bytes()), [""; 0]);
    service.restart();
    verify(&service);
    service.audit();
}

#[test]
fn invalid_erasure_requests_name_the_field() {
    let service = Service::start();
    for (wrong, pointer) in [
        (json!({}), "#/event_ids"),
        (json!({ "event_ids": [] }), "#/event_ids"),
        (json!({ "event_ids": ["a"], "older_than": "P1D" }), "#/event_ids"),
        (json!({ "event_ids": ["a", "b c"] }), "#/event_ids/1"),
        (json!({ "event_ids": ["a"], "as_of_size": 1 }), "#/as_of_size"),
        (json!({ "older_than": "P1M", "dry_run": true }), "#/older_than"),
        (json!({ "older_than": "P1D" }), "#/as_of_size"),
        (json!({ "event_ids": ["a"], "timeline_id": "system" }), "#/timeline_id"),
    ] {
        post_invalid(&service, "/v1/erase-events", &wrong, pointer);
    }
    send(&service, "/v1/erase-events", &json!({ "location": "*" })).refused(400, "missing_parameter");
    send(&service, "/v1/erase-events", &json!({ "event_ids": ["a"] })).refused(404, "not_found");
    for wrong in [
        json!({ "position": 0 }),
        json!({ "position": 0, "reads": [0], "user_id": "admin" }),
        json!({ "position": 0, "reads": [] }),
        json!({ "position": 0, "reads": [-1] }),
    ] {
        post_invalid(&service, "/v1/erase-reads", &wrong, "#/reads");
    }
    service.audit();
}

#[test]
fn erased_read_disappears_from_access_log() {
    let service = Service::start();
    for _ in 0..2 {
        service.get("/v1/clock", &[]);
    }
    let request = [("timeline_id", "main"), ("time_range", "../.."), ("action", "read")];
    let logs = || service.get("/v1/access-logs", &request)["logs"].as_array().unwrap().clone();
    let first = logs()[0].clone();
    // The timeline defaults to that of the key.
    let body = json!({ "position": first["position"], "reads": [first["index"]] });
    let erased = service.post("/v1/erase-reads", &body);
    assert_members(&erased, &json!({ "erased": 1, "remaining": 0, "timeline_id": "main" }));
    assert!(!logs().contains(&first));
    let log_page = service.get("/v1/access-logs", &request)["redacted"].clone();
    let expected = json!({ "reason": "erased", "entries": 1, "reads": 1, "first_position": first["position"],
        "last_position": first["position"], "from": log_page[0]["from"], "to": log_page[0]["from"] });
    assert_eq!(log_page, json!([expected]));
    send(&service, "/v1/erase-reads", &body).refused(404, "not_found");
    let second = logs()[0]["position"].to_string();
    let erase = ["erase-reads", &second, "--user", "admin"];
    let (code, stdout, stderr) = run(&mut crate::cli::command(&service, &erase), "");
    assert_eq!((code, stdout.as_str()), (Some(0), &*format!("1 read of entry {second} erased; 0 left.\n")), "{stderr}");
    let stdout = verify(&service);
    assert!(stdout.contains("Single reads that were erased: 2."), "{stdout}");
    service.audit();
}

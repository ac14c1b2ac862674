//! `POST /v1/erase-events` and `POST /v1/erase-reads`.

use serde_json::{Value, json};

use super::encrypt_data::{files, holds};
use crate::support::http::Request;
use crate::support::service::{Service, run};
use crate::v1::{PREFIXES, send};

const PERSON: &str = "Kenneth Arrowsmith-Vane";

fn event(service: &Service, event_id: &str, year: u32) {
    let time = format!("{year}-08-29T11:10:00Z");
    let body = json!({ "event_id": event_id, "time": time, "description": PERSON, "location": PERSON });
    service.post("/v1/events", &body);
}

#[test]
fn dry_run_selects_events_that_are_then_erased() {
    for prefix in PREFIXES {
        let mut service = Service::start();
        for (event_id, year) in [("a", 1999), ("b", 2000), ("c", 2001)] {
            event(&service, event_id, year);
        }
        let corrected = json!({ "event_id": "a", "time": "1999-01-01T00:00:00Z", "name": PERSON });
        let correcting = json!({ "event": corrected, "timeline_id": "main" });
        let correct = Request::post("/v1/correct-event").json(&correcting).idempotent("correct");
        service.send(correct.clone()).expect(200);
        let path = format!("{prefix}/erase-events");
        let mut body = json!({ "location": "*", "time_range": "../2000-12-31T00:00:00Z", "dry_run": true });
        let foreseen = service.post(&path, &body);
        assert_eq!((&foreseen["events_count"], &foreseen["event_ids"]), (&json!(2), &json!(["a", "b"])));
        assert_eq!((&foreseen["dry_run"], &foreseen["forks"]), (&json!(true), &json!([])));
        body["dry_run"] = json!(false);
        send(&service, &path, &body).refused(400, "invalid_parameter");
        body["as_of_size"] = foreseen["as_of_size"].clone();
        event(&service, "d", 1998);
        send(&service, &path, &body).refused(409, "selection_changed");
        service.post(&path, &json!({ "event_ids": ["d"] }));
        let erased = service.post(&path, &body);
        assert_eq!(
            (&erased["events_count"], &erased["payloads_count"], &erased["remaining"]),
            (&json!(2), &json!(3), &json!(0))
        );
        // The position is returned again, the content is not.
        let again = service.send(correct).refused(410, "content_erased");
        assert!(!again.to_string().contains(PERSON), "{again}");
        let ids: Vec<Value> =
            service.find_all("main", "*", "../..", "10").iter().map(|event| event["event_id"].clone()).collect();
        assert_eq!(ids, ["c"]);
        service.post(&path, &json!({ "event_ids": "c" }));
        for (name, bytes) in files(&service.data()) {
            assert!(!holds(&bytes, PERSON.as_bytes()), "{name}");
        }
        service.restart();
        let key = crate::ledger::verifier_key("timenav.local/main", &service.public_key);
        let url = service.url();
        let verify = ["verify", "--url", &url, "--contents", "--timeline", "main", "--verifier-key", &key];
        let (code, stdout, stderr) = run(&mut crate::cli::command(&service, &verify), "");
        assert_eq!(code, Some(0), "{stdout} {stderr}");
        service.audit();
    }
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
        let refused = send(&service, "/v1/erase-events", &wrong).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{wrong}");
    }
    send(&service, "/v1/erase-events", &json!({ "location": "*" })).refused(400, "missing_parameter");
    send(&service, "/v1/erase-events", &json!({ "event_ids": ["a"] })).refused(404, "not_found");
    for (wrong, pointer) in [
        (json!({ "position": 0 }), "#/reads"),
        (json!({ "position": 0, "reads": [0], "user_id": "admin" }), "#/reads"),
        (json!({ "position": 0, "reads": [] }), "#/reads"),
        (json!({ "position": 0, "reads": [-1] }), "#/reads"),
    ] {
        let mut body = wrong.clone();
        body["timeline_id"] = json!("main");
        let refused = send(&service, "/v1/erase-reads", &body).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{wrong}");
    }
    service.audit();
}

#[test]
fn erasure_with_forks_requires_include_forks() {
    let service = Service::start();
    event(&service, "a", 2000);
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    let mut body = json!({ "event_ids": ["a"] });
    let refused = send(&service, "/v1/erase-events", &body).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/include_forks");
    body["include_forks"] = json!(true);
    assert_eq!(service.post("/v1/erase-events", &body)["events_count"], 1);
    assert!(service.find_all("fork", "*", "../..", "10").is_empty());
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
    assert_eq!(
        (&erased["erased"], &erased["remaining"], &erased["timeline_id"]),
        (&json!(1), &json!(0), &json!("main"))
    );
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
    let key = crate::ledger::verifier_key("timenav.local/main", &service.public_key);
    let url = service.url();
    let verify = ["verify", "--url", &url, "--contents", "--timeline", "main", "--verifier-key", &key];
    let (code, stdout, stderr) = run(&mut crate::cli::command(&service, &verify), "");
    assert_eq!(code, Some(0), "{stdout} {stderr}");
    assert!(stdout.contains("Single reads that were erased: 2."), "{stdout}");
    service.audit();
}

//! `GET /v1/check-timeline` by an exact description.

use serde_json::json;

use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::assert_members;

#[test]
fn event_is_found_by_its_exact_description() {
    let service = Service::start();
    let full_description = "The \"Eagle\" lands \\ on the moon.\nAll is well: café.";
    for (event_id, time, description) in [
        ("later", "1970-01-01T00:00:00Z", full_description),
        ("first", "1969-07-20T20:17:40Z", full_description),
        ("other", "1969-07-20T00:00:00Z", "The \"Eagle\""),
    ] {
        let event = json!({ "event_id": event_id, "time": time, "description": description, "attributes": { "description": full_description } });
        service.post("/v1/events", &event);
    }
    let check = |significant_event: &str| {
        let body = json!({ "timeline_id": "main", "significant_event": significant_event });
        service.send(Request::get("/v1/check-timeline").json(&body)).expect(200)
    };
    let found = check(full_description);
    assert_members(&found, &json!({ "event_id": "first", "active": true }));
    // Not an event that has the text elsewhere or only in part.
    for other in ["The \"Eagle\" lands", "the \"eagle\"", "lands"] {
        assert!(check(other)["event_id"].is_null(), "{other}");
    }
    let cancel = |event_id: &str| {
        let cancel = json!({ "event_id": event_id, "action": "cancel", "time": "1969-07-20T00:00:00Z" });
        service.post("/v1/manipulate-event", &cancel);
    };
    // Active events come first, then canceled ones.
    cancel("first");
    assert_eq!(check(full_description)["event_id"], "later");
    cancel("later");
    let checked = check(full_description);
    assert_members(&checked, &json!({ "event_id": "first", "active": false }));
    assert!(checked["status"].as_str().unwrap().contains("canceled by `admin`"), "{checked}");
    // An earlier name does not match.
    let describe =
        json!({ "event_id": "other", "action": "describe as Nobody knows.", "time": "1969-07-20T00:00:00Z" });
    service.post("/v1/manipulate-event", &describe);
    assert!(check("The \"Eagle\"")["event_id"].is_null());
    assert_eq!(check("Nobody knows.")["event_id"], "other");
    // On a fork, inherited events are found in the state of the fork.
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    let body = json!({ "timeline_id": "fork", "significant_event": "Nobody knows." });
    assert_eq!(service.send(Request::get("/v1/check-timeline").json(&body)).expect(200)["event_id"], "other");
    let longest = "é".repeat(8_192);
    assert!(check(&longest)["event_id"].is_null());
    let body = json!({ "timeline_id": "main", "significant_event": longest + "x" });
    service.send(Request::get("/v1/check-timeline").json(&body)).refused(400, "invalid_parameter");
    service.audit();
}

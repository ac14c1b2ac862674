//! Additional information in responses: all faults, and hints about likely mistakes.

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::Service;

fn pointers(problem: &Value) -> Vec<&str> {
    problem["errors"].as_array().unwrap().iter().map(|error| error["pointer"].as_str().unwrap()).collect()
}

#[test]
fn errors_list_all_invalid_fields() {
    let service = Service::start();
    let send = |body: &Value| service.send(Request::post("/v1/manipulate-event").json(body));
    let missing = send(&json!({})).refused(400, "missing_parameter");
    assert_eq!(pointers(&missing), ["#/event_id", "#/action", "#/time"], "{missing}");
    let mixed = send(&json!({ "event_id": 5, "tme": "x", "dry_run": "perhaps" })).refused(400, "invalid_parameter");
    let mut found = pointers(&mixed);
    assert_eq!(found[0], "#/dry_run", "{mixed}");
    found.sort_unstable();
    assert_eq!(found, ["#/action", "#/dry_run", "#/event_id", "#/tme"]);
    // Query string and body are checked together.
    let query = service.send(Request::get("/v1/monitor-events?limit=0&location=*"));
    let query = query.refused(400, "invalid_parameter");
    assert_eq!(pointers(&query), ["#/limit", "#/time_range"]);
    // A single fault has the usual format.
    let one = send(&json!({ "event_id": "e", "action": "cancel" })).refused(400, "missing_parameter");
    assert_eq!((pointers(&one), &one["detail"]), (vec!["#/time"], &json!("`time` is required")));
    service.audit();
}

#[test]
fn unknown_users_are_reported_only_to_operators() {
    let service = Service::start();
    let ada = service.user("ada");
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "hers" })).key(&ada)).expect(201);
    let set = json!({ "timeline_id": "hers", "permissions": { "read": ["ada", "bbo"] } });
    let own = service.send(Request::post("/v1/set-access-control").json(&set).key(&ada)).expect(200);
    assert!(own.get("unknown_users").is_none(), "{own}");
    let response = service.post("/v1/set-access-control", &set);
    assert_eq!(response["unknown_users"], json!(["bbo"]), "{response}");
    let restrict = json!({ "user_id": "bbo", "restriction_level": "read_only" });
    let refused = service.send(Request::post("/v1/restrict-time-travel").json(&restrict)).refused(404, "not_found");
    for sentence in [&response["status"], &refused["detail"]] {
        let sentence = sentence.as_str().unwrap();
        assert!(sentence.contains("no user `bbo`") && sentence.contains("POST /v1/users creates one"), "{sentence}");
    }
    service.audit();
}

#[test]
fn travel_response_includes_the_resolved_place() {
    let service = Service::start();
    let travel = |location: &str| {
        let body = json!({ "destination_time": "2028-02-29T00:00:00Z", "location": location });
        service.post("/v1/travel", &body)
    };
    let certain = travel("New Orleans");
    assert_eq!(certain["location_resolved"]["place"], "New Orleans, Louisiana, United States", "{certain}");
    assert_eq!(certain["status"], "Traveled to 2028-02-29T00:00:00Z; the clock is running.");
    assert_eq!(travel("Springfield")["location_resolved"]["is_ambiguous"], true);
    let unknown = travel("New Orleens");
    assert_eq!(unknown["location_resolved"]["kind"], "text", "{unknown}");
    assert!(unknown["location_resolved"]["suggestions"].to_string().contains("New Orleans"), "{unknown}");
    for plain in ["America/Chicago", "29.95,-90.07"] {
        assert!(travel(plain).get("location_resolved").is_none(), "{plain}");
    }
    service.audit();
}

#[test]
fn local_time_with_zone_is_accepted_in_time_fields() {
    let service = Service::start();
    let local = "2028-02-29T09:00[Asia/Tokyo]";
    let travel = service.post("/v1/travel", &json!({ "destination_time": local }));
    assert_eq!(travel["origin_virtual"], "2028-02-29T00:00:00Z");
    let anchor = service.post("/v1/set-anchor", &json!({ "timestamp": local }));
    assert_eq!(anchor["timestamp"], "2028-02-29T00:00:00Z");
    service.post("/v1/events", &json!({ "event_id": "e", "time": local, "end_time": "2028-02-29T10:00[Asia/Tokyo]" }));
    let found = service.find_all("main", "*", "2028-02-29T09:00[Asia/Tokyo]/2028-02-29T09:00[Asia/Tokyo]", "10");
    assert_eq!((found.len(), &found[0]["time"]), (1, &json!("2028-02-29T00:00:00Z")));
    let twice = json!({ "destination_time": "2024-10-27T02:30[Europe/Paris]" });
    let refused = service.send(Request::post("/v1/travel").json(&twice)).refused(400, "invalid_parameter");
    assert!(refused["detail"].as_str().unwrap().contains("`+02:00` or `+01:00`"), "{refused}");
    service.audit();
}

//! `/v1/leases`: holds on an advance without a firing.

use serde_json::{Value, json};

use super::super::{send, standing};
use super::set;
use crate::http::Request;
use crate::waiting::until_so;

#[test]
fn advance_continues_once_its_hold_is_released() {
    let service = standing();
    set(&service, "on-the-way", "2000-01-01T00:10:00Z");
    let held = service.post("/v1/leases", &json!({ "reason": "somebody looks", "ttl": "10m" }));
    let lease_id = held["lease"]["lease_id"].as_str().unwrap().to_owned();
    assert_eq!((&held["lease"]["owner"], &held["lease"]["reason"]), (&json!("admin"), &json!("somebody looks")));
    // It may last slightly longer than its owner was told.
    let mut listed = service.get("/v1/leases", &[])["leases"].clone();
    listed[0]["until"] = held["lease"]["until"].clone();
    assert_eq!(listed, json!([held["lease"]]));

    // The clock stays, and the response has the reason.
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "1h", "wait": "0s" }));
    assert_eq!((&moved["settled"]["state"], &moved["settled"]["step"]), (&json!("running"), &json!(0)), "{moved}");
    let why = format!("the lease `{lease_id}` of admin: somebody looks");
    assert_eq!(moved["settled"]["held_by"], why);
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-01T00:00:00Z");

    // Only its owner can extend it.
    let longer = json!({ "reason": "still at it", "ttl": "9m", "lease_id": lease_id });
    assert_eq!(service.post("/v1/leases", &longer)["lease"]["lease_id"], lease_id);
    let writer = service.user("writer");
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": { "write": ["writer"] } }));
    let released = format!("/v1/leases/{lease_id}/release");
    let as_writer = |path: &str, body: &Value| service.send(Request::post(path).json(body).key(&writer));
    as_writer(&released, &json!({})).refused(404, "not_found");
    as_writer("/v1/leases", &longer).refused(404, "not_found");
    // Invalid leases are rejected by field.
    for (body, field) in [
        (json!({ "reason": " " }), "reason"),
        (json!({ "reason": "x".repeat(257) }), "reason"),
        (json!({ "reason": "a\u{0}b" }), "reason"),
        (json!({ "reason": "two\nlines" }), "reason"),
        (json!({ "reason": "x", "ttl": "601s" }), "ttl"),
    ] {
        let refused = send(&service, "/v1/leases", &body).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], format!("#/{field}"), "{refused}");
    }

    // After the release, the advance continues to its end.
    service.post(&released, &json!({}));
    let advance = moved["settled"]["advance_id"].as_str().unwrap();
    let receipt = || service.get(&format!("/v1/advances/{advance}"), &[("wait", "5s")])["settled"].clone();
    until_so("the advance has settled", || receipt()["state"] == "settled");
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-01T01:00:00Z");
    assert_eq!(service.get("/v1/leases", &[])["leases"], json!([]));
    send(&service, &released, &json!({})).refused(404, "not_found");
    service.audit();
}

/// A user who lost access cannot release a lease, so an admin can.
#[test]
fn admin_can_release_holds_of_others() {
    let service = standing();
    let writer = service.user("writer");
    let write = json!({ "timeline_id": "main", "permissions": { "write": ["writer"] } });
    service.post("/v1/set-access-control", &write);
    let hold = Request::post("/v1/leases").json(&json!({ "reason": "away", "ttl": "10m" })).key(&writer);
    let lease_id = service.send(hold).expect(200)["lease"]["lease_id"].as_str().unwrap().to_owned();
    let none = json!({ "timeline_id": "main", "permissions": { "write": [] } });
    service.post("/v1/set-access-control", &none);
    let released = format!("/v1/leases/{lease_id}/release");
    service.send(Request::post(&released).json(&json!({})).key(&writer)).refused(404, "not_found");
    assert_eq!(service.post(&released, &json!({}))["lease_id"], lease_id);
    assert_eq!(service.get("/v1/leases", &[])["leases"], json!([]));
    send(&service, &released, &json!({})).refused(404, "not_found");
    service.audit();
}

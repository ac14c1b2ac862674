//! `/v1/holds`: holds on an advance without a firing.

use serde_json::{Value, json};

use super::super::{assert_members, paused_service, permit, post_invalid, send};
use super::set;
use crate::support::http::Request;
use crate::support::waiting::until_so;

#[test]
fn advance_continues_once_its_hold_is_released() {
    let service = paused_service();
    set(&service, "on-the-way", "2000-01-01T00:10:00Z");
    let held = service.post("/v1/holds", &json!({ "reason": "somebody looks", "ttl": "10m" }));
    let hold_id = held["hold"]["hold_id"].as_str().unwrap().to_owned();
    assert_members(&held["hold"], &json!({ "owner": "admin", "reason": "somebody looks" }));
    // It may last slightly longer than its owner was told.
    let mut listed = service.get("/v1/holds", &[])["holds"].clone();
    listed[0]["expires_at"] = held["hold"]["expires_at"].clone();
    assert_eq!(listed, json!([held["hold"]]));

    // The clock stays, and the response has the reason.
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "1h", "wait": "0s" }));
    let held_by = format!("the hold `{hold_id}` of admin: somebody looks");
    assert_members(&moved["receipt"], &json!({ "state": "running", "step": 0, "held_by": held_by }));
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-01T00:00:00Z");

    // Only its owner can extend it.
    let longer = json!({ "reason": "still at it", "ttl": "9m", "hold_id": hold_id });
    assert_eq!(service.post("/v1/holds", &longer)["hold"]["hold_id"], hold_id);
    let writer = service.user("writer");
    permit(&service, "main", &json!({ "write": ["writer"] }));
    let released = format!("/v1/holds/{hold_id}/release");
    let as_writer = |path: &str, body: &Value| service.send(Request::post(path).json(body).key(&writer));
    as_writer(&released, &json!({})).refused(404, "not_found");
    as_writer("/v1/holds", &longer).refused(404, "not_found");
    // Invalid holds are rejected by field.
    for (body, field) in [
        (json!({ "reason": " " }), "reason"),
        (json!({ "reason": "x".repeat(257) }), "reason"),
        (json!({ "reason": "a\u{0}b" }), "reason"),
        (json!({ "reason": "two\nlines" }), "reason"),
        (json!({ "reason": "x", "ttl": "601s" }), "ttl"),
    ] {
        post_invalid(&service, "/v1/holds", &body, &format!("#/{field}"));
    }

    // After the release, the advance continues to its end.
    service.post(&released, &json!({}));
    let advance = moved["receipt"]["advance_id"].as_str().unwrap();
    let receipt = || service.get(&format!("/v1/advances/{advance}"), &[("wait", "5s")])["receipt"].clone();
    until_so("the advance has settled", || receipt()["state"] == "settled");
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-01T01:00:00Z");
    assert_eq!(service.get("/v1/holds", &[])["holds"], json!([]));
    send(&service, &released, &json!({})).refused(404, "not_found");
    service.audit();
}

/// A user who lost access cannot release a hold, so an admin can.
#[test]
fn admin_can_release_holds_of_others() {
    let service = paused_service();
    let writer = service.user("writer");
    permit(&service, "main", &json!({ "write": ["writer"] }));
    let hold = Request::post("/v1/holds").json(&json!({ "reason": "away", "ttl": "10m" })).key(&writer);
    let hold_id = service.send(hold).expect(200)["hold"]["hold_id"].as_str().unwrap().to_owned();
    permit(&service, "main", &json!({ "write": [] }));
    let released = format!("/v1/holds/{hold_id}/release");
    service.send(Request::post(&released).json(&json!({})).key(&writer)).refused(404, "not_found");
    assert_eq!(service.post(&released, &json!({}))["hold_id"], hold_id);
    assert_eq!(service.get("/v1/holds", &[])["holds"], json!([]));
    send(&service, &released, &json!({})).refused(404, "not_found");
    service.audit();
}

//! `POST /v1/erase-data`.

use serde_json::{Value, json};

use super::encrypt_data::{files, holds};
use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{PREFIXES, send};

const PERSON: &str = "Kenneth Arrowsmith-Vane";

fn event(service: &Service, event_id: &str) -> u64 {
    let body =
        json!({ "event_id": event_id, "time": "2005-08-29T11:10:00Z", "description": PERSON, "location": PERSON });
    service.post("/v1/events", &body)["ledger"]["position"].as_u64().unwrap()
}

#[test]
fn erased_record_cannot_be_decrypted() {
    for prefix in PREFIXES {
        let service = Service::start();
        let sealing = json!({ "timeline_id": "main", "data": {}, "encryption_key": "a passphrase" });
        let made = service.post("/v1/encrypt-data", &sealing);
        let body = json!({ "data_id": made["data_id"] });
        let path = format!("{prefix}/erase-data");
        let erase = || service.send(Request::post(&path).json(&body).idempotent("once"));
        let erased = erase();
        snapshot::check("erase-data", &erased);
        assert_eq!(erase().expect(200), erased.json(), "a repetition is answered alike");
        let opening = json!({ "data_id": made["data_id"], "encryption_key": "a passphrase" });
        send(&service, "/v1/decrypt-data", &opening).refused(404, "not_found");
        snapshot::check("erase-data-again", &send(&service, &path, &body));
        service.audit();
    }
}

#[test]
fn erased_event_keeps_its_proof() {
    let mut service = Service::start();
    let position = event(&service, "gone");
    event(&service, "stays");
    let before = service.entry("main", position);
    let erased = service.post("/v1/erase-data", &json!({ "event_id": "gone" }));
    assert_eq!(erased["position"], position);
    let events = service.find_all("main", "*", "../..", "10");
    let ids: Vec<&Value> = events.iter().map(|event| &event["event_id"]).collect();
    assert_eq!(ids, ["stays"]);
    assert_eq!(service.get("/timeline/main", &[])["events"], 1);
    assert_eq!(service.entry("main", position), before);
    send(&service, "/v1/erase-data", &json!({ "event_id": "gone" })).refused(404, "not_found");
    service.post("/v1/erase-data", &json!({ "event_id": "stays" }));
    // Its text is in no file, including the auxiliary files of the database.
    for (name, bytes) in files(&service.data()) {
        assert!(!holds(&bytes, PERSON.as_bytes()), "{name}");
    }
    service.restart();
    assert_eq!(service.entry("main", position), before);
    event(&service, "gone");
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    service.audit();
}

#[test]
fn erasure_requires_admin_permission() {
    let service = Service::start();
    let ada = service.user("ada");
    let position = event(&service, "a");
    let body = json!({ "event_id": "a", "timeline_id": "main" });
    service.send(Request::post("/v1/erase-data").json(&body).key(&ada)).refused(404, "not_found");
    let writer = service.key(&json!({ "scopes": ["timeline:write"] }));
    service.send(Request::post("/v1/erase-data").json(&body).key(&writer)).refused(403, "insufficient_scope");
    assert!(service.entry("main", position).0.is_object());
    for wrong in [json!({}), json!({ "event_id": "a", "data_id": "data_a" })] {
        let refused = send(&service, "/v1/erase-data", &wrong).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/data_id");
    }
    let on_system = json!({ "event_id": "a", "timeline_id": "system" });
    send(&service, "/v1/erase-data", &on_system).refused(400, "invalid_parameter");
    service.audit();
}

//! `POST /v1/erase-data`.

use serde_json::json;

use crate::snapshot;
use crate::support::service::Service;
use crate::v1::{files_with, post_invalid, send, texts};

const PERSON: &str = "Kenneth Arrowsmith-Vane";

fn event(service: &Service, event_id: &str) -> u64 {
    let body =
        json!({ "event_id": event_id, "time": "2005-08-29T11:10:00Z", "description": PERSON, "location": PERSON });
    service.post("/v1/events", &body)["ledger"]["position"].as_u64().unwrap()
}

#[test]
fn erased_record_cannot_be_decrypted() {
    let service = Service::start();
    let sealing = json!({ "timeline_id": "main", "data": {}, "encryption_key": "a passphrase" });
    let made = service.post("/v1/encrypt-data", &sealing);
    let body = json!({ "data_id": made["data_id"] });
    snapshot::check("erase-data", &send(&service, "/v1/erase-data", &body));
    let opening = json!({ "data_id": made["data_id"], "encryption_key": "a passphrase" });
    send(&service, "/v1/decrypt-data", &opening).refused(404, "not_found");
    snapshot::check("erase-data-again", &send(&service, "/v1/erase-data", &body));
    service.audit();
}

#[test]
fn erased_event_keeps_its_proof() {
    let mut service = Service::start();
    let position = event(&service, "gone");
    event(&service, "stays");
    let before = service.entry("main", position);
    let erased = service.post("/v1/erase-data", &json!({ "event_id": "gone" }));
    assert_eq!(erased["position"], position);
    assert_eq!(texts(&service.find_all("main", "*", "../..", "10"), "event_id"), ["stays"]);
    assert_eq!(service.get("/timeline/main", &[])["events"], 1);
    assert_eq!(service.entry("main", position), before);
    send(&service, "/v1/erase-data", &json!({ "event_id": "gone" })).refused(404, "not_found");
    service.post("/v1/erase-data", &json!({ "event_id": "stays" }));
    // Its text is in no file, including the auxiliary files of the database.
    assert_eq!(files_with(&service, PERSON.as_bytes()), [""; 0]);
    service.restart();
    assert_eq!(service.entry("main", position), before);
    event(&service, "gone");
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    for wrong in [json!({}), json!({ "event_id": "gone", "data_id": "data_a" })] {
        post_invalid(&service, "/v1/erase-data", &wrong, "#/data_id");
    }
    service.audit();
}

//! `POST /v1/detect-tampering`.

mod memory;
mod progress;

use serde_json::{Value, json};

use super::assert_members;
use crate::support::service::Service;

fn count(answer: &Value, what: &str) -> u64 {
    let checked = answer["checked"].as_array().unwrap().iter().find(|checked| checked["what"] == what);
    checked.map_or(0, |checked| checked["count"].as_u64().unwrap())
}

#[test]
fn intact_service_has_no_findings() {
    let service = Service::start();
    service.post("/v1/events", &json!([{ "time": "2000-01-01T00:00:00Z", "description": "midnight" }]));
    for (timeline, depth) in [
        ("main", None),
        ("main", Some("full")),
        ("main", Some("quick")),
        ("main", Some("tail:3")),
        ("main", Some("sample:5")),
        ("system", Some("full")),
    ] {
        let body = json!({ "timeline_id": timeline, "scan_depth": depth });
        let answer = service.post("/v1/detect-tampering", &body);
        let status = format!("No tampering found on `{timeline}`.");
        assert_members(&answer, &json!({ "tampering_detected": false, "findings": [], "status": status }));
        assert!(answer["details"].as_str().unwrap().starts_with("No tampering found: the "), "{answer:#}");
        assert!(!answer["not_checked"].as_array().unwrap().is_empty());
        let note = answer["checkpoint"]["note"].as_str().unwrap();
        assert!(note.contains(&format!("/{timeline}\n{}\n", answer["checkpoint"]["size"])), "{note}");
        // The request itself is an entry and is scanned too.
        assert_eq!(answer["checkpoint"]["size"], answer["ledger"]["size"]);
        if depth.is_none_or(|depth| depth == "full") {
            assert_eq!(count(&answer, "entries"), answer["ledger"]["size"].as_u64().unwrap());
        }
    }
    service.audit();
}

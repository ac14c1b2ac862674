//! `POST /v1/detect-tampering`.

mod memory;
mod progress;

use serde_json::{Value, json};

use super::{PREFIXES, send};
use crate::support::http::Request;
use crate::support::service::Service;

fn scan(service: &Service, body: &Value) -> Value {
    send(service, "/v1/detect-tampering", body).expect(200)
}

fn count(answer: &Value, what: &str) -> u64 {
    let checked = answer["checked"].as_array().unwrap().iter().find(|checked| checked["what"] == what);
    checked.map_or(0, |checked| checked["count"].as_u64().unwrap())
}

#[test]
fn intact_service_has_no_findings() {
    for prefix in PREFIXES {
        let service = Service::start();
        service.post("/v1/events", &json!([{ "time": "2000-01-01T00:00:00Z", "description": "midnight" }]));
        for (timeline, depth) in [("main", None), ("main", Some("full")), ("main", Some("quick"))].into_iter().chain([
            ("main", Some("tail:3")),
            ("main", Some("sample:5")),
            ("system", Some("full")),
        ]) {
            let mut body = json!({ "timeline_id": timeline });
            if let Some(depth) = depth {
                body["scan_depth"] = depth.into();
            }
            let answer = send(&service, &format!("{prefix}/detect-tampering"), &body).expect(200);
            assert_eq!(answer["tampering_detected"], false, "{answer:#}");
            assert_eq!(answer["findings"], json!([]));
            assert_eq!(answer["status"], format!("No tampering found on `{timeline}`."));
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
}

#[test]
fn unknown_scan_depth_error_lists_known_ones() {
    let service = Service::start();
    for depth in ["deep", "", "tail:0", "tail:x", "sample", "FULL"] {
        let body = json!({ "timeline_id": "main", "scan_depth": depth });
        let refused = send(&service, "/v1/detect-tampering", &body).refused(400, "invalid_parameter");
        let text = refused.to_string();
        for known in ["full", "quick", "tail:<n>", "sample:<n>"] {
            assert!(text.contains(known), "{text}");
        }
    }
    send(&service, "/v1/detect-tampering", &json!({})).refused(400, "missing_parameter");
    service.audit();
}

#[test]
fn scan_requires_read_permission() {
    let service = Service::start();
    let key = service.user("ada");
    let ask = |timeline: &str| {
        let body = json!({ "timeline_id": timeline, "scan_depth": "quick" });
        service.send(Request::post("/v1/detect-tampering").key(&key).json(&body)).status
    };
    assert_eq!((ask("main"), ask("system"), ask("nowhere")), (404, 404, 404));
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": { "read": ["ada"] } }));
    assert_eq!((ask("main"), ask("system")), (200, 404));
    assert_eq!(scan(&service, &json!({ "timeline_id": "main" }))["tampering_detected"], false);
    service.audit();
}

//! `POST /v1/set-retention`, `POST /v1/prune`.

use serde_json::{Value, json};

use super::{assert_members, send};
use crate::snapshot;
use crate::support::http::Answer;
use crate::support::service::{Service, run};

fn set(service: &Service, mut body: Value) -> Answer {
    body["timeline_id"] = json!("main");
    send(service, "/v1/set-retention", &body)
}

fn retention_json(service: &Service) -> Value {
    service.get("/timeline/main", &[])["retention"].clone()
}

#[test]
fn retention_periods_are_set_and_shown() {
    let mut service = Service::start();
    assert_eq!(retention_json(&service), Value::Null);
    let body = json!({ "timeline_id": "main", "reads": "90d" });
    snapshot::check("retention-set", &send(&service, "/v1/set-retention", &body));
    assert_eq!(retention_json(&service), json!({ "reads": "P90D", "rejections": null }));
    set(&service, json!({ "rejections": "PT90000S" })).expect(200);
    assert_eq!(retention_json(&service), json!({ "reads": "P90D", "rejections": "PT90000S" }));
    // Null means forever.
    set(&service, json!({ "reads": null })).expect(200);
    service.post("/v1/set-retention", &json!({ "timeline_id": "system", "reads": "1d", "rejections": "2d" }));
    service.restart();
    assert_eq!(retention_json(&service), json!({ "reads": null, "rejections": "PT90000S" }));
    let of_system = service.get("/timeline/system", &[])["retention"].clone();
    assert_eq!(of_system, json!({ "reads": "P1D", "rejections": "P2D" }));
    service.audit();
}

#[test]
fn invalid_retention_is_rejected_with_advice() {
    let service = Service::start();
    for (body, field, advice) in [
        (json!({}), "reads", "or both"),
        (json!({ "reads": "1h" }), "reads", "86400"),
        (json!({ "rejections": "23h" }), "rejections", "86400"),
        (json!({ "reads": "P1M" }), "reads", "P90D"),
        (json!({ "reads": "1.5s" }), "reads", "whole seconds"),
        (json!({ "reads": "200y" }), "reads", "P90D"),
        (json!({ "reads": "100000d" }), "reads", "4294967295"),
        (json!({ "reads": 90 }), "reads", "duration"),
    ] {
        let answer = set(&service, body.clone());
        assert_eq!(answer.status, 400, "{body}: {answer}");
        let text = answer.text();
        assert!(text.contains(&format!("#/{field}\"")) && text.contains(advice), "{body}: {answer}");
    }
    assert_eq!(retention_json(&service), Value::Null);
    service.audit();
    let service = Service::with(&["--retention-floor-secs", "10"]);
    set(&service, json!({ "reads": "9s" })).refused(400, "invalid_parameter");
    set(&service, json!({ "reads": "10s" })).expect(200);
    assert_eq!(service.get("/v1/limits", &[])["limits"]["retention_floor_seconds_min"], 10);
    service.audit();
}

#[test]
fn expired_contents_are_pruned() {
    let service = Service::with(&["--retention-floor-secs", "0"]);
    snapshot::check("prune-nothing", &send(&service, "/v1/prune", &json!({ "timeline_id": "main" })));
    let check_output = |arguments: &[&str], expected: &str| {
        let (code, stdout, stderr) = run(&mut crate::cli::command(&service, arguments), "");
        assert!(code == Some(0) && stdout.contains(expected), "{stdout}{stderr}");
    };
    let retention = ["timeline", "retention", "main", "--reads", "1s", "--rejections", "1s"];
    check_output(&retention, "kept for PT1S");
    service.get("/v1/clock", &[]);
    let foreseen = loop {
        let foreseen = service.post("/v1/prune", &json!({ "timeline_id": "main", "dry_run": true }));
        if foreseen["would_prune"].is_object() {
            break foreseen;
        }
    };
    assert_members(&foreseen, &json!({ "dry_run": true, "pruned": 0 }));
    assert!(foreseen["would_prune"]["count"].as_u64() > Some(0) && foreseen.get("sweep").is_none(), "{foreseen}");
    let status = foreseen["status"].as_str().unwrap();
    assert!(status.starts_with("Dry run: nothing was pruned. On `main`, the contents of "), "{status}");
    let entries = service.get("/timeline/main/entries", &[])["entries"].as_array().unwrap().clone();
    assert!(entries.iter().all(|entry| entry["contents"] != "erased"), "{entries:?}");
    check_output(&["prune", "--timeline", "main", "--dry-run"], "would be.");
    let wrong = json!({ "timeline_id": "main", "dry_run": true, "trust_host_clock": true });
    send(&service, "/v1/prune", &wrong).refused(400, "invalid_parameter");
    // The reads reach the required age of a second after a while.
    let pruned = loop {
        let pruned = service.post("/v1/prune", &json!({ "timeline_id": "main" }));
        if pruned["pruned"].as_u64() > Some(0) {
            break pruned;
        }
    };
    assert_members(&pruned["sweep"], &json!({ "class": "reads", "position": pruned["ledger"]["position"] }));
    let entries = service.get("/timeline/main/entries", &[])["entries"].as_array().unwrap().clone();
    let redacted: Vec<&Value> = entries.iter().filter(|entry| entry["contents"] == "erased").collect();
    let is_read = |entry: &&Value| entry["leaf"].as_str().unwrap().contains("\"read");
    assert!(!redacted.is_empty() && redacted.iter().all(is_read), "{redacted:?}");
    let log = [("timeline_id", "main"), ("time_range", "../.."), ("action", "read")];
    let page = service.get("/v1/access-logs", &log);
    let stretches = page["redacted"].as_array().unwrap();
    let pruned_count: u64 = stretches.iter().map(|gap| gap["entries"].as_u64().unwrap()).sum();
    assert_eq!(pruned_count, redacted.len() as u64, "{page}");
    for gap in stretches {
        assert_eq!((&gap["reason"], &gap["policy"]["reads"]), (&json!("pruned"), &json!("PT1S")), "{gap}");
        assert!(gap.get("reads").is_none() && gap["from"].as_str() <= gap["to"].as_str(), "{gap}");
    }
    assert!(page["status"].as_str().unwrap().contains("lost some or all reads: see `redacted`"), "{page}");
    let log = ["access", "log", "--timeline", "main", "--action", "read"];
    check_output(&log, "which kept reads for PT1S; see --action sweep.");
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "main" }));
    assert_eq!(scan["tampering_detected"], false, "{scan}");
    service.audit();
}

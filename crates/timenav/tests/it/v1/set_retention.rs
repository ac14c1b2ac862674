//! `POST /v1/set-retention`, `POST /v1/prune`.

use serde_json::{Value, json};

use super::{PREFIXES, send};
use crate::snapshot;
use crate::support::http::{Answer, Request};
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
    for prefix in PREFIXES {
        let service = Service::start();
        assert_eq!(retention_json(&service), Value::Null, "it was never said");
        let body = json!({ "timeline_id": "main", "reads": "90d" });
        snapshot::check("retention-set", &send(&service, &format!("{prefix}/set-retention"), &body));
        assert_eq!(retention_json(&service), json!({ "reads": "P90D", "rejections": null }));
        set(&service, json!({ "rejections": "PT90000S" })).expect(200);
        assert_eq!(
            retention_json(&service),
            json!({ "reads": "P90D", "rejections": "PT90000S" }),
            "what is left out stays"
        );
        set(&service, json!({ "reads": null })).expect(200);
        assert_eq!(retention_json(&service), json!({ "reads": null, "rejections": "PT90000S" }), "null means forever");
        service.audit();
    }
}

#[test]
fn system_retention_survives_a_restart() {
    let mut service = Service::start();
    let body = json!({ "timeline_id": "system", "reads": "1d", "rejections": "2d" });
    service.post("/v1/set-retention", &body);
    service.restart();
    let system_retention = service.get("/timeline/system", &[])["retention"].clone();
    assert_eq!(system_retention, json!({ "reads": "P1D", "rejections": "P2D" }));
    service.audit();
}

#[test]
fn invalid_retention_is_rejected_with_advice() {
    let service = Service::start();
    for (body, field, expected) in [
        (json!({}), "reads", "or both"),
        (json!({ "reads": "1h" }), "reads", "86400"),
        (json!({ "rejections": "23h" }), "rejections", "86400"),
        (json!({ "reads": "P1M" }), "reads", "P90D"),
        (json!({ "reads": "1.5s" }), "reads", "whole seconds"),
        (json!({ "reads": "200y" }), "reads", "P200Y"),
        (json!({ "reads": "100000d" }), "reads", "4294967295"),
        (json!({ "reads": 90 }), "reads", "duration"),
    ] {
        let answer = set(&service, body.clone());
        assert_eq!(answer.status, 400, "{body}: {answer}");
        assert!(
            answer.text().contains(&format!("#/{field}\"")) && answer.text().contains(expected),
            "{body}: {answer}"
        );
    }
    assert_eq!(retention_json(&service), Value::Null);
    service.audit();
}

#[test]
fn retention_floor_is_set_by_configuration() {
    let mut service = Service::start();
    assert!(service.stop().success());
    service.arguments(&["--retention-floor-secs", "10"]);
    service.start_again();
    set(&service, json!({ "reads": "9s" })).refused(400, "invalid_parameter");
    set(&service, json!({ "reads": "10s" })).expect(200);
    assert_eq!(service.get("/v1/limits", &[])["limits"]["retention_floor_seconds_min"], 10);
    service.audit();
}

#[test]
fn expired_contents_are_pruned() {
    let mut service = Service::start();
    assert!(service.stop().success());
    service.arguments(&["--retention-floor-secs", "0"]);
    service.start_again();
    snapshot::check("prune-nothing", &send(&service, "/v1/prune", &json!({ "timeline_id": "main" })));
    let say = ["timeline", "retention", "main", "--reads", "1s", "--rejections", "1s"];
    let (code, stdout, stderr) = run(&mut crate::cli::command(&service, &say), "");
    assert!(code == Some(0) && stdout.contains("kept for PT1S"), "{stdout}{stderr}");
    let first = service.get("/v1/clock", &[]);
    assert!(first.is_object());
    let dry = || service.post("/v1/prune", &json!({ "timeline_id": "main", "dry_run": true }));
    let foreseen = loop {
        let foreseen = dry();
        if foreseen["would_prune"].is_object() {
            break foreseen;
        }
    };
    assert_eq!((&foreseen["dry_run"], &foreseen["pruned"]), (&json!(true), &json!(0)));
    assert!(foreseen["would_prune"]["count"].as_u64() > Some(0) && foreseen.get("sweep").is_none(), "{foreseen}");
    let status = foreseen["status"].as_str().unwrap();
    assert!(status.starts_with("Dry run: nothing was pruned. On `main`, the contents of "), "{status}");
    let entries = service.get("/timeline/main/entries", &[])["entries"].as_array().unwrap().clone();
    assert!(entries.iter().all(|entry| entry["contents"] != "erased"), "{entries:?}");
    let (code, stdout, stderr) =
        run(&mut crate::cli::command(&service, &["prune", "--timeline", "main", "--dry-run"]), "");
    assert!(code == Some(0) && stdout.contains("would be."), "{stdout}{stderr}");
    let wrong = json!({ "timeline_id": "main", "dry_run": true, "trust_host_clock": true });
    send(&service, "/v1/prune", &wrong).refused(400, "invalid_parameter");
    // The reads reach the required age of a second after a while.
    let pruned = loop {
        let pruned = service.post("/v1/prune", &json!({ "timeline_id": "main" }));
        if pruned["pruned"].as_u64() > Some(0) {
            break pruned;
        }
    };
    assert_eq!(
        (&pruned["sweep"]["class"], &pruned["sweep"]["position"]),
        (&json!("reads"), &pruned["ledger"]["position"])
    );
    let entries = service.get("/timeline/main/entries", &[])["entries"].as_array().unwrap().clone();
    let redacted: Vec<&Value> = entries.iter().filter(|entry| entry["contents"] == "erased").collect();
    assert!(
        !redacted.is_empty() && redacted.iter().all(|entry| entry["leaf"].as_str().unwrap().contains("\"read")),
        "{redacted:?}"
    );
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
    let say = ["access", "log", "--timeline", "main", "--action", "read"];
    let (code, stdout, stderr) = run(&mut crate::cli::command(&service, &say), "");
    assert!(code == Some(0) && stdout.contains("which kept reads for PT1S; see --action sweep."), "{stdout}{stderr}");
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "main" }));
    assert_eq!(scan["tampering_detected"], false, "{scan}");
    service.audit();
}

#[test]
fn retention_requires_timeline_admin_permission() {
    let service = Service::start();
    let ada = service.user("ada");
    let lists = |list: &str| {
        let body = json!({ "timeline_id": "main", "permissions": { "write": [], "admin": ["admin"], list: ["admin", "ada"] } });
        service.post("/v1/set-access-control", &body);
    };
    let ask = |path: &str, body: Value| service.send(Request::post(path).key(&ada).json(&body));
    lists("write");
    ask("/v1/set-retention", json!({ "timeline_id": "main", "reads": "90d" })).refused(403, "permission_denied");
    ask("/v1/prune", json!({ "timeline_id": "main" })).refused(403, "permission_denied");
    lists("admin");
    ask("/v1/set-retention", json!({ "timeline_id": "main", "reads": "90d" })).expect(200);
    ask("/v1/prune", json!({ "timeline_id": "main" })).expect(200);
    let for_the_clock = json!({ "timeline_id": "main", "trust_host_clock": true });
    ask("/v1/prune", for_the_clock).refused(403, "permission_denied");
    service.audit();
}

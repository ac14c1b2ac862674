//! Data folders of earlier versions.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use data_encoding::BASE64_MIME;
use serde_json::json;

use crate::support::http::Request;
use crate::support::service::{Service, ends, timenav};

/// Starts a service on a data folder of an earlier version.
fn on(archive: &str) -> Service {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data").join(archive);
    let archive = BASE64_MIME.decode(&std::fs::read(archive).unwrap()).unwrap();
    Service::prepared(&[], |data| {
        std::fs::create_dir(data).unwrap();
        let mut unpack = Command::new("tar").args(["-xzf", "-", "-C"]).arg(data).stdin(Stdio::piped()).spawn().unwrap();
        unpack.stdin.take().unwrap().write_all(&archive).unwrap();
        assert!(unpack.wait().unwrap().success());
    })
}

/// Version 0.1 could create keys with a horizon, which saw less than their users. The folder has one, and a read by it.
#[test]
fn key_with_a_horizon_is_rejected_and_its_ledger_verifies() {
    let mut service = on("data-folder-with-horizon.tar.gz.b64");
    let key = std::fs::read_to_string(service.data().join("horizon.key")).unwrap();
    let key = key.trim_end();
    let refused = service.send(Request::get("/v1/clock").key(key)).refused(401, "invalid_credentials");
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("has a horizon") && detail.contains("create one without"), "{detail}");
    let log = service.log_text();
    assert!(log.contains("API keys with a horizon no longer work"), "{log}");

    let found =
        service.get("/v1/monitor-events", &[("timeline_id", "trial"), ("location", "*"), ("time_range", "../..")]);
    assert_eq!(found["events"][0]["event_id"], "e1");
    let keys = service.get("/v1/api-keys", &[]);
    let listed = keys["api_keys"].as_array().unwrap().iter().find(|key| key["label"] == "of a study").unwrap().clone();
    assert_eq!(listed["timeline_id"], "trial");
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "system", "scan_depth": "full" }));
    assert_eq!(scan["tampering_detected"], false, "{scan:#}");
    service.send(Request::new("DELETE", &format!("/v1/api-keys/{}", listed["key_id"].as_str().unwrap()))).expect(200);
    assert!(service.stop().success());
    ends(timenav().arg("verify").arg("--data").arg(service.data()), 0);
    service.start_again();
    service.audit();
}

/// Version 0.1 could adopt timelines of another service and hand over its own. The folder has a fork that was adopted
/// with its parent, and `away`, which was handed over.
#[test]
fn adopted_timeline_is_writable_and_handed_over_one_read_only() {
    let mut service = on("data-folder-with-adoption.tar.gz.b64");
    let events = |service: &Service| {
        let query = [("timeline_id", "trial"), ("location", "*"), ("time_range", "../..")];
        let found = service.get("/v1/monitor-events", &query)["events"].clone();
        let id = |event: &serde_json::Value| event["event_id"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(events(&service), ["p1", "t1", "t2"]);
    service.post("/v1/events?timeline_id=trial", &json!({ "event_id": "t3", "time": "2027-02-03T00:00:00Z" }));
    assert_eq!(events(&service), ["p1", "t1", "t2", "t3"]);
    let event = json!({ "event_id": "a2", "time": "2027-02-03T00:00:00Z" });
    let refused = service.send(service.signed(Request::post("/v1/events?timeline_id=away").json(&event)));
    assert!(refused.refused(409, "conflict")["detail"].as_str().unwrap().contains("handed over"));
    for timeline in ["trial", "away", "system"] {
        let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": timeline, "scan_depth": "full" }));
        assert_eq!(scan["tampering_detected"], false, "{scan:#}");
    }
    assert!(service.stop().success());
    ends(timenav().arg("verify").arg("--data").arg(service.data()), 0);
    service.start_again();
    service.audit();
}

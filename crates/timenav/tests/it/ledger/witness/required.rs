//! Changes that are answered once witnesses have cosigned them.

use serde_json::json;

use super::Witness;
use super::service::{record, system_key, wait_for_some};
use super::stub_witness::StubWitness;
use crate::support::http::Request;
use crate::support::service::{Service, timenav};

/// Restarts a service whose changes require cosignatures.
fn requiring(service: &mut Service, witnesses: &[&str], required: &str) {
    assert!(service.stop().success());
    let arguments: Vec<&str> = witnesses.iter().flat_map(|witness| ["--witness", *witness]).collect();
    let waits = ["--witness-quorum", required, "--witness-timeout-secs", "6", "--witness-interval-secs", "86400"];
    service.arguments(&[&arguments[..], &waits].concat());
    service.start_again();
}

#[test]
fn response_waits_for_required_witnesses() {
    let mut service = Service::start();
    let mut witness = Witness::start(&[&system_key(&service)]);
    requiring(&mut service, &[&witness.option()], "1");
    // A change is cosigned when it is answered, so no wait is needed.
    for number in 0..3 {
        let position = record(&service, "main", &format!("vouched-{number}"));
        let path = format!("/timeline/main/proof?position={position}&witnessed=true");
        assert_eq!(service.send(Request::get(&path)).status, 200);
    }
    // The same for changes of `system`, and for the end of a timeline.
    service.post("/v1/users", &json!({ "user_id": "ada" }));
    service.post("/v1/timelines", &json!({ "timeline_id": "short" }));
    assert_eq!(service.send(Request::new("DELETE", "/timeline/short")).status, 200);

    witness.kill();
    let event = json!({ "timeline_id": "main", "time": "2000-01-01T00:00:00Z", "event_id": "alone" });
    let request = Request::post("/v1/events").json(&event).header("Idempotency-Key", "\"once\"");
    let refused = service.send(request.clone()).refused(503, "outcome_unknown");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("which 1 witnesses have not vouched for within 6 s") && detail.contains("Idempotency-Key"),
        "{detail}"
    );
    // The change exists, and reads do not wait.
    assert_eq!(service.get("/v1/events/alone", &[])["event"]["event_id"], "alone");

    witness.start_again();
    let answered = wait_for_some(&service, "an answer", || {
        let answer = service.send(request.clone());
        (answer.status != 503).then_some(answer)
    });
    assert!([200, 201].contains(&answered.status), "{}", answered.text());
    service.audit();
}

#[test]
fn required_number_of_witnesses_must_cosign() {
    let mut service = Service::start();
    let witness = Witness::start(&[&system_key(&service)]);
    let silent = StubWitness::start("silent.test/w2", |_, _| None);
    requiring(&mut service, &[&witness.option(), &silent.option()], "1");
    record(&service, "main", "one-is-enough");
    requiring(&mut service, &[&witness.option(), &silent.option()], "2");
    let event = json!({ "timeline_id": "main", "time": "2000-01-01T00:00:00Z", "event_id": "two-are-not" });
    service.send(Request::post("/v1/events").json(&event)).refused(503, "outcome_unknown");
    service.audit();
    let folder = tempfile::tempdir().unwrap();
    let mut command = timenav();
    command.args(["serve", "--listen", "127.0.0.1:0", "--witness", &witness.option(), "--witness-quorum", "2"]);
    let refused = command.arg("--data").arg(folder.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && stderr.contains("`witness_quorum` is 2, but there are 1 witnesses"),
        "{stderr}"
    );
}

#[test]
fn requests_without_changes_do_not_wait_for_witnesses() {
    let mut service = Service::start();
    let mut witness = Witness::start(&[&system_key(&service)]);
    service.set_password("admin", "correct horse battery");
    record(&service, "main", "before");
    requiring(&mut service, &[&witness.option()], "1");
    witness.kill();
    // The newest entry has not been seen by a witness.
    assert_eq!(service.get("/v1/events/before", &[])["event"]["event_id"], "before");
    let import = |query: &str, lines: &str| {
        let request = Request::post(&format!("/v1/import-events?timeline_id=main{query}"));
        service.send(request.body("application/x-ndjson", lines.as_bytes()))
    };
    let lines = "{\"event_id\": \"of-import\", \"time\": \"2000-01-01T00:00:00Z\"}\n";
    assert_eq!(import("&dry_run=true", lines).expect(200)["imported"], 1);
    assert_eq!(import("", "").expect(200)["imported"], 0);
    let scan = service.send(Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": "main" })));
    assert_eq!(scan.expect(200)["tampering_detected"], false);
    let session = service.log_in("admin", "correct horse battery");
    assert_eq!(service.send(Request::get("/v1/clock").session(&session)).status, 200);
    // A change is carried out, and answered once it is cosigned.
    import("", lines).refused(503, "outcome_unknown");
    assert_eq!(service.get("/v1/events/of-import", &[])["event"]["event_id"], "of-import");
    service.send(Request::post("/v1/pause-time").json(&json!({}))).refused(503, "outcome_unknown");
    service.audit();
}

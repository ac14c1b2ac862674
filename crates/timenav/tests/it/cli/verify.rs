//! `timenav verify`, on files and through a service.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::{Service, ends, fails, succeeds, timenav};

fn verify(arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.arg("verify").args(arguments);
    command
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the newest checkpoint with the key that verifies it.
fn checkpoint(service: &Service) -> (String, String) {
    let request = Request::get("/timeline/main/checkpoint").header("Accept", "application/json");
    let answer = service.send(request).expect(200);
    (answer["checkpoint"].as_str().unwrap().to_owned(), answer["verifier_key"].as_str().unwrap().to_owned())
}

fn lived_in() -> Service {
    let service = Service::start();
    let event = |number: u32| json!({ "time": "2000-01-01T00:00:00Z", "description": format!("event {number}") });
    service.post("/v1/events", &(0..300).map(event).collect::<Vec<Value>>().into());
    service.post("/v1/pause-time", &json!({}));
    service
}

#[test]
fn intact_service_verifies_from_files_and_url() {
    let mut service = lived_in();
    let folder = tempfile::tempdir().unwrap();
    let (stored, key) = (folder.path().join("kept"), folder.path().join("key"));
    let (note, verifier) = checkpoint(&service);
    std::fs::write(&stored, note).unwrap();
    std::fs::write(&key, verifier + "\n").unwrap();
    service.post("/v1/resume-time", &json!({}));
    let data = service.data();
    let files = ["--data", text(&data), "--key", text(&key)];
    let through = ["--url", &service.url(), "--key", text(&key), "--checkpoint", text(&stored)];
    let stdout = succeeds(verify(&through).env("TIMENAV_API_KEY", &service.admin));
    assert!(stdout.contains("3 signatures") || stdout.contains("4 signatures"), "{stdout}");
    assert!(stdout.contains("1 head statement"), "{stdout}");
    assert!(stdout.contains("1 consistency proof"), "{stdout}");
    for stopped in [false, true] {
        if stopped {
            service.stop();
        }
        let before: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        for depth in ["full", "quick", "tail:100", "sample:20"] {
            let stdout = succeeds(&mut verify(&[&files[..], &["--depth", depth]].concat()));
            assert!(stdout.contains("`main`") && stdout.contains("`system`"), "{stdout}");
        }
        let stdout = ends(&mut verify(&[&files[..], &["--checkpoint", text(&stored), "--json"]].concat()), 0);
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(answer["timelines"][0]["checked"][0], json!({ "what": "checkpoints", "count": 3 }));
        let after: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(before.len(), after.len(), "it leaves nothing behind: {after:?}");
    }
    // Without a key, it explains what that proves.
    let output = ends(&mut verify(&["--data", text(&data)]), 0);
    assert!(output.contains("warning: the public key is taken from "), "{output}");
    service.start_again();
    service.audit();
}

#[test]
fn tampering_is_reported_with_exit_code_7() {
    let mut service = lived_in();
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("kept");
    std::fs::write(&stored, checkpoint(&service).0).unwrap();
    service.stop();
    let copy = folder.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    for name in ["timenav.db", "signing.key", "checkpoints.log"] {
        std::fs::copy(service.data().join(name), copy.join(name)).unwrap();
    }
    // One byte of an event, in the file.
    let mut bytes = std::fs::read(copy.join("timenav.db")).unwrap();
    let at = bytes.windows(9).position(|window| window == b"event 117").unwrap();
    bytes[at] = b'E';
    std::fs::write(copy.join("timenav.db"), bytes).unwrap();
    let output = ends(&mut verify(&["--data", text(&copy), "--timeline", "main"]), 7);
    assert!(output.contains("-mismatch at ") && output.contains("error: tampering or damage: "), "{output}");
    // A new service does not continue the checkpoint of another one.
    let other = Service::start();
    let data = other.data();
    let output = ends(&mut verify(&["--data", text(&data), "--checkpoint", text(&stored)]), 7);
    assert!(output.contains("unknown-key"), "{output}");
    other.audit();
    service.start_again();
    service.audit();
}

#[test]
fn missing_files_are_errors_not_findings() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    for arguments in [
        &["--data", text(&nowhere)][..],
        &["--data", text(&nowhere), "--key", text(&nowhere)],
        &["--data", text(&nowhere), "--checkpoint", text(&nowhere)],
    ] {
        fails(&mut verify(arguments), 1, "");
    }
    fails(&mut verify(&["--depth", "deep"]), 2, "sample:<n>");
}

//! `docs/operations.md`, followed literally: copies of a folder, and key rotation. Backups are in `restore`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::refused_start;
use crate::support::http::Request;
use crate::support::service::{Service, run, timenav};

/// Returns a section of the document.
pub(super) fn section(title: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, rest) = document.split_once(&format!("\n## {title}\n")).expect("there is such a section");
    rest.split("\n## ").next().unwrap().to_owned()
}

fn event(name: &str) -> Value {
    json!({ "event_id": name, "time": "2001-01-01T00:00:00Z" })
}

#[test]
fn copy_of_stopped_data_folder_works_as_backup() {
    let text = section("Backup").replace('\n', " ");
    assert!(text.contains("a copy of the whole data folder of a stopped service is a backup too"), "{text}");
    let mut service = Service::start();
    service.post("/v1/events", &event("before"));
    assert!(service.stop().success());
    let away = tempfile::tempdir().unwrap();
    let copy = away.path().join("copy");
    assert!(Command::new("cp").arg("-a").arg(service.data()).arg(&copy).status().unwrap().success());
    // Deleted and restored.
    std::fs::remove_dir_all(service.data()).unwrap();
    assert!(Command::new("cp").arg("-a").arg(&copy).arg(service.data()).status().unwrap().success());
    service.start_again();
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    service.post("/v1/events", &event("after"));
    service.audit();
}

#[test]
fn api_key_rotation_has_no_gap() {
    let text = section("Keys");
    assert!(text.contains("To rotate: create a new key, deploy it, revoke the old one."), "{text}");
    let service = Service::start();
    let key = |arguments: &[&str], secret: &str| -> Value {
        let mut command = timenav();
        command.arg("key").args(arguments).args(["--url", &service.url(), "--json"]).env("TIMENAV_API_KEY", secret);
        let (code, stdout, stderr) = run(&mut command, "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}");
        serde_json::from_str(&stdout).unwrap()
    };
    let asks = |secret: &str| service.send(Request::get("/v1/clock").key(secret)).status;
    service.post("/v1/users", &json!({ "user_id": "ada", "operator": true }));
    let old = key(&["create", "--user", "ada", "--label", "old"], &service.admin);
    let old_secret = old["api_key"].as_str().unwrap();
    // The user creates the new key with the old one; both work until the old one is revoked.
    let new = key(&["create", "--label", "new"], old_secret);
    let new_secret = new["api_key"].as_str().unwrap();
    assert_eq!((asks(old_secret), asks(new_secret)), (200, 200));
    key(&["revoke", old["key_id"].as_str().unwrap()], new_secret);
    assert_eq!((asks(old_secret), asks(new_secret)), (401, 200), "from the next request on");
    let live = key(&["list", "--user", "ada"], new_secret);
    let listed: Vec<&Value> = live["api_keys"].as_array().unwrap().iter().map(|one| &one["key_id"]).collect();
    assert!(listed.contains(&&new["key_id"]), "{live}");
    service.audit();
}

/// An attacker who can write into the folder without having the key cannot install their own key.
#[test]
fn foreign_signing_key_is_rejected_and_right_one_accepted() {
    let mut service = Service::start();
    let mut other = Service::start();
    assert!(service.stop().success() && other.stop().success());
    let (key, aside) = (service.data().join("signing.key"), service.data().join("aside"));
    std::fs::rename(&key, &aside).unwrap();
    std::fs::copy(other.data().join("signing.key"), &key).unwrap();
    for arguments in [&[][..], &["--accept-rollback"]] {
        let complaint = refused_start(&service.data(), arguments);
        assert!(complaint.contains("main") || complaint.contains("system"), "{complaint}");
    }
    std::fs::rename(&aside, &key).unwrap();
    service.start_again();
    service.audit();
    other.start_again();
    other.audit();
}

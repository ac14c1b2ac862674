//! A database that is older than what was signed, or another one, is noticed.

use std::path::Path;

use serde_json::json;

use super::refused_start;
use crate::service::{Process, Service};

const DATABASE: [&str; 3] = ["timenav.db", "timenav.db-wal", "timenav.db-shm"];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in DATABASE {
        let _ = std::fs::remove_file(to.join(name));
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

#[test]
fn a_database_that_was_taken_back_is_refused_unless_that_is_accepted() {
    let mut service = Service::start();
    let backup = tempfile::tempdir().unwrap();
    service.post("/v1/events", &json!({ "time": "2000-01-01T00:00:00Z", "event_id": "old" }));
    assert!(service.stop().success());
    copy(&service.data(), backup.path());
    service.start_again();
    service.post("/v1/events", &json!({ "time": "2000-01-01T00:00:00Z", "event_id": "new" }));
    assert!(service.stop().success());
    copy(backup.path(), &service.data());
    for _ in 0..2 {
        let complaint = refused_start(&service.data(), &[]);
        assert!(complaint.contains("the database was rolled back"), "{complaint}");
        assert!(complaint.contains("--accept-rollback"), "{complaint}");
    }
    let log = service.data().join("../accepted.log");
    let accepted = Process::start(&service.data(), &log, &["--accept-rollback"]);
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.lines().any(|line| line.contains("WARN") && line.contains("main")), "{said}");
    accepted.terminate();
    drop(accepted);
    // Accepted once, it is what was signed; and what was not in the copy is not there.
    service.remembered.clear();
    service.start_again();
    let found = service.find_all("main", "*", "../..", "10");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["event_id"], "old");
    service.audit();
}

#[test]
fn another_history_is_refused() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let checkpoints = service.data().join("checkpoints.log");
    copy(&service.data(), first.path());
    std::fs::copy(&checkpoints, first.path().join("checkpoints.log")).unwrap();
    // One history, which is signed and kept outside.
    service.start_again();
    service.post("/v1/events", &json!({ "time": "2000-01-01T00:00:00Z", "event_id": "true" }));
    assert!(service.stop().success());
    std::fs::copy(&checkpoints, second.path().join("checkpoints.log")).unwrap();
    copy(&service.data(), second.path());
    // Another one from the same beginning, longer than the first.
    copy(first.path(), &service.data());
    std::fs::copy(first.path().join("checkpoints.log"), &checkpoints).unwrap();
    service.start_again();
    for number in 0..5 {
        service.post("/v1/events", &json!({ "time": "2000-01-01T00:00:00Z", "event_id": format!("false-{number}") }));
    }
    assert!(service.stop().success());
    std::fs::copy(second.path().join("checkpoints.log"), &checkpoints).unwrap();
    let complaint = refused_start(&service.data(), &[]);
    assert!(complaint.contains("its history was rewritten"), "{complaint}");
    // The first history is the one that was signed.
    copy(second.path(), &service.data());
    service.start_again();
    assert_eq!(service.find_all("main", "*", "../..", "10")[0]["event_id"], "true");
    service.audit();
}

#[test]
fn checkpoints_may_be_kept_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("kept").to_str().unwrap().to_owned();
    let mut service = Service::with(&["--checkpoints", &folder]);
    let backup = tempfile::tempdir().unwrap();
    assert!(service.stop().success());
    copy(&service.data(), backup.path());
    service.start_again();
    service.post("/v1/pause-time", &json!({}));
    assert!(service.stop().success());
    assert!(!service.data().join("checkpoints.log").exists());
    assert!(elsewhere.path().join("kept/checkpoints.log").exists());
    let newest = tempfile::tempdir().unwrap();
    copy(&service.data(), newest.path());
    copy(backup.path(), &service.data());
    let complaint = refused_start(&service.data(), &["--checkpoints", &folder]);
    assert!(complaint.contains("the database was rolled back"), "{complaint}");
    copy(newest.path(), &service.data());
    service.start_again();
    service.audit();
}

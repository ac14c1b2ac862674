//! A database that is older than its signed state, or a different one, is detected.

use std::path::Path;

use serde_json::{Value, json};

use super::refused_start;
use crate::support::service::{Service, run, timenav};

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
fn rolled_back_database_is_rejected_unless_accepted() {
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
        assert!(complaint.contains("timenav accept-rollback"), "{complaint}");
    }
    let lost = std::fs::read_to_string(service.data().join("checkpoints.log")).unwrap();
    let accept = |more: &[&str]| {
        let mut command = timenav();
        run(command.args(["accept-rollback", "--json", "--data"]).arg(service.data()).args(more), "")
    };
    // The loss is shown first, without writing anything.
    let (code, stdout, stderr) = accept(&[]);
    assert_eq!((code, stderr.contains("nothing was written")), (Some(1), true), "{stdout}{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["accepted"], json!(false), "{report:#}");
    let findings = report["findings"].as_array().unwrap();
    let of_main = findings.iter().find(|finding| finding.as_str().unwrap().contains("timeline `main`"));
    assert!(of_main.unwrap().as_str().unwrap().contains("were signed and kept"), "{report:#}");
    assert!(refused_start(&service.data(), &[]).contains("the database was rolled back"));
    let (code, stdout, stderr) = accept(&["--by", "ada", "--reason", "the disk broke"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let accepted: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&accepted["accepted"], &accepted["findings"]), (&json!(true), &report["findings"]), "{accepted:#}");
    let (code, stdout, _) = accept(&["--by", "ada", "--reason", "the disk broke"]);
    assert_eq!((code, stdout.contains("Nothing was lost")), (Some(0), true), "it is accepted once: {stdout}");
    // Another folder with the same checkpoints needs nothing more: the entry explains its state.
    std::fs::write(service.data().join("checkpoints.log"), &lost).unwrap();
    // Once accepted, it is the signed state; entries missing from the copy are gone.
    service.remembered.clear();
    service.start_again();
    let entries = service.get("/timeline/system/entries", &[("limit", "1000")]);
    let is_it = |entry: &&Value| entry["leaf"].as_str().unwrap().contains("\"accept_rollback\"");
    let accepted = entries["entries"].as_array().unwrap().iter().find(is_it).unwrap_or_else(|| panic!("{entries:#}"));
    let accepted: Value = serde_json::from_str(accepted["payload"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&accepted["accepted_by"], &accepted["reason"]),
        (&json!("ada"), &json!("the disk broke")),
        "{accepted:#}"
    );
    let of_main = accepted["lost"].as_array().unwrap().iter().find(|lost| lost["timeline_id"] == "main").unwrap();
    let stored = lost.trim_end_matches('\0').lines().rev().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let stored = stored.into_iter().find(|line| line["timeline_id"] == "main").unwrap();
    assert_eq!(of_main["checkpoint"], stored["checkpoint"], "the lost checkpoint is there whole");
    // A holder of that checkpoint learns both what was lost and who accepted it.
    let note = service.data().join("../kept.checkpoint");
    std::fs::write(&note, stored["checkpoint"].as_str().unwrap()).unwrap();
    assert!(service.stop().success());
    let mut verify = timenav();
    let verify = verify.arg("verify").arg("--data").arg(service.data()).arg("--checkpoint").arg(&note);
    let (code, stdout, stderr) = run(verify, "");
    assert_ne!(code, Some(0), "an accepted loss is a loss: {stdout}{stderr}");
    assert!(stdout.contains("`ada` accepted a rollback (the disk broke)"), "{stdout}{stderr}");
    service.start_again();
    let found = service.find_all("main", "*", "../..", "10");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["event_id"], "old");
    service.audit();
}

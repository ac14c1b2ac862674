//! `timenav compact`: replaces the database by a smaller one.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::service::{Service, run, timenav};

const EVENTS: usize = 250;
const ERASED: &str = "a description that is erased and found nowhere";

fn compact(data: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    run(timenav().arg("compact").arg("--data").arg(data).args(arguments), "")
}

/// Returns a stopped service on which all events but the last were erased.
fn with_erased_events() -> Service {
    let mut service = Service::start();
    let named = |number: usize| {
        let description = if number < EVENTS - 1 { ERASED.repeat(20) } else { "kept".to_owned() };
        json!({ "event_id": format!("event-{number}"), "time": "2001-01-01T00:00:00Z", "description": description })
    };
    service.post("/v1/events", &(0..EVENTS).map(named).collect());
    for number in 0..EVENTS - 1 {
        service.post("/v1/erase-data", &json!({ "event_id": format!("event-{number}") }));
    }
    service.remember("main");
    assert!(service.stop().success());
    service
}

#[test]
fn compaction_frees_erased_space_and_keeps_the_rest() {
    let mut service = with_erased_events();
    let database = service.data().join("timenav.db");
    let before = database.metadata().unwrap().len();
    let (code, stdout, stderr) = compact(&service.data(), &["--json", "--depth", "full"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let after = database.metadata().unwrap().len();
    assert_eq!(
        (&report["bytes_before"], &report["bytes"], &report["not_checked"]),
        (&before.into(), &after.into(), &json!([]))
    );
    assert!(after * 3 < before * 2, "{after} of {before}");
    assert!(!service.data().join("compacting").exists());
    let bytes = std::fs::read(&database).unwrap();
    assert!(memchr::memmem::find(&bytes, ERASED.as_bytes()).is_none());
    service.start_again();
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    let (code, _, stderr) = compact(&service.data(), &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("is in use by another timenav process"), "{stderr}");
    service.audit();
}

#[test]
fn compaction_recovers_from_a_kill_at_any_time() {
    let mut service = with_erased_events();
    for mark in ["compacting", "compacting/lock", "compacting/timenav.db", "timenav.db-wal"] {
        let mut command = timenav();
        command.arg("compact").arg("--data").arg(service.data());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !service.data().join(mark).exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        service.start_again();
        assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1, "killed at {mark}");
        assert!(service.stop().success());
    }
    let (code, stdout, stderr) = compact(&service.data(), &[]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(!service.data().join("compacting").exists());
    service.start_again();
    service.audit();
}

#[test]
fn failed_compaction_leaves_the_database_unchanged() {
    let mut service = with_erased_events();
    let database = service.data().join("timenav.db");
    let untouched = std::fs::read(&database).unwrap();
    let inner = timenav();
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 128 && exec \"$0\" \"$@\""]).arg(inner.get_program());
    limited.env_clear().args(["compact", "--data", service.data().to_str().unwrap()]);
    let (code, stdout, stderr) = run(&mut limited, "");
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("compacting/timenav.db"), "{stderr}");
    assert!(std::fs::read(&database).unwrap() == untouched);
    service.tamper(
        "UPDATE timelines SET statement = CAST(substr(statement, 1, length(statement) - 96) || zeroblob(96) AS BLOB)
         WHERE timeline_id = ?1",
        "main",
    );
    let tampered = std::fs::read(&database).unwrap();
    let (code, stdout, stderr) = compact(&service.data(), &[]);
    assert_eq!((code, stdout.as_str()), (Some(7), ""), "{stderr}");
    assert!(std::fs::read(&database).unwrap() == tampered);
    // Another program that has it open would write into a deleted file.
    std::fs::write(&database, &untouched).unwrap();
    let other = rusqlite::Connection::open(&database).unwrap();
    other.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    let (code, _, stderr) = compact(&service.data(), &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("another program has it open"), "{stderr}");
    drop(other);
    service.start_again();
    service.audit();
}

//! `timenav compact`: replaces the database by a smaller one.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::service::{Service, fails, succeeds, timenav};

const EVENTS: usize = 250;
const ERASED: &str = "a description that is erased and found nowhere";

fn compact(data: &Path, arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.arg("compact").arg("--data").arg(data).args(arguments);
    command
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
    let stdout = succeeds(&mut compact(&service.data(), &["--json", "--depth", "full"]));
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
    fails(&mut compact(&service.data(), &[]), 1, "is in use by another timenav process");
    service.audit();
}

#[test]
fn compaction_recovers_from_a_kill_at_any_time() {
    let mut service = with_erased_events();
    for mark in ["compacting", "compacting/lock", "compacting/timenav.db", "timenav.db-wal"] {
        let mut child = compact(&service.data(), &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !service.data().join(mark).exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        service.start_again();
        assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1, "killed at {mark}");
        assert!(service.stop().success());
    }
    succeeds(&mut compact(&service.data(), &[]));
    assert!(!service.data().join("compacting").exists());
    service.start_again();
    service.audit();
}

#[test]
fn failed_compaction_leaves_the_database_unchanged() {
    let mut service = with_erased_events();
    let database = service.data().join("timenav.db");
    let untouched = std::fs::read(&database).unwrap();
    let inner = compact(&service.data(), &[]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 128 && exec \"$0\" \"$@\""]).arg(inner.get_program());
    fails(limited.env_clear().args(inner.get_args()), 1, "compacting/timenav.db");
    assert!(std::fs::read(&database).unwrap() == untouched);
    service.tamper(
        "UPDATE timelines SET statement = CAST(substr(statement, 1, length(statement) - 96) || zeroblob(96) AS BLOB)
         WHERE timeline_id = ?1",
        "main",
    );
    let tampered = std::fs::read(&database).unwrap();
    fails(&mut compact(&service.data(), &[]), 7, "");
    assert!(std::fs::read(&database).unwrap() == tampered);
    // Another program that has it open would write into a deleted file.
    std::fs::write(&database, &untouched).unwrap();
    let other = rusqlite::Connection::open(&database).unwrap();
    other.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    fails(&mut compact(&service.data(), &[]), 1, "another program has it open");
    drop(other);
    service.start_again();
    service.audit();
}

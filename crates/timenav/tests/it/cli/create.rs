//! `--create`: without it, no command creates a timeline.

use super::{answered, done, rejected};
use crate::support::service::Service;

#[test]
fn misspelled_timeline_is_not_created_without_create_flag() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("moon.ndjson");
    std::fs::write(&lines, "{\"time\":\"1969-07-20T20:17:40Z\"}\n").unwrap();
    let lines = lines.to_str().unwrap();
    let writers = [
        "clock travel 2005-08-29T11:10:00Z",
        "clock pause",
        "clock resume",
        "clock forward 1h",
        "clock rewind 1h",
        "clock rate 2",
        "anchor set",
        "events add --time 2005-08-29T11:10:00Z",
        &format!("import {lines}"),
    ];
    let before = service.timelines();
    for (number, writer) in writers.iter().enumerate() {
        let name = format!("mian-{number}");
        let stderr = rejected(&service, &format!("{writer} --timeline {name}"), 5);
        assert!(stderr.contains(&format!("`{name}`")) && stderr.contains("add --create"), "{stderr}");
        assert_eq!(service.timelines(), before, "{writer}");
    }
    for (number, writer) in writers.iter().enumerate() {
        let name = format!("new-{number}");
        let write = format!("{writer} --timeline {name}");
        let create = format!("{write} --create");
        assert_eq!(answered(&service, &create)["timeline_created"], true, "{create}");
        // An existing timeline is written to with and without it.
        done(&service, &create);
        done(&service, &write);
    }
    // Commands that create nothing do not mention it.
    let stderr = rejected(&service, "clock now --timeline mian", 5);
    assert!(!stderr.contains("--create"), "{stderr}");
    service.audit();
}

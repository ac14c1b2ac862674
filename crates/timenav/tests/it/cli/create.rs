//! `--create`: without it, no command creates a timeline.

use super::{answered, command, done};
use crate::support::service::{Service, run};

#[test]
fn misspelled_timeline_is_not_created_without_create_flag() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("moon.ndjson");
    std::fs::write(&lines, "{\"time\":\"1969-07-20T20:17:40Z\"}\n").unwrap();
    let lines = lines.to_str().unwrap();
    let writers = [
        &["clock", "travel", "2005-08-29T11:10:00Z"][..],
        &["clock", "pause"],
        &["clock", "resume"],
        &["clock", "forward", "1h"],
        &["clock", "rewind", "1h"],
        &["clock", "rate", "2"],
        &["anchor", "set"],
        &["events", "add", "--time", "2005-08-29T11:10:00Z"],
        &["import", lines],
    ];
    let before = service.timelines();
    for (number, writer) in writers.iter().enumerate() {
        let name = format!("mian-{number}");
        let arguments = [*writer, &["--timeline", &name]].concat();
        let (code, stdout, stderr) = run(&mut command(&service, &arguments), "");
        assert_eq!((code, stdout.as_str()), (Some(5), ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(&format!("`{name}`")) && stderr.contains("add --create"), "{stderr}");
        assert_eq!(service.timelines(), before, "{arguments:?}");
    }
    for (number, writer) in writers.iter().enumerate() {
        let name = format!("new-{number}");
        let create = [*writer, &["--timeline", &name, "--create"]].concat();
        assert_eq!(answered(&service, &create)["timeline_created"], true, "{create:?}");
        // An existing timeline is written to with and without it.
        done(&service, &create);
        done(&service, &[*writer, &["--timeline", &name]].concat());
    }
    // Commands that create nothing do not mention it.
    let (code, _, stderr) = run(&mut command(&service, &["clock", "now", "--timeline", "mian"]), "");
    assert_eq!(code, Some(5), "{stderr}");
    assert!(!stderr.contains("--create"), "{stderr}");
    service.audit();
}

//! Imports: dry runs, Ctrl-C, undo, and messages about rejected records.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::{done, line_command, rejected};
use crate::support::service::{Service, ends, run};
use crate::support::waiting::until_so;

/// Maximum number of lines written until the program has noticed the interrupt.
const LINES_MAX: usize = 1_000_000;
/// Lines after which some are recorded: the service records batches.
const LINES_BEFORE: usize = 5_000;

fn line(number: usize) -> String {
    format!("{{\"time\":\"2000-01-01T00:00:00Z\",\"event_id\":\"e{number}\",\"name\":\"number {number}\"}}\n")
}

#[test]
fn interrupted_import_reports_number_of_imported_records() {
    let service = Service::start();
    let mut child = line_command(&service, "import - --format ndjson")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let before: String = (0..LINES_BEFORE).map(line).collect();
    input.write_all(before.as_bytes()).unwrap();
    let events = || service.get("/timeline/main", &[])["events"].as_u64().unwrap();
    until_so("the first event", || events() > 0);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    // Half a line, which must not be imported, and then more until the program stops reading.
    let mut is_read = true;
    for number in LINES_BEFORE..LINES_MAX {
        let (begin, end) = (&line(number)[..20], &line(number)[20..]);
        is_read = input.write_all(begin.as_bytes()).and_then(|()| input.write_all(end.as_bytes())).is_ok();
        if !is_read {
            break;
        }
    }
    assert!(!is_read, "the import goes on");
    drop(input);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{stdout}{stderr}");
    assert!(stderr.contains("interrupted; waiting") && stderr.contains("Import again to continue"), "{stderr}");
    let imported = format!("-: {} imported, 0 unchanged, 0 rejected\n", events());
    assert!(stdout.starts_with(&imported), "{stdout}");
    assert!(events() >= LINES_BEFORE as u64);
    service.audit();
}

#[test]
fn import_with_wrong_mapping_can_be_undone_and_repeated() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quakes.csv");
    std::fs::write(&file, "id,when,felt,place\nq1,2000-01-01,2001-01-01,Rome\nq2,2000-01-02,2001-01-02,Athens\n")
        .unwrap();
    let file = file.to_str().unwrap();
    let import = |time: &str| {
        let map = format!("event_id=id,time={time},location=place");
        run(&mut line_command(&service, &format!("import {file} --map {map} --timeline quakes --create")), "")
    };
    let (code, stdout, stderr) = import("felt");
    assert_eq!(code, Some(0), "{stderr}");
    // With the right one, the ids exist already.
    assert_eq!(import("when").0, Some(3));
    let undo = stdout.lines().last().unwrap().strip_prefix("  to undo: timenav ").unwrap();
    assert_eq!(done(&service, undo), "2 events undone.\n");
    assert_eq!(done(&service, undo), "0 events undone.\n");
    let (code, stdout, stderr) = import("when");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let found = done(&service, "events find --timeline quakes");
    assert!(found.contains("2000-01-01") && !found.contains("2001-01-01"), "{found}");
    for (wrong, expected, message) in
        [("17", 1, "`17-420-403`"), ("1-3-1", 5, "no import"), ("900-902-2", 5, "no import")]
    {
        let output = ends(&mut line_command(&service, &format!("import --undo {wrong} --timeline quakes")), expected);
        assert!(output.contains(message), "{wrong}: {output}");
    }
    service.audit();
}

#[test]
fn import_dry_run_reports_results_and_records_nothing() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("moon.csv");
    std::fs::write(&file, "time,name\n1969-07-20T20:17:40Z,Landing\nsoon,Return\n").unwrap();
    let file = file.to_str().unwrap();
    let (code, stdout, stderr) = run(&mut line_command(&service, &format!("import --dry-run {file}")), "");
    assert_eq!((code, stderr.as_str()), (Some(3), "error: 1 record was rejected\n"));
    assert!(
        stdout.starts_with(&format!("{file}: 1 would be imported, 0 unchanged, 1 rejected\n  line 3: time: ")),
        "{stdout}"
    );
    assert!(done(&service, "events find").starts_with("No events"));
    let stderr = rejected(&service, &format!("import --dry-run {file} --timeline mian"), 5);
    assert!(!stderr.contains("--create"), "{stderr}");
    service.audit();
}

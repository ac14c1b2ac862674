//! `timenav clock watch`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::command;
use crate::service::Service;

fn watch(service: &Service, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let arguments = [&["clock", "watch"], arguments].concat();
    let mut child = command(service, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

fn line(lines: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    line
}

#[test]
fn a_clock_is_shown_at_each_change_until_the_service_ends() {
    let mut service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2005-08-29T11:10:00Z" }));
    let (mut people, mut shown) = watch(&service, &[]);
    let (mut program, mut data) = watch(&service, &["--json"]);
    assert_eq!(line(&mut shown), "2005-08-29T11:10:00Z  paused  rate 1  (generation 2)\n");
    let read: Value = serde_json::from_str(&line(&mut data)).unwrap();
    assert_eq!(read, service.get("/v1/clock", &[]));
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    assert_eq!(line(&mut shown), "2005-08-29T12:10:00Z  paused  rate 1  (generation 3)\n");
    let read: Value = serde_json::from_str(&line(&mut data)).unwrap();
    assert_eq!(read["generation"], 3);
    assert!(service.stop().success(), "watchers do not hold the service up");
    assert_eq!((line(&mut shown).as_str(), line(&mut data).as_str()), ("", ""));
    assert_eq!(people.wait().unwrap().code(), Some(0));
    assert_eq!(program.wait().unwrap().code(), Some(0));
    service.start_again();
    service.audit();
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let service = Service::start();
    let events = vec![json!({ "time": "2000-01-01T00:00:00Z", "name": "x".repeat(200) }); 1_000];
    service.post("/v1/events", &json!(events));
    let mut child = command(&service, &["events", "find", "--all", "--limit", "100"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Reads one line and goes, as `head -n 1` does.
    drop(BufReader::new(child.stdout.take().unwrap()).lines().next());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    service.audit();
}

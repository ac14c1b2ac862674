//! `timenav clock watch` and `timenav stream`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::line_command;
use crate::support::service::Service;

fn listen(service: &Service, line: &str) -> (Child, BufReader<ChildStdout>) {
    let mut child = line_command(service, line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

fn line(lines: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    line
}

#[test]
fn clock_watch_prints_each_change() {
    let mut service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2005-08-29T11:10:00Z" }));
    let (people, mut output) = listen(&service, "clock watch");
    let (program, mut data) = listen(&service, "clock watch --json");
    assert_eq!(line(&mut output), "2005-08-29T11:10:00Z  paused  rate 1  (generation 2)\n");
    let read: Value = serde_json::from_str(&line(&mut data)).unwrap();
    assert_eq!(read, service.get("/v1/clock", &[]));
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    assert_eq!(line(&mut output), "2005-08-29T12:10:00Z  paused  rate 1  (generation 3)\n");
    let read: Value = serde_json::from_str(&line(&mut data)).unwrap();
    assert_eq!(read["generation"], 3);
    assert!(service.stop().success(), "watchers do not hold the service up");
    for mut waiting in [people, program] {
        assert_eq!(waiting.try_wait().unwrap(), None, "it waits for the service to come back");
        waiting.kill().unwrap();
        waiting.wait().unwrap();
    }
    service.start_again();
    service.audit();
}

#[test]
fn stream_command_filters_by_topic_and_resumes() {
    let mut service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2005-08-29T11:10:00Z" }));
    let (people, mut output) = listen(&service, "stream --topics clock,paradoxes");
    let (program, mut data) = listen(&service, "stream --json");
    let first: Value = serde_json::from_str(&line(&mut data)).unwrap();
    assert_eq!((&first["event"], &first["data"]["clock"]["generation"]), (&json!("clock"), &json!(2)));
    assert!(line(&mut output).ends_with("  clock  2005-08-29T11:10:00Z  paused  rate 1  (generation 2)\n"));
    let record = |event: &Value| service.post("/v1/events", event)["ledger"]["position"].to_string();
    let cause = record(&json!({ "event_id": "cause", "time": "2005-08-29T00:00:00Z" }));
    let effect = record(&json!({ "event_id": "effect", "time": "2005-08-28T00:00:00Z", "causes": ["cause"] }));
    let messages: [Value; 3] = std::array::from_fn(|_| serde_json::from_str(&line(&mut data)).unwrap());
    let ids = messages.each_ref().map(|one| one["id"].as_str().unwrap());
    // The entry hash follows it.
    let places = ids.map(|id| id.split_once('~').unwrap().0);
    let heads: [_; 3] = std::array::from_fn(|at| (places[at], messages[at]["event"].as_str().unwrap()));
    let part = format!("{effect}.0");
    assert_eq!(heads, [(&*cause, "events"), (&*part, "events"), (&*effect, "paradox-created")]);
    let text = line(&mut output);
    assert!(text.starts_with(&format!("{effect}  paradox-created  P01 definite  `effect` ")), "{text}");
    // Resumes after an id, even within an entry.
    let (late, mut rest) = listen(&service, &format!("stream --json --after {} --kinds P01", ids[1]));
    assert_eq!(serde_json::from_str::<Value>(&line(&mut rest)).unwrap(), messages[2]);
    assert!(service.stop().success(), "listeners do not hold the service up");
    for mut waiting in [people, program, late] {
        assert_eq!(waiting.try_wait().unwrap(), None, "it waits for the service to come back");
        waiting.kill().unwrap();
        waiting.wait().unwrap();
    }
    service.start_again();
    service.audit();
}

#[test]
fn stream_command_exits_when_its_output_is_closed() {
    let service = Service::start();
    let (child, mut lines) = listen(&service, "stream --topics clock,events");
    assert!(line(&mut lines).contains("  clock  "));
    drop(lines);
    service.post("/v1/events", &json!({ "time": "2000-01-01T00:00:00Z" }));
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    service.audit();
}

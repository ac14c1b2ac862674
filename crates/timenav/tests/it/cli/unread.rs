//! Commands whose output is not read: `timenav import … | head -1`.

use std::process::{Command, Stdio};

use serde_json::json;

use super::line_command;
use crate::support::service::{Service, timenav};

/// Runs a command with a closed stdout. Returns its exit code and stderr.
fn unread(command: &mut Command) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn writing_commands_complete_if_output_is_closed() {
    const FILES: usize = 20;
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let file = |number: usize, text: &str| {
        let path = folder.path().join(format!("{number}.ndjson"));
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let files: Vec<String> = (0..FILES)
        .map(|number| file(number, &format!("{{\"time\":\"1969-07-{:02}T00:00:00Z\"}}\n", number + 1)))
        .collect();
    let import = |files: &[String]| line_command(&service, &format!("import {}", files.join(" ")));
    assert_eq!(unread(&mut import(&files)), (Some(0), String::new()));
    assert_eq!(service.find_all("main", "*", "../..", "100").len(), FILES);
    // Rejections are reported by the exit code, failures on stderr.
    let wrong = [file(FILES, "{}\n"), file(FILES + 1, "{\"time\":\"1970-01-01T00:00:00Z\"}\n")];
    assert_eq!(unread(&mut import(&wrong)), (Some(3), "error: 1 record was rejected\n".to_owned()));
    assert_eq!(service.find_all("main", "*", "../..", "100").len(), FILES + 1);
    // A full disk is not a closed pipe, but does not stop the command either.
    let more: Vec<String> = (0..3)
        .map(|number| file(FILES + 2 + number, &format!("{{\"time\":\"1971-01-0{}T00:00:00Z\"}}\n", number + 1)))
        .collect();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = import(&more).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout cannot be written"));
    assert_eq!(service.find_all("main", "*", "../..", "100").len(), FILES + 4);
    service.audit();
}

#[test]
fn verify_exit_code_is_independent_of_output_reader() {
    let mut service = Service::start();
    service.post("/v1/events", &json!({ "time": "2000-01-01T00:00:00Z" }));
    let data = service.data();
    let verify = || unread(timenav().args(["verify", "--data", data.to_str().unwrap()]));
    service.stop();
    assert_eq!(verify().0, Some(0));
    let change = |by: &str| format!("UPDATE timelines SET recorded_at = recorded_at {by} WHERE timeline_id = ?1");
    service.tamper(&change("+ 1"), "main");
    let (code, stderr) = verify();
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("tampering or damage"), "{stderr}");
    let doctor = unread(timenav().args(["doctor", "--security", "--listen", "0.0.0.0:8080"]));
    assert_eq!(doctor.0, Some(1), "{}", doctor.1);
    service.tamper(&change("- 1"), "main");
    service.start_again();
    service.audit();
}

#[test]
fn unread_new_api_key_is_reported_with_revoke_command() {
    let service = Service::start();
    let (code, stderr) = unread(&mut line_command(&service, "key create"));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("timenav key revoke key_"), "{stderr}");
    service.audit();
}

#[test]
fn reading_commands_exit_quietly_if_output_is_closed() {
    let service = Service::start();
    for arguments in ["clock now", "events find", "timeline list", "clock watch"] {
        assert_eq!(unread(&mut line_command(&service, arguments)), (Some(0), String::new()), "{arguments:?}");
    }
    service.audit();
}

//! Flags override the environment, which overrides the file.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::http::{Connection, Request};
use crate::support::service::{Service, timenav};

/// Starts a service and returns the origin that it signs with.
fn origin(data: &Path, command: &mut Command) -> String {
    use std::io::{BufRead as _, BufReader};
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address =
        line.strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line:?}")).trim_end().parse().unwrap();
    let key = std::fs::read_to_string(data.join("admin.key")).unwrap();
    let request = Request::get("/timeline/main/checkpoint").header("Accept", "application/json").key(key.trim_end());
    let checkpoint = Connection::open(address).unwrap().exchange(&request).unwrap().expect(200);
    child.kill().unwrap();
    child.wait().unwrap();
    checkpoint["origin"].as_str().unwrap().to_owned()
}

/// Whether flags override the file is tested without a process.
#[test]
fn flags_override_environment_and_environment_overrides_file() {
    for (flag, expected) in [(Some("flag.example"), "flag.example/main"), (None, "env.example/main")] {
        let folder = tempfile::tempdir().unwrap();
        let (data, config) = (folder.path().join("data"), folder.path().join("timenav.toml"));
        // Other settings in the file apply in each case.
        let data_text = data.display().to_string();
        let text = format!("service_name = \"file.example\"\nlisten = \"127.0.0.1:0\"\ndata = {data_text:?}\n");
        std::fs::write(&config, text).unwrap();
        let mut command = timenav();
        command.arg("serve").env("TIMENAV_SERVICE_NAME", "env.example").env("TIMENAV_LOG_FORMAT", "json");
        command.args(flag.iter().flat_map(|flag| ["--service-name", flag]));
        // The file itself is named by the environment or a flag.
        if flag.is_some() {
            command.env("TIMENAV_CONFIG", &config);
        } else {
            command.arg("--config").arg(&config);
        }
        assert_eq!(origin(&data, &mut command), expected);
    }
}

#[test]
fn buffered_reads_are_written_on_shutdown() {
    let mut service = Service::with(&["--read-log", "buffered", "--log-clock-reads"]);
    for _ in 0..50 {
        service.get("/v1/clock", &[]);
    }
    service.restart();
    let filter = [("timeline_id", "main"), ("time_range", "../.."), ("action", "read")];
    let logs = service.get("/v1/access-logs", &filter);
    let reads = logs["logs"].as_array().unwrap().iter().filter(|entry| entry["subject"] == "clock").count();
    assert_eq!(reads, 50);
    service.audit();
}

#[test]
fn json_log_is_parseable_and_contains_no_keys() {
    let service = Service::with(&["--log-format", "json", "--log-filter", "debug"]);
    service.send(
        Request::get("/v1/clock")
            .header("X-Request-Id", "find-me")
            .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    );
    let log = service.log_text();
    let lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect();
    let found = lines.iter().find(|line| line["request_id"] == "find-me").expect("the request is in the log");
    assert_eq!(
        (&found["method"], &found["route"], &found["status"]),
        (&"GET".into(), &"/v1/clock".into(), &200.into())
    );
    assert_eq!(found["trace_id"], "0af7651916cd43dd8448eb211c80319c");
    assert!(found["duration_us"].is_number(), "{found}");
    assert!(!log.contains(&service.admin), "no key is logged, at any level");
    service.audit();
}

#[test]
fn read_log_header_matches_the_entries() {
    for (arguments, of_clock, of_content) in [
        (&["--read-log", "buffered"][..], "none", "buffered"),
        (&["--log-clock-reads", "--read-log", "durable"], "durable", "durable"),
    ] {
        let service = Service::with(arguments);
        let read = |path: &str| {
            let answer = service.send(Request::get(path));
            let found = answer.header("timenav-read-log").map(str::to_owned);
            assert_eq!(answer.status, 200, "{}", answer.text());
            found
        };
        assert_eq!(read("/v1/clock").as_deref(), Some(of_clock), "{arguments:?}");
        assert_eq!(read("/v1/anchors").as_deref(), Some(of_content), "{arguments:?}");
        assert_eq!(read("/v1/limits"), None, "a read that is never logged");
        assert_eq!(read("/v1/timeline/main/checkpoint").as_deref(), Some("durable"), "{arguments:?}");
        let logs =
            service.get("/v1/access-logs", &[("timeline_id", "main"), ("time_range", "../.."), ("action", "read")]);
        let logged = |subject: &str| logs["logs"].as_array().unwrap().iter().any(|entry| entry["subject"] == subject);
        assert_eq!(logged("clock"), of_clock != "none", "{arguments:?}: {logs}");
        assert!(logged("anchors") && logged("checkpoint"), "{arguments:?}: {logs}");
        let rejected = service.send(Request::get("/v1/clock?timeline_id=missing"));
        assert_eq!(rejected.header("timenav-read-log"), None);
        rejected.refused(404, "not_found");
        service.audit();
    }
}

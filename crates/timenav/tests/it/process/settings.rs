//! Flags override the environment, which overrides the file.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::refused_start;
use crate::support::http::{Connection, Request};
use crate::support::service::{Service, run, timenav};

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

#[test]
fn flags_override_environment_and_environment_overrides_file() {
    for (flag, environment, file, expected) in [
        (Some("flag.example"), Some("env.example"), Some("file.example"), "flag.example/main"),
        (None, Some("env.example"), Some("file.example"), "env.example/main"),
        (None, None, Some("file.example"), "file.example/main"),
        (None, None, None, "timenav.local/main"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (data, config) = (folder.path().join("data"), folder.path().join("timenav.toml"));
        let name = file.map_or_else(String::new, |file| format!("service_name = \"{file}\"\n"));
        // Other settings in the file apply in each case.
        let text = format!("{name}listen = \"127.0.0.1:0\"\ndata = {:?}\n", data.display().to_string());
        std::fs::write(&config, text).unwrap();
        let mut command = timenav();
        command.arg("serve");
        command.args(flag.iter().flat_map(|flag| ["--service-name", flag]));
        // The file itself is named by the environment or a flag.
        if flag.is_some() {
            command.env("TIMENAV_CONFIG", &config);
        } else {
            command.arg("--config").arg(&config);
        }
        command.envs(environment.iter().map(|name| ("TIMENAV_SERVICE_NAME", name)));
        assert_eq!(origin(&data, &mut command), expected);
    }
}

#[test]
fn settings_can_be_given_in_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut command = timenav();
    command.arg("serve").env("TIMENAV_LISTEN", "127.0.0.1:0").env("TIMENAV_DATA", &data);
    command.env("TIMENAV_READ_LOG", "buffered").env("TIMENAV_LOG_FORMAT", "json").env("TIMENAV_DEMO", "true");
    assert_eq!(origin(&data, &mut command), "timenav.local/main");
}

#[test]
fn unknown_or_invalid_settings_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("timenav.toml");
    let named = config.to_str().unwrap().to_owned();
    let complaint = |text: &str| {
        std::fs::write(&config, text).unwrap();
        let complaint = refused_start(&folder.path().join("data"), &["--config", &named]);
        assert!(complaint.contains(&named), "{complaint}");
        complaint
    };
    assert!(complaint("lisen = \"127.0.0.1:0\"").contains("there is no setting `lisen`; did you mean `listen`?"));
    assert!(complaint("zzz = 1").contains("there is no setting `zzz`; the settings are listen, tls_cert,"));
    assert!(complaint("[listen]\nport = 1").contains("listen"));
    assert!(complaint("accept_rollback = true").contains("accept_rollback"));
    complaint("listen = ");
    assert!(!folder.path().join("data").exists(), "nothing is made by a start that cannot be");
    let missing = refused_start(&folder.path().join("data"), &["--config", "/no/such/file.toml"]);
    assert!(missing.contains("/no/such/file.toml"), "{missing}");
}

#[test]
fn invalid_flags_exit_with_code_2() {
    for wrong in [
        vec!["serve", "--lisen", "x"],
        vec!["serve", "--listen", "nowhere"],
        vec!["serve", "--read-log", "sometimes"],
        vec!["serve", "--demo=maybe"],
        vec!["sevre"],
        vec![],
    ] {
        let (code, stdout, stderr) = run(timenav().args(&wrong), "");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{wrong:?}: {stderr}");
    }
}

#[test]
fn service_name_cannot_be_changed() {
    let mut service = Service::with(&["--service-name", "clock.example"]);
    assert_eq!(service.remembered["main"].origin, "clock.example/main");
    assert!(service.stop().success());
    let complaint = refused_start(&service.data(), &["--service-name", "other.example"]);
    assert!(complaint.contains("clock.example") && complaint.contains("other.example"), "{complaint}");
    service.start_again();
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
fn buffered_reads_are_written_on_shutdown() {
    let mut service = Service::with(&["--read-log", "buffered", "--log-clock-reads"]);
    for _ in 0..50 {
        service.get("/v1/clock", &[]);
    }
    service.post("/v1/pause-time", &serde_json::json!({}));
    let before = service.checkpoint("main").size;
    service.restart();
    assert!(service.checkpoint("main").size >= before, "a service that stops has written its reads");
    let filter = [("timeline_id", "main"), ("time_range", "../.."), ("action", "read")];
    let logs = service.get("/v1/access-logs", &filter);
    let reads = logs["logs"].as_array().unwrap().iter().filter(|entry| entry["subject"] == "clock").count();
    assert!(reads >= 50, "{reads}");
    service.audit();
}

#[test]
fn read_log_header_matches_the_entries() {
    for (arguments, of_clock, of_content) in [
        (&["--read-log", "buffered"][..], "none", "buffered"),
        (&["--read-log", "durable"], "none", "durable"),
        (&["--log-clock-reads", "--read-log", "buffered"], "buffered", "buffered"),
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

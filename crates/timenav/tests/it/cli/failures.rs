//! Error messages and exit codes.

use std::net::TcpListener;

use super::{line_command, rejected};
use crate::snapshot;
use crate::support::service::{Service, fails, succeeds, timenav};

#[test]
fn exit_codes_match_error_kinds() {
    let service = Service::start();
    let ada = service.user("ada");
    for (arguments, key, expected) in [
        ("clock travel yesterday", &service.admin, 1),
        ("clock forward P9999Y", &service.admin, 1),
        ("user add admin", &service.admin, 1),
        ("events add --file /no/such/file", &service.admin, 1),
        ("anchor", &service.admin, 2),
        ("clock now --fast", &service.admin, 2),
        ("clock rate fast", &service.admin, 2),
        ("events add", &service.admin, 2),
        ("key create --scope everything", &service.admin, 2),
        ("clock now", &"tnk_nonsense".to_owned(), 4),
        ("user list", &ada, 4),
        ("clock now", &ada, 5),
        ("anchor return anchor_none", &service.admin, 5),
        ("user remove nobody", &service.admin, 5),
        ("key revoke key_none", &service.admin, 5),
    ] {
        let stderr = fails(line_command(&service, arguments).env("TIMENAV_API_KEY", key), expected, "");
        assert!(stderr.starts_with("error: "), "{arguments}: {stderr}");
    }
    service.audit();
}

#[test]
fn unreachable_service_and_missing_key_are_named() {
    let service = Service::start();
    // Nothing listens on a port that was just released.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let stderr = rejected(&service, &format!("clock now --url http://{address}"), 6);
    assert!(stderr.starts_with(&format!("error: cannot reach the service at http://{address}/: ")), "{stderr}");
    rejected(&service, "clock now --url ftp://x", 2);
    // A missing key is reported before any request.
    let folder = tempfile::tempdir().unwrap();
    for url in ["http://127.0.0.1:1", "http://timenav.invalid"] {
        fails(timenav().args(["clock", "now", "--url", url]).current_dir(folder.path()), 4, "TIMENAV_API_KEY");
    }
    for empty in ["", " "] {
        let mut now = line_command(&service, "clock now");
        now.env("TIMENAV_API_KEY", empty).env("TIMENAV_DATA", service.data());
        fails(&mut now, 4, "TIMENAV_API_KEY is set but empty");
    }
    let without_certificates = |line: &str| {
        let mut command = line_command(&service, line);
        command.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", folder.path());
        command
    };
    succeeds(&mut without_certificates("clock now"));
    let stderr = fails(&mut without_certificates("clock now --url https://127.0.0.1:1"), 1, "ca-certificates");
    assert!(stderr.contains("--ca"), "{stderr}");
    let https = format!("clock now --url {}", service.url().replace("http:", "https:"));
    let stderr = rejected(&service, &https, 6);
    assert!(stderr.contains("it does not use HTTPS"), "{stderr}");
    assert!(stderr.contains(&format!("write {}", service.url())), "{stderr}");
    service.audit();
}

#[test]
fn error_messages_suggest_the_correction() {
    let service = Service::start();
    for (name, line, expected) in [
        ("cli-wrong-time", "clock travel 2005-08-29", 1),
        ("cli-wrong-duration", "clock forward soon", 1),
        ("cli-no-such-anchor", "anchor return nothing", 5),
        ("cli-no-such-user", "key create --user nobody", 5),
    ] {
        let stderr = rejected(&service, line, expected);
        snapshot::check_text(name, &format!("$ timenav {line}\n{}", snapshot::words(&stderr)));
    }
    service.audit();
}

#[test]
fn missing_things_are_reported_with_the_command_that_lists_them() {
    let service = Service::start();
    for (arguments, list) in [
        ("anchor return nothing", "anchor list"),
        ("anchor show nothing", "anchor list"),
        ("clock now --timeline nowhere", "timeline list"),
        ("clock pause --timeline nowhere", "timeline list"),
        ("timeline diff main nowhere", "timeline list"),
        ("events show nothing", "events find"),
        ("events correct --id nothing --time 2000-01-01T00:00:00Z", "events find"),
        ("timer show nothing", "timer list"),
        ("timer cancel nothing", "timer list"),
        ("timer redeliver firing_none", "timer firings"),
        ("timer release hold_none", "timer holds"),
        ("fault follower_none --offset 1s", "followers"),
        ("user remove nobody", "user list"),
        ("key create --user nobody", "user list"),
        ("user end-session session_none", "user sessions"),
        ("key revoke key_none", "key list"),
    ] {
        let stderr = rejected(&service, arguments, 5);
        let hint = stderr.lines().find_map(|line| line.split_once("to list ")).expect("a hint").1;
        assert!(hint.ends_with(&format!(": timenav {list}")), "{arguments}: {stderr}");
        super::done(&service, list);
    }
    let stderr = rejected(&service, "anchor return nothing --json", 5);
    let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(error["hint"], "to list anchors: timenav anchor list");
    service.audit();
}

#[test]
fn control_characters_in_events_are_not_printed() {
    let service = Service::start();
    let name = "red \u{1b}[31m bell \u{7} line\nbreak";
    service.post("/v1/events", &serde_json::json!({ "time": "2000-01-01T00:00:00Z", "name": name, "location": name }));
    let text = super::done(&service, "events find");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert_eq!(text.lines().count(), 2, "{text}");
    service.audit();
}

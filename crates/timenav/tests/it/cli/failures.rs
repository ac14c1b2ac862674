//! Error messages and exit codes.

use std::net::TcpListener;

use super::command;
use crate::service::{Service, run, timenav};
use crate::snapshot;

#[test]
fn exit_codes_match_error_kinds() {
    let service = Service::start();
    let ada = service.user("ada");
    for (arguments, key, expected) in [
        (&["clock", "now"][..], &service.admin, 0),
        (&["clock", "travel", "yesterday"], &service.admin, 1),
        (&["clock", "forward", "P9999Y"], &service.admin, 1),
        (&["user", "add", "admin"], &service.admin, 1),
        (&["events", "add", "--file", "/no/such/file"], &service.admin, 1),
        (&["anchor"], &service.admin, 2),
        (&["clock", "now", "--fast"], &service.admin, 2),
        (&["clock", "rate", "fast"], &service.admin, 2),
        (&["events", "add"], &service.admin, 2),
        (&["key", "create", "--scope", "everything"], &service.admin, 2),
        (&["clock", "now"], &"tnk_nonsense".to_owned(), 4),
        (&["user", "list"], &ada, 4),
        (&["clock", "now"], &ada, 5),
        (&["anchor", "return", "anchor_none"], &service.admin, 5),
        (&["user", "remove", "nobody"], &service.admin, 5),
        (&["key", "revoke", "key_none"], &service.admin, 5),
    ] {
        let (code, stdout, stderr) = run(command(&service, arguments).env("TIMENAV_API_KEY", key), "");
        assert_eq!(code, Some(expected), "{arguments:?}: {stdout}{stderr}");
        if expected > 0 {
            assert_eq!(stdout, "", "what goes wrong is told on stderr");
            assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
        }
    }
    service.audit();
}

#[test]
fn error_messages_suggest_the_correction() {
    let service = Service::start();
    for (name, arguments) in [
        ("cli-wrong-time", &["clock", "travel", "2005-08-29"][..]),
        ("cli-wrong-duration", &["clock", "forward", "soon"]),
        ("cli-no-such-anchor", &["anchor", "return", "nothing"]),
        ("cli-no-such-user", &["key", "create", "--user", "nobody"]),
    ] {
        let (_, stdout, stderr) = run(&mut command(&service, arguments), "");
        assert_eq!(stdout, "");
        snapshot::check_text(name, &format!("$ timenav {}\n{}", arguments.join(" "), snapshot::words(&stderr)));
    }
    service.audit();
}

#[test]
fn unreachable_service_exits_with_code_6() {
    // Nothing listens on a port that was just released.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}");
    let (code, stdout, stderr) =
        run(timenav().args(["clock", "now", "--url", &url]).env("TIMENAV_API_KEY", "tnk_x"), "");
    assert_eq!((code, stdout.as_str()), (Some(6), ""), "{stderr}");
    assert!(stderr.starts_with(&format!("error: cannot reach the service at {url}/: ")), "{stderr}");
    let (code, _, stderr) =
        run(timenav().args(["clock", "now", "--url", "ftp://x"]).env("TIMENAV_API_KEY", "tnk_x"), "");
    assert_eq!(code, Some(2), "{stderr}");
}

#[test]
fn missing_api_key_is_reported_before_any_request() {
    let folder = tempfile::tempdir().unwrap();
    for url in ["http://127.0.0.1:1", "http://timenav.invalid"] {
        let (code, stdout, stderr) = run(timenav().args(["clock", "now", "--url", url]).current_dir(folder.path()), "");
        assert_eq!((code, stdout.as_str()), (Some(4), ""), "{url}: {stderr}");
        assert!(stderr.contains("TIMENAV_API_KEY"), "{stderr}");
    }
}

#[test]
fn control_characters_in_events_are_not_printed() {
    let service = Service::start();
    let name = "red \u{1b}[31m bell \u{7} line\nbreak";
    service.post("/v1/events", &serde_json::json!({ "time": "2000-01-01T00:00:00Z", "name": name, "location": name }));
    let text = super::done(&service, &["events", "find"]);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert_eq!(text.lines().count(), 2, "{text}");
    service.audit();
}

#[test]
fn plain_http_works_without_ca_certificates() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let without = |arguments: &[&str]| {
        let mut command = command(&service, arguments);
        command.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", folder.path());
        run(&mut command, "")
    };
    let (code, stdout, stderr) = without(&["clock", "now"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let (code, _, stderr) = without(&["clock", "now", "--url", "https://127.0.0.1:1"]);
    assert!(code != Some(0) && stderr.contains("ca-certificates") && stderr.contains("--ca"), "{stderr}");
    service.audit();
}

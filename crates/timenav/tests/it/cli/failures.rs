//! Error messages and exit codes.

use std::net::TcpListener;

use super::command;
use crate::snapshot;
use crate::support::service::{Service, run, timenav};

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
fn missing_things_are_reported_with_the_command_that_lists_them() {
    let service = Service::start();
    for (arguments, list) in [
        (&["anchor", "return", "nothing"][..], "anchor list"),
        (&["anchor", "show", "nothing"], "anchor list"),
        (&["clock", "now", "--timeline", "nowhere"], "timeline list"),
        (&["clock", "pause", "--timeline", "nowhere"], "timeline list"),
        (&["timeline", "diff", "main", "nowhere"], "timeline list"),
        (&["events", "show", "nothing"], "events find"),
        (&["events", "correct", "--id", "nothing", "--time", "2000-01-01T00:00:00Z"], "events find"),
        (&["timer", "show", "nothing"], "timer list"),
        (&["timer", "cancel", "nothing"], "timer list"),
        (&["timer", "redeliver", "firing_none"], "timer firings"),
        (&["timer", "release", "hold_none"], "timer holds"),
        (&["fault", "follower_none", "--offset", "1s"], "followers"),
        (&["user", "remove", "nobody"], "user list"),
        (&["key", "create", "--user", "nobody"], "user list"),
        (&["user", "end-session", "session_none"], "user sessions"),
        (&["key", "revoke", "key_none"], "key list"),
    ] {
        let (code, _, stderr) = run(&mut command(&service, arguments), "");
        assert_eq!(code, Some(5), "{arguments:?}: {stderr}");
        let hint = stderr.lines().find_map(|line| line.split_once("to list ")).expect("a hint").1;
        assert!(hint.ends_with(&format!(": timenav {list}")), "{arguments:?}: {stderr}");
        let (code, _, stderr) = run(&mut command(&service, &list.split(' ').collect::<Vec<_>>()), "");
        assert_eq!(code, Some(0), "{list}: {stderr}");
    }
    let (_, _, stderr) = run(&mut command(&service, &["anchor", "return", "nothing", "--json"]), "");
    let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(error["hint"], "to list anchors: timenav anchor list");
    service.audit();
}

#[test]
fn unknown_words_are_reported_with_the_command_for_them() {
    for (arguments, tip) in [
        (&["events", "list"][..], "use `timenav events find`"),
        (&["--json", "freeze"], "use `timenav clock pause`"),
        (&["ledger"], "use `timenav entries` or `timenav verify`"),
        (&["verify", "p.txt"], "prints the `verifier_key`"),
    ] {
        let (code, stdout, stderr) = run(timenav().args(arguments), "");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains("tip: ") && stderr.contains(tip), "{stderr}");
        assert_eq!(stderr.starts_with('{'), arguments[0] == "--json", "{stderr}");
    }
}

#[test]
fn client_options_precede_or_follow_the_command() {
    let service = Service::start();
    for arguments in [
        &["--json", "clock", "now"][..],
        &["clock", "--json", "now"],
        &["clock", "now", "--json"],
        &["--output", "json", "--timeline=main", "clock"],
    ] {
        let stdout = super::done(&service, arguments);
        let clock: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert!(clock["current_time"].is_string(), "{arguments:?}: {stdout}");
    }
    let url = service.url();
    for arguments in [&["--url", &url, "clock"][..], &["clock", "--url", &url], &["--url", &url, "--json", "clock"]] {
        let (code, _, stderr) = run(timenav().args(arguments).env("TIMENAV_API_KEY", &service.admin), "");
        assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
    }
    let (code, _, stderr) = run(timenav().args(["--json", "openapi"]), "");
    assert_eq!(code, Some(2), "{stderr}");
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

//! The command line as a client of a running service.

mod create;
mod doctor;
mod entries;
mod failures;
mod finding;
mod history;
mod importing;
mod mappings;
mod operations;
mod output;
mod sntp;
mod sql_clock;
mod timers;
mod unread;
mod verify;
mod watch;

use std::process::Command;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::service::{Service, run, timenav};

/// Returns the command with the options to find the service.
pub(crate) fn command(service: &Service, arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.args(arguments).env("TIMENAV_URL", service.url()).env("TIMENAV_API_KEY", &service.admin);
    command
}

/// Runs a command that succeeds and returns its stdout.
#[track_caller]
fn done(service: &Service, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(&mut command(service, arguments), "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}: {stdout}");
    stdout
}

/// Runs a command with text output and with JSON output. Records the text in a snapshot.
#[track_caller]
fn check_output(service: &Service, name: &str, arguments: &[&str]) {
    let text = snapshot::words(&done(service, arguments));
    let line = arguments.iter().map(|word| snapshot::words(word)).collect::<Vec<_>>().join(" ");
    // Columns are as wide as the values that are removed from them.
    let text: String = text
        .lines()
        .map(|line| {
            line.split("  ").filter(|part| !part.is_empty()).map(str::trim).collect::<Vec<_>>().join("  ") + "\n"
        })
        .collect();
    snapshot::check_text(name, &format!("$ timenav {line}\n{text}"));
}

/// Runs a command with `--json` and returns the response.
#[track_caller]
fn answered(service: &Service, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    let text = done(service, &arguments);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {arguments:?}: {text}"))
}

#[test]
fn clock_commands_print_expected_output() {
    let service = Service::start();
    done(&service, &["clock", "pause"]);
    check_output(
        &service,
        "cli-clock-travel",
        &["clock", "travel", "2005-08-29T11:10:00Z", "--location", "America/Chicago"],
    );
    check_output(&service, "cli-clock-now", &["clock", "now"]);
    check_output(&service, "cli-clock-pause", &["clock", "pause"]);
    check_output(&service, "cli-clock-forward", &["clock", "forward", "12h"]);
    check_output(&service, "cli-clock-rewind", &["clock", "rewind", "P1M"]);
    check_output(&service, "cli-clock-rate", &["clock", "rate", "60"]);
    check_output(&service, "cli-clock-resume", &["clock", "resume"]);
    done(&service, &["clock", "travel", "-000043-03-15T12:00:00Z", "--timeline", "rome", "--create"]);
    assert_eq!(service.get("/v1/clock", &[("timeline_id", "rome")])["origin_virtual"], "-000043-03-15T12:00:00Z");
    // JSON output is the unchanged response.
    done(&service, &["clock", "pause"]);
    assert_eq!(answered(&service, &["clock", "now"]), service.get("/v1/clock", &[]));
    assert_eq!(done(&service, &["clock"]), done(&service, &["clock", "now"]));
    for (arguments, field) in [
        (&["clock", "travel", "2005-08-29T11:10:00Z"][..], "current_time"),
        (&["clock", "pause"], "paused_at"),
        (&["clock", "resume"], "current_time"),
        (&["clock", "forward", "1.5h"], "new_time"),
        (&["clock", "rewind", "1d12h"], "new_time"),
        (&["clock", "rate", "0.5"], "rate"),
    ] {
        assert!(!answered(&service, arguments)[field].is_null(), "{arguments:?}");
    }
    service.audit();
}

#[test]
fn anchor_commands_print_expected_output() {
    let service = Service::start();
    done(&service, &["clock", "pause"]);
    done(&service, &["clock", "travel", "2005-08-29T11:10:00Z"]);
    check_output(&service, "cli-anchor-list-none", &["anchor", "list"]);
    check_output(&service, "cli-anchor-set", &["anchor", "set", "--description", "before the levees fail"]);
    let set = answered(&service, &["anchor", "set", "--time", "-000043-03-15T12:00:00Z"]);
    check_output(&service, "cli-anchor-list", &["anchor", "list"]);
    assert_eq!(answered(&service, &["anchor", "list"])["anchors"].as_array().unwrap().len(), 2);
    check_output(&service, "cli-anchor-return", &["anchor", "return", set["anchor_id"].as_str().unwrap()]);
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "-000043-03-15T12:00:00Z");
    service.audit();
}

#[test]
fn event_commands_print_expected_output() {
    let service = Service::start();
    check_output(
        &service,
        "cli-events-add",
        &[
            "events",
            "add",
            "--id",
            "eagle",
            "--time",
            "1969-07-20T20:17:40Z",
            "--name",
            "The Eagle has landed",
            "--location",
            "Sea of Tranquility",
            "--lat",
            "28.57",
            "--lon",
            "-80.65",
            "--cause",
            "launch",
            "--actor",
            "Armstrong",
            "--attributes",
            "{\"a\":1}",
        ],
    );
    let event = service.find_all("main", "*", "../..", "1")[0].clone();
    assert_eq!(event["geo"], json!({ "lat": 28.57, "lon": -80.65 }));
    assert_eq!(event["causes"], json!([{ "event_id": "launch", "kind": "requires" }]));
    let lines = "{\"time\":\"1969-07-16T13:32:00Z\",\"event_id\":\"launch\"}\n{\"time\":\"1969-07-24T16:50:35Z\",\"event_id\":\"splash\"}\n";
    let (code, stdout, stderr) = run(&mut command(&service, &["events", "add", "--file", "-"]), lines);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "2 events recorded.\nlaunch\nsplash\n", ""));
    check_output(
        &service,
        "cli-events-find",
        &["events", "find", "--location", "*", "--time-range", "1969-07-16T00:00:00Z/P9D"],
    );
    check_output(&service, "cli-events-find-none", &["events", "find", "--location", "bbox:-1,-1,1,1"]);
    let (code, stdout, stderr) = run(&mut command(&service, &["events", "find", "--limit", "2"]), "");
    assert_eq!((code, stdout.lines().count()), (Some(0), 3));
    assert!(stderr.contains("there are more"), "{stderr}");
    assert_eq!(done(&service, &["events", "find", "--limit", "1", "--all"]).matches("1969-07").count(), 3);
    let page = answered(&service, &["events", "find", "--limit", "1"]);
    let next =
        answered(&service, &["events", "find", "--limit", "1", "--cursor", page["next_cursor"].as_str().unwrap()]);
    assert_eq!(next["events"][0]["event_id"], "eagle");
    service.audit();
}

#[test]
fn import_command_reports_imported_and_rejected_records() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let table = file("storms.csv", "when,what\n2005-08-29T11:10:00Z,landfall\n2005-08-30T00:00:00Z,flood\n");
    let lines = file("moon.ndjson", "{\"time\":\"1969-07-20T20:17:40Z\"}\n");
    let text = done(&service, &["import", &table, "--map", "time=when,name=what", "--timeline", "storms", "--create"]);
    let undo = "  to undo: timenav import --undo";
    assert_eq!(text, format!("{table}: 2 imported, 0 unchanged, 0 rejected\n{undo} 1-3-2 --timeline storms\n"));
    let answer = answered(&service, &["import", &lines]);
    assert_eq!((&answer["imported"], &answer["timeline_id"]), (&json!(1), &json!("main")));
    let (code, stdout, stderr) = run(
        &mut command(&service, &["import", "-", "--format", "ndjson"]),
        "{\"time\":\"1969-07-20T20:17:40Z\"}\nx\n{}\n",
    );
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stdout.starts_with("-: 0 imported, 1 unchanged, 2 rejected\n  line 2: "), "{stdout}");
    assert_eq!(stderr, "error: 2 records were rejected\n");
    // Unreadable and invalid files are skipped.
    let (missing, folder_of_files) = (folder.path().join("missing.csv"), folder.path().join("folder.csv"));
    std::fs::create_dir(&folder_of_files).unwrap();
    let (missing, folder_of_files) = (missing.to_str().unwrap(), folder_of_files.to_str().unwrap());
    let wrong = file("wrong.geojson", "{\"type\":");
    let more = file("more.ndjson", "{\"time\":\"1969-07-16T13:32:00Z\"}\n");
    let (code, stdout, stderr) =
        run(&mut command(&service, &["import", missing, &lines, folder_of_files, &wrong, &more]), "");
    assert_eq!(code, Some(1), "{stderr}");
    assert_eq!(
        stdout,
        format!(
            "{lines}: 0 imported, 1 unchanged, 0 rejected\n{more}: 1 imported, 0 unchanged, 0 rejected\n{undo} 3-4-1 --timeline main\n"
        )
    );
    let reasons: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(reasons.len(), 4, "{stderr}");
    for (line, path) in reasons.iter().zip([missing, folder_of_files, &wrong]) {
        assert!(line.starts_with(&format!("error: {path}: ")), "{stderr}");
    }
    assert!(reasons[1].contains("directory"), "{stderr}");
    assert_eq!(reasons[3], "error: 3 of 5 files could not be imported");
    // A user who may not import one file may not import the others.
    let mut stranger = command(&service, &["import", &lines, &more]);
    let (code, stdout, stderr) = run(stranger.env("TIMENAV_API_KEY", "tnk_nonsense"), "");
    assert_eq!((code, stdout.as_str(), stderr.matches("error: ").count()), (Some(4), "", 1), "{stderr}");
    // One invalid name among several files changes nothing.
    let (code, _, stderr) = run(&mut command(&service, &["import", &lines, "what.txt", "--timeline", "untouched"]), "");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(!service.timelines().contains(&"untouched".to_owned()));
    service.audit();
}

#[test]
fn export_command_writes_ndjson_and_csv_files() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let lines = path("moon.ndjson");
    std::fs::write(&lines, "{\"event_id\":\"eagle\",\"time\":\"1969-07-20T20:17:40Z\",\"name\":\"Landing\"}\n")
        .unwrap();
    done(&service, &["import", &lines]);
    let text = done(&service, &["export"]);
    assert_eq!(
        text,
        "{\"event_id\":\"eagle\",\"time\":\"1969-07-20T20:17:40Z\",\"description\":\"\",\"name\":\"Landing\"}\n"
    );
    let table = path("moon.csv");
    assert_eq!(done(&service, &["export", "--save", &table, "--time-range", "1969-01-01T00:00:00Z/.."]), "");
    assert!(std::fs::read_to_string(&table).unwrap().ends_with("eagle,1969-07-20T20:17:40Z,,,Landing,,,,,,,,,,,,\r\n"));
    let again = done(&service, &["import", &table]);
    assert_eq!(again, format!("{table}: 0 imported, 1 unchanged, 0 rejected\n"));
    let (code, _, stderr) = run(&mut command(&service, &["export", "-o", &path("moon.txt")]), "");
    assert_eq!(code, Some(1), "{stderr}");
    let (code, _, stderr) = run(&mut command(&service, &["export", "--timeline", "nowhere", "-o", &table]), "");
    assert_eq!(code, Some(5), "{stderr}");
    // Existing content is kept.
    assert!(std::fs::read_to_string(&table).unwrap().contains("eagle"));
    service.audit();
}

/// Creates a repository with a merge. `None` if Git is not installed.
fn repository(folder: &std::path::Path) -> Option<()> {
    let git = |arguments: &[&str], date: &str| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(folder).args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]).args(arguments);
        git.env("GIT_AUTHOR_DATE", "1721506600 +0200").env("GIT_COMMITTER_DATE", date);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().ok()
    };
    let Some(made) = git(&["init", "--quiet", "--initial-branch=main"], "") else {
        println!("skipped: there is no git");
        return None;
    };
    assert!(made.status.success(), "{made:?}");
    let commit = |message: &str, date: &str| {
        let made = git(&["commit", "--quiet", "--allow-empty", "-m", message], date).unwrap();
        assert!(made.status.success(), "{made:?}");
    };
    commit("Begin", "1721506610 +0200");
    assert!(git(&["checkout", "--quiet", "-b", "side"], "").unwrap().status.success());
    commit("Aside\n\nA body that is left out.", "1721506620 +0200");
    assert!(git(&["checkout", "--quiet", "main"], "").unwrap().status.success());
    // The clock of this commit was slow.
    commit("Go on", "1721506605 +0200");
    assert!(git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"], "1721506640 +0200").unwrap().status.success());
    Some(())
}

#[test]
fn git_history_import_skips_known_commits() {
    let folder = tempfile::tempdir().unwrap();
    if repository(folder.path()).is_none() {
        return;
    }
    let service = Service::start();
    let path = folder.path().to_str().unwrap();
    let first = done(&service, &["import-git", path]);
    assert!(first.starts_with(&format!("{path}: 4 imported, 0 unchanged, 0 rejected\n")), "{first}");
    assert_eq!(done(&service, &["import-git", path]), format!("{path}: 0 imported, 4 unchanged, 0 rejected\n"));
    let events = service.find_all("main", "*", "../..", "100");
    let names: Vec<&Value> = events.iter().map(|event| &event["name"]).collect();
    assert_eq!(names, ["Go on", "Begin", "Aside", "Merge"]);
    let merge = &events[3];
    let parents: Vec<&Value> = merge["causes"].as_array().unwrap().iter().map(|cause| &cause["event_id"]).collect();
    assert_eq!(parents, [&events[0]["event_id"], &events[2]["event_id"]]);
    assert_eq!((&merge["time"], &merge["actors"]), (&json!("2024-07-20T20:17:20Z"), &json!(["Ann"])));
    assert_eq!(merge["attributes"]["author_time"], "2024-07-20T20:16:40Z");
    // Only the commit with a slow clock is recorded late.
    let query = [("timeline_id", "main"), ("time_range", "../.."), ("kinds", "P11"), ("include", "observations")];
    let late = service.get("/v1/monitor-paradox", &query);
    assert_eq!(late["paradoxes"].as_array().unwrap().len(), 1, "{late}");
    let newest = ["import-git", path, "--limit", "1", "--revision", "side", "--timeline", "side", "--create"];
    let newest = done(&service, &newest);
    assert!(newest.starts_with(&format!("{path}: 1 imported, 0 unchanged, 0 rejected\n")), "{newest}");
    let nowhere = tempfile::tempdir().unwrap();
    for arguments in
        [["import-git", nowhere.path().to_str().unwrap(), "--limit=9"], ["import-git", path, "--revision=--all"]]
    {
        let (code, _, stderr) = run(&mut command(&service, &arguments), "");
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("the history of") && stderr.contains("cannot be read"), "{stderr}");
    }
    service.audit();
}

#[test]
fn timeline_user_and_key_commands_print_expected_output() {
    let service = Service::start();
    check_output(&service, "cli-timeline-create", &["timeline", "create", "billing"]);
    for timeline in ["billing", "main"] {
        done(&service, &["clock", "pause", "--timeline", timeline]);
        done(&service, &["clock", "travel", "2005-08-29T11:10:00Z", "--timeline", timeline]);
    }
    check_output(&service, "cli-timeline-list", &["timeline", "list"]);
    check_output(&service, "cli-user-add", &["user", "add", "ada"]);
    done(&service, &["user", "add", "second", "--operator"]);
    check_output(&service, "cli-user-list", &["user", "list"]);
    let arguments =
        ["key", "create", "--user", "ada", "--label", "tests", "--scope", "timeline:read", "--scope", "timeline:write"];
    check_output(&service, "cli-key-create", &arguments);
    let made = answered(
        &service,
        &["key", "create", "--user", "ada", "--default-timeline", "billing", "--expires-at", "2999-01-01T00:00:00Z"],
    );
    check_output(&service, "cli-key-list", &["key", "list", "--user", "ada"]);
    let key = made["api_key"].as_str().unwrap();
    let (code, ..) = run(command(&service, &["timeline", "create", "hers"]).env("TIMENAV_API_KEY", key), "");
    assert_eq!(code, Some(0));
    check_output(&service, "cli-key-revoke", &["key", "revoke", made["key_id"].as_str().unwrap()]);
    let (code, ..) = run(command(&service, &["clock", "now"]).env("TIMENAV_API_KEY", key), "");
    assert_eq!(code, Some(4), "a revoked key");
    check_output(&service, "cli-user-remove", &["user", "remove", "ada"]);
    for list in ["timeline", "user", "key"] {
        assert!(answered(&service, &[list, "list"])["status"].is_string(), "{list}");
    }
    service.audit();
}

#[test]
fn openapi_completions_and_help_need_no_service() {
    let service = Service::start();
    let (code, document, _) = run(timenav().arg("openapi"), "");
    let served = service.send(crate::support::http::Request::get("/openapi.json")).text();
    assert_eq!((code, document), (Some(0), served));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, _) = run(timenav().args(["completions", shell]), "");
        assert_eq!(code, Some(0));
        assert!(script.contains("timenav") && script.contains("COMPLETE"), "{shell}");
    }
    let (code, version, _) = run(timenav().arg("--version"), "");
    assert_eq!((code, version), (Some(0), format!("timenav {}\n", env!("CARGO_PKG_VERSION"))));
    let (code, help, _) = run(timenav().arg("--help"), "");
    assert_eq!(code, Some(0));
    for subcommand in [
        "serve",
        "clock",
        "anchor",
        "events",
        "import",
        "import-git",
        "export",
        "timeline",
        "key",
        "user",
        "completions",
    ] {
        assert!(help.contains(&format!("\n  {subcommand}")), "{subcommand}");
        let (code, help, _) = run(timenav().args([subcommand, "--help"]), "");
        assert_eq!(code, Some(0));
        assert!(help.contains("Usage: timenav"), "{help}");
    }
    service.audit();
}

#[test]
fn api_key_of_local_service_is_found() {
    let service = Service::start();
    let find = |command: &mut Command| run(command.args(["clock", "now", "--json"]), "").0;
    let url = service.url();
    // By a flag, by the environment, and in the default data folder.
    assert_eq!(
        find(timenav().env("TIMENAV_URL", &url).arg("clock").arg("--data").arg(service.data()).args(["now"])),
        Some(2)
    );
    let (code, ..) = run(timenav().args(["clock", "now", "--url", &url, "--data"]).arg(service.data()), "");
    assert_eq!(code, Some(0));
    assert_eq!(find(timenav().env("TIMENAV_URL", &url).env("TIMENAV_DATA", service.data())), Some(0));
    let folder = service.data().parent().unwrap().to_owned();
    std::os::unix::fs::symlink(service.data(), folder.join("timenav-data")).unwrap();
    assert_eq!(find(timenav().env("TIMENAV_URL", &url).current_dir(&folder)), Some(0));
    // A key in the environment takes precedence.
    assert_eq!(find(timenav().env("TIMENAV_URL", &url).current_dir(&folder).env("TIMENAV_API_KEY", "tnk_x")), Some(4));
    service.audit();
}

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
use crate::support::service::{Service, ends, fails, run, succeeds, timenav};

/// Returns the command with the options to find the service.
pub(crate) fn command(service: &Service, arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.args(arguments).env("TIMENAV_URL", service.url()).env("TIMENAV_API_KEY", &service.admin);
    command
}

/// Splits a command line like a shell: single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Returns a command for a service, given as one line.
fn line_command(service: &Service, line: &str) -> Command {
    command(service, &words(line).iter().map(String::as_str).collect::<Vec<_>>())
}

/// Runs a command that succeeds and returns its stdout.
#[track_caller]
fn done(service: &Service, line: &str) -> String {
    succeeds(&mut line_command(service, line))
}

/// Runs a command that fails with this exit code and an empty stdout. Returns its stderr.
#[track_caller]
fn rejected(service: &Service, line: &str, expected: i32) -> String {
    fails(&mut line_command(service, line), expected, "")
}

/// Runs a command and records its output in a snapshot.
#[track_caller]
fn check_output(service: &Service, name: &str, line: &str) {
    let text = snapshot::words(&done(service, line));
    let line = words(line).iter().map(|word| snapshot::words(word)).collect::<Vec<_>>().join(" ");
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
fn answered(service: &Service, line: &str) -> Value {
    let text = done(service, &format!("{line} --json"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {line}: {text}"))
}

#[test]
fn clock_commands_print_expected_output() {
    let service = Service::start();
    done(&service, "clock pause");
    check_output(&service, "cli-clock-travel", "clock travel 2005-08-29T11:10:00Z --location America/Chicago");
    check_output(&service, "cli-clock-now", "clock now");
    check_output(&service, "cli-clock-pause", "clock pause");
    check_output(&service, "cli-clock-forward", "clock forward 12h");
    check_output(&service, "cli-clock-rewind", "clock rewind P1M");
    check_output(&service, "cli-clock-rate", "clock rate 60");
    check_output(&service, "cli-clock-resume", "clock resume");
    done(&service, "clock travel -000043-03-15T12:00:00Z --timeline rome --create");
    assert_eq!(service.get("/v1/clock", &[("timeline_id", "rome")])["origin_virtual"], "-000043-03-15T12:00:00Z");
    // JSON output is the unchanged response.
    done(&service, "clock pause");
    assert_eq!(answered(&service, "clock now"), service.get("/v1/clock", &[]));
    assert_eq!(done(&service, "clock"), done(&service, "clock now"));
    for (arguments, field) in [
        ("clock travel 2005-08-29T11:10:00Z", "current_time"),
        ("clock pause", "paused_at"),
        ("clock resume", "current_time"),
        ("clock forward 1.5h", "new_time"),
        ("clock rewind 1d12h", "new_time"),
        ("clock rate 0.5", "rate"),
    ] {
        assert!(!answered(&service, arguments)[field].is_null(), "{arguments}");
    }
    service.audit();
}

#[test]
fn anchor_commands_print_expected_output() {
    let service = Service::start();
    done(&service, "clock pause");
    done(&service, "clock travel 2005-08-29T11:10:00Z");
    check_output(&service, "cli-anchor-list-none", "anchor list");
    check_output(&service, "cli-anchor-set", "anchor set --description 'before the levees fail'");
    let set = answered(&service, "anchor set --time -000043-03-15T12:00:00Z");
    check_output(&service, "cli-anchor-list", "anchor list");
    assert_eq!(answered(&service, "anchor list")["anchors"].as_array().unwrap().len(), 2);
    let anchor = set["anchor_id"].as_str().unwrap();
    check_output(&service, "cli-anchor-return", &format!("anchor return {anchor}"));
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "-000043-03-15T12:00:00Z");
    service.audit();
}

#[test]
fn event_commands_print_expected_output() {
    let service = Service::start();
    check_output(
        &service,
        "cli-events-add",
        "events add --id eagle --time 1969-07-20T20:17:40Z --name 'The Eagle has landed' \
         --location 'Sea of Tranquility' --lat 28.57 --lon -80.65 --cause launch --actor Armstrong \
         --attributes '{\"a\":1}'",
    );
    let event = service.find_all("main", "*", "../..", "1")[0].clone();
    assert_eq!(event["geo"], json!({ "lat": 28.57, "lon": -80.65 }));
    assert_eq!(event["causes"], json!([{ "event_id": "launch", "kind": "requires" }]));
    let lines = "{\"time\":\"1969-07-16T13:32:00Z\",\"event_id\":\"launch\"}\n{\"time\":\"1969-07-24T16:50:35Z\",\"event_id\":\"splash\"}\n";
    let (code, stdout, stderr) = run(&mut line_command(&service, "events add --file -"), lines);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "2 events recorded.\nlaunch\nsplash\n", ""));
    let find = "events find --location * --time-range 1969-07-16T00:00:00Z/P9D";
    check_output(&service, "cli-events-find", find);
    check_output(&service, "cli-events-find-none", "events find --location bbox:-1,-1,1,1");
    let (code, stdout, stderr) = run(&mut line_command(&service, "events find --limit 2"), "");
    assert_eq!((code, stdout.lines().count()), (Some(0), 3));
    assert!(stderr.contains("there are more"), "{stderr}");
    assert_eq!(done(&service, "events find --limit 1 --all").matches("1969-07").count(), 3);
    let page = answered(&service, "events find --limit 1");
    let next = answered(&service, &format!("events find --limit 1 --cursor {}", page["next_cursor"].as_str().unwrap()));
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
    let map = "--map time=when,name=what --timeline storms --create";
    let text = done(&service, &format!("import {table} {map}"));
    let undo = "  to undo: timenav import --undo";
    assert_eq!(text, format!("{table}: 2 imported, 0 unchanged, 0 rejected\n{undo} 1-3-2 --timeline storms\n"));
    let answer = answered(&service, &format!("import {lines}"));
    assert_eq!((&answer["imported"], &answer["timeline_id"]), (&json!(1), &json!("main")));
    let input = "{\"time\":\"1969-07-20T20:17:40Z\"}\nx\n{}\n";
    let (code, stdout, stderr) = run(&mut line_command(&service, "import - --format ndjson"), input);
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stdout.starts_with("-: 0 imported, 1 unchanged, 2 rejected\n  line 2: "), "{stdout}");
    assert_eq!(stderr, "error: 2 records were rejected\n");
    // Unreadable and invalid files are skipped.
    let (missing, folder_of_files) = (folder.path().join("missing.csv"), folder.path().join("folder.csv"));
    std::fs::create_dir(&folder_of_files).unwrap();
    let (missing, folder_of_files) = (missing.to_str().unwrap(), folder_of_files.to_str().unwrap());
    let wrong = file("wrong.geojson", "{\"type\":");
    let more = file("more.ndjson", "{\"time\":\"1969-07-16T13:32:00Z\"}\n");
    let all = format!("import {missing} {lines} {folder_of_files} {wrong} {more}");
    let (code, stdout, stderr) = run(&mut line_command(&service, &all), "");
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
    let mut stranger = line_command(&service, &format!("import {lines} {more}"));
    let stderr = fails(stranger.env("TIMENAV_API_KEY", "tnk_nonsense"), 4, "");
    assert_eq!(stderr.matches("error: ").count(), 1, "{stderr}");
    // One invalid name among several files changes nothing.
    rejected(&service, &format!("import {lines} what.txt --timeline untouched"), 1);
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
    done(&service, &format!("import {lines}"));
    let text = done(&service, "export");
    assert_eq!(
        text,
        "{\"event_id\":\"eagle\",\"time\":\"1969-07-20T20:17:40Z\",\"description\":\"\",\"name\":\"Landing\"}\n"
    );
    let table = path("moon.csv");
    let save = format!("export --save {table} --time-range 1969-01-01T00:00:00Z/..");
    assert_eq!(done(&service, &save), "");
    assert!(std::fs::read_to_string(&table).unwrap().ends_with("eagle,1969-07-20T20:17:40Z,,,Landing,,,,,,,,,,,,\r\n"));
    let again = done(&service, &format!("import {table}"));
    assert_eq!(again, format!("{table}: 0 imported, 1 unchanged, 0 rejected\n"));
    rejected(&service, &format!("export -o {}", path("moon.txt")), 1);
    rejected(&service, &format!("export --timeline nowhere -o {table}"), 5);
    // Existing content is kept.
    assert!(std::fs::read_to_string(&table).unwrap().contains("eagle"));
    service.audit();
}

/// Creates a repository with a merge. `None` if Git is not installed.
fn repository(folder: &std::path::Path) -> Option<()> {
    let git = |line: &str, date: &str| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(folder).args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]).args(words(line));
        git.env("GIT_AUTHOR_DATE", "1721506600 +0200").env("GIT_COMMITTER_DATE", date);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().ok()
    };
    let Some(made) = git("init --quiet --initial-branch=main", "") else {
        println!("skipped: there is no git");
        return None;
    };
    assert!(made.status.success(), "{made:?}");
    let run = |line: &str, date: &str| {
        let made = git(line, date).unwrap();
        assert!(made.status.success(), "{made:?}");
    };
    let commit = |message: &str, date: &str| run(&format!("commit --quiet --allow-empty -m '{message}'"), date);
    commit("Begin", "1721506610 +0200");
    run("checkout --quiet -b side", "");
    commit("Aside\n\nA body that is left out.", "1721506620 +0200");
    run("checkout --quiet main", "");
    // The clock of this commit was slow.
    commit("Go on", "1721506605 +0200");
    run("merge --quiet --no-ff -m Merge side", "1721506640 +0200");
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
    let first = done(&service, &format!("import-git {path}"));
    assert!(first.starts_with(&format!("{path}: 4 imported, 0 unchanged, 0 rejected\n")), "{first}");
    let again = done(&service, &format!("import-git {path}"));
    assert_eq!(again, format!("{path}: 0 imported, 4 unchanged, 0 rejected\n"));
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
    let newest = done(&service, &format!("import-git {path} --limit 1 --revision side --timeline side --create"));
    assert!(newest.starts_with(&format!("{path}: 1 imported, 0 unchanged, 0 rejected\n")), "{newest}");
    let nowhere = tempfile::tempdir().unwrap();
    for arguments in [format!("{} --limit=9", nowhere.path().display()), format!("{path} --revision=--all")] {
        let stderr = rejected(&service, &format!("import-git {arguments}"), 1);
        assert!(stderr.contains("the history of") && stderr.contains("cannot be read"), "{stderr}");
    }
    service.audit();
}

#[test]
fn timeline_user_and_key_commands_print_expected_output() {
    let service = Service::start();
    check_output(&service, "cli-timeline-create", "timeline create billing");
    for timeline in ["billing", "main"] {
        done(&service, &format!("clock pause --timeline {timeline}"));
        done(&service, &format!("clock travel 2005-08-29T11:10:00Z --timeline {timeline}"));
    }
    check_output(&service, "cli-timeline-list", "timeline list");
    check_output(&service, "cli-user-add", "user add ada");
    done(&service, "user add second --operator");
    check_output(&service, "cli-user-list", "user list");
    let create = "key create --user ada --label tests --scope timeline:read --scope timeline:write";
    check_output(&service, "cli-key-create", create);
    let made = answered(&service, "key create --user ada --default-timeline billing --expires-at 2999-01-01T00:00:00Z");
    check_output(&service, "cli-key-list", "key list --user ada");
    let key = made["api_key"].as_str().unwrap();
    ends(line_command(&service, "timeline create hers").env("TIMENAV_API_KEY", key), 0);
    check_output(&service, "cli-key-revoke", &format!("key revoke {}", made["key_id"].as_str().unwrap()));
    // A revoked key.
    fails(line_command(&service, "clock now").env("TIMENAV_API_KEY", key), 4, "");
    check_output(&service, "cli-user-remove", "user remove ada");
    for list in ["timeline", "user", "key"] {
        assert!(answered(&service, &format!("{list} list"))["status"].is_string(), "{list}");
    }
    service.audit();
}

#[test]
fn openapi_command_prints_the_served_document() {
    let service = Service::start();
    let served = service.send(crate::support::http::Request::get("/openapi.json")).text();
    assert_eq!(succeeds(timenav().arg("openapi")), served);
    assert_eq!(succeeds(timenav().arg("--version")), format!("timenav {}\n", env!("CARGO_PKG_VERSION")));
    let script = succeeds(timenav().args(["completions", "bash"]));
    assert!(script.contains("timenav") && script.contains("COMPLETE"), "{script}");
    service.audit();
}

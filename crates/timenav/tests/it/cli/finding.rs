//! How the command line finds a service: by data folder, profile or URL.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::command;
use crate::snapshot;
use crate::support::service::{Service, run, timenav};

/// Runs a command that succeeds with an empty stderr.
#[track_caller]
fn done(command: &mut Command) -> String {
    let (code, stdout, stderr) = run(command, "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    stdout
}

#[test]
fn data_folder_locates_running_service_on_any_port() {
    let mut service = Service::start();
    let data = service.data();
    let now = || {
        let mut now = timenav();
        now.args(["clock", "now", "--data"]).arg(&data);
        now
    };
    done(&mut now());
    let stored = data.join("address");
    assert_eq!(std::fs::read_to_string(&stored).unwrap(), service.url() + "\n");
    assert_eq!(std::fs::metadata(&stored).unwrap().permissions().mode() & 0o777, 0o600);
    // As if started in the folder of the service.
    let parent = data.parent().unwrap();
    std::os::unix::fs::symlink(&data, parent.join("timenav-data")).unwrap();
    done(timenav().args(["clock", "now"]).current_dir(parent));
    // A restart uses a different port.
    service.restart();
    assert_eq!(std::fs::read_to_string(&stored).unwrap(), service.url() + "\n");
    done(&mut now());
    // A stopped service removes its address file; a killed one cannot.
    service.stop();
    assert!(!stored.exists());
    let (code, _, stderr) = run(&mut now(), "");
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("it is not running. Start it: timenav serve --data "), "{stderr}");
    service.start_again();
    service.kill();
    let (code, _, stderr) = run(&mut now(), "");
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("it was killed or lost power; before that it was at http://127.0.0.1:"), "{stderr}");
    service.start_again();
    done(&mut now());
    service.audit();
}

#[test]
fn status_command_reports_service_and_caller() {
    let service = Service::start();
    super::done(&service, &["clock", "pause"]);
    super::done(&service, &["clock", "travel", "2005-08-29T11:10:00Z"]);
    let text = super::done(&service, &["status"]);
    let text = snapshot::words(&text.replace(&service.url(), "[url]"));
    snapshot::check_text("cli-status", &text);
    let status = super::answered(&service, &["status"]);
    assert_eq!((&status["user_id"], &status["operator"]), (&json!("admin"), &json!(true)));
    assert_eq!(status["clock"]["current_time"], "2005-08-29T11:10:00Z");
    // A user without a timeline can still use the service.
    let ada = service.user("ada");
    let text = done(command(&service, &["status"]).env("TIMENAV_API_KEY", &ada));
    assert!(text.contains("you      ada\n") && text.contains("(none that you may read"), "{text}");
    let (code, stdout, stderr) = run(command(&service, &["status"]).env("TIMENAV_API_KEY", "tnk_nonsense"), "");
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{stderr}");
    service.audit();
}

#[test]
fn empty_api_key_variable_is_rejected() {
    let service = Service::start();
    for empty in ["", " "] {
        let mut now = command(&service, &["clock", "now"]);
        let (code, _, stderr) = run(now.env("TIMENAV_API_KEY", empty).env("TIMENAV_DATA", service.data()), "");
        assert_eq!(code, Some(4), "{stderr}");
        assert!(stderr.contains("TIMENAV_API_KEY is set but empty"), "{stderr}");
    }
    service.audit();
}

#[test]
fn https_url_of_http_service_is_reported() {
    let service = Service::start();
    let url = service.url().replace("http:", "https:");
    let (code, _, stderr) = run(command(&service, &["clock", "now"]).env("TIMENAV_URL", url), "");
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("it does not use HTTPS"), "{stderr}");
    assert!(stderr.contains(&format!("write {}", service.url())), "{stderr}");
    service.audit();
}

/// Returns the command for a user with a home folder, in a folder without data.
fn at_home(home: &Path, arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.args(arguments).env("HOME", home).current_dir(home);
    command
}

#[test]
fn profile_stores_service_url_and_api_key() {
    let service = Service::start();
    let ada = service.user("ada");
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let output_of = |arguments: &[&str], input: &str| {
        let (code, stdout, stderr) = run(&mut at_home(home, arguments), input);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}: {stdout}");
        stdout
    };
    assert!(output_of(&["profile", "list"], "").contains("No profiles."));
    let url = service.url();
    let add = ["profile", "add", "staging", "--url", &url, "--key", "-"];
    assert_eq!(
        output_of(&add, &format!("{ada}\n")),
        "The profile `staging` is added. Use it with --profile staging.\n"
    );
    let file = home.join(".config/timenav/profiles.toml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let who = |arguments: &[&str]| {
        let arguments = [&["api", "GET", "/v1/session"], arguments].concat();
        serde_json::from_str::<Value>(&output_of(&arguments, "")).unwrap()["user_id"].clone()
    };
    assert_eq!(who(&["--profile", "staging"]), "ada");
    // Its key takes precedence over the environment, which may be for another service.
    let session = ["api", "GET", "/v1/session", "--profile", "staging"];
    assert!(done(at_home(home, &session).env("TIMENAV_API_KEY", &service.admin)).contains("\"ada\""));
    output_of(&["profile", "use", "staging"], "");
    assert_eq!(who(&[]), "ada");
    let data = service.data();
    assert_eq!(who(&["--data", data.to_str().unwrap()]), "admin", "who names a folder means its service");
    let key_file = home.join("key");
    std::fs::write(&key_file, &service.admin).unwrap();
    let source = format!("@{}", key_file.display());
    let second = ["profile", "add", "production", "--url", &url, "--key", &source, "--default"];
    assert!(output_of(&second, "").contains("`production` is added, and is used unless"));
    assert_eq!(who(&[]), "admin");
    let list = output_of(&["profile", "list"], "").replace(&url, "[url]");
    assert_eq!(list.lines().filter(|line| line.contains("[url]")).count(), 2, "{list}");
    assert!(!list.contains("tnk_"), "{list}");
    let json: Value = serde_json::from_str(&output_of(&["profile", "list", "--json"], "")).unwrap();
    assert_eq!(json["profiles"][0]["is_default"], true);

    for (arguments, expected, message) in [
        (&["clock", "now", "--profile", "nowhere"][..], 1, "there are production, staging"),
        (&["clock", "now", "--profile", "staging", "--url", "http://127.0.0.1:1"], 1, "name two services"),
        (&["profile", "add", "x", "--url", "http://h", "--key", "tnk_secret"], 1, "--key @FILE"),
        (&["profile", "add", "a b", "--url", "http://h"], 2, "a name has"),
        (&["profile", "remove", "nowhere"], 1, "there is no profile `nowhere`"),
    ] {
        let (code, _, stderr) = run(&mut at_home(home, arguments), "");
        assert_eq!(code, Some(expected), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message) && !stderr.contains("tnk_secret"), "{arguments:?}: {stderr}");
    }
    output_of(&["profile", "remove", "production"], "");
    let (code, ..) = run(&mut at_home(home, &["clock", "now"]), "");
    assert_eq!(code, Some(4), "the default went with its profile");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let (code, _, stderr) = run(&mut at_home(home, &["clock", "now", "--profile", "staging"]), "");
    assert!(code == Some(1) && stderr.contains("chmod 600"), "{stderr}");
    service.audit();
}

#[test]
fn shell_completion_offers_names_from_the_service() {
    let service = Service::start();
    super::done(&service, &["timeline", "create", "billing"]);
    service.post("/v1/events", &json!({ "event_id": "eagle", "time": "1969-07-20T20:17:40Z", "name": "Landing" }));
    let anchor = super::answered(&service, &["anchor", "set", "--description", "before"])["anchor_id"].clone();
    let completed = |words: &[&str]| {
        let mut request = timenav();
        request.args([&["--", "timenav"], words].concat()).env("COMPLETE", "fish").env("TIMENAV_DATA", service.data());
        done(&mut request)
    };
    assert!(completed(&["clock", "no"]).contains("now"));
    let timelines = completed(&["clock", "now", "--timeline", "b"]);
    assert!(timelines.starts_with("billing") && !timelines.contains("main"), "{timelines}");
    assert!(completed(&["events", "show", "e"]).starts_with("eagle\tLanding"));
    assert!(completed(&["anchor", "return", "anchor_"]).contains(anchor.as_str().unwrap()));
    assert!(!completed(&["events", "show", "--timeline", "billing", "e"]).contains("eagle"));
    // Without a service there are no completions and no errors.
    let mut request = timenav();
    request
        .args(["--", "timenav", "events", "show", "e"])
        .env("COMPLETE", "fish")
        .env("TIMENAV_URL", "http://127.0.0.1:1");
    assert!(!done(&mut request).contains("eagle"));
    service.audit();
}

#[test]
fn man_command_writes_manual_pages() {
    let page = done(timenav().arg("man"));
    assert!(page.contains(".TH timenav 1") && page.contains("Exit codes"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    done(timenav().args(["man", "--dir"]).arg(&pages));
    let page = std::fs::read_to_string(pages.join("timenav-clock-travel.1")).unwrap();
    assert!(page.contains("Moves the clock"), "{page}");
}

#[test]
fn doctor_reports_state_of_running_and_stopped_service() {
    let mut service = Service::start();
    let data = service.data();
    let look = || {
        let (code, stdout, _) = run(timenav().args(["doctor", "--json", "--data"]).arg(&data), "");
        let document: Value = serde_json::from_str(&stdout).unwrap();
        let of = |name: &str| {
            let check = document["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned();
            check.unwrap_or_else(|| panic!("no {name}: {document}"))["outcome"].clone()
        };
        let names = ["data-folder", "file-modes", "database", "host-clock", "free-space", "checkpoint-age", "service"];
        let seen = names.map(of);
        (code, seen, document["checks"].to_string())
    };
    let (code, seen, document) = look();
    assert_eq!((code, seen), (Some(0), ["ok"; 7].map(Value::from)), "{document}");
    assert!(document.contains("are both timenav"), "{document}");
    service.stop();
    let (code, seen, document) = look();
    assert_eq!((code, &seen[6]), (Some(0), &json!("warn")), "{document}");
    std::fs::set_permissions(data.join("timenav.db"), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!((look().0, &look().1[1]), (Some(1), &json!("fail")));
    std::fs::set_permissions(data.join("timenav.db"), std::fs::Permissions::from_mode(0o600)).unwrap();
    service.start_again();
    service.audit();
}

/// Each obstacle to starting is reported as a failure; the folder is restored afterwards.
#[test]
fn doctor_reports_each_obstacle_to_starting() {
    let mut service = Service::start();
    service.stop();
    let data = service.data();
    let fails = |name: &str, expected: &str| {
        let (code, stdout, _) = run(timenav().args(["doctor", "--data"]).arg(&data), "");
        let line = stdout.lines().find(|line| line.starts_with(&format!("fail  {name}: ")));
        assert!(code == Some(1) && line.is_some_and(|line| line.contains(expected)), "{name}: {stdout}");
    };
    let [key, aside] = ["signing.key", "signing.key.aside"].map(|name| data.join(name));
    std::fs::rename(&key, &aside).unwrap();
    fails("signing-key", "signing.key cannot be read");
    std::fs::rename(&aside, &key).unwrap();

    let checkpoints = data.join("checkpoints.log");
    let stored = std::fs::read(&checkpoints).unwrap();
    for garbage in [vec![7; 1000], b"\x07\n".repeat(500)] {
        std::fs::write(&checkpoints, garbage).unwrap();
        fails("checkpoint-age", "checkpoints.log cannot be read");
    }
    std::fs::write(&checkpoints, stored).unwrap();

    let verify = || run(timenav().args(["verify", "--data"]).arg(&data), "");
    std::fs::create_dir(data.join("restoring")).unwrap();
    fails("unfinished", "was interrupted: empty the folder, and run timenav restore again");
    assert!(verify().2.contains("was interrupted: empty the folder"), "{:?}", verify());
    std::fs::remove_dir(data.join("restoring")).unwrap();

    let [database, moving] = ["timenav.db", "timenav.db.moving"].map(|name| data.join(name));
    std::fs::rename(&database, &moving).unwrap();
    fails("unfinished", "run the same `timenav migrate` again");
    assert!(verify().2.contains("run the same `timenav migrate` again"), "{:?}", verify());
    std::fs::rename(&moving, &database).unwrap();
    service.start_again();
    service.audit();
}

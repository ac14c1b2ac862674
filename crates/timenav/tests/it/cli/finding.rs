//! How the command line finds a service: by data folder, profile or URL.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{line_command, words};
use crate::snapshot;
use crate::support::service::{Service, fails, run, succeeds, timenav};

#[test]
fn data_folder_locates_running_service_on_any_port() {
    let mut service = Service::start();
    let data = service.data();
    let now = || {
        let mut now = timenav();
        now.args(["clock", "now", "--data"]).arg(&data);
        now
    };
    succeeds(&mut now());
    let stored = data.join("address");
    assert_eq!(std::fs::read_to_string(&stored).unwrap(), service.url() + "\n");
    assert_eq!(std::fs::metadata(&stored).unwrap().permissions().mode() & 0o777, 0o600);
    // As if started in the folder of the service.
    let parent = data.parent().unwrap();
    std::os::unix::fs::symlink(&data, parent.join("timenav-data")).unwrap();
    succeeds(timenav().args(["clock", "now"]).current_dir(parent));
    // A restart uses a different port.
    service.restart();
    assert_eq!(std::fs::read_to_string(&stored).unwrap(), service.url() + "\n");
    succeeds(&mut now());
    // A stopped service removes its address file; a killed one cannot.
    service.stop();
    assert!(!stored.exists());
    fails(&mut now(), 6, "it is not running. Start it: timenav serve --data ");
    service.start_again();
    service.kill();
    fails(&mut now(), 6, "it was killed or lost power; before that it was at http://127.0.0.1:");
    service.start_again();
    succeeds(&mut now());
    service.audit();
}

#[test]
fn status_command_reports_service_and_caller() {
    let service = Service::start();
    super::done(&service, "clock pause");
    super::done(&service, "clock travel 2005-08-29T11:10:00Z");
    let text = super::done(&service, "status");
    let text = snapshot::words(&text.replace(&service.url(), "[url]"));
    snapshot::check_text("cli-status", &text);
    let status = super::answered(&service, "status");
    assert_eq!((&status["user_id"], &status["operator"]), (&json!("admin"), &json!(true)));
    assert_eq!(status["clock"]["current_time"], "2005-08-29T11:10:00Z");
    // A user without a timeline can still use the service.
    let ada = service.user("ada");
    let text = succeeds(line_command(&service, "status").env("TIMENAV_API_KEY", &ada));
    assert!(text.contains("you      ada\n") && text.contains("(none that you may read"), "{text}");
    fails(line_command(&service, "status").env("TIMENAV_API_KEY", "tnk_nonsense"), 4, "");
    service.audit();
}

#[test]
fn profile_stores_service_url_and_api_key() {
    let service = Service::start();
    let ada = service.user("ada");
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    // In a folder without data.
    let at_home = |line: &str| {
        let mut command = timenav();
        command.args(words(line)).env("HOME", home).current_dir(home);
        command
    };
    let output_of = |line: &str| succeeds(&mut at_home(line));
    assert!(output_of("profile list").contains("No profiles."));
    let url = service.url();
    let (code, stdout, stderr) =
        run(&mut at_home(&format!("profile add staging --url {url} --key -")), &format!("{ada}\n"));
    let added = "The profile `staging` is added. Use it with --profile staging.\n";
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), added, ""));
    let file = home.join(".config/timenav/profiles.toml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let who = |options: &str| {
        let session = output_of(&format!("api GET /v1/session {options}"));
        serde_json::from_str::<Value>(&session).unwrap()["user_id"].clone()
    };
    assert_eq!(who("--profile staging"), "ada");
    // Its key takes precedence over the environment, which may be for another service.
    let mut session = at_home("api GET /v1/session --profile staging");
    assert!(succeeds(session.env("TIMENAV_API_KEY", &service.admin)).contains("\"ada\""));
    output_of("profile use staging");
    assert_eq!(who(""), "ada");
    let of_folder = who(&format!("--data {}", service.data().display()));
    assert_eq!(of_folder, "admin", "a named folder means its service");
    let key_file = home.join("key");
    std::fs::write(&key_file, &service.admin).unwrap();
    let second = format!("profile add production --url {url} --key @{} --default", key_file.display());
    assert!(output_of(&second).contains("`production` is added, and is used unless"));
    assert_eq!(who(""), "admin");
    let list = output_of("profile list").replace(&url, "[url]");
    assert_eq!(list.lines().filter(|line| line.contains("[url]")).count(), 2, "{list}");
    assert!(!list.contains("tnk_"), "{list}");
    let json: Value = serde_json::from_str(&output_of("profile list --json")).unwrap();
    assert_eq!(json["profiles"][0]["is_default"], true);

    for (line, expected, message) in [
        ("clock now --profile nowhere", 1, "there are production, staging"),
        ("clock now --profile staging --url http://127.0.0.1:1", 1, "name two services"),
        ("profile add x --url http://h --key tnk_secret", 1, "--key @FILE"),
        ("profile add 'a b' --url http://h", 2, "a name has"),
        ("profile remove nowhere", 1, "there is no profile `nowhere`"),
    ] {
        let stderr = fails(&mut at_home(line), expected, message);
        assert!(!stderr.contains("tnk_secret"), "{line}: {stderr}");
    }
    output_of("profile remove production");
    // The default went with its profile.
    fails(&mut at_home("clock now"), 4, "");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    fails(&mut at_home("clock now --profile staging"), 1, "chmod 600");
    service.audit();
}

#[test]
fn shell_completion_offers_names_from_the_service() {
    let service = Service::start();
    super::done(&service, "timeline create billing");
    service.post("/v1/events", &json!({ "event_id": "eagle", "time": "1969-07-20T20:17:40Z", "name": "Landing" }));
    let anchor = super::answered(&service, "anchor set --description before")["anchor_id"].clone();
    let completed = |line: &str| {
        let mut request = timenav();
        request.args(["--", "timenav"]).args(words(line)).env("COMPLETE", "fish").env("TIMENAV_DATA", service.data());
        request
    };
    let offered = |line: &str| succeeds(&mut completed(line));
    assert!(offered("clock no").contains("now"));
    let timelines = offered("clock now --timeline b");
    assert!(timelines.starts_with("billing") && !timelines.contains("main"), "{timelines}");
    assert!(offered("events show e").starts_with("eagle\tLanding"));
    assert!(offered("anchor return anchor_").contains(anchor.as_str().unwrap()));
    assert!(!offered("events show --timeline billing e").contains("eagle"));
    // Without a service there are no completions and no errors.
    let mut request = completed("events show e");
    request.env_remove("TIMENAV_DATA").env("TIMENAV_URL", "http://127.0.0.1:1");
    assert!(!succeeds(&mut request).contains("eagle"));
    service.audit();
}

#[test]
fn man_command_writes_manual_pages() {
    let page = succeeds(timenav().arg("man"));
    assert!(page.contains(".TH timenav 1") && page.contains("Exit codes"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    succeeds(timenav().args(["man", "--dir"]).arg(&pages));
    let page = std::fs::read_to_string(pages.join("timenav-clock-travel.1")).unwrap();
    assert!(page.contains("Moves the clock"), "{page}");
}

//! The process: startup, files and shutdown.

mod backup;
mod compact;
mod deploy;
mod disk_full;
mod earlier;
mod foreign_database;
mod migrate;
mod postgres;
mod relay;
mod replicas;
mod restore;
mod rollback;
mod settings;
mod signals;
mod signing_key;
mod starts;
mod tls;
#[cfg(feature = "otel")]
mod traces;

pub(crate) use postgres::Cluster;
pub(crate) use tls::certify;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::support::http::Request;
use crate::support::service::{Process, Service, run, timenav};

/// Returns the permissions of a file.
fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Runs `serve` on a folder where it fails, and returns its stderr.
pub(crate) fn refused_start(data: &Path, arguments: &[&str]) -> String {
    let mut command = timenav();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(arguments);
    let (code, stdout, stderr) = run(&mut command, "");
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert_eq!(stdout, "", "{stderr}");
    let at = stderr.find("error: ").unwrap_or_else(|| panic!("{stderr}"));
    stderr[at..].to_owned()
}

#[test]
fn second_process_on_data_folder_is_rejected() {
    let service = Service::start();
    let mut command = timenav();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(service.data());
    let (code, stdout, stderr) = run(&mut command, "");
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    let expected = format!(
        "error: the data folder {} is in use by another timenav process; stop that one, or give another folder\n",
        service.data().display()
    );
    assert_eq!(stderr, expected, "one line that says what to do");
    service.get("/v1/clock", &[]);
    service.audit();
}

#[test]
fn data_files_are_accessible_only_to_their_owner() {
    let mut service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    let mut seen = Vec::new();
    for after_a_restart in [false, true] {
        if after_a_restart {
            service.restart();
        }
        assert_eq!(mode(&service.data()), 0o700);
        for entry in std::fs::read_dir(service.data()).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            seen.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    for needed in ["admin.key", "signing.key", "timenav.db", "checkpoints.log"] {
        assert!(seen.iter().any(|name| name == needed), "{needed} is none of {seen:?}");
    }
    service.audit();
}

#[test]
fn first_api_key_is_stored_only_in_key_file() {
    let mut service = Service::start();
    let log = service.log_text();
    let file = service.data().join("admin.key");
    assert!(
        log.contains(&format!("first start: wrote the API key of operator `admin` to {}", file.display())),
        "{log}"
    );
    assert!(!log.contains(&service.admin), "{log}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{}\n", service.admin));
    let users = service.get("/v1/users", &[])["users"].clone();
    assert_eq!((&users[0]["user_id"], &users[0]["operator"]), (&json!("admin"), &json!(true)));
    // A later start creates no other key and does not need the file.
    std::fs::remove_file(&file).unwrap();
    service.restart();
    assert!(!file.exists());
    assert_eq!(service.get("/v1/api-keys", &[])["api_keys"].as_array().unwrap().len(), 1);
    service.audit();
}

/// A start that is interrupted at any time leaves a folder in which the next one succeeds.
#[test]
fn first_start_recovers_from_a_kill_at_any_time() {
    let marks = ["lock", "signing.key", "timenav.db", "timenav.db-wal", "checkpoints.log", "admin.key"];
    for mark in marks.iter().cycle().take(18) {
        let folder = tempfile::tempdir().unwrap();
        let (data, log) = (folder.path().join("data"), folder.path().join("log"));
        let mut command = timenav();
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        while !data.join(mark).exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let process = Process::start(&data, &log, &[]);
        let key = std::fs::read_to_string(data.join("admin.key")).unwrap();
        let mut connection = crate::support::http::Connection::open(process.address).unwrap();
        let clock = connection.exchange(&Request::get("/v1/clock").key(key.trim_end())).unwrap();
        assert_eq!(clock.status, 200, "killed at {mark}: {clock}");
        let keys = connection.exchange(&Request::get("/v1/api-keys").key(key.trim_end())).unwrap().expect(200);
        assert_eq!(keys["api_keys"].as_array().unwrap().len(), 1, "killed at {mark}");
        process.kill();
    }
}

#[test]
fn occupied_listen_address_is_named() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let address = service.address().to_string();
    let mut command = timenav();
    command.args(["serve", "--listen", &address, "--data"]).arg(folder.path().join("data"));
    let (code, stdout, stderr) = run(&mut command, "");
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains(&format!("cannot listen on {address} because another program does")), "{stderr}");
    assert!(stderr.contains("--listen 127.0.0.1:9090"), "{stderr}");
    service.audit();
}

#[test]
fn start_without_signing_key_is_rejected() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let (key, aside) = (service.data().join("signing.key"), service.data().join("aside"));
    std::fs::rename(&key, &aside).unwrap();
    let complaint = refused_start(&service.data(), &[]);
    assert!(complaint.contains("signing.key") && complaint.contains("put the key back"), "{complaint}");
    assert!(!key.exists(), "no other key takes its place");
    std::fs::rename(&aside, &key).unwrap();
    service.start_again();
    service.audit();
}

#[test]
fn demo_is_loaded_only_once() {
    let mut service = Service::with(&["--demo"]);
    let count = |service: &Service| service.get("/timeline/demo", &[])["events"].as_u64().unwrap();
    let events = count(&service);
    assert!(events >= 150, "{events}");
    let found = service.find_all("demo", "*", "../..", "1000");
    let with = |name: &str| found.iter().filter(|event| event.get(name).is_some()).count();
    assert_eq!(found.len() as u64, events);
    assert!(with("geo") > 100 && with("causes") > 30, "{} with a place, {} with causes", with("geo"), with("causes"));
    let all = ("time_range", "../..");
    let found = service.get("/v1/monitor-paradox", &[("timeline_id", "demo"), all]);
    let paradoxes = found["paradoxes"].as_array().unwrap();
    assert_eq!(paradoxes.len(), 1, "{found}");
    assert_eq!((paradoxes[0]["code"].as_str(), paradoxes[0]["grade"].as_str()), (Some("P01"), Some("definite")));
    let anchors = service.get("/v1/anchors", &[("timeline_id", "demo")]);
    assert_eq!(anchors["anchors"][0]["description"], "The eve of Sarajevo");
    // Timers are armed, and their queues have no listeners.
    let timers = service.get("/v1/timers", &[("timeline_id", "demo")]);
    let timers = timers["timers"].as_array().unwrap();
    assert_eq!(timers.len(), 5, "{timers:?}");
    assert!(timers.iter().all(|timer| timer["state"] == "armed"), "{timers:?}");
    let ids: Vec<_> = timers.iter().filter_map(|timer| timer["timer_id"].as_str()).collect();
    assert_eq!(ids.last(), Some(&"halley-returns"), "the next one comes first: {ids:?}");
    // On the fork one event is canceled, its effects have lost their cause, and another one happens.
    let orphans = service.get("/v1/monitor-paradox", &[("timeline_id", "demo-no-sarajevo"), ("kinds", "P05"), all]);
    assert_eq!(orphans["paradoxes"].as_array().unwrap().len(), 1, "{orphans}");
    let diff = service.get("/timelines/diff", &[("base", "demo"), ("compare", "demo-no-sarajevo")]);
    assert_eq!(diff["differences"].as_array().unwrap().len(), 2, "{diff}");
    service.restart();
    assert_eq!(count(&service), events);
    service.audit();
}

//! The process: startup, files and shutdown.

mod compact;
mod deploy;
mod disk_full;
mod earlier;
mod kept_checkpoints;
mod migrate;
mod postgres;
mod rejected_starts;
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
use std::process::Command;

use serde_json::json;

use crate::support::http::Request;
use crate::support::service::{Process, Service, fails, timenav};

/// Returns the permissions of a file.
fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Returns a section of `docs/operations.md`.
fn section(title: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, rest) = document.split_once(&format!("\n## {title}\n")).expect("there is such a section");
    rest.split("\n## ").next().unwrap().to_owned()
}

/// Copies a folder like `cp -a`.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// Runs `serve` on a folder where it fails, and returns its stderr.
pub(crate) fn refused_start(data: &Path, arguments: &[&str]) -> String {
    let mut command = timenav();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(arguments);
    let stderr = fails(&mut command, 1, "error: ");
    stderr[stderr.find("error: ").unwrap()..].to_owned()
}

#[test]
fn first_start_writes_private_files_and_does_not_log_the_key() {
    let mut service = Service::start();
    let (log, file) = (service.log_text(), service.data().join("admin.key"));
    let written = format!("first start: wrote the API key of operator `admin` to {}", file.display());
    assert!(log.contains(&written) && !log.contains(&service.admin), "{log}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{}\n", service.admin));
    let users = service.get("/v1/users", &[])["users"].clone();
    assert_eq!((&users[0]["user_id"], &users[0]["operator"]), (&json!("admin"), &json!(true)));
    assert_eq!(mode(&service.data()), 0o700);
    for entry in std::fs::read_dir(service.data()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
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
fn demo_is_loaded_only_once() {
    let mut service = Service::with(&["--demo"]);
    let (all, demo) = (("time_range", "../.."), ("timeline_id", "demo"));
    let count = |service: &Service| service.get("/timeline/demo", &[])["events"].as_u64().unwrap();
    let events = count(&service);
    let found = service.find_all("demo", "*", "../..", "1000");
    let with = |name: &str| found.iter().filter(|event| event.get(name).is_some()).count();
    assert!(found.len() >= 150 && found.len() as u64 == events, "{} {events}", found.len());
    assert!(with("geo") > 100 && with("causes") > 30, "{} with a place, {} with causes", with("geo"), with("causes"));
    let found = service.get("/v1/monitor-paradox", &[demo, all]);
    let paradoxes = found["paradoxes"].as_array().unwrap();
    assert_eq!(paradoxes.len(), 1, "{found}");
    assert_eq!((paradoxes[0]["code"].as_str(), paradoxes[0]["grade"].as_str()), (Some("P01"), Some("definite")));
    assert_eq!(service.get("/v1/anchors", &[demo])["anchors"][0]["description"], "The eve of Sarajevo");
    // Timers are armed, and their queues have no listeners.
    let timers = service.get("/v1/timers", &[demo])["timers"].as_array().unwrap().clone();
    assert!(timers.len() == 5 && timers.iter().all(|timer| timer["state"] == "armed"), "{timers:?}");
    assert_eq!(timers[4]["timer_id"], "halley-returns", "the next one comes first: {timers:?}");
    // On the fork one event is canceled, its effects have lost their cause, and another one happens.
    let orphans = service.get("/v1/monitor-paradox", &[("timeline_id", "demo-no-sarajevo"), ("kinds", "P05"), all]);
    assert_eq!(orphans["paradoxes"].as_array().unwrap().len(), 1, "{orphans}");
    let diff = service.get("/timelines/diff", &[("base", "demo"), ("compare", "demo-no-sarajevo")]);
    assert_eq!(diff["differences"].as_array().unwrap().len(), 2, "{diff}");
    service.restart();
    assert_eq!(count(&service), events);
    service.audit();
}

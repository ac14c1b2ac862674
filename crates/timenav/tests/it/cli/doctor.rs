//! `timenav doctor --security`: each check fails and passes on a real folder, configuration and service. Checks for
//! which that is not possible here have unit tests.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::certify;
use crate::support::service::{Process, Service, run, timenav};

/// Runs the command. Returns the exit code and the result of each check.
fn examined(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, BTreeMap<String, Value>) {
    let mut command = timenav();
    command.args(["doctor", "--security", "--json"]).args(arguments).envs(environment.iter().copied());
    let (code, stdout, stderr) = run(&mut command, "");
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    let failed = document["failed"].as_u64().unwrap();
    assert_eq!((code == Some(0), stderr.is_empty()), (failed == 0, failed == 0), "{code:?} {document} {stderr}");
    let checks = document["checks"].as_array().unwrap().iter().map(|check| {
        let name = check["name"].as_str().unwrap().to_owned();
        assert_eq!(check["advice"] == "", check["outcome"] == "ok", "{check}");
        (name, check["outcome"].clone())
    });
    (code, checks.collect())
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Returns all files of a folder with their contents.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    files.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn doctor_checks_running_and_stopped_services() {
    let mut service = Service::start();
    let (data, url) = (service.data().display().to_string(), service.url());
    let look = |data: &str| examined(&["--data", data], &[]).1;
    let (_, seen) = examined(&["--data", &data, "--url", &url], &[("TIMENAV_API_KEY", &service.admin)]);
    for (name, expected) in [
        ("data-folder", "ok"),
        ("file-modes", "ok"),
        ("key-files", "ok"),
        ("admin-key", "warn"),
        ("rotation", "ok"),
        ("checkpoints", "warn"),
        ("database", "ok"),
        ("schema", "ok"),
        ("host-clock", "ok"),
        ("scan", "warn"),
        ("operators", "warn"),
        ("operator-keys", "warn"),
        ("keys", "ok"),
        ("demo", "ok"),
        ("reachable", "ok"),
        ("encrypted", "ok"),
        ("metrics", "warn"),
        ("own-keys", "warn"),
    ] {
        assert_eq!(seen.get(name), Some(&json!(expected)), "{name}: {seen:?}");
    }
    service.user("ada");
    service.post("/v1/users", &json!({ "user_id": "bob", "operator": true }));
    service.post("/v1/detect-tampering", &json!({ "timeline_id": "main", "scan_depth": "quick" }));
    let seen = look(&data);
    assert_eq!((&seen["operators"], &seen["scan"], &seen["keys"]), (&json!("ok"), &json!("ok"), &json!("warn")));
    assert!(service.stop().success());
    let before = contents(&service.data());
    let (_, seen) = examined(&["--data", &data, "--url", &url], &[]);
    assert_eq!(seen["reachable"], "fail");
    assert_eq!(contents(&service.data()), before, "nothing is changed");
    let admin_key = service.data().join("admin.key");
    let aside = std::fs::read(&admin_key).unwrap();
    std::fs::remove_file(&admin_key).unwrap();
    assert_eq!(look(&data)["admin-key"], "ok");
    std::fs::write(&admin_key, aside).unwrap();
    set_mode(&admin_key, 0o644);
    assert_eq!(look(&data)["key-files"], "fail");
    set_mode(&admin_key, 0o600);
    set_mode(&service.data(), 0o755);
    assert_eq!(look(&data)["file-modes"], "fail");
    set_mode(&service.data(), 0o700);
    assert_eq!(look(&data)["file-modes"], "ok");
    service.start_again();
    service.audit();
}

#[test]
fn doctor_detects_a_modified_database() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let data = service.data();
    let aside = contents(&data);
    let change = |statement: &str, name: &str, expected: &str| {
        let database = rusqlite::Connection::open(data.join("timenav.db")).unwrap();
        database.execute_batch(statement).unwrap();
        drop(database);
        let (code, seen) = examined(&["--data", data.to_str().unwrap()], &[]);
        assert_eq!((seen.get(name), code == Some(0)), (Some(&json!(expected)), expected != "fail"), "{seen:?}");
        for (name, bytes) in &aside {
            std::fs::write(data.join(name), bytes).unwrap();
        }
    };
    change("create trigger t after insert on entries begin delete from users; end", "schema", "fail");
    change("create view v as select * from users", "schema", "fail");
    change("update timelines set recorded_at = recorded_at + 86400000000", "host-clock", "fail");
    change("update users set operator = 0", "operators", "fail");
    change("update api_keys set expires_at = created_at + 86400000000", "operator-keys", "ok");
    change("update timelines set timeline_id = 'demo' where timeline_id = 'main'", "demo", "warn");
    std::fs::write(data.join("timenav.db"), "no database").unwrap();
    assert_eq!(examined(&["--data", data.to_str().unwrap()], &[]).1["database"], "fail");
    std::fs::write(data.join("timenav.db"), &aside["timenav.db"]).unwrap();
    service.start_again();
    service.audit();
}

#[test]
fn doctor_reads_settings_as_serve_does() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("nothing").display().to_string();
    let config = folder.path().join("timenav.toml");
    std::fs::write(&config, "listen = \"0.0.0.0:8080\"\nallow_insecure_login = true\ndemo = true\n").unwrap();
    let config = config.to_str().unwrap();
    let (code, seen) = examined(&["--data", &data, "--config", config], &[("TIMENAV_ACCEPT_ROLLBACK", "true")]);
    for (name, expected) in [
        ("listen", "fail"),
        ("allow-insecure-login", "fail"),
        ("accept-rollback", "fail"),
        ("data-folder", "warn"),
        ("service-name", "warn"),
    ] {
        assert_eq!(seen.get(name), Some(&json!(expected)), "{name}: {seen:?}");
    }
    assert_eq!(code, Some(1));
    // A flag overrides the file, as for `serve`.
    let flags = ["--listen", "127.0.0.1:8080", "--allow-insecure-login=false", "--service-name", "time.test"];
    let (code, seen) = examined(&[&["--data", &data, "--config", config][..], &flags].concat(), &[]);
    for name in ["listen", "allow-insecure-login", "accept-rollback", "service-name"] {
        assert_eq!(seen.get(name), Some(&json!("ok")), "{name}: {seen:?}");
    }
    assert_eq!(code, Some(0), "warnings are allowed");
    assert!(!Path::new(&data).exists(), "nothing is made");
}

#[test]
fn doctor_prints_one_line_per_check() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("nothing");
    let (code, stdout, stderr) = run(timenav().args(["doctor", "--security", "--data"]).arg(&data), "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(
        stdout.starts_with("ok    listen: the service listens on 127.0.0.1:8080, on this machine only\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("\nwarn  service-name: no service name is set. Before the first start, choose"),
        "{stdout}"
    );
    assert!(stdout.lines().last().unwrap().ends_with(" 0 failed"), "{stdout}");
    // Security checks only run on request.
    let (code, stdout, stderr) = run(timenav().args(["doctor", "--data"]).arg(&data), "");
    assert!(code == Some(0) && !stdout.contains("service-name"), "{stdout}{stderr}");
}

#[test]
fn doctor_checks_tls_of_running_service() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = certify(folder.path());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let mut process = Process::start_at("https", &data, &log, &arguments);
    let url = format!("https://localhost:{}", process.address.port());
    let data = data.to_str().unwrap();
    let (_, seen) = examined(&["--data", data, "--url", &url, "--ca", arguments[1]], &[]);
    for name in ["reachable", "encrypted", "hsts", "tls-versions"] {
        assert_eq!(seen.get(name), Some(&json!("ok")), "{name}: {seen:?}");
    }
    // Its certificate is not trusted.
    assert_eq!(examined(&["--data", data, "--url", &url], &[]).1["reachable"], "fail");
    set_mode(Path::new(arguments[3]), 0o644);
    assert_eq!(examined(&[&["--data", data][..], &arguments].concat(), &[]).1["tls-key"], "fail");
    set_mode(Path::new(arguments[3]), 0o600);
    assert_eq!(examined(&[&["--data", data][..], &arguments].concat(), &[]).1["tls-key"], "ok");
    process.terminate();
    assert!(process.wait().success());
}

/// Without write permission, the service could not start. Root is not restricted by file modes.
#[test]
fn doctor_detects_an_unwritable_data_folder() {
    let mut service = Service::start();
    service.stop();
    let data = service.data();
    let look = || examined(&["--data", data.to_str().unwrap()], &[]).1["writable"].clone();
    assert_eq!(look(), "ok");
    set_mode(&data, 0o500);
    let is_kept_out = std::fs::write(data.join("tried"), "").is_err();
    let seen = look();
    set_mode(&data, 0o700);
    if is_kept_out {
        assert_eq!(seen, "fail");
    } else {
        println!("skipped: this user may write everywhere");
    }
    service.start_again();
    service.audit();
}

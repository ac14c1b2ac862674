//! `timenav doctor --security`: each check fails and passes on a real folder, configuration and service. Checks for
//! which that is not possible here have unit tests.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::certify;
use crate::support::service::{Process, Service, ends, fails, run, succeeds, timenav};

/// Runs the command. Returns the exit code and the result of each check.
fn examined(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, BTreeMap<String, Value>) {
    let mut command = timenav();
    command.args(["doctor", "--json"]).args(arguments).envs(environment.iter().copied());
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

/// Runs the command on a folder with the checks of security. Returns the result of each check.
fn secured(data: &Path, more: &[&str]) -> BTreeMap<String, Value> {
    examined(&[&["--security", "--data", data.to_str().unwrap()], more].concat(), &[]).1
}

#[track_caller]
fn check_outcomes(seen: &BTreeMap<String, Value>, expected: &[(&str, &str)]) {
    for (outcome, names) in expected {
        for name in names.split(' ') {
            assert_eq!(seen.get(name), Some(&json!(outcome)), "{name}: {seen:?}");
        }
    }
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
    let (data, url) = (service.data(), service.url());
    let named = ["--security", "--data", data.to_str().unwrap(), "--url", &url];
    let health = "data-folder file-modes database host-clock free-space checkpoint-age";
    let (code, seen) = examined(&named[1..3], &[]);
    check_outcomes(&seen, &[("ok", health), ("ok", "service")]);
    assert_eq!(code, Some(0));
    let (_, seen) = examined(&named, &[("TIMENAV_API_KEY", &service.admin)]);
    check_outcomes(
        &seen,
        &[
            (
                "ok",
                "data-folder file-modes key-files rotation database schema host-clock keys demo reachable encrypted",
            ),
            ("warn", "admin-key checkpoints scan operators operator-keys metrics own-keys"),
        ],
    );
    service.user("ada");
    service.post("/v1/users", &json!({ "user_id": "bob", "operator": true }));
    service.post("/v1/detect-tampering", &json!({ "timeline_id": "main", "scan_depth": "quick" }));
    check_outcomes(&secured(&data, &[]), &[("ok", "operators scan"), ("warn", "keys")]);
    assert!(service.stop().success());
    let before = contents(&data);
    check_outcomes(&secured(&data, &named[3..]), &[("fail", "reachable")]);
    check_outcomes(&examined(&named[1..3], &[]).1, &[("ok", health), ("warn", "service")]);
    assert_eq!(contents(&data), before, "nothing is changed");
    let admin_key = data.join("admin.key");
    let key = std::fs::read(&admin_key).unwrap();
    std::fs::remove_file(&admin_key).unwrap();
    check_outcomes(&secured(&data, &[]), &[("ok", "admin-key")]);
    std::fs::write(&admin_key, key).unwrap();
    // Without write permission, the service could not start. Root is not restricted by file modes.
    set_mode(&data, 0o500);
    let is_restricted =
        std::fs::write(data.join("tried"), "").and_then(|()| std::fs::remove_file(data.join("tried"))).is_err();
    for (path, mode, own_mode, name) in [
        (&admin_key, 0o644, 0o600, "key-files"),
        (&data.join("timenav.db"), 0o644, 0o600, "file-modes"),
        (&data, 0o755, 0o700, "file-modes"),
        (&data, 0o500, 0o700, "writable"),
    ] {
        set_mode(&data, 0o700);
        set_mode(path, mode);
        let expected = if name == "writable" && !is_restricted { "ok" } else { "fail" };
        check_outcomes(&secured(&data, &[]), &[(expected, name)]);
        set_mode(path, own_mode);
        check_outcomes(&secured(&data, &[]), &[("ok", name)]);
    }
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
        check_outcomes(&secured(&data, &[]), &[(expected, name)]);
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
    check_outcomes(&secured(&data, &[]), &[("fail", "database")]);
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
    let named = ["--security", "--data", &data, "--config", config];
    let (code, seen) = examined(&named, &[("TIMENAV_ACCEPT_ROLLBACK", "true")]);
    check_outcomes(
        &seen,
        &[("fail", "listen allow-insecure-login accept-rollback"), ("warn", "data-folder service-name")],
    );
    assert_eq!(code, Some(1));
    // A flag overrides the file, as for `serve`.
    let flags = ["--listen", "127.0.0.1:8080", "--allow-insecure-login=false", "--service-name", "time.test"];
    let (code, seen) = examined(&[&named[..], &flags].concat(), &[]);
    check_outcomes(&seen, &[("ok", "listen allow-insecure-login accept-rollback service-name")]);
    assert_eq!(code, Some(0), "warnings are allowed");
    assert!(!Path::new(&data).exists(), "nothing is made");
}

#[test]
fn doctor_prints_one_line_per_check() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("nothing");
    let stdout = succeeds(timenav().args(["doctor", "--security", "--data"]).arg(&data));
    let first = "ok    listen: the service listens on 127.0.0.1:8080, on this machine only\n";
    let name = "\nwarn  service-name: no service name is set. Before the first start, choose";
    assert!(stdout.starts_with(first) && stdout.contains(name), "{stdout}");
    assert!(stdout.lines().last().unwrap().ends_with(" 0 failed"), "{stdout}");
    // Security checks only run on request.
    assert!(!succeeds(timenav().args(["doctor", "--data"]).arg(&data)).contains("service-name"));
}

#[test]
fn doctor_checks_tls_of_running_service() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = certify(folder.path());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let mut process = Process::start_at("https", &data, &log, &arguments);
    let url = format!("https://localhost:{}", process.address.port());
    let seen = secured(&data, &["--url", &url, "--ca", arguments[1]]);
    check_outcomes(&seen, &[("ok", "reachable encrypted hsts tls-versions")]);
    // Its certificate is not trusted.
    check_outcomes(&secured(&data, &["--url", &url]), &[("fail", "reachable")]);
    for (mode, expected) in [(0o644, "fail"), (0o600, "ok")] {
        set_mode(Path::new(arguments[3]), mode);
        check_outcomes(&secured(&data, &arguments), &[(expected, "tls-key")]);
    }
    process.terminate();
    assert!(process.wait().success());
}

/// Each obstacle to starting is reported as a failure; the folder is restored afterwards.
#[test]
fn doctor_reports_each_obstacle_to_starting() {
    let mut service = Service::start();
    service.stop();
    let data = service.data();
    let check_failure = |name: &str, expected: &str| {
        let output = ends(timenav().args(["doctor", "--data"]).arg(&data), 1);
        let line = output.lines().find(|line| line.starts_with(&format!("fail  {name}: ")));
        assert!(line.is_some_and(|line| line.contains(expected)), "{name}: {output}");
    };
    let [key, aside] = ["signing.key", "signing.key.aside"].map(|name| data.join(name));
    std::fs::rename(&key, &aside).unwrap();
    check_failure("signing-key", "signing.key cannot be read");
    std::fs::rename(&aside, &key).unwrap();

    let checkpoints = data.join("checkpoints.log");
    let stored = std::fs::read(&checkpoints).unwrap();
    for garbage in [vec![7; 1000], b"\x07\n".repeat(500)] {
        std::fs::write(&checkpoints, garbage).unwrap();
        check_failure("checkpoint-age", "checkpoints.log cannot be read");
    }
    std::fs::write(&checkpoints, stored).unwrap();

    let verify = |words: &str| fails(timenav().args(["verify", "--data"]).arg(&data), 1, words);
    std::fs::create_dir(data.join("restoring")).unwrap();
    check_failure("unfinished", "was interrupted: empty the folder, and run timenav restore again");
    verify("was interrupted: empty the folder");
    std::fs::remove_dir(data.join("restoring")).unwrap();

    let [database, moving] = ["timenav.db", "timenav.db.moving"].map(|name| data.join(name));
    std::fs::rename(&database, &moving).unwrap();
    check_failure("unfinished", "run the same `timenav migrate` again");
    verify("run the same `timenav migrate` again");
    std::fs::rename(&moving, &database).unwrap();
    service.start_again();
    service.audit();
}

//! `docs/operations.md`, followed word for word: backup and restore, and the rotation of keys.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::refused_start;
use crate::http::{Connection, Request};
use crate::service::{Process, Service, run, timenav};

/// Events that are recorded before a backup begins, and must be in it.
const EVENTS_BEFORE: u64 = 300;
const PASSWORD: &str = "correct horse battery staple";

/// Returns a section of the document.
pub(super) fn section(title: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, rest) = document.split_once(&format!("\n## {title}\n")).expect("there is such a section");
    rest.split("\n## ").next().unwrap().to_owned()
}

/// Returns the commands by which a running service is backed up: those of the block, and those
/// with the other way to copy the database.
fn backup_commands() -> [Vec<String>; 2] {
    let text = section("Backup");
    let block: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("$ ").map(str::to_owned)).collect();
    let other = text.split('`').find(|code| code.starts_with("sqlite3 ")).expect("there is another way").to_owned();
    assert_eq!(block.len(), 2, "{block:?}");
    [block.clone(), vec![block[0].clone(), other]]
}

/// Runs a command of the document in a folder. Returns whether what it needs is on this machine.
fn follow(command: &str, folder: &Path) -> bool {
    if command.starts_with("sqlite3 ") && Command::new("sqlite3").arg("--version").output().is_err() {
        // The statement is what is told; the program around it is not there.
        let Some((_, statement)) = command.split_once('"').filter(|(_, rest)| rest.starts_with("VACUUM")) else {
            println!("skipped: `{command}` needs sqlite3");
            return false;
        };
        let statement = statement.trim_end_matches('"').replace("'backup", &format!("'{}/backup", folder.display()));
        rusqlite::Connection::open(folder.join("timenav.db")).unwrap().execute(&statement, []).unwrap();
        return true;
    }
    let output = Command::new("/bin/sh").args(["-c", command]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

fn event(name: &str) -> Value {
    json!({ "event_id": name, "time": "2001-01-01T00:00:00Z" })
}

/// Records events until it is told to stop, and asks for one backup meanwhile.
fn back_up_while_writing(service: &Service, commands: &[String]) -> bool {
    let done = AtomicBool::new(false);
    let recorded = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut connection = service.connect();
            while !done.load(Ordering::SeqCst) {
                let request =
                    service.signed(Request::post("/v1/events").json(&json!({ "time": "2001-01-01T00:00:00Z" })));
                assert_eq!(connection.exchange(&request).unwrap().status, 201);
                recorded.fetch_add(1, Ordering::SeqCst);
            }
        });
        // The backup begins in the midst of writing.
        while recorded.load(Ordering::SeqCst) < 10 {
            std::thread::yield_now();
        }
        let followed = commands.iter().map(|command| follow(command, &service.data())).filter(|done| *done).count();
        done.store(true, Ordering::SeqCst);
        writer.join().unwrap();
        followed == commands.len()
    })
}

/// Runs `timenav verify` on a folder, with the key and the checkpoint that were kept.
fn verifies(data: &Path, key: &Path, checkpoint: &Path) {
    let mut command = timenav();
    command.arg("verify").arg("--data").arg(data).arg("--key").arg(key).arg("--checkpoint").arg(checkpoint);
    let (code, stdout, stderr) = run(&mut command, "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains("3 checkpoints"), "the kept one, the one outside and the one inside: {stdout}");
}

#[test]
fn a_backup_of_a_running_service_restores_and_verifies() {
    for commands in backup_commands() {
        let service = Service::start();
        let events: Vec<Value> = (0..EVENTS_BEFORE).map(|number| event(&format!("before-{number}"))).collect();
        service.post("/v1/events", &events.into());
        service.user("ada");
        service.set_password("ada", PASSWORD);
        let cookie = service.log_in("ada", PASSWORD);
        // What the document says to keep away from the machine: the key, and a checkpoint.
        let away = tempfile::tempdir().unwrap();
        let (key, kept) = (away.path().join("key"), away.path().join("checkpoint"));
        let request = Request::get("/timeline/main/checkpoint").header("Accept", "application/json");
        let answer = service.send(request).expect(200);
        std::fs::write(&key, answer["verifier_key"].as_str().unwrap()).unwrap();
        std::fs::write(&kept, answer["checkpoint"].as_str().unwrap()).unwrap();

        let backup = service.data().join("backup");
        std::fs::create_dir(&backup).unwrap();
        if !back_up_while_writing(&service, &commands) {
            service.audit();
            continue;
        }
        // Into an empty folder with mode 0700: the database, the signing key, the checkpoints.
        let restored = away.path().join("restored");
        std::fs::create_dir(&restored).unwrap();
        std::fs::set_permissions(&restored, Permissions::from_mode(0o700)).unwrap();
        for (from, name) in [(&backup, "timenav.db"), (&backup, "checkpoints.log"), (&service.data(), "signing.key")] {
            std::fs::copy(from.join(name), restored.join(name)).unwrap();
            std::fs::set_permissions(restored.join(name), Permissions::from_mode(0o600)).unwrap();
        }
        verifies(&restored, &key, &kept);
        let log = away.path().join("log");
        let mut process = Process::start(&restored, &log, &[]);
        let send = |request: Request| {
            let mut connection = Connection::open(process.address).unwrap();
            connection.exchange(&service.signed(request)).unwrap()
        };
        let query = "/v1/monitor-events?location=*&time_range=../..&limit=1000";
        let found = send(Request::get(query)).expect(200)["events"].as_array().unwrap().clone();
        let before = found.iter().filter(|event| event["event_id"].as_str().unwrap().starts_with("before-")).count();
        assert_eq!(before as u64, EVENTS_BEFORE);
        send(Request::post("/v1/events").json(&event("after"))).expect(201);
        // Who was logged in is, and others log in.
        assert_eq!(send(Request::get("/v1/session").session(&cookie)).expect(200)["user_id"], "ada");
        let log_in = Request::post("/v1/log-in").json(&json!({ "user_id": "ada", "password": PASSWORD }));
        send(log_in.header("Host", "127.0.0.1").anonymous()).expect(200);
        for timeline in ["main", "system"] {
            let scan = Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": timeline }));
            assert_eq!(send(scan).expect(200)["tampering_detected"], false);
        }
        process.terminate();
        assert!(process.wait().success());
        let said = std::fs::read_to_string(&log).unwrap();
        assert!(!said.contains("ERROR"), "{said}");
        verifies(&restored, &key, &kept);
        service.audit();
    }
}

#[test]
fn a_copy_of_the_whole_folder_of_a_stopped_service_is_a_backup() {
    assert!(section("Backup").contains("**With the service stopped:** copy the whole data folder."));
    let mut service = Service::start();
    service.post("/v1/events", &event("before"));
    assert!(service.stop().success());
    let away = tempfile::tempdir().unwrap();
    let copy = away.path().join("copy");
    assert!(Command::new("cp").arg("-a").arg(service.data()).arg(&copy).status().unwrap().success());
    // Lost, and put back.
    std::fs::remove_dir_all(service.data()).unwrap();
    assert!(Command::new("cp").arg("-a").arg(&copy).arg(service.data()).status().unwrap().success());
    service.start_again();
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    service.post("/v1/events", &event("after"));
    service.audit();
}

#[test]
fn an_api_key_is_rotated_without_a_moment_without_one() {
    let text = section("Keys");
    assert!(text.contains("To rotate: make the new one, deploy it, revoke the old one."), "{text}");
    let service = Service::start();
    let key = |arguments: &[&str], secret: &str| -> Value {
        let mut command = timenav();
        command.arg("key").args(arguments).args(["--url", &service.url(), "--json"]).env("TIMENAV_API_KEY", secret);
        let (code, stdout, stderr) = run(&mut command, "");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}");
        serde_json::from_str(&stdout).unwrap()
    };
    let asks = |secret: &str| service.send(Request::get("/v1/clock").key(secret)).status;
    service.post("/v1/users", &json!({ "user_id": "ada", "operator": true }));
    let old = key(&["create", "--user", "ada", "--label", "old"], &service.admin);
    let old_secret = old["api_key"].as_str().unwrap();
    // The user makes the new one with the old one; both work until the old one is revoked.
    let new = key(&["create", "--label", "new"], old_secret);
    let new_secret = new["api_key"].as_str().unwrap();
    assert_eq!((asks(old_secret), asks(new_secret)), (200, 200));
    key(&["revoke", old["key_id"].as_str().unwrap()], new_secret);
    assert_eq!((asks(old_secret), asks(new_secret)), (401, 200), "from the next request on");
    let live = key(&["list", "--user", "ada"], new_secret);
    let listed: Vec<&Value> = live["api_keys"].as_array().unwrap().iter().map(|one| &one["key_id"]).collect();
    assert!(listed.contains(&&new["key_id"]), "{live}");
    service.audit();
}

/// Whoever can write into the folder, and has not the key, cannot give its place to one of their own.
#[test]
fn another_signing_key_is_refused_and_the_right_one_goes_on() {
    let mut service = Service::start();
    let mut other = Service::start();
    assert!(service.stop().success() && other.stop().success());
    let (key, aside) = (service.data().join("signing.key"), service.data().join("aside"));
    std::fs::rename(&key, &aside).unwrap();
    std::fs::copy(other.data().join("signing.key"), &key).unwrap();
    for arguments in [&[][..], &["--accept-rollback"]] {
        let complaint = refused_start(&service.data(), arguments);
        assert!(complaint.contains("main") || complaint.contains("system"), "{complaint}");
    }
    std::fs::rename(&aside, &key).unwrap();
    service.start_again();
    service.audit();
    other.start_again();
    other.audit();
}

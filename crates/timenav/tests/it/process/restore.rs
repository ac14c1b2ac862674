//! `timenav backup` and `timenav restore`: complete, interrupted, without space, tampered with, and with other keys.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{mode, refused_start, section};
use crate::ledger;
use crate::support::http::{Connection, Request};
use crate::support::service::{Process, Service, ends, fails, succeeds, timenav};

/// Events recorded before a backup starts, which must be in it.
const EVENTS_BEFORE: usize = 1_000;
const PASSWORD: &str = "correct horse battery staple";

/// A separate folder for backups and restored data.
struct Away(tempfile::TempDir);

impl Away {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the file names in the folder.
    fn names(&self) -> BTreeSet<String> {
        names(self.0.path())
    }

    /// Saves the public key of `main` and its newest checkpoint.
    fn keep(&self, service: &Service, name: &str) -> [PathBuf; 2] {
        let [key, checkpoint] = [self.path("main.key"), self.path(name)];
        std::fs::write(&key, ledger::verifier_key("timenav.local/main", &service.public_key)).unwrap();
        let request = Request::get("/timeline/main/checkpoint").header("Accept", "text/plain");
        std::fs::write(&checkpoint, service.send(request).body).unwrap();
        [key, checkpoint]
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn backup(data: &Path, to: &Path, arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.arg("backup").arg("--data").arg(data).arg("--to").arg(to).args(arguments);
    command
}

#[track_caller]
fn backed_up(data: &Path, to: &Path, arguments: &[&str]) -> String {
    succeeds(&mut backup(data, to, arguments))
}

fn restore(from: &Path, data: &Path, arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.arg("restore").arg("--from").arg(from).arg("--data").arg(data).args(arguments);
    command
}

/// Restores a backup with the keys of a folder.
#[track_caller]
fn restored(from: &Path, data: &Path, keys: &Path) -> String {
    succeeds(&mut restore(from, data, &["--keys", text(keys)]))
}

/// Runs a restore that fails and leaves nothing but locks. Returns its stderr.
#[track_caller]
fn refused(from: &Path, data: &Path, arguments: &[&str]) -> String {
    let stderr = fails(&mut restore(from, data, arguments), 1, "");
    for name in ["timenav.db", "checkpoints.log", "restoring"] {
        assert!(!data.join(name).exists(), "{name}: {stderr}");
    }
    stderr
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn event(name: &str) -> Value {
    json!({ "event_id": name, "time": "2001-01-01T00:00:00Z" })
}

/// Returns the command that verifies a folder with the saved key and checkpoint.
fn verify(data: &Path, [key, checkpoint]: &[PathBuf; 2]) -> Command {
    let mut command = timenav();
    command.arg("verify").arg("--data").arg(data).arg("--key").arg(key).arg("--checkpoint").arg(checkpoint);
    command
}

/// Sends a request to another process with the operator's key of a service.
fn send(process: &Process, service: &Service, request: Request) -> crate::support::http::Answer {
    let mut connection = Connection::open(process.address).unwrap();
    connection.exchange(&service.signed(request)).unwrap()
}

fn events_of(process: &Process, service: &Service) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/monitor-events?location=*&time_range=../..&limit=1000{cursor}");
        let page = send(process, service, Request::get(&path)).expect(200);
        let ids = page["events"].as_array().unwrap().iter().map(|event| event["event_id"].as_str().unwrap().to_owned());
        found.extend(ids);
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

/// Records events continuously until the work is done. Returns its result and the events.
fn while_writing<T>(service: &Service, work: impl FnOnce() -> T) -> (T, BTreeSet<String>) {
    let (done, recorded) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut connection, mut names) = (service.connect(), BTreeSet::new());
            while !done.load(Ordering::SeqCst) {
                let name = format!("during-{}", names.len());
                let request = service.signed(Request::post("/v1/events").json(&event(&name)));
                assert_eq!(connection.exchange(&request).unwrap().status, 201);
                names.insert(name);
                recorded.fetch_add(1, Ordering::SeqCst);
            }
            names
        });
        while recorded.load(Ordering::SeqCst) < 10 {
            std::thread::yield_now();
        }
        let result = work();
        done.store(true, Ordering::SeqCst);
        (result, writer.join().unwrap())
    })
}

#[test]
fn backup_of_running_service_restores_and_verifies() {
    let service = Service::start();
    let away = Away::new();
    let before: BTreeSet<String> = (0..EVENTS_BEFORE).map(|number| format!("before-{number}")).collect();
    service.post("/v1/events", &before.iter().map(|name| event(name)).collect());
    service.user("ada");
    service.set_password("ada", PASSWORD);
    let cookie = service.log_in("ada", PASSWORD);
    let stored = away.keep(&service, "before");
    let file = away.path("timenav.backup");
    let (output, during) = while_writing(&service, || backed_up(&service.data(), &file, &[]));
    assert!(output.contains("was written and checked") && output.contains("also keep"), "{output}");
    assert_eq!(mode(&file), 0o600);
    assert_eq!(away.names(), ["before", "main.key", "timenav.backup"].map(str::to_owned).into());
    let later = away.keep(&service, "later");

    let data = away.path("restored");
    let output = restored(&file, &data, &service.data());
    assert!(output.contains("was restored") && output.contains("is missing"), "{output}");
    assert_eq!(mode(&data), 0o700);
    for name in names(&data) {
        assert_eq!(mode(&data.join(&name)), 0o600, "{name}");
    }
    let stdout = succeeds(&mut verify(&data, &stored));
    assert!(stdout.contains("3 checkpoints"), "the kept one, the one outside and the one inside: {stdout}");
    // A later checkpoint shows that the history was rolled back.
    let output = ends(&mut verify(&data, &later), 7);
    assert!(output.contains("rollback"), "{output}");

    let log = away.path("log");
    let mut process = Process::start(&data, &log, &[]);
    let found = events_of(&process, &service);
    assert!(found.is_superset(&before), "{} of {}", found.intersection(&before).count(), before.len());
    let all = &before | &during;
    assert!(found.is_subset(&all), "{:?}", &found - &all);
    send(&process, &service, Request::post("/v1/events").json(&event("after"))).expect(201);
    // Existing sessions are valid, and users can log in.
    assert_eq!(send(&process, &service, Request::get("/v1/session").session(&cookie)).expect(200)["user_id"], "ada");
    let login = Request::post("/v1/login").json(&json!({ "user_id": "ada", "password": PASSWORD }));
    send(&process, &service, login.header("Host", "127.0.0.1").anonymous()).expect(200);
    for timeline in ["main", "system"] {
        let scan = Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": timeline }));
        assert_eq!(send(&process, &service, scan).expect(200)["tampering_detected"], false);
    }
    process.terminate();
    assert!(process.wait().success());
    let output = std::fs::read_to_string(&log).unwrap();
    assert!(!output.contains("ERROR") && !output.contains("WARN"), "{output}");
    ends(&mut verify(&data, &stored), 0);
    service.audit();
}

#[test]
fn backup_of_stopped_or_killed_service_changes_nothing() {
    let mut service = Service::start();
    let away = Away::new();
    for (round, is_killed) in [false, true].into_iter().enumerate() {
        let name = format!("event-{round}");
        service.post("/v1/events", &event(&name));
        if is_killed {
            service.kill();
        } else {
            assert!(service.stop().success());
        }
        let state = || {
            let read = |name: &String| (name.clone(), std::fs::read(service.data().join(name)).unwrap());
            // The index of the write-ahead log is rebuilt after a crash.
            names(&service.data()).iter().filter(|name| !name.ends_with("-shm")).map(read).collect::<Vec<_>>()
        };
        let before = state();
        let file = away.path(&format!("{round}.backup"));
        let output = backed_up(&service.data(), &file, &["--json", "--depth", "full"]);
        let output: Value = serde_json::from_str(&output).unwrap();
        assert_eq!((&output["keys"], &output["not_checked"]), (&json!([]), &json!([])), "{output:#}");
        assert!(state() == before, "{:?}", names(&service.data()));
        let data = away.path(&format!("{round}.data"));
        restored(&file, &data, &service.data());
        let log = away.path("log");
        let process = Process::start(&data, &log, &[]);
        assert!(events_of(&process, &service).contains(&name), "{round}");
        process.kill();
        service.start_again();
    }
    service.audit();
}

#[test]
fn killed_backup_leaves_no_file_and_next_succeeds() {
    let service = Service::start();
    let events: Vec<Value> = (0..EVENTS_BEFORE).map(|number| event(&format!("event-{number}"))).collect();
    service.post("/v1/events", &events.into());
    let away = Away::new();
    let file = away.path("x.backup");
    let work = away.path("x.backup.unfinished");
    let mut cut_off = 0;
    for mark in ["lock", "timenav.db", "checkpoints.log", "unfinished"].iter().cycle().take(12) {
        let mut command = backup(&service.data(), &file, &[]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !work.join(mark).exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        let is_killed = child.wait().unwrap().signal().is_some();
        if !file.exists() {
            assert!(is_killed, "it ended by itself and wrote nothing");
            cut_off += 1;
            continue;
        }
        // It was killed too late, or not at all: the final file is complete.
        restored(&file, &away.path("whole"), &service.data());
        std::fs::remove_dir_all(away.path("whole")).unwrap();
        std::fs::remove_file(&file).unwrap();
    }
    assert!(cut_off > 0, "else nothing is tried");
    backed_up(&service.data(), &file, &[]);
    assert_eq!(away.names(), ["x.backup".to_owned()].into());
    service.audit();
}

#[test]
fn killed_restore_leaves_no_service_and_can_be_repeated() {
    let service = Service::start();
    let away = Away::new();
    let file = away.path("x.backup");
    let events: Vec<Value> = (0..EVENTS_BEFORE).map(|number| event(&format!("event-{number}"))).collect();
    service.post("/v1/events", &events.into());
    backed_up(&service.data(), &file, &["--with-keys"]);
    let mut cut_off = 0;
    for mark in ["restoring", "restoring/timenav.db", "restoring/checkpoints.log", "timenav.db", "checkpoints.log"] {
        let data = away.path("data");
        let mut command = restore(&file, &data, &[]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !data.join(mark).exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        if data.join("restoring").exists() {
            let complaint = refused_start(&data, &[]);
            assert!(complaint.contains("was interrupted"), "killed at {mark}: {complaint}");
            cut_off += 1;
        }
        if !data.join("timenav.db").exists() {
            ends(&mut restore(&file, &data, &[]), 0);
            assert!(!data.join("restoring").exists());
        }
        std::fs::remove_dir_all(&data).unwrap();
    }
    assert!(cut_off > 0, "else nothing is tried");
    service.audit();
}

#[test]
fn backup_without_disk_space_fails_and_leaves_no_file() {
    let service = Service::start();
    let away = Away::new();
    let (file, whole) = (away.path("x.backup"), away.path("whole.backup"));
    backed_up(&service.data(), &whole, &[]);
    let limited = |blocks: u64, command: &Command| {
        let mut limited = Command::new("sh");
        limited.arg("-c").arg(format!("ulimit -f {blocks} && exec \"$0\" \"$@\"")).arg(command.get_program());
        limited.env_clear().args(command.get_args());
        limited
    };
    let bytes = whole.metadata().unwrap().len();
    // Too little space for the database copy, and too little for the final file.
    for blocks in [8, bytes / 512 - 1] {
        let stderr = fails(&mut limited(blocks, &backup(&service.data(), &file, &[])), 1, "cannot be written");
        assert!(stderr.contains("x.backup.unfinished"), "{stderr}");
        assert_eq!(away.names(), ["whole.backup".to_owned()].into());
    }
    let target = away.path("data");
    fails(&mut limited(8, &restore(&whole, &target, &[])), 1, "cannot be copied");
    assert!(!target.join("timenav.db").exists() && !target.join("restoring").exists());
    restored(&whole, &target, &service.data());
    service.audit();
}

#[test]
fn tampered_database_is_not_backed_up() {
    let mut service = Service::start();
    service.post("/v1/events", &event("one"));
    let away = Away::new();
    let file = away.path("x.backup");
    assert!(service.stop().success());
    let database = service.data().join("timenav.db");
    let earlier = std::fs::read(&database).unwrap();
    service.start_again();
    service.post("/v1/events", &event("two"));
    service.remember("main");
    assert!(service.stop().success());
    let untouched = std::fs::read(&database).unwrap();
    for (statement, depth, expected) in [
        (
            "UPDATE timelines SET statement = CAST(replace(CAST(statement AS TEXT), 'local', 'other') AS BLOB)
             WHERE timeline_id = ?1",
            "quick",
            "main",
        ),
        (
            "UPDATE timelines SET statement = (SELECT statement FROM timelines WHERE timeline_id = 'system')
             WHERE timeline_id = ?1",
            "quick",
            "origin-mismatch",
        ),
        ("DELETE FROM timelines WHERE timeline_id = ?1", "quick", "rollback"),
        (
            "UPDATE events SET content = replace(content, 'two', 'six') WHERE content LIKE '%two%' AND ?1 = 'main'",
            "full",
            "state-mismatch",
        ),
    ] {
        service.tamper(statement, "main");
        let stderr = fails(&mut backup(&service.data(), &file, &["--depth", depth]), 7, expected);
        assert!(stderr.contains("tampering or damage"), "{statement}: {stderr}");
        assert_eq!(away.names(), BTreeSet::new(), "{statement}");
        std::fs::write(&database, &untouched).unwrap();
    }
    // An older copy of the database is detected by the external checkpoints.
    std::fs::write(&database, &earlier).unwrap();
    fails(&mut backup(&service.data(), &file, &[]), 7, "rollback");
    // A database with foreign objects is not copied.
    std::fs::write(&database, &untouched).unwrap();
    rusqlite::Connection::open(&database).unwrap().execute_batch("CREATE TABLE foreign_one (a)").unwrap();
    fails(&mut backup(&service.data(), &file, &[]), 1, "`foreign_one` is not part of timenav's schema");
    assert_eq!(away.names(), BTreeSet::new());
    std::fs::write(&database, &untouched).unwrap();
    service.start_again();
    service.audit();
}

/// Tests of the packer modify each part of the file and its manifest.
#[test]
fn truncated_or_modified_backup_is_not_restored() {
    let service = Service::start();
    service.post("/v1/events", &event("one"));
    let away = Away::new();
    let (file, changed, data) = (away.path("x.backup"), away.path("changed"), away.path("data"));
    backed_up(&service.data(), &file, &["--with-keys"]);
    let whole = std::fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&changed, bytes).unwrap();
        refused(&changed, &data, &[])
    };
    let check = |bytes: &[u8], expected: &str| {
        let complaint = refused(bytes);
        assert!(complaint.contains(expected), "{expected}: {complaint}");
    };
    for length in [0, 1, 513, whole.len() / 2, whole.len() - 1_025, whole.len() - 1] {
        let complaint = refused(&whole[..length]);
        assert!(complaint.contains("cut off") || complaint.contains("is damaged"), "{length}: {complaint}");
    }
    check(&[&whole[..], &[0; 512]].concat(), "has data after its end");
    let position = |text: &str| memchr::memmem::rfind(&whole, text.as_bytes()).unwrap_or_else(|| panic!("no {text}"));
    for (at, expected) in [
        (512 + 5_000, "`timenav.db` differs from its digest"),
        (position("timenav.local/main"), "`checkpoints.log` differs from its digest"),
        (position("PRIVATE+KEY+") + 30, "`signing.key` differs from its digest"),
        (position("\nmade 2") + 7, "is not signed by its key"),
        (0, "is damaged"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        check(&bytes, expected);
    }
    check("something other than a tar, longer than a block ".repeat(20).as_bytes(), "not a timenav backup");
    // The unmodified backup is restored into the same folder.
    std::fs::write(&changed, &whole).unwrap();
    ends(&mut restore(&changed, &data, &[]), 0);
    service.audit();
}

#[test]
fn backup_and_restore_overwrite_nothing() {
    let mut service = Service::start();
    let away = Away::new();
    let (file, data) = (away.path("x.backup"), away.path("data"));
    std::fs::write(&file, "precious").unwrap();
    std::fs::create_dir(away.path("folder")).unwrap();
    for (to, expected) in [
        (file.clone(), "already exists"),
        (away.path("folder"), "is a folder"),
        (away.path("nowhere/x.backup"), "there is no folder"),
    ] {
        fails(&mut backup(&service.data(), &to, &[]), 1, expected);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    std::fs::remove_file(&file).unwrap();
    // An existing folder with the name of the work folder is kept.
    let work = away.path("x.backup.unfinished");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("precious"), "precious").unwrap();
    backed_up(&service.data(), &file, &[]);
    assert_eq!(names(&work), ["precious".to_owned()].into());
    fails(&mut backup(&away.path("folder"), &away.path("y.backup"), &[]), 1, "there is no database in");

    fails(&mut restore(&file, &service.data(), &[]), 1, "is in use by another timenav process");
    assert!(service.stop().success());
    fails(&mut restore(&file, &service.data(), &[]), 1, "is not empty");
    service.start_again();
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("notes.txt"), "precious").unwrap();
    let complaint = refused(&file, &data, &["--keys", text(&service.data())]);
    assert!(complaint.contains("is not empty: it contains notes.txt"), "{complaint}");
    assert!(!data.join("signing.key").exists());
    std::fs::remove_file(data.join("notes.txt")).unwrap();
    restored(&file, &data, &service.data());
    service.audit();
}

#[test]
fn restore_accepts_only_matching_keys_from_file_or_folder() {
    let service = Service::start();
    let other = Service::start();
    let away = Away::new();
    let (plain, with_keys) = (away.path("plain.backup"), away.path("keys.backup"));
    let output = backed_up(&service.data(), &plain, &[]);
    assert!(output.contains(&format!("{}/signing.key", service.data().display())), "{output}");
    let secret = std::fs::read_to_string(service.data().join("signing.key")).unwrap();
    let holds =
        |path: &Path, piece: &str| memchr::memmem::find(&std::fs::read(path).unwrap(), piece.as_bytes()).is_some();
    assert!(!holds(&plain, secret.trim_end()) && !holds(&plain, &service.admin));
    let output = backed_up(&service.data(), &with_keys, &["--with-keys"]);
    assert!(
        output.contains("it contains signing.key, admin.key, so anyone who can read it controls the service"),
        "{output}"
    );
    assert!(holds(&with_keys, secret.trim_end()) && holds(&with_keys, &service.admin));
    assert_eq!((mode(&plain), mode(&with_keys)), (0o600, 0o600));

    // Without keys the folder is restored, but does not start before its key is there.
    let data = away.path("without");
    let output = ends(&mut restore(&plain, &data, &[]), 0);
    for words in
        ["give the key that you trust with --key", "Put the signing key whose public half is ", "there as signing.key"]
    {
        assert!(output.contains(words), "{words}: {output}");
    }
    assert!(refused_start(&data, &[]).contains("put the key back"));
    std::fs::copy(service.data().join("signing.key"), data.join("signing.key")).unwrap();
    // Existing keys are kept, and missing ones are taken from the backup.
    let there = away.path("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::copy(service.data().join("signing.key"), there.join("signing.key")).unwrap();
    succeeds(&mut restore(&plain, &there, &[]));
    let [key, _] = away.keep(&service, "checkpoint");
    let from_file = away.path("from-file");
    succeeds(&mut restore(&with_keys, &from_file, &["--key", text(&key)]));
    assert_eq!(std::fs::read_to_string(from_file.join("admin.key")).unwrap().trim_end(), service.admin);
    for folder in [&data, &there, &from_file] {
        let log = away.path("log");
        let process = Process::start(folder, &log, &[]);
        send(&process, &service, Request::post("/v1/events").json(&event("after"))).expect(201);
        process.kill();
    }

    // Keys of another service are rejected wherever they are, and so is a key other than the trusted one.
    let wrong = away.path("wrong");
    let complaint = refused(&plain, &wrong, &["--keys", text(&other.data())]);
    assert!(complaint.contains("does not match the backup") && complaint.contains("another service"), "{complaint}");
    std::fs::create_dir_all(&wrong).unwrap();
    std::fs::copy(other.data().join("signing.key"), wrong.join("signing.key")).unwrap();
    let complaint = refused(&with_keys, &wrong, &[]);
    assert!(complaint.contains("does not match the backup"), "{complaint}");
    let complaint = refused(&with_keys, &away.path("none"), &["--keys", text(&away.path("nowhere"))]);
    assert!(complaint.contains("nowhere/signing.key"), "{complaint}");
    std::fs::write(&key, ledger::verifier_key("timenav.local/main", &other.public_key)).unwrap();
    let complaint = refused(&with_keys, &away.path("none"), &["--key", text(&key)]);
    assert!(complaint.contains("but you trust"), "{complaint}");
    service.audit();
    other.audit();
}

/// A backup from before a rotation needs the key of that time.
#[test]
fn backup_from_before_key_rotation_needs_the_old_key() {
    let mut service = Service::start();
    let away = Away::new();
    let (before, after) = (away.path("before.backup"), away.path("after.backup"));
    backed_up(&service.data(), &before, &["--with-keys"]);
    assert!(service.stop().success());
    service.rotate_signing_key();
    backed_up(&service.data(), &after, &[]);
    service.start_again();
    service.post("/v1/events", &event("after"));
    let complaint = refused(&before, &away.path("a"), &["--keys", text(&service.data())]);
    assert!(complaint.contains("or the key was rotated"), "{complaint}");
    restored(&after, &away.path("b"), &service.data());
    ends(&mut restore(&before, &away.path("c"), &[]), 0);
    for folder in ["b", "c"] {
        let log = away.path("log");
        let process = Process::start(&away.path(folder), &log, &[]);
        assert!(events_of(&process, &service).is_empty());
        process.kill();
    }
    service.audit();
}

/// If the service's checkpoints still exist, a restored backup is detected as a rollback.
#[test]
fn external_checkpoints_reveal_a_restored_backup() {
    let away = Away::new();
    let stored = away.path("kept");
    let mut service = Service::with(&["--checkpoints", text(&stored)]);
    let (file, data) = (away.path("x.backup"), away.path("data"));
    service.post("/v1/events", &event("before"));
    backed_up(&service.data(), &file, &["--checkpoints", text(&stored)]);
    service.post("/v1/events", &event("after"));
    let keys = service.data();
    let restoring = |to: &Path, checkpoints: &Path| {
        restore(&file, to, &["--checkpoints", text(checkpoints), "--keys", text(&keys)])
    };
    // The service holds them.
    fails(&mut restoring(&data, &stored), 1, "the folder of checkpoints");
    assert!(service.stop().success());
    let newer = std::fs::read(stored.join("checkpoints.log")).unwrap();
    let stdout = succeeds(&mut restoring(&data, &stored));
    assert!(stdout.contains("timenav accept-rollback"), "{stdout}");
    assert!(std::fs::read(stored.join("checkpoints.log")).unwrap() == newer, "they stay as they were");
    assert!(!data.join("checkpoints.log").exists());
    let complaint = refused_start(&data, &["--checkpoints", text(&stored)]);
    assert!(complaint.contains("the database was rolled back"), "{complaint}");
    // An empty folder gets the checkpoints of the backup and starts without confirmation.
    let (fresh, empty) = (away.path("fresh"), away.path("empty"));
    ends(&mut restoring(&fresh, &empty), 0);
    // The rollback is accepted for a copy: the service itself keeps its data.
    let copied = away.path("copied");
    std::fs::create_dir(&copied).unwrap();
    std::fs::write(copied.join("checkpoints.log"), &newer).unwrap();
    for (folder, checkpoints, more) in [(&fresh, &empty, &[][..]), (&data, &copied, &["--accept-rollback"])] {
        let arguments = [&["--checkpoints", text(checkpoints)], more].concat();
        let process = Process::start(folder, &away.path("log"), &arguments);
        assert_eq!(events_of(&process, &service), ["before".to_owned()].into());
        process.kill();
    }
    service.start_again();
    service.audit();
}

/// The documented commands work.
#[test]
fn documented_backup_and_restore_commands_work() {
    let commands: Vec<String> = ["Backup", "Restore"]
        .iter()
        .flat_map(|title| {
            section(title).lines().filter_map(|line| line.strip_prefix("$ ").map(str::to_owned)).collect::<Vec<_>>()
        })
        .collect();
    let [backup, restore] = &commands[..] else { panic!("{commands:?}") };
    let service = Service::start();
    let away = Away::new();
    let keys = away.path("keys");
    std::fs::create_dir(&keys).unwrap();
    std::fs::copy(service.data().join("signing.key"), keys.join("signing.key")).unwrap();
    for (command, data) in [(backup, service.data()), (restore, away.path("data"))] {
        let command = command.replace("/var/lib/timenav", text(&data)).replace("/mnt/keys", text(&keys));
        let command = command.replace("/mnt/backups", text(away.0.path()));
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[0], "timenav");
        succeeds(timenav().args(&words[1..]));
    }
    let process = Process::start(&away.path("data"), &away.path("log"), &[]);
    send(&process, &service, Request::post("/v1/events").json(&event("after"))).expect(201);
    process.kill();
    service.audit();
}

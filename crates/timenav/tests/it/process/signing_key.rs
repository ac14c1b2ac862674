//! `timenav rotate-signing-key`, complete and interrupted.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{mode, refused_start, section};
use crate::ledger;
use crate::ledger::verifier::{examples, has_python};
use crate::support::http::{Request, target};
use crate::support::service::{Service, ends, fails, make_signing_key, succeeds, timenav};

const PASSWORD: &str = "correct horse battery staple";
const PASSPHRASE: &str = "a passphrase that is long enough";

fn event(name: &str) -> Value {
    json!({ "event_id": name, "time": "2001-01-01T00:00:00Z" })
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn rotate(data: &Path, arguments: &[&str]) -> Command {
    let mut command = timenav();
    command.arg("rotate-signing-key").arg("--data").arg(data).args(arguments);
    command
}

/// Writes a file that only its owner can read.
fn put_secret(path: &Path, content: &[u8]) {
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// What a user keeps of a service elsewhere.
struct Away {
    folder: tempfile::TempDir,
}

impl Away {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Saves the public key of `main`.
    fn keep_key(&self, service: &Service, name: &str) -> String {
        let key = ledger::verifier_key("timenav.local/main", &service.public_key);
        std::fs::write(self.path(name), &key).unwrap();
        key
    }

    /// Saves the newest checkpoint of `main`.
    fn keep_checkpoint(&self, service: &Service, name: &str) {
        let request = Request::get("/timeline/main/checkpoint").header("Accept", "text/plain");
        std::fs::write(self.path(name), service.send(request).body).unwrap();
    }

    /// Saves the proof of an entry of `main`.
    fn keep_proof(&self, service: &Service, name: &str) {
        let request = Request::get("/timeline/main/proof?position=1").header("Accept", "text/plain");
        std::fs::write(self.path(name), service.send(request).body).unwrap();
    }

    /// Runs `timenav verify` with these keys, on files or, with an operator key, through the service.
    #[track_caller]
    fn verify(&self, at: &[&str], keys: &[&str], stored: Option<&str>, admin: &str, expected: i32) -> String {
        let mut command = timenav();
        command.arg("verify").args(at).env("TIMENAV_API_KEY", admin);
        for key in keys {
            command.arg("--key").arg(self.path(key));
        }
        if let Some(stored) = stored {
            command.arg("--checkpoint").arg(self.path(stored));
        }
        ends(&mut command, expected)
    }

    /// Runs `examples/verify.py` with these keys.
    #[track_caller]
    fn verify_py(&self, arguments: &[&str], keys: &[&str], admin: &str, expected: i32) -> String {
        let mut command = Command::new("python3");
        command.arg(examples().join("verify.py")).args(arguments).env("TIMENAV_API_KEY", admin).env("no_proxy", "*");
        for key in keys {
            command.arg("--verifier-key").arg(std::fs::read_to_string(self.path(key)).unwrap());
        }
        ends(&mut command, expected)
    }
}

const TIMELINES: [&str; 4] = ["system", "main", "other", "fork"];

/// A service with several timelines, a fork, events, sealed data, a user with a password and an active session.
fn lived_in() -> (Service, Value, String) {
    let service = Service::start();
    service.post("/v1/events", &(0..20).map(|number| event(&format!("e{number}"))).collect::<Vec<_>>().into());
    service.post("/timelines", &json!({ "timeline_id": "other" }));
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    // What is kept of an ended timeline is signed too, and its ledger is not converted.
    service.post("/timelines", &json!({ "timeline_id": "ended" }));
    service.send(Request::new("DELETE", "/timeline/ended")).expect(200);
    let sealing = json!({ "timeline_id": "main", "data": { "where": "there" }, "encryption_key": PASSPHRASE });
    let data_id = service.post("/v1/encrypt-data", &sealing)["data_id"].clone();
    service.user("ada");
    service.set_password("ada", PASSWORD);
    let cookie = service.log_in("ada", PASSWORD);
    (service, data_id, cookie)
}

fn is_logged_in(service: &Service, cookie: &str) -> bool {
    let answer = service.send(Request::get("/v1/session").session(cookie)).expect(200);
    answer["user_id"] == "ada"
}

#[test]
fn key_rotation_ends_sessions_and_keeps_data() {
    let (mut service, data_id, cookie) = lived_in();
    let ada = service.key(&json!({ "user_id": "ada" }));
    assert!(is_logged_in(&service, &cookie));
    let page = [("location", "*"), ("time_range", "../.."), ("limit", "5")];
    let cursor = service.get("/v1/monitor-events", &page)["next_cursor"].as_str().unwrap().to_owned();
    service.remember("fork");
    service.remember("other");
    assert!(service.stop().success());
    assert!(
        section("Keys").contains("\n$ timenav rotate-signing-key --data "),
        "the command is the one of the document"
    );
    let old = ledger::verifier_key("timenav.local/main", &service.public_key);
    let old_secret = std::fs::read_to_string(service.data().join("signing.key")).unwrap();
    let output = service.rotate_signing_key();
    let new = ledger::verifier_key("timenav.local/main", &service.public_key);
    assert_ne!(old, new);
    assert!(
        output.contains(&format!("retired key  {old}\n")) && output.contains(&format!("new key      {new}\n")),
        "{output}"
    );
    assert!(output.contains("each of 4 ledgers") && output.contains("Tell everyone who verifies"), "{output}");
    assert!(!output.contains("PRIVATE+KEY+timenav"), "{output}");
    let path = service.data().join("signing.key");
    assert_eq!(mode(&path), 0o600);
    let secret = std::fs::read_to_string(&path).unwrap();
    assert!(secret != old_secret && secret.lines().count() == 1);
    let left: Vec<_> = std::fs::read_dir(service.data()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().starts_with("signing.key.")), "{left:?}");

    service.start_again();
    assert!(!is_logged_in(&service, &cookie), "the session has ended");
    let again = service.log_in("ada", PASSWORD);
    assert!(is_logged_in(&service, &again));
    assert_eq!(service.send(Request::get("/v1/session").key(&ada)).expect(200)["user_id"], "ada", "keys stay");
    let opened = service.post("/v1/decrypt-data", &json!({ "data_id": data_id, "encryption_key": PASSPHRASE }));
    assert_eq!(opened["data"]["where"], "there");
    let next = target("/v1/monitor-events", &[&page[..], &[("cursor", &cursor)]].concat());
    let refused = service.send(Request::get(&next)).expect(400);
    assert_eq!(refused["detail"], "the cursor does not belong to this query; start again without it");
    assert_eq!(service.find_all("main", "*", "../..", "5").len(), 20);
    for timeline in TIMELINES {
        service.scan_is_clean(timeline);
    }
    let log = service.get("/v1/access-logs", &[("timeline_id", "other"), ("time_range", "../..")]);
    let logs = log["logs"].as_array().unwrap_or_else(|| panic!("{log:#}"));
    let rotated: Vec<&Value> = logs.iter().filter(|one| one["action"] == "rotate_signing_key").collect();
    assert_eq!(rotated.len(), 1, "{log:#}");
    let new = ledger::verifier_key("timenav.local/other", &service.public_key);
    assert_eq!((&rotated[0]["user_id"], &rotated[0]["subject"]), (&json!("system"), &json!(new)));
    service.audit();
}

#[test]
fn older_checkpoints_verify_with_the_retired_key() {
    let (mut service, ..) = lived_in();
    let away = Away::new();
    let old_key = away.keep_key(&service, "old");
    let old_id = old_key.split('+').nth(1).unwrap();
    away.keep_checkpoint(&service, "kept");
    away.keep_proof(&service, "proof");
    assert!(service.stop().success());
    service.rotate_signing_key();
    away.keep_key(&service, "new");
    let data = service.data();
    let files = ["--data", text(&data)];
    // Checkpoints signed by both keys are valid for users who do not know the rotation.
    for key in ["old", "new"] {
        away.verify(&files, &[key], None, "", 0);
    }
    service.start_again();
    for timeline in ["main", "other", "fork"] {
        service.post("/v1/events", &json!({ "timeline_id": timeline, "time": "2001-01-01T00:00:00Z" }));
    }
    service.get("/v1/users", &[]);
    let admin = service.admin.clone();
    let url = service.url();
    for stopped in [false, true] {
        if stopped {
            assert!(service.stop().success());
        }
        for at in [&files[..], &["--url", &url]] {
            if stopped && at[0] == "--url" {
                continue;
            }
            away.verify(at, &["new", "old"], Some("kept"), &admin, 0);
            away.verify(at, &["new"], None, &admin, 0);
            // With only the new key, the saved checkpoint is by another key, which is named.
            let output = away.verify(at, &["new"], Some("kept"), &admin, 7);
            let named = format!("but by the key `timenav.local/main` with the id {old_id}");
            assert!(output.contains("unknown-key") && output.contains("the checkpoint that you kept: "), "{output}");
            assert!(output.contains(&named) && output.contains("each retired one with another --key"), "{output}");
            // With the old key, the newest checkpoint is; the same if the old key is given as the current one.
            for keys in [&["old"][..], &["old", "new"]] {
                let output = away.verify(at, keys, Some("kept"), &admin, 7);
                assert!(output.contains("unknown-key") && !output.contains("the checkpoint that you kept"), "{output}");
            }
        }
    }
    let stranger = Service::start();
    away.keep_key(&stranger, "stranger");
    std::fs::write(away.path("other-name"), ledger::verifier_key("clock.example/main", &stranger.public_key)).unwrap();
    stranger.audit();
    away.verify(&files, &["new", "stranger"], Some("kept"), "", 7);
    let output = away.verify(&files, &["new", "other-name"], None, "", 1);
    assert!(output.contains("the keys belong to two services"), "{output}");
    // An invalid signature by a known key invalidates the note, whoever else has signed.
    let stored = std::fs::read_to_string(away.path("kept")).unwrap();
    let at = stored.len() - 20;
    let other = if stored.as_bytes()[at] == b'A' { "B" } else { "A" };
    std::fs::write(away.path("kept"), format!("{}{other}{}", &stored[..at], &stored[at + 1..])).unwrap();
    let output = away.verify(&files, &["new", "old"], Some("kept"), "", 7);
    assert!(output.contains("bad-signature"), "{output}");
    service.start_again();
    service.audit();
}

#[test]
fn independent_script_accepts_retired_keys() {
    if !has_python() {
        return;
    }
    let (mut service, ..) = lived_in();
    let away = Away::new();
    let old_key = away.keep_key(&service, "old");
    let old_id = old_key.split('+').nth(1).unwrap();
    away.keep_checkpoint(&service, "kept");
    away.keep_proof(&service, "proof");
    assert!(service.stop().success());
    let saved = away.path("saved");
    let answer: Value =
        serde_json::from_str(&succeeds(&mut rotate(&service.data(), &["--json", "--save", text(&saved)]))).unwrap();
    let ledgers: Vec<&Value> =
        answer["ledgers"].as_array().unwrap().iter().map(|ledger| &ledger["timeline_id"]).collect();
    assert_eq!(ledgers, ["fork", "main", "other", "system"]);
    service.public_key = ledger::public_key(&std::fs::read_to_string(service.data().join("signing.key")).unwrap());
    let new_key = away.keep_key(&service, "new");
    assert_eq!((&answer["retired_verifier_key"], &answer["verifier_key"]), (&json!(old_key), &json!(new_key)));
    let mut files: Vec<_> = std::fs::read_dir(&saved).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["fork.tlog-proof", "main.tlog-proof", "other.tlog-proof", "system.tlog-proof"]);
    let over = saved.join("main.tlog-proof");
    service.start_again();
    service.post("/v1/events", &event("after"));
    let (url, stored, proof) = (service.url(), away.path("kept"), away.path("proof"));
    let since = [&url, "main", "--checkpoint", text(&stored)];
    let offline = ["--proof", text(&proof)];
    // The saved proof shows the new key to a holder of the old one.
    let change = ["--proof", text(&over)];
    let named = format!("\"subject\":\"{new_key}\"");
    for (arguments, keys, expected, named) in [
        (&since[..], &["new", "old"][..], 0, "saved       the first "),
        (&since, &["new"], 1, old_id),
        (&since, &["old"], 1, "but by timenav.local/main+"),
        (&since, &["old", "new"], 1, "give the one that signs today first"),
        (&since[..2], &["new"], 0, "main verifies."),
        (&offline, &["old"], 0, "entry 1 of timenav.local/main verifies."),
        (&offline, &["new", "old"], 0, "entry 1 of timenav.local/main verifies."),
        (&offline, &["new"], 1, old_id),
        (&change, &["old"], 0, &named),
        (&change, &["new"], 0, &named),
    ] {
        let output = away.verify_py(arguments, keys, &service.admin, expected);
        assert!(output.contains(named), "{arguments:?} {keys:?}: {output}");
    }
    service.audit();
}

/// Whenever the process ends, the service starts and the command completes the rotation.
#[test]
fn key_rotation_recovers_from_a_kill_at_any_time() {
    let (mut service, ..) = lived_in();
    assert!(service.stop().success());
    for round in 0..8 {
        let data = service.data();
        let before = std::fs::read(data.join("signing.key")).unwrap();
        // A small commit does not make the file longer.
        let log_written = || std::fs::metadata(data.join("timenav.db-wal")).and_then(|log| log.modified()).ok();
        let log = log_written();
        let is_there = || match round % 4 {
            0 => data.join("signing.key.next").exists(),
            1 => data.join("signing.key.next").exists() && log_written() != log,
            2 => data.join("signing.key.new").exists(),
            _ => std::fs::read(data.join("signing.key")).unwrap() != before,
        };
        let mut child = rotate(&data, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !is_there() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let secret = || std::fs::read_to_string(data.join("signing.key")).unwrap();
        service.public_key = ledger::public_key(&secret());
        service.start_again();
        service.log_in("ada", PASSWORD);
        service.post("/v1/events", &event(&format!("round-{round}")));
        assert!(service.stop().success());
        service.rotate_signing_key();
        service.start_again();
        service.log_in("ada", PASSWORD);
        for timeline in TIMELINES {
            service.scan_is_clean(timeline);
        }
        assert!(service.stop().success());
    }
    service.start_again();
    service.audit();
}

#[test]
fn unfinished_key_rotation_is_reported_and_completed() {
    let (mut service, ..) = lived_in();
    assert!(service.stop().success());
    let (data, away) = (service.data(), Away::new());
    // All ledgers are converted, and the key file cannot be written.
    let in_the_way = data.join("signing.key.new");
    std::fs::create_dir(&in_the_way).unwrap();
    let stderr = fails(&mut rotate(&data, &[]), 1, "the rotation is not finished; run the command again");
    assert!(stderr.contains("signing.key cannot be written"), "{stderr}");
    let next = data.join("signing.key.next");
    assert_eq!(mode(&next), 0o600);
    let stored = std::fs::read(&next).unwrap();
    // The service starts with the old key, reports that, and accepts passwords sealed with the next one.
    service.start_again();
    let log = service.log_text();
    let warned = log.lines().find(|line| line.contains("WARN")).unwrap_or_else(|| panic!("{log}"));
    assert!(
        warned.contains("was started but not finished") && warned.contains("timenav rotate-signing-key"),
        "{warned}"
    );
    assert!(!log.contains("PRIVATE+KEY+timenav"));
    let cookie = service.log_in("ada", PASSWORD);
    service.post("/v1/events", &event("between"));
    away.keep_key(&service, "old");
    away.keep_checkpoint(&service, "between");
    assert!(service.stop().success());
    away.verify(&["--data", text(&data)], &["old"], None, "", 0);
    std::fs::remove_dir(&in_the_way).unwrap();
    service.rotate_signing_key();
    away.keep_key(&service, "new");
    // If only the last step is missing, a start or the command completes it, without another rotation.
    for started in [true, false] {
        put_secret(&next, &stored);
        if started {
            service.start_again();
            assert!(!is_logged_in(&service, &cookie));
            assert!(service.stop().success());
        } else {
            let public_key = service.public_key;
            let output = service.rotate_signing_key();
            assert!(output.contains("was already rotated"), "{output}");
            assert_eq!(service.public_key, public_key);
        }
        assert!(!next.exists());
    }
    service.start_again();
    service.log_in("ada", PASSWORD);
    away.verify(&["--data", text(&data)], &["new", "old"], Some("between"), "", 0);
    service.audit();
}

#[test]
fn impossible_key_rotation_is_rejected_with_advice() {
    let (mut service, ..) = lived_in();
    let data = service.data();
    let check = |arguments: &[&str], words: &str| {
        let stderr = fails(&mut rotate(&data, arguments), 1, words);
        // Log lines about the folder may precede it.
        assert_eq!(stderr.lines().skip_while(|line| !line.starts_with("error: ")).count(), 1, "{stderr}");
    };
    check(&[], "is in use by another timenav process; stop that one");
    assert!(service.stop().success());
    let (key, next, nowhere) = (data.join("signing.key"), data.join("signing.key.next"), data.join("nowhere"));
    fails(&mut rotate(&nowhere, &[]), 1, "there is no database in");
    assert!(!nowhere.exists());
    // The checkpoints are elsewhere, so the signed state is unknown.
    check(&["--checkpoints", text(&nowhere)], "the file of checkpoints was removed");
    std::fs::remove_dir_all(&nowhere).unwrap();
    // If proofs cannot be saved, the command fails before it changes anything.
    check(&["--save", text(&key)], "signing.key cannot be created");
    // A folder that does not match its signatures is not signed with another key.
    let stranger = tempfile::tempdir().unwrap();
    make_signing_key(stranger.path());
    let planted = std::fs::read(stranger.path().join("signing.key")).unwrap();
    let own = std::fs::read(&key).unwrap();
    put_secret(&key, &planted);
    check(&[], "does not verify");
    assert!(!next.exists());
    put_secret(&key, &own);
    // An attacker with write access plants their own next key.
    put_secret(&next, &planted);
    check(&[], "signing.key.next: remove it and start the rotation again");
    service.start_again();
    let log = service.log_text();
    assert!(log.contains("signing.key.next: remove it and start the rotation again"), "{log}");
    assert!(!log.contains("PRIVATE+KEY+timenav"), "{log}");
    service.log_in("ada", PASSWORD);
    assert!(service.stop().success());
    std::fs::remove_file(&next).unwrap();
    service.rotate_signing_key();
    service.start_again();
    service.audit();
}

#[test]
fn restored_retired_key_is_reported_then_rejected() {
    let (mut service, ..) = lived_in();
    assert!(service.stop().success());
    let key = service.data().join("signing.key");
    let old = std::fs::read(&key).unwrap();
    service.rotate_signing_key();
    let new = std::fs::read(&key).unwrap();
    // Nothing was written since, so both keys verify the state signed by both.
    for (there, is_warned) in [(&new, false), (&old, true)] {
        std::fs::write(&key, there).unwrap();
        service.start_again();
        assert_eq!(service.log_text().contains("4 timelines use another signing key"), is_warned);
        assert!(service.stop().success());
    }
    // Its passwords are sealed with the missing key.
    service.errors_expected.push("the password of `ada` in the database was not written by this service");
    std::fs::write(&key, &new).unwrap();
    service.start_again();
    service.log_in("ada", PASSWORD);
    service.post("/v1/events", &event("after"));
    assert!(service.stop().success());
    std::fs::write(&key, old).unwrap();
    let complaint = refused_start(&service.data(), &[]);
    assert!(complaint.contains("does not verify"), "{complaint}");
    std::fs::write(&key, new).unwrap();
    service.start_again();
    service.audit();
}

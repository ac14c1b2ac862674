//! `timenav migrate`, killed in the middle and run again.

use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::postgres::{Cluster, migrate};
use super::refused_start;
use super::relay::Relay;
use crate::support::http::Request;
use crate::support::service::{Service, ends, fails, run, timenav};
use crate::support::waiting::until;

/// Number of events to move, and events per request.
const EVENTS: usize = 2_000;
const AT_ONCE: usize = 500;
/// When it is killed: after this many transactions, at this message of the next one. Each run continues where the
/// previous one stopped.
const KILLED_AT: [(usize, usize); 6] = [(0, 1), (0, 2), (1, 3), (2, 0), (3, 2), (1, 4)];

#[test]
fn repeatedly_killed_migration_resumes() {
    let cluster = Cluster::start();
    let relay = Relay::start(&cluster.url);
    let mut service = Service::start();
    let numbers: Vec<usize> = (0..EVENTS).collect();
    for some in numbers.chunks(AT_ONCE) {
        let event = |number: &usize| json!({ "event_id": format!("e{number}"), "time": "2001-01-01T00:00:00Z" });
        service.post("/v1/events", &some.iter().map(event).collect::<Vec<Value>>().into());
    }
    service.post("/v1/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    service.user("ada");
    service.remember("fork");
    assert!(service.stop().success());
    let folder = format!("sqlite:{}", service.data().display());
    let [other, keys] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for (number, (transactions, turn)) in KILLED_AT.into_iter().enumerate() {
        relay.hold(turn, transactions);
        let mut command = migrate(&folder, &relay.url);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the message to be held back", || {
            assert_eq!(child.try_wait().unwrap(), None, "it had ended before it was killed: {number}");
            relay.holds().then_some(())
        });
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        relay.release();
        assert!(service.data().join("timenav.db").exists(), "nothing has moved yet");
        // Once the first table exists, the incomplete database is rejected.
        if number > 2 {
            let refused = refused_start(other.path(), &["--store", &cluster.url]);
            assert!(refused.contains("run the same `timenav migrate` again"), "{number}: {refused}");
            for name in ["signing.key", "checkpoints.log"] {
                std::fs::copy(service.data().join(name), keys.path().join(name)).unwrap();
            }
            let with_folder = ["--data", keys.path().to_str().unwrap()];
            for (command, options) in [("verify", &with_folder[..]), ("doctor", &with_folder), ("upgrade", &[])] {
                let output = ends(timenav().args([command, "--store", &cluster.url]).args(options), 1);
                assert!(output.contains("run the same `timenav migrate` again"), "{command}: {output}");
            }
        }
    }
    let stdout = ends(&mut migrate(&folder, &cluster.url), 0);
    assert!(stdout.contains("Moved 3 timelines with "), "{stdout}");
    let (_, _, stderr) = run(&mut migrate(&folder, &cluster.url), "");
    assert!(stderr.contains("timenav.db.moved: start the service with --store"), "{stderr}");
    // Back again, into another folder, with the key where it is.
    let (key, back) = (service.data().join("signing.key"), tempfile::tempdir().unwrap());
    std::fs::copy(service.data().join("checkpoints.log"), back.path().join("checkpoints.log")).unwrap();
    let to = format!("sqlite:{}", back.path().display());
    fails(&mut migrate(&cluster.url, &to), 1, "--signing-key if it is elsewhere");
    let stdout = ends(migrate(&cluster.url, &to).arg("--signing-key").arg(&key), 0);
    assert!(stdout.contains(&format!("install -m 600 {} ", key.display())), "{stdout}");
    assert!(back.path().join("timenav.db").exists() && !back.path().join("signing.key").exists());
    service.arguments(&["--store", &cluster.url]);
    service.start_again();
    assert_eq!(service.find_all("main", "*", "../..", "1000").len(), EVENTS);
    assert_eq!(service.send(Request::get("/v1/events/e1999?timeline_id=fork")).status, 200);
    service.scan_is_clean("main");
    service.audit();
}

/// Kills a move into a folder as soon as it has created a file. If the move was faster, it is repeated.
fn kill_on_its_way(from: &str, folder: &Path) {
    let (whole, begun) = (folder.join("timenav.db"), folder.join("timenav.db.moving"));
    let to = format!("sqlite:{}", folder.display());
    for _ in 0..50 {
        let mut child = migrate(from, &to).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !begun.exists() && child.try_wait().unwrap().is_none() {}
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        if begun.exists() && !whole.exists() {
            return;
        }
        std::fs::remove_file(&whole).unwrap();
    }
    panic!("each move ended before it was killed");
}

/// A start without a database used to create one, with a second history under the same key.
#[test]
fn partly_or_fully_migrated_folder_gets_no_new_database() {
    let cluster = Cluster::start();
    let mut service = Service::start();
    service.post("/v1/events", &json!({ "event_id": "e", "time": "2001-01-01T00:00:00Z" }));
    assert!(service.stop().success());
    let (key, database) = (service.data().join("signing.key"), service.data().join("timenav.db"));
    let folder = format!("sqlite:{}", service.data().display());
    ends(&mut migrate(&folder, &cluster.url), 0);
    // The service is started on the old folder by mistake.
    let refused = refused_start(&service.data(), &[]);
    assert!(refused.contains("was moved to PostgreSQL: name that database with --store"), "{refused}");
    assert!(!database.exists());
    // A move back is killed as soon as it has created a file.
    for with_checkpoints in [false, true] {
        let back = tempfile::tempdir().unwrap();
        std::fs::copy(&key, back.path().join("signing.key")).unwrap();
        if with_checkpoints {
            std::fs::copy(service.data().join("checkpoints.log"), back.path().join("checkpoints.log")).unwrap();
        }
        let to = format!("sqlite:{}", back.path().display());
        kill_on_its_way(&cluster.url, back.path());
        let refused = refused_start(back.path(), &[]);
        assert!(refused.contains("was not finished: run the same `timenav migrate` again"), "{refused}");
        assert!(!back.path().join("timenav.db").exists() && !back.path().join("admin.key").exists());
        ends(&mut migrate(&cluster.url, &to), 0);
    }
    service.arguments(&["--store", &cluster.url]);
    service.start_again();
    assert_eq!(service.send(Request::get("/v1/events/e")).status, 200);
    service.audit();
}

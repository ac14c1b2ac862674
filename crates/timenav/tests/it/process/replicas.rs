//! Two real services on one database: responses of one are valid at the other, and either may be killed or stopped at
//! any time.

mod failover;
mod histories;
mod kills;
mod leases;
mod lives;
mod rolling_upgrade;
mod rotation;
mod three;
mod webhooks;
mod witnesses;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::postgres::{Cluster, OUTAGE_ERRORS};
use super::refused_start;
use crate::support::http::{Answer, Connection, Request};
use crate::support::service::{Process, Service, is_clean, make_signing_key};
use crate::support::waiting::try_until;

/// Valid statuses while one of the services is stopping.
const STATUSES: [u16; 3] = [200, 201, 503];

/// Errors that a service logs while another one or the database is killed or stopped.
fn errors_expected(more: &[&'static str]) -> Vec<&'static str> {
    let of_others = ["entries of other services cannot be read", "always committed first"];
    [&OUTAGE_ERRORS[..], &of_others, more].concat()
}

/// A second service on the same database.
struct Replica {
    folder: tempfile::TempDir,
    process: Process,
    admin: String,
}

impl Replica {
    fn join(first: &Service, url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::copy(first.data().join("signing.key"), data.join("signing.key")).unwrap();
        let refused = refused_start(&data, &["--store", url, "--replicas"]);
        assert!(refused.contains("start it with --join, and with --trusted-checkpoint"), "{refused}");
        let process = Self::start(folder.path(), &["--store", url, "--replicas", "--join"]);
        Self { folder, process, admin: first.admin.clone() }
    }

    fn start(folder: &Path, arguments: &[&str]) -> Process {
        Process::start(&folder.join("data"), &folder.join("log"), arguments)
    }

    fn send(&self, request: Request) -> Answer {
        send(self.process.address, &request.key(&self.admin)).unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.send(Request::post(path).json(body));
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json_or_null()
    }

    /// Kills the process and starts it again.
    fn restart(&mut self, arguments: &[&str]) {
        self.process.end();
        self.process = Self::start(self.folder.path(), arguments);
    }

    /// Scans the ledgers and asserts that nothing is found.
    #[track_caller]
    fn scans_are_clean(&self) {
        for timeline in ["main", "system"] {
            is_clean(&self.post("/v1/detect-tampering", &json!({ "timeline_id": timeline })));
        }
    }
}

/// Restarts two services with these arguments.
fn restart_both(first: &mut Service, second: &mut Replica, arguments: &[&str]) {
    second.process.end();
    assert!(first.stop().success());
    first.arguments(arguments);
    first.start_again();
    second.process = Replica::start(second.folder.path(), arguments);
}

pub(super) fn send(address: SocketAddr, request: &Request) -> std::io::Result<Answer> {
    Connection::open(address)?.exchange(request)
}

/// Starts two services on one database.
fn two(cluster: &Cluster) -> (Service, Replica) {
    two_at(&cluster.url)
}

fn two_at(url: &str) -> (Service, Replica) {
    let mut first = Service::with(&["--store", url]);
    let other = tempfile::tempdir().unwrap();
    let refused = refused_start(other.path(), &["--store", url, "--replicas"]);
    assert!(refused.contains("another timenav uses this database"), "{refused}");
    assert!(first.stop().success());
    first.arguments(&["--store", url, "--replicas"]);
    first.start_again();
    let refused = refused_start(other.path(), &["--store", url]);
    assert!(refused.contains("another timenav uses this database"), "{refused}");
    let second = Replica::join(&first, url);
    (first, second)
}

/// Writes of a client before it waits between two of them.
const FAST_WRITES_MAX: usize = 200;

/// Writes events until stopped. Returns the ids of the acknowledged ones.
fn write(address: SocketAddr, key: &str, name: &str, is_over: &AtomicBool) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0..100_000 {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let event_id = format!("{name}-{number}");
        let body = json!({ "event_id": event_id, "time": "2001-01-01T00:00:00Z", "description": "x" });
        let request = Request::post("/v1/events").json(&body).idempotent(&event_id).key(key);
        match send(address, &request) {
            Ok(answer) if answer.status == 503 => wait(),
            Ok(answer) => {
                assert!(STATUSES.contains(&answer.status), "{}", answer.text());
                acknowledged.push(event_id);
                // Each event is checked later, however long a takeover lasts.
                if acknowledged.len() > FAST_WRITES_MAX {
                    wait();
                }
            }
            // The service is gone.
            Err(_) => wait(),
        }
    }
    acknowledged
}

/// Writes with two clients at each of two services while `disturb` runs. Returns the ids of the acknowledged events.
fn write_at_both(
    (first, second): (SocketAddr, SocketAddr),
    key: &str,
    round: usize,
    disturb: impl FnOnce(),
) -> Vec<String> {
    let is_over = AtomicBool::new(false);
    let all = std::thread::scope(|scope| {
        let is_over = &is_over;
        let writers = [("here", first, 0), ("there", second, 0), ("here", first, 1), ("there", second, 1)].map(
            |(name, address, number)| {
                scope.spawn(move || write(address, key, &format!("{name}-{round}-{number}"), is_over))
            },
        );
        disturb();
        is_over.store(true, Ordering::SeqCst);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(all.iter().any(|id| id.starts_with("here")) && all.iter().any(|id| id.starts_with("there")), "{all:?}");
    all
}

/// Checks that events exist, and that a retry with the same key gets the same response at the first service.
fn check_written(first: &Service, second: &Replica, ids: &[String]) {
    for id in ids {
        let found = second.send(Request::get(&format!("/v1/events/{id}")));
        assert_eq!(found.status, 200, "{id}: {}", found.text());
        let body = json!({ "event_id": id, "time": "2001-01-01T00:00:00Z", "description": "x" });
        let again = first.send(Request::post("/v1/events").json(&body).idempotent(id));
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{id}: {}", again.text());
    }
    second.scans_are_clean();
}

#[expect(clippy::disallowed_methods, reason = "nothing tells how far somebody else has come")]
fn wait() {
    std::thread::sleep(Duration::from_millis(20));
}

#[test]
fn killed_or_paused_replica_blocks_and_loses_nothing() {
    let cluster = Cluster::start();
    let (mut first, mut second) = two(&cluster);
    first.errors_expected = errors_expected(&[]);
    let mut all = Vec::new();
    for round in 0..6 {
        let (here, there) = (first.address(), second.process.address);
        all.extend(write_at_both((here, there), &first.admin, round, || {
            (0..15).for_each(|_| wait());
            second.process.signal(if round % 2 == 0 { Signal::STOP } else { Signal::KILL });
            // The other service continues to respond.
            let request = Request::post("/v1/pause-time").key(&first.admin);
            let answer = try_until(|| Some(send(here, &request).unwrap()).filter(|answer| answer.status == 200));
            assert!(answer.is_some(), "it is held up");
            if round % 2 == 0 {
                second.process.signal(Signal::CONT);
            }
            (0..10).for_each(|_| wait());
        }));
        if round % 2 == 1 {
            second.restart(&["--store", &cluster.url, "--replicas"]);
        }
    }
    check_written(&first, &second, &all);
    drop(second);
    first.audit();
}

/// All have the key, and one of them initializes the database.
#[test]
fn concurrent_first_starts_initialize_the_database_once() {
    for _ in 0..3 {
        let cluster = Cluster::start();
        let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
        let data = |number: usize| folders[number].path().join("data");
        make_signing_key(&data(0));
        for number in 1..folders.len() {
            std::fs::create_dir(data(number)).unwrap();
            std::fs::copy(data(0).join("signing.key"), data(number).join("signing.key")).unwrap();
        }
        let arguments = ["--store", &cluster.url, "--replicas", "--join"];
        let processes: Vec<Process> = std::thread::scope(|scope| {
            let starting: Vec<_> =
                folders.iter().map(|folder| scope.spawn(|| Replica::start(folder.path(), &arguments))).collect();
            starting.into_iter().map(|starting| starting.join().unwrap()).collect()
        });
        let keys = (0..folders.len()).map(|number| std::fs::read_to_string(data(number).join("admin.key")));
        let keys: Vec<String> = keys.filter_map(Result::ok).collect();
        let [admin] = &keys[..] else { panic!("{} of them have a key", keys.len()) };
        for (process, folder) in processes.iter().zip(&folders) {
            let clock = send(process.address, &Request::get("/v1/clock").key(admin.trim_end())).unwrap();
            assert_eq!(clock.status, 200, "{}", clock.text());
            assert!(!folder.path().join("data/admin.key.first").exists());
        }
        let users = send(processes[0].address, &Request::get("/v1/users").key(admin.trim_end())).unwrap().json();
        assert_eq!(users["users"].as_array().unwrap().len(), 1, "{users:#}");
        // Writes of one are visible to the others.
        for (number, process) in processes.iter().enumerate() {
            let body = json!({ "event_id": format!("e{number}"), "time": "2001-01-01T00:00:00Z", "description": "x" });
            let written = Request::post("/v1/events").json(&body).key(admin.trim_end());
            assert!(send(process.address, &written).unwrap().status < 300);
            let read = Request::get(&format!("/v1/events/e{number}")).key(admin.trim_end());
            assert_eq!(send(processes[0].address, &read).unwrap().status, 200);
        }
        processes.into_iter().for_each(Process::kill);
    }
}

#[test]
fn database_killed_under_load_loses_and_repeats_nothing() {
    let mut cluster = Cluster::start();
    let (mut first, second) = two(&cluster);
    first.errors_expected = errors_expected(&[]);
    let all = write_at_both((first.address(), second.process.address), &first.admin, 0, || {
        for _ in 0..5 {
            (0..25).for_each(|_| wait());
            cluster.order("stop");
            (0..5).for_each(|_| wait());
            cluster.order("start");
        }
        (0..50).for_each(|_| wait());
    });
    check_written(&first, &second, &all);
    let replica = first.get("/v1/limits", &[])["replica"].clone();
    assert!(replica["connections"]["opened"].as_u64() > Some(5) && replica["diverged"].is_null(), "{replica:#}");
    drop(second);
    first.audit();
}

#[test]
fn joining_replica_without_checkpoints_reports_unseen_history() {
    let cluster = Cluster::start();
    let (first, mut second) = two(&cluster);
    let unseen = |address: SocketAddr| {
        let ask = |path: &str| send(address, &Request::get(path).anonymous()).unwrap();
        let (ready, metrics) = (ask("/readyz").expect(200), ask("/metrics").text());
        let status = ready["status"].as_str().unwrap().to_owned();
        assert!(status.starts_with("The service is ready."), "{status}");
        let is_reported = status.contains("it trusted the database as found (--join)");
        assert!(metrics.contains(&format!("\ntimenav_replica_unverified {}\n", u8::from(is_reported))), "{metrics}");
        is_reported
    };
    assert_eq!((unseen(first.address()), unseen(second.process.address)), (false, true));
    // What it has seen since is stored and compared at the next start.
    second.restart(&["--store", &cluster.url, "--replicas", "--join"]);
    assert!(!unseen(second.process.address));
    // A replica that gets the checkpoints of another one, or their location, has something to compare with.
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::copy(first.data().join("signing.key"), data.join("signing.key")).unwrap();
    let stored = first.data().join("checkpoints.log").display().to_string();
    let arguments = ["--store", &cluster.url, "--replicas", "--join", "--trusted-checkpoint", &stored];
    let third = Replica::start(folder.path(), &arguments);
    assert!(!unseen(third.address));
    third.kill();
    for name in ["checkpoints.log", "checkpoints.new"] {
        drop(std::fs::remove_file(data.join(name)));
    }
    std::fs::copy(&stored, data.join("checkpoints.log")).unwrap();
    let third = Replica::start(folder.path(), &arguments[..3]);
    assert!(!unseen(third.address));
    third.kill();
    drop(second);
    first.audit();
}

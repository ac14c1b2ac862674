//! Replaces services of an older build one by one under load. `cargo xtask rolling-upgrade` builds the older version
//! and runs this.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use timenav_engine::{FEATURE_LEVEL, OLDEST_FEATURE_LEVEL};

use super::super::postgres::Cluster;
use super::{send, wait};
use crate::support::http::{Answer, Request, target};
use crate::support::service::{Process, is_clean, make_signing_key, run, timenav};
use crate::support::waiting::{try_until, until_so};

/// The feature level of the current build.
const KNOWN: u64 = FEATURE_LEVEL;
/// From this level on, services know each other's followers.
const FOLLOWERS_OF_ALL: u64 = 3;
/// The variable with the program of the older build.
const OLDER: &str = "TIMENAV_UPGRADE_FROM";
/// Services to replace. One more is paused in the meantime.
const REPLACED: usize = 3;
/// Clients that record events.
const WRITERS: usize = 3;
/// Acknowledged events per phase.
const EVENTS_A_PHASE: usize = 60;
/// Maximum number of requests per client, so that an abandoned run ends.
const SENT_MAX: usize = 20_000;
/// Errors that services may log while others are stopped and killed.
const ERRORS_EXPECTED: [&str; 3] =
    ["a group could not be committed", "the store cannot be read", "always committed first"];

/// Addresses of the services and the acknowledged results.
#[derive(Default)]
struct Load {
    admin: String,
    addresses: Mutex<Vec<Option<SocketAddr>>>,
    is_over: AtomicBool,
    /// Whether the run has failed and no service responds any more.
    has_failed: AtomicBool,
    sent: AtomicUsize,
    repeated: AtomicUsize,
    /// Acknowledged events.
    events: Mutex<BTreeSet<String>>,
    /// Acknowledged clock changes; each is one generation.
    changes: AtomicU64,
    reads: AtomicUsize,
    /// Acknowledged firings: ids by due time.
    firings: Mutex<BTreeMap<String, String>>,
}

impl Load {
    fn go_to(&self, number: usize, address: Option<SocketAddr>) {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let count = addresses.len().max(number + 1);
        addresses.resize(count, None);
        addresses[number] = address;
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Sends a request to one service after the other until it is settled.
    fn settled(&self, request: &Request) -> Answer {
        let request = request.clone().key(&self.admin);
        for number in 0..SENT_MAX {
            assert!(!self.has_failed.load(Ordering::SeqCst), "the run has failed elsewhere");
            let turn = self.sent.fetch_add(1, Ordering::Relaxed);
            let address = {
                let addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
                let there: Vec<SocketAddr> = addresses.iter().flatten().copied().collect();
                there[turn % there.len()]
            };
            self.repeated.fetch_add(usize::from(number > 0), Ordering::Relaxed);
            match send(address, &request) {
                Ok(answer) if answer.status == 503 => wait(),
                Ok(answer) => return answer,
                Err(_) => wait(),
            }
        }
        panic!("{request:?} is never answered");
    }

    /// Records events until the end. Each is retried with its key until it is acknowledged.
    fn write(&self, name: usize) {
        for number in 0.. {
            if self.is_over() {
                return;
            }
            let event_id = format!("w{name}-{number}");
            let body = json!({ "event_id": event_id, "time": "2001-01-01T00:00:00Z", "description": "x" });
            let answer = self.settled(&Request::post("/v1/events").json(&body).idempotent(&event_id));
            assert!([200, 201].contains(&answer.status), "{event_id}: {answer}");
            assert!(self.events.lock().unwrap_or_else(PoisonError::into_inner).insert(event_id));
        }
    }

    /// Changes a clock until the end; every change counts.
    fn steer(&self) {
        for number in 0.. {
            if self.is_over() {
                return;
            }
            let path = if number % 2 == 0 { "/v1/pause-time" } else { "/v1/resume-time" };
            let body = json!({ "timeline_id": "steered" });
            let answer = self.settled(&Request::post(path).json(&body).idempotent(&format!("c-{number}")));
            assert_eq!(answer.status, 200, "{answer}");
            self.changes.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Reads that clock until the end: acknowledged changes are visible at every service.
    fn read(&self) {
        while !self.is_over() {
            let acknowledged = self.changes.load(Ordering::SeqCst);
            let answer = self.settled(&Request::get("/v1/clock?timeline_id=steered"));
            assert_eq!(answer.status, 200, "{answer}");
            let seen = answer.json()["generation"].as_u64().unwrap();
            assert!(seen >= acknowledged, "{seen} is older than {acknowledged}");
            self.reads.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Handles firings until the end.
    fn work(&self) {
        while !self.is_over() {
            self.work_once("1s");
        }
    }

    /// Handles firings once and returns their number.
    fn work_once(&self, wait: &str) -> usize {
        let claim = json!({ "timeline_id": "ticks", "max": 4, "wait": wait, "ack_timeout": "5s" });
        let answer = self.settled(&Request::post("/v1/queues/default/claim").json(&claim));
        assert_eq!(answer.status, 200, "{answer}");
        let claimed = answer.json()["firings"].as_array().unwrap().clone();
        for firing in &claimed {
            let text = |name: &str| firing[name].as_str().unwrap().to_owned();
            let (firing_id, due) = (text("firing_id"), text("due"));
            let done = json!({ "timeline_id": "ticks", "firing_ids": [firing_id] });
            let answer = self.settled(&Request::post("/v1/firings/ack").json(&done));
            assert_eq!(answer.status, 200, "{answer}");
            let before = self.firings.lock().unwrap_or_else(PoisonError::into_inner).insert(due, firing_id.clone());
            assert!(before.is_none_or(|before| before == firing_id), "a moment fired twice");
        }
        claimed.len()
    }

    fn acknowledged(&self) -> usize {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Waits for this many further acknowledged events.
    fn go_on(&self) {
        let before = self.acknowledged();
        until_so("clients to be answered", || self.acknowledged() >= before + EVENTS_A_PHASE);
    }
}

/// The services, each with its own folder.
struct Fleet {
    older: PathBuf,
    url: String,
    folders: Vec<TempDir>,
    /// The feature level of the older build, once it has created the database.
    before: u64,
}

impl Fleet {
    fn new(older: PathBuf, url: &str) -> Self {
        let folders: Vec<TempDir> = (0..REPLACED + 2).map(|_| tempfile::tempdir().unwrap()).collect();
        let data = |folder: &TempDir| folder.path().join("data");
        make_signing_key(&data(&folders[0]));
        for folder in &folders[1..] {
            std::fs::create_dir(data(folder)).unwrap();
            std::fs::copy(data(&folders[0]).join("signing.key"), data(folder).join("signing.key")).unwrap();
        }
        Self { older, url: url.to_owned(), folders, before: 0 }
    }

    fn data(&self, number: usize) -> PathBuf {
        self.folders[number].path().join("data")
    }

    /// Starts a service of either build, with a name that identifies it.
    fn start(&self, number: usize, program: Option<&Path>) -> Process {
        let build = if program.is_some() { "older" } else { "newer" };
        let (name, log) = (format!("{build}-{number}"), self.folders[number].path().join(build));
        let arguments = ["--store", &self.url, "--replicas", "--join", "--replica-name", &name];
        Process::start_of(program, &self.data(number), &log, &arguments)
    }

    fn log(&self, number: usize, build: &str) -> String {
        std::fs::read_to_string(self.folders[number].path().join(build)).unwrap()
    }

    /// Runs `timenav upgrade` of the current build.
    fn upgrade(&self, more: &[&str]) -> (Option<i32>, String, String) {
        run(timenav().args(["upgrade", "--store", &self.url]).args(more), "")
    }

    /// Returns the level of the database, and names and levels of its services.
    fn status(&self) -> (u64, Vec<(String, u64)>) {
        let (code, stdout, complaint) = self.upgrade(&["--json"]);
        assert_eq!(code, Some(0), "{complaint}");
        let stdout: Value = serde_json::from_str(&stdout).unwrap();
        let there = stdout["services"].as_array().unwrap().iter().filter(|one| one["state"] == "running");
        let there = there.map(|one| (one["name"].as_str().unwrap().to_owned(), one["feature_level"].as_u64().unwrap()));
        (stdout["feature_level"].as_u64().unwrap(), there.collect())
    }

    /// Starts the older build on a new folder, which must fail. Returns its output.
    fn refused_older(&self) -> String {
        let mut command = Command::new(&self.older);
        command.env_clear().args(["serve", "--listen", "127.0.0.1:0", "--store", &self.url, "--replicas", "--data"]);
        let (code, _, complaint) = run(command.arg(self.data(REPLACED + 1)).arg("--join"), "");
        assert_eq!(code, Some(1), "{complaint}");
        complaint
    }
}

/// Returns whether a service reports that it only knows its own followers, as before level 3.
fn knows_only_its_own(address: SocketAddr, key: &str) -> bool {
    let listed = send(address, &Request::get("/v1/followers").key(key)).unwrap().expect(200);
    listed["partial"] == true
}

fn readiness(address: SocketAddr) -> Answer {
    send(address, &Request::get("/readyz").anonymous()).unwrap()
}

/// Replaces the services one by one while clients continue. Returns the new ones.
fn replace(fleet: &Fleet, load: &Load, older: Vec<Process>) -> Vec<Process> {
    let mut newer = Vec::new();
    for (number, mut process) in older.into_iter().enumerate() {
        load.go_to(number, None);
        if number == 1 {
            process.kill();
        } else {
            process.terminate();
            assert!(process.wait().success(), "{}", fleet.log(number, "older"));
        }
        let process = fleet.start(number, None);
        until_so("the new service to be ready", || readiness(process.address).status == 200);
        load.go_to(number, Some(process.address));
        load.go_on();
        let (level, there) = fleet.status();
        let newest = format!("newer-{number}");
        assert_eq!(level, fleet.before, "nothing raises it");
        assert!(there.contains(&(newest, KNOWN)) && there.iter().any(|(_, level)| *level == fleet.before), "{there:?}");
        println!("  replaced {}: {there:?}", number + 1);
        // Features unknown to an older service are not used, and none is left behind.
        assert_eq!(knows_only_its_own(process.address, &load.admin), fleet.before < FOLLOWERS_OF_ALL);
        let (code, _, complaint) = fleet.upgrade(&["--finish"]);
        assert!(code == Some(1) && complaint.contains("`older-3`"), "{complaint}");
        newer.push(process);
    }
    newer
}

/// Finishes the upgrade while an older service is paused, which resumes afterwards.
fn finish(fleet: &Fleet, load: &Load, paused: &Process, newer: &[Process]) {
    load.go_to(REPLACED, None);
    paused.signal(Signal::STOP);
    // It still counts as present for a while.
    until_so("the upgrade to be finished", || fleet.upgrade(&["--finish"]).0 == Some(0));
    let (level, there) = fleet.status();
    assert!(level == KNOWN && there.iter().all(|(_, level)| *level == KNOWN), "{there:?}");
    println!("  finished: {there:?}");
    load.go_on();
    for process in newer {
        until_so("followers of all services", || !knows_only_its_own(process.address, &load.admin));
        assert_eq!(readiness(process.address).status, 200);
    }
    paused.signal(Signal::CONT);
    let expected = format!("upgraded to the feature level {KNOWN}, and this version knows {}", fleet.before);
    let late = Request::post("/v1/pause-time").key(&load.admin);
    let is_refused = |answer: &Answer| answer.status == 503 && answer.text().contains(&expected);
    let mut last = String::new();
    let stopped = try_until(|| {
        let answer = send(paused.address, &late);
        last = answer.as_ref().map_or_else(ToString::to_string, ToString::to_string);
        answer.is_ok_and(|answer| is_refused(&answer)).then_some(())
    });
    assert!(stopped.is_some(), "{last}\n{}", fleet.log(REPLACED, "older"));
    assert!(is_refused(&readiness(paused.address)), "{}", readiness(paused.address));
    println!("  the older service says: {}", readiness(paused.address).text());
    let complaint = fleet.refused_older();
    // It checks the tables first, which a level may have changed.
    let level = format!("has the feature level {KNOWN}, and this version knows {}", fleet.before);
    let is_reported =
        ["was written by a newer version of timenav", &level].iter().any(|expected| complaint.contains(expected));
    assert!(is_reported, "{complaint}");
    println!("  the older build says: {}", complaint.trim());
    load.go_on();
}

/// Returns how often each event is found at a service, page by page.
fn found(address: SocketAddr, admin: &str) -> BTreeMap<String, usize> {
    let (mut found, mut cursor) = (BTreeMap::new(), String::new());
    loop {
        let mut parameters = vec![("location", "*"), ("time_range", "../.."), ("limit", "1000")];
        if !cursor.is_empty() {
            parameters.push(("cursor", &cursor));
        }
        let page = send(address, &Request::get(&target("/v1/monitor-events", &parameters)).key(admin)).unwrap();
        let page = page.expect(200);
        for event in page["events"].as_array().unwrap() {
            *found.entry(event["event_id"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return found,
        }
    }
}

/// Compares the data with the acknowledged results.
fn check(fleet: &Fleet, load: &Load, newer: &[Process]) {
    let events = load.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let expected: BTreeMap<String, usize> = events.into_iter().map(|event_id| (event_id, 1)).collect();
    let (changes, admin) = (load.changes.load(Ordering::SeqCst), &load.admin);
    for process in newer {
        assert_eq!(found(process.address, admin), expected);
        let clock = send(process.address, &Request::get("/v1/clock?timeline_id=steered").key(admin)).unwrap();
        assert_eq!(clock.expect(200)["generation"], changes);
        let clock = send(process.address, &Request::get("/v1/clock").key(admin)).unwrap();
        assert_eq!(clock.expect(200)["generation"], 0, "the one that was left behind wrote nothing");
        assert_eq!(readiness(process.address).status, 200);
    }
    for timeline in ["main", "steered", "ticks", "system"] {
        let request = Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": timeline }));
        is_clean(&load.settled(&request).expect(200));
    }
    let mut verify = timenav();
    let (code, stdout, complaint) =
        run(verify.args(["verify", "--store", &fleet.url, "--data"]).arg(fleet.data(0)), "");
    assert_eq!(code, Some(0), "{stdout}{complaint}");
    // Every second from the first to the last fired once and was acknowledged.
    let firings = load.firings.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let ids: BTreeSet<&String> = firings.values().collect();
    assert_eq!(ids.len(), firings.len());
    let second = |due: &String| due[17..19].parse::<usize>().unwrap() + 60 * due[14..16].parse::<usize>().unwrap();
    let seconds: Vec<usize> = firings.keys().map(second).collect();
    assert!(seconds.windows(2).all(|pair| pair[1] == pair[0] + 1), "{firings:#?}");
    println!(
        "  acknowledged: {} events, {changes} clock changes, {} firings; {} reads; {} requests, {} of them again",
        expected.len(),
        firings.len(),
        load.reads.load(Ordering::Relaxed),
        load.sent.load(Ordering::Relaxed),
        load.repeated.load(Ordering::Relaxed),
    );
}

#[test]
#[ignore = "needs an older build: cargo xtask rolling-upgrade"]
fn rolling_upgrade_under_load_replaces_older_replicas() {
    #[expect(clippy::disallowed_methods, reason = "the command that has built it says here where it is")]
    let older = PathBuf::from(std::env::var_os(OLDER).expect("the older program, by `cargo xtask rolling-upgrade`"));
    let cluster = Cluster::start();
    let mut fleet = Fleet::new(older, &cluster.url);
    let mut older: Vec<Process> = (0..=REPLACED).map(|number| fleet.start(number, Some(&fleet.older))).collect();
    let admin = std::fs::read_to_string(fleet.data(0).join("admin.key")).unwrap().trim_end().to_owned();
    let load = Load { admin, ..Load::default() };
    older.iter().enumerate().for_each(|(number, process)| load.go_to(number, Some(process.address)));
    let rule = json!({ "rule": "FREQ=SECONDLY", "starts": "2000-01-01T00:00:01Z" });
    for (path, body) in [
        ("/timelines", json!({ "timeline_id": "steered" })),
        ("/timelines", json!({ "timeline_id": "ticks" })),
        ("/v1/travel", json!({ "timeline_id": "ticks", "destination_time": "2000-01-01T00:00:00Z" })),
        ("/v1/timers", json!({ "timeline_id": "ticks", "timer_id": "tick", "every": rule })),
    ] {
        let answer = load.settled(&Request::post(path).json(&body));
        assert!(answer.status < 300, "{path}: {answer}");
    }
    fleet.before = fleet.status().0;
    assert!((OLDEST_FEATURE_LEVEL..KNOWN).contains(&fleet.before), "{:?}", fleet.status());
    let paused = older.pop().unwrap();
    let newer = thread::scope(|scope| {
        let load = &load;
        (0..WRITERS).for_each(|name| _ = scope.spawn(move || load.write(name)));
        scope.spawn(|| load.steer());
        (0..2).for_each(|_| _ = scope.spawn(|| load.read()));
        scope.spawn(|| load.work());
        // Any failure stops the clients too.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            load.go_on();
            let newer = replace(&fleet, load, older);
            finish(&fleet, load, &paused, &newer);
            newer
        }));
        load.is_over.store(true, Ordering::SeqCst);
        load.has_failed.store(ended.is_err(), Ordering::SeqCst);
        ended.unwrap_or_else(|failure| std::panic::resume_unwind(failure))
    });
    // Due firings stay due and are handled.
    load.settled(&Request::post("/v1/pause-time").json(&json!({ "timeline_id": "ticks" })));
    until_so("the queue to be empty", || load.work_once("0s") == 0);
    check(&fleet, &load, &newer);
    drop(paused);
    for number in 0..=REPLACED {
        let newer = if number < REPLACED { fleet.log(number, "newer") } else { String::new() };
        let is_expected = |line: &str| ERRORS_EXPECTED.iter().any(|piece| line.contains(piece));
        for line in newer.lines().filter(|line| !is_expected(line)) {
            assert!(!line.contains("ERROR"), "{line}");
        }
        assert!(!newer.contains("panicked") && !fleet.log(number, "older").contains("panicked"), "{number}");
    }
}

//! Timers of several services on one database: an advance continues if its service is killed or stopped, and firings
//! leased to workers of a dead service are redelivered.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::super::postgres::Cluster;
use super::three::{Three, metric};
use super::{STATUSES, send, wait};
use crate::support::http::Request;
use crate::support::waiting::until_so;

/// Timers passed by one advance.
const TIMERS: usize = 12;
/// Maximum number of claims per worker, so that an abandoned test ends.
const QUESTIONS_MAX: usize = 1_500;

/// What workers have seen.
#[derive(Default)]
struct Seen {
    /// How often each firing was handed out.
    handed_out: BTreeMap<String, u32>,
    acknowledged: BTreeSet<String>,
}

/// Claims at one service and acknowledges at another, or else where it was claimed, until stopped. Either may be
/// stopping.
fn work(here: SocketAddr, there: SocketAddr, key: &str, seen: &Mutex<Seen>, is_over: &AtomicBool) {
    let claim = json!({ "max": 2, "wait": "1s", "ack_timeout": "2s" });
    for _ in 0..QUESTIONS_MAX {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(answer) = send(here, &Request::post("/v1/queues/default/claim").json(&claim).key(key)) else {
            wait();
            continue;
        };
        assert!(STATUSES.contains(&answer.status), "{}", answer.text());
        let body = answer.json();
        for firing in body["firings"].as_array().into_iter().flatten() {
            let firing_id = firing["firing_id"].as_str().unwrap().to_owned();
            *seen.lock().unwrap_or_else(PoisonError::into_inner).handed_out.entry(firing_id.clone()).or_default() += 1;
            let clock = send(there, &Request::get("/v1/clock").key(key)).ok().filter(|clock| clock.status == 200);
            if let Some(clock) = clock.map(|clock| clock.json()) {
                assert!(clock["current_time"].as_str() >= firing["due"].as_str(), "{clock} {firing}");
            }
            let done = Request::post("/v1/firings/ack").json(&json!({ "firing_ids": [firing_id] })).key(key);
            let is_done = |address| send(address, &done).is_ok_and(|answer| answer.status == 200);
            if is_done(there) || is_done(here) {
                seen.lock().unwrap_or_else(PoisonError::into_inner).acknowledged.insert(firing_id);
            }
        }
    }
}

/// Starts an advance past timers and sends a signal to its service in the middle.
fn round(services: &mut Three, url: &str, (year, signal): (u32, Signal)) {
    let travel = json!({ "destination_time": format!("{year}-01-01T00:00:00Z"), "wait": "0s" });
    services.first.post("/v1/pause-time", &json!({}));
    services.first.post("/v1/travel", &travel);
    for day in 2..TIMERS + 2 {
        let at = format!("{year}-01-{day:02}T00:00:00Z");
        services.first.post("/v1/timers", &json!({ "timer_id": format!("{year}-{day}"), "at": at }));
    }
    let (addresses, admin) = (services.addresses(), services.first.admin.clone());
    let (seen, is_over) = (Mutex::<Seen>::default(), AtomicBool::new(false));
    let settled = thread::scope(|scope| {
        let (seen, is_over, admin) = (&seen, &is_over, &admin);
        for (one, other) in [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)] {
            scope.spawn(move || work(addresses[one], addresses[other], admin, seen, is_over));
        }
        // The queue has a listener before the clock moves.
        (0..10).for_each(|_| wait());
        let moved = json!({ "duration": "20d", "wait": "0s" });
        let begun = send(addresses[1], &Request::post("/v1/fast-forward").json(&moved).key(admin)).unwrap().json();
        let advance = begun["receipt"]["advance_id"].as_str().unwrap_or_else(|| panic!("{begun:#}")).to_owned();
        let count = || seen.lock().unwrap_or_else(PoisonError::into_inner).acknowledged.len();
        until_so("three firings to be acknowledged", || count() >= 3);
        let struck = services.strike(signal);
        let survivors: Vec<SocketAddr> = (0..3).filter(|at| *at != struck).map(|at| addresses[at]).collect();
        let request = Request::get(&format!("/v1/advances/{advance}")).key(admin);
        let receipt = || send(survivors[0], &request).unwrap().json()["receipt"].clone();
        until_so("the advance to be taken over", || receipt()["state"] != "running");
        is_over.store(true, Ordering::SeqCst);
        let settled = receipt();
        let takeovers = survivors.iter().map(|at| metric(*at, "timenav_scheduler_failovers_total"));
        assert!(takeovers.sum::<u64>() > 0, "another one took it over");
        if signal == Signal::STOP {
            services.signal(struck, Signal::CONT);
            // A resumed service sees the changes and does not undo them.
            let repeated = || send(addresses[struck], &request).ok().filter(|answer| answer.status == 200);
            until_so("it to wake up", || repeated().is_some_and(|answer| answer.json()["receipt"] == settled));
        } else {
            services.start_again(struck, url);
        }
        settled
    });
    let counts = ["state", "fired", "acknowledged", "failed", "unacknowledged"].map(|name| settled[name].clone());
    assert_eq!(json!(counts), json!(["settled", TIMERS, TIMERS, 0, 0]), "{settled:#}");
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(seen.handed_out.len(), TIMERS);
    assert!(seen.handed_out.values().all(|times| *times <= 3), "{:?}", seen.handed_out);
    let mut firing_ids = BTreeSet::new();
    for day in 2..TIMERS + 2 {
        let timer = services.first.get(&format!("/v1/timers/{year}-{day}"), &[]);
        let firings = timer["firings"].as_array().unwrap();
        let states: Vec<&Value> = firings.iter().map(|firing| &firing["state"]).collect();
        assert_eq!(states, ["acknowledged"], "{timer:#}");
        firing_ids.insert(firings[0]["firing_id"].as_str().unwrap().to_owned());
    }
    // All were delivered, and the deliveries match the ledger.
    assert!(seen.handed_out.keys().eq(&firing_ids), "{:?} {firing_ids:?}", seen.handed_out);
}

#[test]
fn advance_continues_after_its_replica_is_killed_or_stopped() {
    let cluster = Cluster::start();
    let mut services = Three::start(&cluster);
    for (year, signal) in [(2001, Signal::KILL), (2002, Signal::STOP), (2003, Signal::KILL), (2004, Signal::STOP)] {
        round(&mut services, &cluster.url, (year, signal));
    }
    services.audit();
}

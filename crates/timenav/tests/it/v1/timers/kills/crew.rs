//! Workers that claim firings, settle them and set timers until the service is gone; and the killer.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Scope, ScopedJoinHandle};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::super::Ends;
use super::super::plans::{CLAIMED_QUEUES, HOUR, moment, stamp};
use crate::support::dice::Dice;
use crate::support::http::{Answer, Connection, Request};

/// Lease of a worker. With several services, firings of a dead one are redelivered after it.
const LEASE: &str = "5s";
/// Maximum number of retries of an unavailable service.
const REPETITIONS_MAX: u32 = 200;

/// Reports steps to the killer.
#[derive(Clone)]
pub(crate) struct Steps(Option<Sender<()>>);

impl Steps {
    /// Returns steps that lead to no kill.
    pub(super) const fn nobody() -> Self {
        Self(None)
    }

    pub(super) fn step(&self) {
        // The receiver is dropped once the kill is under way.
        let _ = self.0.as_ref().map(|steps| steps.send(()));
    }
}

/// Kills a process after this many steps and a pause.
pub(crate) struct Killer {
    pub(super) after: u64,
    /// In scheduler yields.
    pub(super) pause: u64,
}

impl Killer {
    /// Returns the step reporter and the result of the kill.
    pub(crate) fn start<'scope, T: Send + 'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        strike: impl FnOnce() -> T + Send + 'scope,
    ) -> (Steps, ScopedJoinHandle<'scope, T>) {
        let (sender, steps): (Sender<()>, Receiver<()>) = mpsc::channel();
        let killing = scope.spawn(move || {
            for _ in 0..self.after {
                steps.recv().expect("the clock is driven until a service is gone");
            }
            (0..self.pause).for_each(|_| thread::yield_now());
            strike()
        });
        (Steps(Some(sender)), killing)
    }
}

pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process")).expect("a process");
    kill_process(pid, Signal::KILL).expect("the process is there");
}

/// Services on one database, with an API key.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) addresses: &'a [SocketAddr],
    pub(crate) admin: &'a str,
}

/// Retries while a service is unavailable or there is a conflict: others were faster, or another service has just died.
pub(super) fn insist(connection: &mut Connection, request: &Request) -> io::Result<Answer> {
    for _ in 0..REPETITIONS_MAX {
        let answer = connection.exchange(request)?;
        if answer.status != 503 {
            return Ok(answer);
        }
    }
    connection.exchange(request)
}

/// What workers have received and done.
#[derive(Default)]
pub(crate) struct CrewLog {
    /// Acknowledged outcomes, and how many preceded each.
    pub(super) outcomes: BTreeMap<String, (String, usize)>,
    /// Timers set by handlers.
    pub(super) setting: BTreeMap<String, Setting>,
}

/// A timer set by a handler.
pub(super) struct Setting {
    pub(super) at: i64,
    /// Whether the worker got a response.
    pub(super) is_set: bool,
}

/// The workers of all rounds.
#[derive(Default)]
pub(crate) struct Crew {
    log: Mutex<CrewLog>,
    is_over: AtomicBool,
}

impl Crew {
    pub(super) fn log(&self) -> MutexGuard<'_, CrewLog> {
        self.log.lock().expect("no worker has failed")
    }

    /// Starts workers that stop when the result is dropped.
    pub(crate) fn ends(&self) -> Ends<'_> {
        self.is_over.store(false, Ordering::Relaxed);
        Ends(&self.is_over)
    }

    pub(crate) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, at: At<'_>, steps: &Steps) {
        for queue in CLAIMED_QUEUES {
            self.start_on(scope, queue, at, steps);
        }
    }

    pub(super) fn start_on<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        queue: &'static str,
        at: At<'_>,
        steps: &Steps,
    ) {
        for address in at.addresses.iter().copied() {
            let (admin, steps) = (at.admin.to_owned(), steps.clone());
            // It ends with the service.
            scope.spawn(move || self.work(queue, (address, &admin), &steps).is_ok());
        }
    }

    fn work(&self, queue: &str, (address, admin): (SocketAddr, &str), steps: &Steps) -> io::Result<()> {
        let mut connection = Connection::open(address)?;
        let mut ask = |path: &str, body: &Value| {
            let request = Request::post(path).json(body).key(admin);
            steps.step();
            let answer = insist(&mut connection, &request)?;
            steps.step();
            // It took so long that another worker got the firing.
            if answer.json_or_null()["code"] == "lease_lost" {
                return io::Result::Ok(None);
            }
            assert!(matches!(answer.status, 200 | 201), "{path} {body}: {answer}");
            Ok(Some(answer.json()))
        };
        let claim = json!({ "max": 3, "wait": "1s", "ack_timeout": LEASE });
        while !self.is_over.load(Ordering::Relaxed) {
            let before = self.log().outcomes.len();
            let claimed = ask(&format!("/v1/queues/{queue}/claim"), &claim)?.expect("a claim needs no lease");
            for firing in claimed["firings"].as_array().expect("firings") {
                let firing_id = firing["firing_id"].as_str().expect("an id");
                let is_over = self.log().outcomes.get(firing_id).is_some_and(|(_, number)| *number < before);
                assert!(!is_over, "it had an outcome, and is handed out again: {firing}");
                self.handle(firing, &mut ask)?;
            }
        }
        Ok(())
    }

    /// Handles a firing deterministically by its id, so that a redelivery has the same outcome.
    fn handle(
        &self,
        firing: &Value,
        ask: &mut impl FnMut(&str, &Value) -> io::Result<Option<Value>>,
    ) -> io::Result<()> {
        let firing_id = firing["firing_id"].as_str().expect("an id");
        let seed = firing_id.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut dice = Dice::new(seed);
        let named = json!({ "firing_ids": [firing_id], "lease_ids": [firing["lease_id"]] });
        // One in forty fails permanently. Outside an advance that would take an hour.
        let (fails_once, fails) = (dice.below(10) == 0, dice.below(40) == 0);
        if firing["step"].is_u64() && (fails || fails_once && firing["attempt"] == 1) {
            let failed = ask("/v1/firings/fail", &named)?;
            self.note(failed.as_ref());
            return Ok(());
        }
        if dice.below(6) == 0 && firing["timer_id"].as_str().expect("an id").starts_with('r') {
            let at = moment(&firing["due"]) + HOUR * 30;
            let timer_id = format!("h-{}", &firing_id["firing_".len()..]);
            self.log().setting.entry(timer_id.clone()).or_insert(Setting { at, is_set: false });
            ask("/v1/timers", &json!({ "timer_id": timer_id, "at": stamp(at) }))?;
            self.log().setting.get_mut(&timer_id).expect("it is about to be set").is_set = true;
        }
        let acknowledged = ask("/v1/firings/ack", &named)?;
        self.note(acknowledged.as_ref());
        Ok(())
    }

    fn note(&self, answer: Option<&Value>) {
        for firing in answer.map(|answer| &answer["firings"]).and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| firing[name].as_str().expect("a text").to_owned();
            if text("state") != "pending" {
                let mut log = self.log();
                let (state, number) = (text("state"), log.outcomes.len());
                let known = log.outcomes.entry(text("firing_id")).or_insert((state.clone(), number));
                assert_eq!(known.0, state, "it has two outcomes: {firing}");
            }
        }
    }
}

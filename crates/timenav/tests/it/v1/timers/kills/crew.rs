//! Workers that claim firings, acknowledge or fail them and set timers, until the service is gone; and what kills it.

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
use super::super::plans::{HEARD, HOUR, moment, stamp};
use crate::dice::Dice;
use crate::http::{Answer, Connection, Request};

/// For how long a worker has a firing. With several services, those of one that dies come back after it.
const LEASE: &str = "5s";
/// How often a service that could not is asked again.
const REPETITIONS_MAX: u32 = 200;

/// Tells whoever kills a service how far things have come.
#[derive(Clone)]
pub(crate) struct Steps(Option<Sender<()>>);

impl Steps {
    /// Returns those that lead to no kill.
    pub(super) const fn nobody() -> Self {
        Self(None)
    }

    pub(super) fn step(&self) {
        // Nobody listens any more once the kill is on its way.
        let _ = self.0.as_ref().map(|steps| steps.send(()));
    }
}

/// Kills somebody after so many steps and a pause.
pub(crate) struct Killer {
    pub(super) after: u64,
    /// In turns of the processor.
    pub(super) pause: u64,
}

impl Killer {
    /// Returns what tells it of steps, and what becomes of the kill.
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

/// Ends a process at once.
pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process")).expect("a process");
    kill_process(pid, Signal::KILL).expect("the process is there");
}

/// Services on one database, and the key that they are asked with.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) addresses: &'a [SocketAddr],
    pub(crate) admin: &'a str,
}

/// Asks again as long as a service says that it could not: others were faster, or another one has just died.
pub(super) fn insist(connection: &mut Connection, request: &Request) -> io::Result<Answer> {
    for _ in 0..REPETITIONS_MAX {
        let answer = connection.exchange(request)?;
        if answer.status != 503 {
            return Ok(answer);
        }
    }
    connection.exchange(request)
}

/// What workers were told, and did.
#[derive(Default)]
pub(crate) struct Told {
    /// Outcomes that were answered, and how many were before.
    pub(super) outcomes: BTreeMap<String, (String, usize)>,
    /// Timers that handlers set.
    pub(super) setting: BTreeMap<String, Setting>,
}

/// A timer that a handler sets.
pub(super) struct Setting {
    pub(super) at: i64,
    /// Whether a worker was told so.
    pub(super) is_set: bool,
}

/// Workers of all rounds.
#[derive(Default)]
pub(crate) struct Crew {
    told: Mutex<Told>,
    is_over: AtomicBool,
}

impl Crew {
    pub(super) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().expect("no worker has failed")
    }

    /// Has workers come, and go once this is dropped.
    pub(crate) fn ends(&self) -> Ends<'_> {
        self.is_over.store(false, Ordering::Relaxed);
        Ends(&self.is_over)
    }

    pub(crate) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, at: At<'_>, steps: &Steps) {
        for queue in HEARD {
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
            // Its end is that of the service.
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
            // It took so long that another worker was given the firing.
            if answer.json_or_null()["code"] == "lease_lost" {
                return io::Result::Ok(None);
            }
            assert!(matches!(answer.status, 200 | 201), "{path} {body}: {answer}");
            Ok(Some(answer.json()))
        };
        let claim = json!({ "max": 3, "wait": "1s", "ack_timeout": LEASE });
        while !self.is_over.load(Ordering::Relaxed) {
            let before = self.told().outcomes.len();
            let claimed = ask(&format!("/v1/queues/{queue}/claim"), &claim)?.expect("a claim needs no lease");
            for firing in claimed["firings"].as_array().expect("firings") {
                let firing_id = firing["firing_id"].as_str().expect("an id");
                let is_over = self.told().outcomes.get(firing_id).is_some_and(|(_, number)| *number < before);
                assert!(!is_over, "it had an outcome, and is handed out again: {firing}");
                self.handle(firing, &mut ask)?;
            }
        }
        Ok(())
    }

    /// Does what the id of a firing says, so that whoever is given it again does the same.
    fn handle(
        &self,
        firing: &Value,
        ask: &mut impl FnMut(&str, &Value) -> io::Result<Option<Value>>,
    ) -> io::Result<()> {
        let firing_id = firing["firing_id"].as_str().expect("an id");
        let seed = firing_id.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut dice = Dice::new(seed);
        let named = json!({ "firing_ids": [firing_id], "lease_ids": [firing["lease_id"]] });
        // One in forty fails for good. Outside of an advance that would take an hour.
        let (fails_once, fails) = (dice.below(10) == 0, dice.below(40) == 0);
        if firing["step"].is_u64() && (fails || fails_once && firing["attempt"] == 1) {
            let failed = ask("/v1/firings/fail", &named)?;
            self.note(failed.as_ref());
            return Ok(());
        }
        if dice.below(6) == 0 && firing["timer_id"].as_str().expect("an id").starts_with('r') {
            let at = moment(&firing["due"]) + HOUR * 30;
            let timer_id = format!("h-{}", &firing_id["firing_".len()..]);
            self.told().setting.entry(timer_id.clone()).or_insert(Setting { at, is_set: false });
            ask("/v1/timers", &json!({ "timer_id": timer_id, "at": stamp(at) }))?;
            self.told().setting.get_mut(&timer_id).expect("it is about to be set").is_set = true;
        }
        let acknowledged = ask("/v1/firings/ack", &named)?;
        self.note(acknowledged.as_ref());
        Ok(())
    }

    fn note(&self, answer: Option<&Value>) {
        for firing in answer.map(|answer| &answer["firings"]).and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| firing[name].as_str().expect("a text").to_owned();
            if text("state") != "pending" {
                let mut told = self.told();
                let (state, number) = (text("state"), told.outcomes.len());
                let known = told.outcomes.entry(text("firing_id")).or_insert((state.clone(), number));
                assert_eq!(known.0, state, "it has two outcomes: {firing}");
            }
        }
    }
}

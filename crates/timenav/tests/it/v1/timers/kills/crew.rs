//! Workers that claim firings, acknowledge or fail them and set timers, until the service is gone; and what kills it.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Scope};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::super::Ends;
use super::super::plans::{HEARD, HOUR, moment, stamp};
use crate::dice::Dice;
use crate::http::{Connection, Request};

/// Tells whoever kills the service how far things have come.
#[derive(Clone)]
pub(super) struct Steps(Option<Sender<()>>);

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

/// Kills a service after so many steps and a pause.
pub(super) struct Killer {
    pub(super) pid: u32,
    pub(super) after: u64,
    /// In turns of the processor.
    pub(super) pause: u64,
}

impl Killer {
    pub(super) fn start<'scope>(self, scope: &'scope Scope<'scope, '_>) -> Steps {
        let (sender, steps): (Sender<()>, Receiver<()>) = mpsc::channel();
        scope.spawn(move || {
            for _ in 0..self.after {
                steps.recv().expect("the clock is driven until the service is gone");
            }
            (0..self.pause).for_each(|_| thread::yield_now());
            let pid = Pid::from_raw(i32::try_from(self.pid).expect("a process")).expect("a process");
            kill_process(pid, Signal::KILL).expect("the process is there");
        });
        Steps(Some(sender))
    }
}

/// What workers were told, and did.
#[derive(Default)]
pub(super) struct Told {
    /// Outcomes that were answered.
    pub(super) outcomes: BTreeMap<String, String>,
    /// Timers that handlers have set.
    pub(super) set: BTreeMap<String, i64>,
}

/// Workers of all rounds.
#[derive(Default)]
pub(super) struct Crew {
    told: Mutex<Told>,
    is_over: AtomicBool,
}

impl Crew {
    pub(super) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().expect("no worker has failed")
    }

    /// Has workers go once this is dropped.
    pub(super) const fn ends(&self) -> Ends<'_> {
        Ends(&self.is_over)
    }

    pub(super) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, at: (SocketAddr, &str), steps: &Steps) {
        for queue in HEARD {
            self.start_on(scope, queue, at, steps);
        }
    }

    pub(super) fn start_on<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        queue: &'static str,
        (address, admin): (SocketAddr, &str),
        steps: &Steps,
    ) {
        let (admin, steps) = (admin.to_owned(), steps.clone());
        // Its end is that of the service.
        scope.spawn(move || self.work(queue, (address, &admin), &steps).is_ok());
    }

    fn work(&self, queue: &str, (address, admin): (SocketAddr, &str), steps: &Steps) -> io::Result<()> {
        let mut connection = Connection::open(address)?;
        let mut ask = |path: &str, body: &Value| {
            let request = Request::post(path).json(body).key(admin);
            steps.step();
            let answer = connection.exchange(&request)?;
            steps.step();
            assert!(matches!(answer.status, 200 | 201), "{path} {body}: {answer}");
            io::Result::Ok(answer.json())
        };
        while !self.is_over.load(Ordering::Relaxed) {
            let claimed = ask(&format!("/v1/queues/{queue}/claim"), &json!({ "max": 3, "wait": "1s" }))?;
            for firing in claimed["firings"].as_array().expect("firings") {
                self.handle(firing, &mut ask)?;
            }
        }
        Ok(())
    }

    /// Does what the id of a firing says, so that whoever is given it again does the same.
    fn handle(&self, firing: &Value, ask: &mut impl FnMut(&str, &Value) -> io::Result<Value>) -> io::Result<()> {
        let firing_id = firing["firing_id"].as_str().expect("an id");
        assert!(!self.told().outcomes.contains_key(firing_id), "it has an outcome, and is handed out again: {firing}");
        let seed = firing_id.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut dice = Dice::new(seed);
        let named = json!({ "firing_ids": [firing_id], "lease_ids": [firing["lease_id"]] });
        // One in forty fails for good. Outside of an advance that would take an hour.
        let (fails_once, fails) = (dice.below(10) == 0, dice.below(40) == 0);
        if firing["step"].is_u64() && (fails || fails_once && firing["attempt"] == 1) {
            let failed = ask("/v1/firings/fail", &named)?;
            self.note(&failed);
            return Ok(());
        }
        if dice.below(6) == 0 && firing["timer_id"].as_str().expect("an id").starts_with('r') {
            let at = moment(&firing["due"]) + HOUR * 30;
            let timer_id = format!("h-{}", &firing_id["firing_".len()..]);
            ask("/v1/timers", &json!({ "timer_id": timer_id, "at": stamp(at) }))?;
            self.told().set.insert(timer_id, at);
        }
        let acknowledged = ask("/v1/firings/ack", &named)?;
        self.note(&acknowledged);
        Ok(())
    }

    fn note(&self, answer: &Value) {
        for firing in answer["firings"].as_array().expect("firings") {
            let text = |name: &str| firing[name].as_str().expect("a text").to_owned();
            if text("state") != "pending" {
                self.told().outcomes.insert(text("firing_id"), text("state"));
            }
        }
    }
}

//! kill -9 in many advances: each firing time has exactly one outcome, and receipts agree. The driver, workers and
//! checks are also used for several services on one database.

mod crew;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::thread;

use serde_json::{Value, json};

pub(crate) use self::crew::{At, Crew, Killer, kill};
use self::crew::{CrewLog, Setting, Steps, insist};
use super::plans::{CLAIMED_QUEUES, DAY, HOUR, Plan, To, UNCLAIMED_QUEUES, When, moment, number, stamp};
use crate::support::dice::Dice;
use crate::support::http::{Connection, Request};
use crate::support::service::Service;
use crate::support::waiting::until_so;
use crate::v1::paused_service;

/// Default number of interrupted advances. A hundred take some minutes.
const KILLS: u64 = 3;
const KILLS_VARIABLE: &str = "TIMENAV_TEST_KILLS";
/// Maximum number of steps (a request sent, a response read) before a kill.
const STEPS_MAX: u64 = 120;
/// Maximum number of plans per round, so that one without a kill ends.
const PLANS_MAX: u64 = 2_000;
/// Maximum number of firings in a timer response.
const FAILURES_PRINTED_MAX: usize = 100;

/// The next action of the driver. It is repeated until there is a response.
#[derive(Clone, Debug)]
enum Act {
    Set(Plan),
    Cancel(String),
    /// Move forward by minutes, stopping at every instant or jumping.
    Forward {
        by: i64,
        is_settled: bool,
    },
    Settle(String),
    /// Wait until everything up to the clock has fallen due: only then is it known which firings a cancellation
    /// precedes.
    CatchUp,
    /// Stop the advance.
    Pause,
}

/// A timer that is set or about to be.
struct Timer {
    plan: Plan,
    set_at: i64,
    cancelled_at: Option<i64>,
}

/// The outcome of a firing.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    timer_id: String,
    state: String,
    due: i64,
}

/// Drives a clock.
pub(crate) struct Driver {
    pub(crate) dice: Dice,
    now: i64,
    acts: VecDeque<Act>,
    /// Number of answered actions: it names the next one, so that a repetition can be recognized.
    number: u64,
    timers: BTreeMap<String, Timer>,
    advances: Vec<String>,
    /// Ranges jumped over by the clock, without their start.
    jumps: Vec<(i64, i64)>,
}

impl Driver {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            now: 0,
            acts: VecDeque::new(),
            number: 0,
            timers: BTreeMap::new(),
            advances: Vec::new(),
            jumps: Vec::new(),
        }
    }

    /// Sets timers, cancels one, and moves the clock.
    fn plan(&mut self) {
        let dice = &mut self.dice;
        for index in 0..2 + dice.below(4) {
            let mut plan = Plan::cast(dice, format!("r{:05}-{index}", self.number), self.now);
            // After a kill every queue counts as having a listener for ten seconds: few advances should wait for one
            // that has none.
            if plan.to == To::Queue(UNCLAIMED_QUEUES) && dice.below(5) > 0 {
                plan.to = To::Queue(CLAIMED_QUEUES[1]);
            }
            self.acts.push_back(Act::Set(plan));
        }
        let live: Vec<&String> =
            self.timers.iter().filter(|(_, one)| one.cancelled_at.is_none()).map(|(timer_id, _)| timer_id).collect();
        // Some never end, so their number is limited.
        let oldest = live.iter().take(live.len().saturating_sub(10));
        self.acts.extend(oldest.map(|timer_id| Act::Cancel((*timer_id).clone())));
        let by = 2 * HOUR + number(dice, DAY);
        self.acts.push_back(Act::Forward { by, is_settled: dice.below(6) > 0 });
        if dice.below(5) == 0 {
            self.acts.push_back(Act::Pause);
        }
    }

    /// Returns when to kill a service.
    pub(crate) const fn killer(&mut self) -> Killer {
        Killer { after: 1 + self.dice.below(STEPS_MAX), pause: self.dice.below(20_000) }
    }

    /// Plans and performs actions until one of the services is gone.
    pub(crate) fn drive_on(&mut self, at: At<'_>, steps: &Steps) {
        for _ in 0..PLANS_MAX {
            if self.drive(at, steps).is_err() {
                return;
            }
            self.plan();
        }
        panic!("nobody was killed");
    }

    /// Performs the planned actions until all are answered or one of the services is gone. Services take turns.
    pub(crate) fn drive(&mut self, at: At<'_>, steps: &Steps) -> io::Result<()> {
        let mut connections =
            at.addresses.iter().map(|address| Connection::open(*address)).collect::<Result<Vec<_>, _>>()?;
        while let Some(act) = self.acts.front().cloned() {
            let request = self.request(&act).key(at.admin);
            let turn = usize::try_from(self.number).expect("few acts") % connections.len();
            steps.step();
            let answer = if let Ok(answer) = insist(&mut connections[turn], &request) {
                answer
            } else {
                // An idle connection may have been closed. A killed service refuses a new one.
                connections[turn] = Connection::open(at.addresses[turn])?;
                insist(&mut connections[turn], &request)?
            };
            steps.step();
            assert!(matches!(answer.status, 200 | 201), "{act:?}: {answer}");
            self.answered(&act, &answer.json());
        }
        Ok(())
    }

    fn request(&self, act: &Act) -> Request {
        let request = match act {
            Act::Set(plan) => Request::post("/v1/timers").json(&plan.body()),
            Act::Cancel(timer_id) => Request::new("DELETE", &format!("/v1/timers/{timer_id}")),
            Act::Forward { by, is_settled } => {
                let to =
                    json!({ "destination_time": stamp(self.now + by), "wait": "0s", "wait_for_timers": is_settled });
                Request::post("/v1/travel").json(&to)
            }
            Act::Settle(advance_id) => return Request::get(&format!("/v1/advances/{advance_id}?wait=5s")),
            Act::CatchUp => return Request::get("/v1/timers?limit=1"),
            Act::Pause => Request::post("/v1/pause-time").json(&json!({})),
        };
        request.idempotent(&format!("act-{}", self.number))
    }

    fn answered(&mut self, act: &Act, answer: &Value) {
        self.acts.pop_front();
        self.number += 1;
        match act {
            Act::Set(plan) => {
                let timer = Timer { plan: plan.clone(), set_at: self.now, cancelled_at: None };
                self.timers.insert(plan.timer_id.clone(), timer);
            }
            Act::Cancel(timer_id) => {
                // At the end, an interrupted cancellation may be repeated: the first time counts.
                self.timers.get_mut(timer_id).expect("it was set").cancelled_at.get_or_insert(self.now);
            }
            Act::Forward { by, .. } => {
                if let Some(advance_id) = answer["receipt"]["advance_id"].as_str() {
                    self.advances.push(advance_id.to_owned());
                    // After stopping it, if it is stopped.
                    self.acts.push_back(Act::Settle(advance_id.to_owned()));
                } else {
                    self.jumps.push((self.now, self.now + by));
                    self.now += by;
                    self.acts.push_back(Act::CatchUp);
                }
            }
            Act::Settle(_) => match answer["receipt"]["state"].as_str().expect("a state") {
                "running" => self.acts.push_front(act.clone()),
                state => {
                    self.now = moment(&answer["receipt"]["reached"]);
                    // If it was stopped, timers of exactly that time may be about to fall due.
                    if state == "stopped" {
                        self.acts.push_front(Act::CatchUp);
                    }
                }
            },
            Act::CatchUp => {
                let earliest = answer["timers"].as_array().expect("timers").first();
                if earliest.is_some_and(|timer| moment(&timer["next"]) <= self.now) {
                    self.acts.push_front(Act::CatchUp);
                }
            }
            Act::Pause => {}
        }
    }
}

/// Returns the number of advances to interrupt.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says here for how long")]
pub(crate) fn kills_wanted() -> u64 {
    std::env::var(KILLS_VARIABLE).map_or(KILLS, |output| output.parse().expect("a number of kills"))
}

#[test]
fn firing_times_have_one_outcome_despite_kills() {
    let mut service = paused_service();
    let (mut driver, crew) = (Driver::new(14), Crew::default());
    let (mut kills, mut in_advance) = (0, 0);
    // The others come between two advances.
    while in_advance < kills_wanted() {
        let killer = driver.killer();
        let (pid, addresses, admin) = (service.pid(), [service.address()], service.admin.clone());
        let at = At { addresses: &addresses, admin: &admin };
        thread::scope(|scope| {
            let (steps, _) = killer.start(scope, move || kill(pid));
            crew.start(scope, at, &steps);
            driver.drive_on(at, &steps);
        });
        kills += 1;
        in_advance += u64::from(matches!(driver.acts.front(), Some(Act::Settle(_))));
        service.kill();
        service.start_again();
        service.remember("main");
    }
    finish(&service, &[service.address()], &mut driver, &crew);
    println!("{kills} kills, {in_advance} of them in an advance");
    service.audit();
}

/// Moves the clock past everything left, consumes the queue without listeners, and compares.
pub(crate) fn finish(service: &Service, addresses: &[SocketAddr], driver: &mut Driver, crew: &Crew) {
    let is_endless = |timer: &&Timer| matches!(timer.plan.when, When::Daily(_)) && timer.cancelled_at.is_none();
    let rules: Vec<String> =
        driver.timers.values().filter(is_endless).map(|timer| timer.plan.timer_id.clone()).collect();
    thread::scope(|scope| {
        let _ends = crew.ends();
        let (at, steps) = (At { addresses, admin: &service.admin }, Steps::nobody());
        crew.start(scope, at, &steps);
        let mut drive = |acts: Vec<Act>| {
            driver.acts.extend(acts);
            driver.drive(at, &steps).expect("the services go on");
        };
        // Interrupted actions come first: an advance that they may have started has to settle.
        drive(Vec::new());
        drive(vec![Act::Forward { by: DAY, is_settled: true }]);
        // Endless rules are canceled, and everything else fires within a week.
        drive(rules.into_iter().map(Act::Cancel).collect());
        drive(vec![Act::Forward { by: 7 * DAY, is_settled: true }]);
        crew.start_on(scope, UNCLAIMED_QUEUES, at, &steps);
        let is_done = || service.get("/v1/clock", &[])["lag"].is_null();
        let is_behind = |timer: &Value| moment(&timer["next"]) <= driver.now;
        let are_to_come =
            || !service.get("/v1/timers", &[])["timers"].as_array().expect("timers").iter().any(is_behind);
        until_so("all firings have an outcome", || is_done() && are_to_come() && is_done());
    });
    check(service, driver, &crew.log());
}

/// Compares the expected firings with timers, receipts, events, and what workers received.
fn check(service: &Service, driver: &Driver, log: &CrewLog) {
    let planned = driver.timers.values().map(|timer| {
        let upto = timer.cancelled_at.unwrap_or(driver.now);
        let due = timer.plan.when.moments(timer.plan.when.first(timer.set_at), upto);
        (timer.plan.timer_id.clone(), (due, timer.plan.to == To::Timeline))
    });
    // A timer may be set without a response.
    let is_there = |timer_id: &str| service.send(Request::get(&format!("/v1/timers/{timer_id}"))).status == 200;
    let by_handlers = log.setting.iter().filter(|(timer_id, one)| one.is_set || is_there(timer_id));
    let by_handlers = by_handlers.map(|(timer_id, Setting { at, .. })| {
        let due: Vec<i64> = Some(*at).filter(|at| *at <= driver.now).into_iter().collect();
        (timer_id.clone(), (due, false))
    });
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    let mut events: BTreeMap<String, i64> = BTreeMap::new();
    for (timer_id, (expected, records)) in planned.chain(by_handlers) {
        assert!(expected.len() <= FAILURES_PRINTED_MAX, "{timer_id} fires too often to be shown");
        let details = service.get(&format!("/v1/timers/{timer_id}"), &[]);
        let firings = details["firings"].as_array().expect("firings");
        let mut due: Vec<i64> = firings.iter().map(|firing| moment(&firing["due"])).collect();
        due.sort_unstable();
        let life = driver.timers.get(&timer_id).map(|timer| (timer.set_at, timer.cancelled_at));
        assert_eq!(due, expected, "{timer_id}, set and cancelled {life:?}, jumps {:?}: {details:#}", driver.jumps);
        for firing in firings {
            let (firing_id, state) = (text(&firing["firing_id"]), text(&firing["state"]));
            assert!(["acknowledged", "failed"].contains(&state.as_str()), "{firing}");
            let due = moment(&firing["due"]);
            if records {
                assert_eq!(firing["event_id"], firing["firing_id"]);
                events.insert(firing_id.clone(), due);
            }
            assert!(
                outcomes.insert(firing_id, Outcome { timer_id: timer_id.clone(), state, due }).is_none(),
                "two firings have one id: {firing}"
            );
        }
    }
    let mut found: Vec<(String, i64)> = Vec::new();
    for event in service.find_all("main", "*", "../..", "1000") {
        found.push((text(&event["event_id"]), moment(&event["time"])));
    }
    found.sort();
    assert_eq!(found, events.into_iter().collect::<Vec<_>>(), "each event once");
    for (firing_id, (state, _)) in &log.outcomes {
        let outcome = outcomes.get(firing_id).map(|outcome| &outcome.state);
        assert_eq!(outcome, Some(state), "a worker was told of another outcome of {firing_id}");
    }
    check_receipts(service, driver, outcomes);
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "main" }));
    assert_eq!(scan["findings"], json!([]), "{scan:#}");
}

/// Each firing is in one receipt, except for those jumped over and those already late when they were set.
fn check_receipts(service: &Service, driver: &Driver, mut outcomes: BTreeMap<String, Outcome>) {
    let all = outcomes.len();
    for advance_id in &driver.advances {
        let settled = service.get(&format!("/v1/advances/{advance_id}"), &[])["receipt"].clone();
        let count = |name: &str| settled[name].as_u64().expect("a count");
        assert_eq!(count("fired"), count("acknowledged") + count("failed") + count("unacknowledged"), "{settled:#}");
        let firings = settled["firings"].as_array().expect("firings");
        assert_eq!(count("fired"), firings.len() as u64, "{settled:#}");
        for firing in firings {
            let known = outcomes.remove(firing["firing_id"].as_str().expect("an id"));
            let (timer_id, state) = (text(&firing["timer_id"]), text(&firing["state"]));
            assert_eq!(known, Some(Outcome { timer_id, state, due: moment(&firing["due"]) }), "{firing}");
        }
    }
    let in_receipts = all - outcomes.len();
    let is_jumped_over = |due: i64| driver.jumps.iter().any(|(from, to)| due > *from && due <= *to);
    for (firing_id, outcome) in outcomes {
        // Timers set by handlers may be late.
        let may_be = outcome.timer_id.starts_with('h') || is_jumped_over(outcome.due);
        assert!(may_be, "{firing_id} is in no receipt: {outcome:?}");
    }
    println!("{} advances with {in_receipts} of {all} firings", driver.advances.len());
    assert_eq!(service.get("/v1/clock", &[])["current_time"], stamp(driver.now));
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

//! Random timer histories with slow, failing or vanishing targets, compared with a model. A dry run lists exactly what
//! then fires.

mod oracle;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use self::oracle::{Fate, Firing, Misfire, Model};
use super::Ends;
use super::plans::{CLAIMED_QUEUES, DAY, HOUR, Plan, To, UNCLAIMED_QUEUES, When, moment, number, stamp};
use crate::support::dice::Dice;
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::support::waiting::{until, until_so};

/// Default number of histories. Some hundred take some minutes.
const LIVES: u64 = 8;
const LIVES_VARIABLE: &str = "TIMENAV_TEST_LIVES";
/// Concurrent histories.
const SIDE_BY_SIDE: u64 = 8;
/// Actions per history.
const ACTS: u64 = 24;
/// Moments advanced to individually.
const STEPS: usize = 4;

/// The services to use in turn, if several share one database.
pub(crate) struct Services<'a> {
    ask: Vec<Ask<'a>>,
    requests_count: AtomicUsize,
}

/// Sends a request to a service as its operator.
pub(crate) type Ask<'a> = Box<dyn Fn(Request) -> Answer + Sync + 'a>;

impl<'a> Services<'a> {
    pub(crate) fn of(ask: Vec<Ask<'a>>) -> Self {
        Self { ask, requests_count: AtomicUsize::new(0) }
    }

    fn send(&self, request: Request) -> Answer {
        self.ask[self.requests_count.fetch_add(1, Ordering::Relaxed) % self.ask.len()](request)
    }
}

/// How a clock is advanced past each instant.
#[derive(Clone, Copy)]
enum Way {
    ByDuration,
    Travel,
    /// To the next moment only, if that comes first.
    ToNext,
}

impl Way {
    const ALL: [Self; 3] = [Self::ByDuration, Self::Travel, Self::ToNext];

    /// Returns the request that moves a clock, and its target.
    fn request(self, model: &Model, by: i64) -> (&'static str, Value, i64) {
        let to = model.now + by;
        match self {
            Self::ByDuration => ("/v1/fast-forward", json!({ "duration": format!("{by}m") }), to),
            Self::Travel => ("/v1/travel", json!({ "destination_time": stamp(to) }), to),
            Self::ToNext => {
                let next = model.armed().first().map(|(_, next)| *next);
                ("/v1/advance-to-next", json!({ "until": stamp(to) }), next.map_or(to, |next| next.min(to)))
            }
        }
    }
}

/// A timeline of a service with its model.
struct Life<'a> {
    service: &'a Services<'a>,
    name: String,
    model: Model,
    /// Advances that fired something.
    advances: u64,
    is_over: &'a AtomicBool,
}

impl Life<'_> {
    fn send(&self, path: &str, mut body: Value) -> Answer {
        body["timeline_id"] = json!(self.name);
        self.service.send(Request::post(path).json(&body))
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.send(path, body);
        assert!(matches!(answer.status, 200 | 201), "{}: {path}: {answer}", self.name);
        answer.json()
    }

    fn get(&self, path: &str) -> Value {
        self.service.send(Request::get(&target(path, &[("timeline_id", &self.name)]))).expect(200)
    }

    /// Claims firings and handles each according to its fate, until the end.
    fn work(service: &Services<'_>, name: &str, is_over: &AtomicBool) {
        let worker = Life { service, name: name.to_owned(), model: Model::default(), advances: 0, is_over };
        while !worker.is_over.load(Ordering::Relaxed) {
            let requests_count = json!({ "max": 4, "wait": "1s", "ack_timeout": "4s" });
            let claimed = worker.post(&format!("/v1/queues/{}/claim", CLAIMED_QUEUES[0]), requests_count);
            for firing in claimed["firings"].as_array().expect("firings") {
                worker.handle(firing);
            }
        }
    }

    fn handle(&self, firing: &Value) {
        let timer_id = firing["timer_id"].as_str().expect("an id");
        let fate = Fate::of(timer_id, moment(&firing["due"]));
        let (is_first, is_within) = (firing["attempt"] == 1, firing["step"].is_u64());
        let named = json!({ "firing_ids": [firing["firing_id"]], "lease_ids": [firing["lease_id"]] });
        match fate {
            Fate::Vanishes if is_first && is_within => return,
            Fate::Fails if is_within => return drop(self.post("/v1/firings/fail", named)),
            Fate::FailsOnce if is_first && is_within => return drop(self.post("/v1/firings/fail", named)),
            Fate::Slow => {
                let extended = self.post("/v1/firings/extend", named.clone());
                assert_eq!(extended["firings"][0]["state"], "leased", "{extended}");
            }
            _ => {}
        }
        let acknowledged = self.post("/v1/firings/ack", named);
        assert_eq!(acknowledged["firings"][0]["state"], "acknowledged", "{firing}");
    }

    /// Performs an action and compares.
    fn act(&mut self, dice: &mut Dice, act: u64) {
        let timer_ids: Vec<String> = self.model.armed().into_iter().map(|(timer_id, _)| timer_id).collect();
        let one = usize::try_from(dice.next() % timer_ids.len().max(1) as u64).expect("few timers");
        match (dice.below(16), timer_ids.get(one)) {
            (0..=4, _) | (_, None) => self.set(dice, format!("t{act}")),
            (5, Some(timer_id)) => self.change(dice, timer_id),
            (6, Some(timer_id)) => {
                let path = target(&format!("/v1/timers/{timer_id}"), &[("timeline_id", &self.name)]);
                self.service.send(Request::new("DELETE", &path)).expect(200);
                self.model.cancel(timer_id);
            }
            (7..=10, _) => {
                let way = Way::ALL[usize::try_from(dice.below(3)).expect("three")];
                let to = self.model.now + HOUR + number(dice, 2 * DAY);
                let steps = if matches!(way, Way::ToNext) { STEPS } else { 1 };
                for _ in 0..steps {
                    self.advance(way, to - self.model.now);
                    if self.model.now == to {
                        break;
                    }
                }
            }
            (11, _) => self.run(HOUR + number(dice, DAY)),
            (12, _) => {
                let to = self.model.now + HOUR + number(dice, 2 * DAY);
                self.post("/v1/travel", json!({ "destination_time": stamp(to), "wait_for_timers": false }));
                self.model.jump(to);
            }
            (13 | 14, _) => self.rewind(HOUR + number(dice, 2 * DAY), dice.below(3) > 0),
            _ => self.redeliver(),
        }
        self.check();
    }

    fn set(&mut self, dice: &mut Dice, timer_id: String) {
        let mut plan = Plan::cast(dice, timer_id, self.model.now);
        if plan.to != To::Timeline && plan.to != To::Queue(UNCLAIMED_QUEUES) {
            plan.to = To::Queue(CLAIMED_QUEUES[0]);
        }
        if dice.below(8) == 0 {
            plan.when = When::Once(self.model.now - number(dice, DAY));
        }
        let (misfire, word) = Misfire::ALL[usize::try_from(dice.below(3)).expect("three")];
        let is_rule = !matches!(plan.when, When::Once(_));
        let mut body = plan.body();
        if is_rule {
            body["misfire"] = json!(word);
        }
        let set = self.post("/v1/timers", body);
        let position = set["timer"]["position"].as_u64().expect("a position");
        self.model.set(plan, if is_rule { misfire } else { Misfire::All }, position);
    }

    fn change(&mut self, dice: &mut Dice, timer_id: &str) {
        let when = When::cast(dice, self.model.now);
        let mut body = when.fields();
        let is_rule = !matches!(when, When::Once(_));
        if is_rule {
            body["misfire"] = json!("once");
        }
        body["timeline_id"] = json!(self.name);
        self.service.send(Request::new("PATCH", &format!("/v1/timers/{timer_id}")).json(&body)).expect(200);
        self.model.change(timer_id, when, if is_rule { Misfire::Once } else { Misfire::All });
    }

    /// Advances past each instant. What a dry run listed is what fires.
    fn advance(&mut self, way: Way, by: i64) {
        let (path, body, to) = way.request(&self.model, by);
        let foreseen = self.model.foreseen(to);
        let mut dry = body.clone();
        dry["dry_run"] = json!(true);
        let would = self.post(path, dry)["would_fire"].clone();
        let listed: Vec<(String, i64)> = fired(&would).into_iter().map(|one| (one.timer_id, one.due)).collect();
        let expected: Vec<(String, i64)> = foreseen.iter().map(|one| (one.timer_id.clone(), one.due)).collect();
        assert_eq!(listed, expected, "{}: a dry run to {}", self.name, stamp(to));
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for one in &foreseen {
            *counts.entry(&one.timer_id).or_default() += 1;
        }
        let timers = would["timers"].as_array().expect("timers").iter();
        let timers: BTreeMap<&str, u64> =
            timers.map(|one| (one["timer_id"].as_str().unwrap(), one["count"].as_u64().unwrap())).collect();
        assert_eq!((timers, &would["count"]), (counts, &json!(foreseen.len())), "{}", self.name);
        assert_eq!((&would["complete"], &would["to"]), (&json!(true), &json!(stamp(to))));

        let mut body = body;
        body["wait"] = json!("10m");
        let moved = self.post(path, body);
        self.settled(&moved, to);
    }

    /// Compares the receipt of an advance with the model, and updates the model.
    fn settled(&mut self, moved: &Value, to: i64) {
        let expected = self.model.advance(to);
        let settled = &moved["receipt"];
        if expected.is_empty() {
            assert_eq!(*settled, Value::Null, "{}", self.name);
            return;
        }
        self.advances += 1;
        assert_eq!((&settled["state"], &settled["reached"]), (&json!("settled"), &json!(stamp(to))), "{settled:#}");
        // The receipt lists a hundred.
        assert_eq!(fired(settled), expected[..expected.len().min(100)], "{}: {settled:#}", self.name);
        let count = |state: &str| json!(expected.iter().filter(|one| one.state == state).count());
        assert_eq!(settled["fired"], json!(expected.len()));
        assert_eq!((&settled["acknowledged"], &settled["failed"]), (&count("acknowledged"), &count("failed")));
        assert_eq!(settled["unacknowledged"], count("pending"));
    }

    /// Runs the clock, and pauses it a minute later.
    fn run(&mut self, by: i64) {
        self.post("/v1/resume-time", json!({}));
        for (by, state) in [(by, "running"), (1, "paused")] {
            let to = self.model.now + by;
            let moved = self.post("/v1/travel", json!({ "destination_time": stamp(to), "wait": "10m" }));
            assert_eq!(moved["state"], state);
            self.settled(&moved, to);
            self.post("/v1/pause-time", json!({}));
        }
    }

    fn rewind(&mut self, by: i64, refire: bool) {
        let body = json!({ "duration": format!("{by}m"), "refire": refire });
        let rewound = self.post("/v1/rewind", body);
        self.model.rewind(self.model.now - by, refire);
        assert_eq!(rewound["current_time"], stamp(self.model.now));
    }

    /// Redelivers a failed firing, if there is one.
    fn redeliver(&mut self) {
        let is_only = |one: &Firing| {
            let same = |other: &&Firing| (&other.timer_id, other.due) == (&one.timer_id, one.due);
            one.state == "failed" && self.model.firings.iter().filter(same).count() == 1
        };
        let Some(failed) = self.model.firings.iter().find(|one| is_only(one)).cloned() else { return };
        let details = self.get(&format!("/v1/timers/{}", failed.timer_id));
        let firings = details["firings"].as_array().expect("firings");
        let firing = firings.iter().find(|one| moment(&one["due"]) == failed.due).expect("it is shown");
        let path = format!("/v1/firings/{}/redeliver", firing["firing_id"].as_str().expect("an id"));
        self.post(&path, json!({}));
        self.send(&path, json!({})).refused(409, "conflict");
        self.model.firings.push(Firing { state: "acknowledged", ..failed });
    }

    /// Compares armed timers and pending firings, once all queues with listeners are done.
    fn check(&self) {
        let pending = self.model.pending().len();
        let lag = || self.get("/v1/clock")["lag"]["pending"].as_u64().unwrap_or(0) == pending as u64;
        let armed = || {
            let listed = self.get("/v1/timers")["timers"].as_array().expect("timers").clone();
            let one = |timer: &Value| (timer["timer_id"].as_str().unwrap().to_owned(), moment(&timer["next"]));
            listed.iter().map(one).collect::<Vec<_>>()
        };
        until_so("what was jumped over has fallen due, and is done", || armed() == self.model.armed() && lag());
        let clock = self.get("/v1/clock");
        assert_eq!((&clock["current_time"], &clock["state"]), (&json!(stamp(self.model.now)), &json!("paused")));
    }

    /// Consumes the queue without listeners in order, and compares every firing. Returns the counts.
    fn end(mut self) -> Tally {
        let requests_count = json!({ "max": 1000 });
        let claimed = self.post(&format!("/v1/queues/{UNCLAIMED_QUEUES}/claim"), requests_count)["firings"].clone();
        let claimed = claimed.as_array().expect("firings");
        let order = |firing: &Value| (moment(&firing["due"]), firing["timer_id"].as_str().unwrap().to_owned());
        let offered: Vec<(i64, String)> = claimed.iter().map(order).collect();
        let expected: Vec<(i64, String)> =
            self.model.pending().into_iter().map(|(due, _, timer_id)| (due, timer_id)).collect();
        assert_eq!(offered, expected, "{}", self.name);
        for some in claimed.chunks(100) {
            let named: Vec<&Value> = some.iter().map(|firing| &firing["firing_id"]).collect();
            self.post("/v1/firings/ack", json!({ "firing_ids": named }));
        }
        let pending = self.model.firings.iter_mut().filter(|one| one.state == "pending");
        pending.for_each(|one| one.state = "acknowledged");
        for timer_id in self.model.timers.keys() {
            let of_it = self.model.firings.iter().filter(|one| one.timer_id == *timer_id);
            let mut expected: Vec<(i64, &str)> = of_it.map(|one| (one.due, one.state)).collect();
            let details = self.get(&format!("/v1/timers/{timer_id}"));
            let firings = details["firings"].as_array().expect("firings").iter();
            let one = |firing: &Value| (moment(&firing["due"]), firing["state"].as_str().unwrap().to_owned());
            let mut found: Vec<(i64, String)> = firings.map(one).collect();
            expected.sort_unstable();
            found.sort();
            assert!(expected.len() <= 100, "{timer_id} fires too often to be shown");
            assert!(
                found.iter().map(|(due, state)| (*due, state.as_str())).eq(expected.clone()),
                "{expected:?} {details:#}"
            );
        }
        let count = |state: &str| self.model.firings.iter().filter(|one| one.state == state).count() as u64;
        let [acknowledged, failed, superseded] = ["acknowledged", "failed", "superseded"].map(count);
        Tally { advances: self.advances, acknowledged, failed, superseded }
    }
}

/// Counts of compared items.
#[derive(Debug, Default)]
struct Tally {
    advances: u64,
    acknowledged: u64,
    failed: u64,
    superseded: u64,
}

impl Tally {
    fn add(mut self, other: &Self) -> Self {
        self.advances += other.advances;
        self.acknowledged += other.acknowledged;
        self.failed += other.failed;
        self.superseded += other.superseded;
        self
    }
}

fn fired(listed: &Value) -> Vec<Firing> {
    let state = |one: &Value| match one["state"].as_str() {
        Some("acknowledged") => "acknowledged",
        Some("failed") => "failed",
        _ => "pending",
    };
    let one = |one: &Value| Firing {
        timer_id: one["timer_id"].as_str().expect("an id").to_owned(),
        due: moment(&one["due"]),
        state: state(one),
    };
    listed["firings"].as_array().expect("firings").iter().map(one).collect()
}

/// Plays a history, and from some point on another one in a fork.
fn live(service: &Services<'_>, seed: u64) -> Tally {
    let (mut dice, is_over) = (Dice::new(seed), AtomicBool::new(false));
    let name = format!("life-{seed}");
    let mut life = Life { service, name: name.clone(), model: Model::default(), advances: 0, is_over: &is_over };
    life.post("/v1/pause-time", json!({}));
    life.post("/v1/travel", json!({ "destination_time": stamp(0) }));
    let forked_at = dice.below(ACTS);
    thread::scope(|scope| {
        let _ends = Ends(&is_over);
        let is_over = &is_over;
        scope.spawn(move || Life::work(service, &format!("life-{seed}"), is_over));
        for act in 0..forked_at {
            life.act(&mut dice, act);
        }
        let fork = format!("{name}-fork");
        service.send(Request::post("/timelines").json(&json!({ "timeline_id": fork, "fork_of": name }))).expect(201);
        let mut forked = Life { service, name: fork, model: life.model.fork(), advances: 0, is_over };
        scope.spawn(move || Life::work(service, &format!("life-{seed}-fork"), is_over));
        forked.check();
        for act in forked_at..ACTS {
            life.act(&mut dice, act);
            if act % 3 == 0 {
                forked.act(&mut dice, act);
            }
        }
        let finish = |mut life: Life<'_>| {
            life.advance(Way::ByDuration, 2 * DAY);
            life.check();
            life.end()
        };
        finish(life).add(&finish(forked))
    })
}

/// Plays histories, some concurrently.
pub(crate) fn live_all(service: &Services<'_>, lives: u64) {
    let all = |first: u64| {
        let seeds = (first..lives).step_by(usize::try_from(SIDE_BY_SIDE).expect("few"));
        seeds.fold(Tally::default(), |sum, seed| sum.add(&live(service, seed)))
    };
    let tally = thread::scope(|scope| {
        let all = &all;
        let threads: Vec<_> = (0..SIDE_BY_SIDE).map(|first| scope.spawn(move || all(first))).collect();
        threads.into_iter().fold(Tally::default(), |sum, thread| sum.add(&thread.join().expect("lives go well")))
    });
    println!("{lives} lives: {tally:?}");
}

/// Returns the number of histories to play.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says here for how long")]
pub(crate) fn lives() -> u64 {
    std::env::var(LIVES_VARIABLE).map_or(LIVES, |output| output.parse().expect("a number of lives"))
}

#[test]
fn firings_match_the_model_and_the_dry_run() {
    let service = Service::start();
    live_all(&Services::of(vec![Box::new(|request| service.send(request))]), lives());
    for timeline in service.timelines() {
        let request = Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": timeline }));
        // With many histories, scans exceed their rate limit.
        let scan = until("a scan", || Some(service.send(request.clone())).filter(|answer| answer.status != 429));
        assert_eq!(scan.expect(200)["findings"], json!([]), "{timeline}");
    }
    service.audit();
}

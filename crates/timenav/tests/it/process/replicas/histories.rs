//! Histories of two services on one database: clients write, read and revoke keys through both, one of them dies or stops,
//! or the database does, and one order explains all that was answered.

mod checker;

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use self::checker::{Asked, EVENTS_MAX, Operation, State, Told, check};
use super::super::postgres::Cluster;
use super::{Replica, send, two, wait};
use crate::http::{Answer, Request, target};
use crate::service::Service;

/// Rounds that the tests run, each with another disturbance, and those that `cargo xtask replicas` runs, unless it says
/// which in a variable: `40..80`.
const ROUNDS: Range<u64> = 0..5;
const ROUNDS_MANY: Range<u64> = 0..200;
const ROUNDS_SAID: &str = "TIMENAV_TEST_ROUNDS";
/// Clients of a round, and what each of them asks.
const CLIENTS: u64 = 6;
const ASKED_EACH: u64 = 9;
/// How often something is asked again that was not answered, before nobody knows what came of it. It takes longer than
/// any disturbance.
const TRIES_MAX: usize = 600;

/// What happens to the services while clients are at work.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Nothing,
    /// The second one is stopped for longer than the server waits for it.
    Stopped,
    Killed,
    /// The first one is.
    FirstKilled,
    /// The server is killed, and started again.
    Database,
    /// One of the servers is that a cluster spreads entries over.
    Worker,
}

impl Disturbance {
    const ALL: [Self; 6] =
        [Self::Nothing, Self::Stopped, Self::Killed, Self::FirstKilled, Self::Database, Self::Worker];

    fn of(round: u64) -> Self {
        let all = if Cluster::is_spread() { &Self::ALL[..] } else { &Self::ALL[..5] };
        all[usize::try_from(round).unwrap() % all.len()]
    }
}

/// A round, as its clients know it.
struct Round {
    number: u64,
    admin: String,
    /// A key that is revoked in the middle of the round, and its name.
    key: (String, String),
    /// Where the services listen. One that was killed listens elsewhere afterwards.
    addresses: [AtomicU64; 2],
    clock: AtomicU64,
}

impl Round {
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn address(&self, service: u64) -> SocketAddr {
        let port = self.addresses[usize::from(service % 2 == 1)].load(Ordering::SeqCst);
        SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).unwrap()))
    }

    fn listens(&self, service: usize, address: SocketAddr) {
        self.addresses[service].store(u64::from(address.port()), Ordering::SeqCst);
    }

    fn event(&self, event: u8) -> String {
        format!("h{}-{event}", self.number)
    }

    fn year(&self) -> u64 {
        3_000 + self.number
    }

    fn request(&self, asked: Asked, again: &str) -> Request {
        match asked {
            Asked::Move => Request::post("/v1/fast-forward").json(&json!({ "duration": "1s" })).idempotent(again),
            Asked::Record(event) => {
                let time = format!("{}-01-01T00:00:00Z", self.year());
                let body = json!({ "event_id": self.event(event), "time": time, "description": "x" });
                Request::post("/v1/events").json(&body).idempotent(again)
            }
            Asked::Clock => Request::get("/v1/clock"),
            Asked::Find(event) => Request::get(&format!("/v1/events/{}", self.event(event))),
            Asked::All => {
                let range = format!("{0}-01-01T00:00:00Z/{0}-12-31T00:00:00Z", self.year());
                let parameters = [("location", "*"), ("time_range", range.as_str()), ("limit", "100")];
                Request::get(&target("/v1/monitor-events", &parameters))
            }
            Asked::Revoke(_) => Request::new("DELETE", &format!("/v1/api-keys/{}", self.key.1)),
        }
    }

    /// Asks until there is an answer, each time through the other service.
    fn ask(&self, client: u64, number: u64, (key, asked): (Option<u8>, Asked)) -> Operation {
        let again = format!("h{}-{client}-{number}", self.number);
        let shown = if key.is_some() { &self.key.0 } else { &self.admin };
        let request = self.request(asked, &again).key(shown);
        let begun = self.tick();
        let mut operation = Operation { key, asked, told: Told::Unknown, begun, ended: 0, was_repeated: false };
        for attempt in 0..TRIES_MAX {
            let answered = send(self.address(client + attempt as u64), &request);
            let was_repeated = operation.was_repeated;
            if let Ok(told) = answered.map_err(drop).and_then(|answer| self.told(asked, &answer, was_repeated)) {
                operation.told = told;
                break;
            }
            operation.was_repeated = true;
            wait();
        }
        operation.ended = self.tick();
        operation
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// It says that it was not done now, or that nobody knows.
    fn told(&self, asked: Asked, answer: &Answer, was_repeated: bool) -> Result<Told, ()> {
        let body = answer.json_or_null();
        match (answer.status, asked) {
            (503, _) => Err(()),
            (401, _) => Ok(Told::Refused),
            (200, Asked::Move | Asked::Clock) => Ok(Told::Generation(generation(&body))),
            (200 | 201, Asked::Record(_)) | (200 | 204, Asked::Revoke(_)) => Ok(Told::Done),
            // An earlier attempt, of which nobody knew what came of it, has revoked it.
            (404, Asked::Revoke(_)) if was_repeated => Ok(Told::Done),
            (200, Asked::Find(_)) => Ok(Told::IsThere(true)),
            (404, Asked::Find(_)) => Ok(Told::IsThere(false)),
            (200, Asked::All) => {
                let prefix = format!("h{}-", self.number);
                let events = body["events"].as_array().unwrap_or_else(|| panic!("{answer}"));
                let number = |event: &Value| -> u8 {
                    let id = event["event_id"].as_str().and_then(|id| id.strip_prefix(&prefix));
                    id.and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("{event}"))
                };
                Ok(Told::Events(events.iter().fold(0, |all, event| all | 1 << number(event))))
            }
            _ => panic!("{asked:?}: {answer}"),
        }
    }

    /// What a client asks, one after the other. The first one revokes the key in the middle, and looks what is there.
    fn client(&self, client: u64) -> Vec<Operation> {
        let mut operations = Vec::new();
        let mut dice = self.number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(client);
        for number in 0..ASKED_EACH {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let is_middle = number == ASKED_EACH / 2;
            let own = u8::try_from(client * ASKED_EACH + number).unwrap();
            assert!(own < EVENTS_MAX);
            let others = u8::try_from((dice >> 40) % (CLIENTS * ASKED_EACH)).unwrap();
            let asked = match (dice >> 33) % 8 {
                _ if client == 0 && is_middle => Asked::Revoke(0),
                _ if client == 0 && number == ASKED_EACH / 2 + 1 => Asked::All,
                0 => Asked::Move,
                1..=3 => Asked::Record(own),
                4 => Asked::Clock,
                5 => Asked::Find(others),
                _ => Asked::All,
            };
            // Half of them show the key that is revoked on the way, and the other one from then on.
            let is_refused = operations.iter().any(|one: &Operation| one.told == Told::Refused);
            let key = (client % 2 == 1 && !is_refused).then_some(0);
            operations.push(self.ask(client, number, (key, asked)));
        }
        operations
    }
}

fn generation(clock: &Value) -> u64 {
    let found = clock["generation"].as_u64().or_else(|| clock["clock"]["generation"].as_u64());
    found.unwrap_or_else(|| panic!("{clock:#}"))
}

/// Does something to one of the services, or to the database, and makes it good again.
fn disturb(how: Disturbance, round: &Round, cluster: &mut Cluster, (first, second): (&mut Service, &mut Replica)) {
    let pause = |times: usize| (0..times).for_each(|_| wait());
    pause(5);
    match how {
        Disturbance::Nothing => {}
        Disturbance::Stopped => {
            second.process.signal(Signal::STOP);
            pause(130);
            second.process.signal(Signal::CONT);
        }
        Disturbance::Killed => {
            second.process.signal(Signal::KILL);
            pause(20);
            second.process = Replica::start(second.folder.path(), &["--store", &cluster.url, "--replicas"]);
            round.listens(1, second.process.address);
        }
        Disturbance::FirstKilled => {
            first.kill();
            pause(20);
            first.start_again();
            round.listens(0, first.address());
        }
        Disturbance::Database => {
            cluster.order("stop");
            pause(10);
            cluster.order("start");
        }
        Disturbance::Worker => {
            cluster.order("stop-worker");
            pause(10);
            cluster.order("start-worker");
        }
    }
}

/// Runs a round, and looks for an order of what was answered. Returns how much was asked, and whether the revocation came
/// in the middle of it.
fn play(number: u64, cluster: &mut Cluster, (first, second): (&mut Service, &mut Replica)) -> (usize, bool) {
    let made = first.post("/v1/api-keys", &json!({ "label": format!("round {number}") }));
    let text = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned();
    let round = Round {
        number,
        admin: first.admin.clone(),
        key: (text("api_key"), text("key_id")),
        addresses: [AtomicU64::new(0), AtomicU64::new(0)],
        clock: AtomicU64::new(0),
    };
    round.listens(0, first.address());
    round.listens(1, second.process.address);
    let before = round.ask(CLIENTS, 0, (None, Asked::Clock));
    let Told::Generation(generation) = before.told else { panic!("{before:?}") };
    let how = Disturbance::of(number);
    let mut operations = thread::scope(|scope| {
        let round = &round;
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || round.client(client))).collect();
        disturb(how, round, cluster, (first, second));
        let answered = clients.into_iter().flat_map(|client| client.join().unwrap());
        answered.collect::<Vec<Operation>>()
    });
    // What was answered is there afterwards, whichever service is asked.
    for service in [0, 1] {
        for (offset, asked) in [Asked::Clock, Asked::All].into_iter().enumerate() {
            operations.push(round.ask(CLIENTS + service, offset as u64 + 1, (None, asked)));
        }
    }
    let first_state = State { generation, ..State::default() };
    if let Err(violation) = check(&operations, first_state) {
        let all: Vec<String> = operations.iter().enumerate().map(|(number, one)| format!("{number} {one:?}")).collect();
        panic!("round {number}, {how:?}: {violation}\n{}", all.join("\n"));
    }
    assert!(operations.iter().any(|one| one.told == Told::Done), "nothing was written");
    let unknown = operations.iter().filter(|one| one.told == Told::Unknown).count();
    println!("{how:?}: {} operations, {unknown} of them without an answer", operations.len());
    (operations.len(), operations.iter().any(|one| one.told == Told::Refused))
}

#[test]
fn one_order_explains_what_clients_of_two_services_were_told() {
    play_all(ROUNDS);
}

#[test]
#[ignore = "takes a quarter of an hour: cargo xtask replicas"]
fn one_order_explains_two_hundred_rounds() {
    let said = said(ROUNDS_SAID);
    let said = said.as_deref().map(|said| said.split_once("..").unwrap_or(("0", said)));
    play_all(said.map_or(ROUNDS_MANY, |(first, end)| first.parse().unwrap()..end.parse().unwrap()));
}

#[expect(clippy::disallowed_methods, reason = "the test command says here which rounds it runs")]
fn said(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn play_all(rounds: Range<u64>) {
    let mut cluster = Cluster::start();
    let (mut first, mut second) = two(&cluster);
    first.errors_expected = vec![
        "a group could not be committed",
        "the store cannot be read",
        "what other services write cannot be followed",
        "were always faster",
        "nothing could be pruned",
        "ended timelines could not be cleaned up",
        "timers cannot go on",
    ];
    first.post("/v1/pause-time", &json!({}));
    let (mut asked, mut cut_off) = (0, 0);
    for number in rounds.clone() {
        println!("round {} of {}", number + 1, rounds.end);
        let (operations, is_cut_off) = play(number, &mut cluster, (&mut first, &mut second));
        asked += operations;
        cut_off += u32::from(is_cut_off);
    }
    println!("{asked} operations, and the key was refused in the middle of {cut_off} rounds");
    assert!(cut_off > 0, "nobody was refused in any round");
    for timeline in ["main", "system"] {
        let scan = second.post("/v1/detect-tampering", &json!({ "timeline_id": timeline }));
        assert_eq!((&scan["tampering_detected"], &scan["findings"]), (&json!(false), &json!([])), "{scan:#}");
    }
    drop(second);
    first.audit();
}

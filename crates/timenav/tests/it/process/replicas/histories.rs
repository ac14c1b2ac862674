//! Linearizability of three services on one database: clients write, read, revoke keys, and grant and withdraw
//! permissions through all of them while a service or the database is killed, stopped or cut off. One order must
//! explain all responses.

mod checker;

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use self::checker::{By, EVENTS_MAX, Operation, RequestKind, Response, State, check};
use super::super::postgres::Cluster;
use super::super::relay::Relay;
use super::{Replica, errors_expected, send, wait};
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::support::waiting::until_so;

/// Rounds of the tests, each with a different fault, and those of `cargo xtask soak replicas` unless a variable names a
/// range: `40..80`.
const ROUNDS: Range<u64> = 0..5;
const ROUNDS_MANY: Range<u64> = 0..200;
const ROUNDS_VARIABLE: &str = "TIMENAV_TEST_ROUNDS";
/// Clients per round, and requests per client.
const CLIENTS: u64 = 6;
const REQUESTS_EACH: u64 = 9;
/// Maximum number of retries before an outcome counts as unknown. They take longer than any fault.
const TRIES_MAX: usize = 600;

/// Services per round.
const SERVICES: usize = 3;
/// Transactions of a service before a message of the next one is held.
const BEFORE_GAP: usize = 2;
/// How often a wait for the standby is canceled.
const CANCELLED: usize = 3;

const WAIT_FOR_NOBODY: [&str; 2] = ["ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()"];
const DO_NOT_WAIT: [&str; 2] = ["ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"];
/// Fails if no session waits for a standby.
const WAITS: &str = "SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const CANCEL: &str = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/// The fault while clients are running.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Nothing,
    /// The second service is stopped for longer than the server waits for it.
    Stopped,
    /// A service, each in turn, is stopped while a message of a transaction is in flight: the first message is 0, its
    /// response 1, and so on. A group that reads facts has eight.
    Gap(usize),
    /// Its database connections are cut repeatedly.
    Cut,
    /// The standby has no commits, and waits for it are canceled.
    StandbyCancelled,
    Killed,
    /// The first service is killed.
    FirstKilled,
    /// The database server is killed and restarted.
    Database,
    /// A worker server of a Citus cluster is killed.
    Worker,
}

impl Disturbance {
    /// The tests only run the first of them.
    const ALL: [Self; 16] = [
        Self::Gap(1),
        Self::Cut,
        Self::StandbyCancelled,
        Self::FirstKilled,
        Self::Database,
        Self::Gap(0),
        Self::Gap(2),
        Self::Gap(3),
        Self::Gap(4),
        Self::Gap(5),
        Self::Gap(6),
        Self::Gap(7),
        Self::Stopped,
        Self::Killed,
        Self::Nothing,
        Self::Worker,
    ];

    fn of(round: u64) -> Self {
        let all = Self::all();
        all[usize::try_from(round).unwrap() % all.len()]
    }

    fn all() -> &'static [Self] {
        if Cluster::is_spread() { &Self::ALL } else { &Self::ALL[..15] }
    }

    /// Returns the affected service of a round, if it may be any.
    fn whom(round: u64) -> usize {
        // Starting with the second one.
        (usize::try_from(round).unwrap() / Self::all().len() + 1) % SERVICES
    }
}

/// The services of all rounds, each behind its own proxy.
struct Crew {
    first: Service,
    second: Replica,
    third: Replica,
    relays: [Relay; SERVICES],
}

impl Crew {
    fn start(cluster: &Cluster) -> Self {
        let relays: [Relay; SERVICES] = std::array::from_fn(|_| Relay::start(&cluster.url));
        let mut first = Service::with(&["--store", &relays[0].url, "--replicas"]);
        first.errors_expected = errors_expected(&["timers could not be processed"]);
        let [second, third] = [1, 2].map(|number| Replica::join(&first, &relays[number].url));
        Self { first, second, third, relays }
    }

    fn addresses(&self) -> [SocketAddr; SERVICES] {
        [self.first.address(), self.second.process.address, self.third.process.address]
    }

    fn signal(&mut self, service: usize, signal: Signal) {
        let processes = [self.first.process(), &mut self.second.process, &mut self.third.process];
        processes[service].signal(signal);
    }

    fn set_writers(&self, users: &[&str]) {
        let body = json!({ "timeline_id": "main", "permissions": { "write": users } });
        self.first.post("/v1/set-access-control", &body);
    }
}

/// Returns a request that sets the users who may write.
fn set_writers(users: &[&str], again: &str) -> Request {
    let body = json!({ "timeline_id": "main", "permissions": { "write": users } });
    Request::post("/v1/set-access-control").json(&body).idempotent(again)
}

/// A round, as seen by its clients.
struct Round {
    number: u64,
    admin: String,
    /// A key with its name that is revoked during the round.
    key: (String, String),
    /// A user with a key whose permission is withdrawn, granted and withdrawn again.
    user: (String, String),
    /// Addresses of the services. A killed one gets a new address.
    addresses: [AtomicU64; SERVICES],
    clock: AtomicU64,
}

impl Round {
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn address(&self, service: u64) -> SocketAddr {
        let port = self.addresses[usize::try_from(service).unwrap() % SERVICES].load(Ordering::SeqCst);
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

    fn request(&self, kind: RequestKind, again: &str) -> Request {
        match kind {
            RequestKind::Move => Request::post("/v1/fast-forward").json(&json!({ "duration": "1s" })).idempotent(again),
            RequestKind::Record(event) => {
                let time = format!("{}-01-01T00:00:00Z", self.year());
                let body = json!({ "event_id": self.event(event), "time": time, "description": "x" });
                Request::post("/v1/events").json(&body).idempotent(again)
            }
            RequestKind::Clock => Request::get("/v1/clock"),
            RequestKind::Find(event) => Request::get(&format!("/v1/events/{}", self.event(event))),
            RequestKind::All => {
                let range = format!("{0}-01-01T00:00:00Z/{0}-12-31T00:00:00Z", self.year());
                let parameters = [("location", "*"), ("time_range", range.as_str()), ("limit", "100")];
                Request::get(&target("/v1/monitor-events", &parameters))
            }
            RequestKind::Revoke(_) => Request::new("DELETE", &format!("/v1/api-keys/{}", self.key.1)),
            RequestKind::Grant(_) => set_writers(&[&self.user.0], again),
            RequestKind::Withdraw(_) => set_writers(&[], again),
        }
    }

    /// Sends a request through one service after the other until there is a response.
    fn ask(&self, client: u64, number: u64, (by, kind): (By, RequestKind)) -> Operation {
        let again = format!("h{}-{client}-{number}", self.number);
        let key = match by {
            By::Operator => &self.admin,
            By::Key(_) => &self.key.0,
            By::User(_) => &self.user.1,
        };
        let request = self.request(kind, &again).key(key);
        let begun = self.tick();
        let mut operation =
            Operation { by, request: kind, response: Response::Unknown, begun, ended: 0, was_repeated: false };
        for attempt in 0..TRIES_MAX {
            let answered = send(self.address(client + attempt as u64), &request);
            let response = answered.map_err(drop).and_then(|answer| self.response_of(&operation, &answer));
            if let Ok(response) = response {
                operation.response = response;
                break;
            }
            operation.was_repeated = true;
            wait();
        }
        operation.ended = self.tick();
        operation
    }

    /// Interprets a response.
    ///
    /// # Errors
    /// It was not carried out now, or the outcome is unknown.
    fn response_of(
        &self,
        &Operation { by, request, was_repeated, .. }: &Operation,
        answer: &Answer,
    ) -> Result<Response, ()> {
        let body = answer.json_or_null();
        let is_hidden = || body["detail"].as_str().is_some_and(|detail| detail.contains("no timeline `main`"));
        match (answer.status, request) {
            (503, _) => Err(()),
            (401, _) => Ok(Response::Refused),
            (404, _) if matches!(by, By::User(_)) && is_hidden() => Ok(Response::Forbidden),
            (200, RequestKind::Move | RequestKind::Clock) => Ok(Response::Generation(generation(&body))),
            (200 | 201, RequestKind::Record(_))
            | (200 | 204, RequestKind::Revoke(_))
            | (200, RequestKind::Grant(_) | RequestKind::Withdraw(_)) => Ok(Response::Done),
            // An earlier attempt with an unknown outcome has revoked it.
            (404, RequestKind::Revoke(_)) if was_repeated => Ok(Response::Done),
            (200, RequestKind::Find(_)) => Ok(Response::IsThere(true)),
            (404, RequestKind::Find(_)) => Ok(Response::IsThere(false)),
            (200, RequestKind::All) => {
                let prefix = format!("h{}-", self.number);
                let events = body["events"].as_array().unwrap_or_else(|| panic!("{answer}"));
                let number = |event: &Value| -> u8 {
                    let id = event["event_id"].as_str().and_then(|id| id.strip_prefix(&prefix));
                    id.and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("{event}"))
                };
                Ok(Response::Events(events.iter().fold(0, |all, event| all | 1 << number(event))))
            }
            _ => panic!("{request:?}: {answer}"),
        }
    }

    /// Sends the requests of a client in sequence. The first client revokes the key in the middle and reads. The fifth
    /// one withdraws the user's permission, grants it and withdraws it permanently.
    fn client(&self, client: u64) -> Vec<Operation> {
        let mut operations = Vec::new();
        let mut dice = self.number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(client);
        for number in 0..REQUESTS_EACH {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let is_middle = number == REQUESTS_EACH / 2;
            let own = u8::try_from(client * REQUESTS_EACH + number).unwrap();
            assert!(own < EVENTS_MAX);
            let others = u8::try_from((dice >> 40) % (CLIENTS * REQUESTS_EACH)).unwrap();
            let request = match (dice >> 33) % 8 {
                _ if client == 0 && is_middle => RequestKind::Revoke(0),
                _ if client == 0 && number == REQUESTS_EACH / 2 + 1 => RequestKind::All,
                _ if client == 4 && number % 4 == 1 => RequestKind::Withdraw(0),
                _ if client == 4 && number % 4 == 3 && number < REQUESTS_EACH / 2 => RequestKind::Grant(0),
                0 => RequestKind::Move,
                1..=3 => RequestKind::Record(own),
                4 => RequestKind::Clock,
                5 => RequestKind::Find(others),
                _ => RequestKind::All,
            };
            // Two of them use the key that is revoked, and switch to another one afterwards.
            let is_refused = operations.iter().any(|one: &Operation| one.response == Response::Refused);
            let by = match client {
                1 | 3 if !is_refused => By::Key(0),
                2 | 5 => By::User(0),
                _ => By::Operator,
            };
            operations.push(self.ask(client, number, (by, request)));
        }
        operations
    }
}

fn generation(clock: &Value) -> u64 {
    let found = clock["generation"].as_u64().or_else(|| clock["clock"]["generation"].as_u64());
    found.unwrap_or_else(|| panic!("{clock:#}"))
}

/// Prepares what is needed before the clients start.
fn prepare((how, whom): (Disturbance, usize), cluster: &mut Cluster, crew: &Crew) {
    match how {
        Disturbance::Gap(turn) => crew.relays[whom].hold(turn, BEFORE_GAP),
        Disturbance::StandbyCancelled => WAIT_FOR_NOBODY.iter().for_each(|statement| assert!(cluster.ask(statement))),
        _ => {}
    }
}

/// Injects the fault and repairs it.
fn disturb((how, whom): (Disturbance, usize), round: &Round, cluster: &mut Cluster, crew: &mut Crew) {
    let pause = |times: usize| (0..times).for_each(|_| wait());
    pause(5);
    if let Disturbance::Gap(_) = how {
        until_so("a message that is held back", || crew.relays[whom].holds());
        crew.signal(whom, Signal::STOP);
        crew.relays[whom].release();
        pause(130);
        return crew.signal(whom, Signal::CONT);
    }
    let Crew { first, second, relays, .. } = crew;
    match how {
        Disturbance::Nothing | Disturbance::Gap(_) => {}
        Disturbance::Stopped => {
            second.process.signal(Signal::STOP);
            pause(130);
            second.process.signal(Signal::CONT);
        }
        Disturbance::Cut => (0..5).for_each(|_| {
            relays[1].cut();
            pause(3);
        }),
        Disturbance::StandbyCancelled => {
            for _ in 0..CANCELLED {
                until_so("a commit that waits for its standby", || cluster.ask(WAITS));
                assert!(cluster.ask(CANCEL));
                pause(2);
            }
            for statement in DO_NOT_WAIT {
                assert!(cluster.ask(statement));
            }
        }
        Disturbance::Killed => {
            second.process.end();
            pause(20);
            second.process = Replica::start(second.folder.path(), &["--store", &relays[1].url, "--replicas"]);
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

/// Starts a round with its own key and user.
fn begin(number: u64, crew: &Crew) -> Round {
    let made = crew.first.post("/v1/api-keys", &json!({ "label": format!("round {number}") }));
    let text = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned();
    let user = format!("user-{number}");
    let secret = crew.first.user(&user);
    crew.set_writers(&[&user]);
    Round {
        number,
        admin: crew.first.admin.clone(),
        key: (text("api_key"), text("key_id")),
        user: (user, secret),
        addresses: crew.addresses().map(|address| AtomicU64::new(address.port().into())),
        clock: AtomicU64::new(0),
    }
}

/// The result of a round.
#[derive(Default)]
struct Played {
    request: usize,
    /// Number of rejections because of the key, and because of a missing permission.
    refused: usize,
    forbidden: usize,
}

/// Runs a round and searches for an order of its operations.
fn play(number: u64, cluster: &mut Cluster, crew: &mut Crew) -> Played {
    let round = begin(number, crew);
    let before = round.ask(CLIENTS, 0, (By::Operator, RequestKind::Clock));
    let Response::Generation(generation) = before.response else { panic!("{before:?}") };
    let (how, whom) = (Disturbance::of(number), Disturbance::whom(number));
    prepare((how, whom), cluster, crew);
    let mut operations = thread::scope(|scope| {
        let round = &round;
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || round.client(client))).collect();
        disturb((how, whom), round, cluster, crew);
        let answered = clients.into_iter().flat_map(|client| client.join().unwrap());
        answered.collect::<Vec<Operation>>()
    });
    // Afterwards, acknowledged writes are visible at every service, and revoked credentials are invalid.
    for service in 0..SERVICES as u64 {
        let by_all =
            [(By::Operator, RequestKind::Clock), (By::Operator, RequestKind::All), (By::User(0), RequestKind::Clock)];
        for (offset, request) in by_all.into_iter().enumerate() {
            operations.push(round.ask(CLIENTS + service, offset as u64 + 1, request));
        }
    }
    let first_state = State { generation, ..State::default() };
    if let Err(violation) = check(&operations, first_state) {
        let all: Vec<String> = operations.iter().enumerate().map(|(number, one)| format!("{number} {one:?}")).collect();
        panic!("round {number}, {how:?} of {whom}: {violation}\n{}", all.join("\n"));
    }
    let count = |response: Response| operations.iter().filter(|one| one.response == response).count();
    assert!(count(Response::Done) > 0, "nothing was written");
    println!(
        "{how:?} of {whom}: {} operations, {} of them without an answer",
        operations.len(),
        count(Response::Unknown)
    );
    Played { request: operations.len(), refused: count(Response::Refused), forbidden: count(Response::Forbidden) }
}

#[test]
fn concurrent_histories_of_three_replicas_are_linearizable() {
    play_all(ROUNDS);
}

#[test]
#[ignore = "takes a quarter of an hour: cargo xtask soak replicas"]
fn two_hundred_rounds_of_histories_are_linearizable() {
    let output = variable(ROUNDS_VARIABLE);
    let output = output.as_deref().map(|output| output.split_once("..").unwrap_or(("0", output)));
    play_all(output.map_or(ROUNDS_MANY, |(first, end)| first.parse().unwrap()..end.parse().unwrap()));
}

#[expect(clippy::disallowed_methods, reason = "the test command says here which rounds it runs")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn play_all(rounds: Range<u64>) {
    let mut cluster = Cluster::start();
    let mut crew = Crew::start(&cluster);
    crew.first.post("/v1/pause-time", &json!({}));
    let mut all = Played::default();
    for number in rounds.clone() {
        println!("round {} of {}", number + 1, rounds.end);
        let Played { request, refused, forbidden } = play(number, &mut cluster, &mut crew);
        all = Played {
            request: all.request + request,
            refused: all.refused + refused,
            forbidden: all.forbidden + forbidden,
        };
    }
    println!(
        "{} operations, {} refused for a key, {} for lack of a permission",
        all.request, all.refused, all.forbidden
    );
    assert!(all.refused > 0 && all.forbidden > 0, "nothing was taken away from anybody");
    let Crew { first, second, third, relays } = crew;
    second.scans_are_clean();
    drop((second, third));
    first.audit();
    drop(relays);
}

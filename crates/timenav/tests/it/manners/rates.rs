//! Quotas: requests per user, failed attempts per address, scans of both, logins per user.

use std::io::Read as _;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use flate2::read::DeflateDecoder;
use serde_json::{Value, json};

use crate::support::http::{Answer, Connection, Request};
use crate::support::service::Service;

/// More than any quota here including its refill during the test.
const ENOUGH: usize = 5_000;
const PASSWORD: &str = "correct horse battery staple";
/// The local address that differs from all others used here.
const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Sends a request until it is rejected with 429, and returns that response.
fn spend(service: &Service, request: &Request, quota: usize) -> Answer {
    let mut connection = service.connect();
    for count in 0..ENOUGH {
        let answer = connection.exchange(request).unwrap();
        if answer.status == 429 {
            assert!(count >= quota, "refused after {count} of {quota}");
            return answer;
        }
    }
    panic!("{ENOUGH} requests were not too many");
}

#[test]
fn request_quota_is_per_user_and_can_be_disabled() {
    let service = Service::with(&["--requests-per-minute", "1000"]);
    let key = service.user("ada");
    let request = service.signed(Request::get("/v1/limits").key(&key));
    let first = service.send(Request::get("/v1/limits").key(&key));
    assert_eq!(first.header("ratelimit-policy"), Some("\"requests\";q=1000;w=60"));
    assert_eq!(first.header("ratelimit"), Some("\"requests\";r=999;t=0"));
    assert_eq!(first.json()["limits"]["requests_per_minute"], 1_000);
    let refused = spend(&service, &request, 999);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"requests\";q=1000;w=60"));
    assert_eq!(refused.header("ratelimit"), Some("\"requests\";r=0;t=1"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    assert_eq!(service.send(Request::get("/v1/limits")).status, 200, "somebody else");
    service.audit();
    let service = Service::with(&["--requests-per-minute", "0"]);
    let answer = service.send(Request::get("/v1/clock"));
    assert_eq!((answer.header("ratelimit"), answer.header("ratelimit-policy")), (None, None));
    service.audit();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is host time for which an answer is kept back")]
fn rate_limited_responses_are_held_back() {
    let service = Service::with(&["--requests-per-minute", "300"]);
    let key = service.user("ada");
    let held = service.send(Request::get("/v1/limits")).json()["limits"]["too_many_requests_held_millis_min"].as_u64();
    let held = Duration::from_millis(held.unwrap());
    let request = service.signed(Request::get("/v1/limits").key(&key));
    for _ in 0..3 {
        let began = Instant::now();
        spend(&service, &request, 0);
        // A lower bound holds on any machine: no timer fires early.
        assert!(began.elapsed() >= held);
    }
    service.audit();
}

#[test]
fn keys_and_sessions_of_one_user_share_a_quota() {
    let service = Service::with(&["--requests-per-minute", "300"]);
    service.user("ada");
    service.set_password("ada", PASSWORD);
    let cookie = service.log_in("ada", PASSWORD);
    let key = || service.key(&json!({ "user_id": "ada" }));
    let mut requests: Vec<Request> = (0..5).map(|_| Request::get("/v1/limits").key(&key())).collect();
    requests.push(Request::get("/v1/limits").session(&cookie));
    let mut connection = service.connect();
    let mut status = |request: &Request| connection.exchange(request).unwrap().status;
    let passed = requests.iter().cycle().take(ENOUGH).position(|request| status(request) == 429).expect("a quota");
    assert!((290..2_000).contains(&passed), "{passed}");
    for request in requests.iter().rev() {
        let is_spent = (0..ENOUGH).any(|_| status(request) == 429);
        assert!(is_spent, "{request:?}");
    }
    assert_eq!(service.send(Request::get("/v1/limits")).status, 200, "somebody else");
    service.audit();
}

/// Returns the remaining quota in a response.
fn left(answer: &Answer) -> u64 {
    let left = answer.header("ratelimit").and_then(|text| text.split_once("\"requests\";r=")).expect("a quota").1;
    left.split(';').next().unwrap().parse().unwrap()
}

#[test]
fn recorded_events_count_against_request_quota() {
    let service = Service::with(&["--requests-per-minute", "600"]);
    let ada = service.user("ada");
    let look = || left(&service.send(Request::get("/v1/limits").key(&ada)));
    let events: Vec<Value> = (0..1_000).map(|_| json!({ "time": "2000-01-01T00:00:00Z" })).collect();
    let record = |count: usize| {
        let request = Request::post("/v1/events?timeline_id=of-ada").json(&json!(events[..count]));
        left(&service.send(request.key(&ada)))
    };
    let before = look();
    let recorded = record(1_000);
    // The response has the quota before its records were counted.
    assert!(recorded <= before, "{recorded}");
    // Ten a second are refilled meanwhile, and a thousand records count nine more than one.
    let spent: u64 = (0..30).map(|_| record(1_000)).min().unwrap();
    assert!(spent < 600 - 31 - 100, "{spent}");
    // More than the quota: the import waits for the rest instead of being rejected.
    let row = |number: u64| format!("{{\"time\":\"2000-01-01T00:00:00Z\",\"sequence\":{number}}}\n");
    let rows: String = (0..50_000).map(row).collect();
    let import = Request::post("/v1/import-events?timeline_id=of-ada").body("application/x-ndjson", rows.as_bytes());
    assert_eq!(service.send(import.key(&ada)).expect(200)["imported"], 50_000);
    service.audit();
}

#[test]
fn failed_attempts_per_address_are_limited() {
    let service = Service::start();
    let request = Request::get("/v1/clock").anonymous();
    let refused = spend(&service, &request, 600);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"failed-attempts\";q=600;w=60"));
    refused.refused(429, "rate_limited");
    service.send(Request::get("/v1/clock")).expect(200);
    service.audit();
}

/// Entries about rejected unauthenticated requests: individual ones, and aggregated ones with counts.
fn logged(service: &Service) -> (u64, Vec<Value>) {
    let database = rusqlite::Connection::open(service.data().join("timenav.db")).unwrap();
    let select = "select leaf, coalesce(c.payload, e.payload), c.payload_bytes from entries e
        left join contents c using (entry) order by entry";
    let mut rows = database.prepare(select).unwrap();
    let rows = rows.query_map([], |row| {
        let (stored, is_packed) = (row.get::<_, Vec<u8>>(1)?, row.get::<_, Option<i64>>(2)?.is_some());
        let mut payload = Vec::new();
        if is_packed {
            DeflateDecoder::new(&stored[..]).read_to_end(&mut payload).unwrap();
        } else {
            payload = stored;
        }
        Ok((row.get::<_, Vec<u8>>(0)?, payload))
    });
    let rows = rows.unwrap();
    let (mut alone, mut together) = (0, Vec::new());
    // Leaves that start differently are the short form for reads.
    for (leaf, payload) in rows.map(Result::unwrap).filter(|(leaf, _)| leaf.starts_with(b"{")) {
        let leaf: Value = serde_json::from_slice(&leaf).unwrap();
        match leaf["action"].as_str().unwrap() {
            "unauthorized_access_attempt" => alone += 1,
            "unauthorized_access_attempts" => {
                assert_eq!((&leaf["actor"], &leaf["timeline_id"]), (&json!("unknown"), &json!("system")));
                together.push(serde_json::from_slice(&payload).unwrap());
            }
            _ => {}
        }
    }
    (alone, together)
}

#[test]
fn excess_rejections_are_aggregated_and_all_counted() {
    let mut service = Service::start();
    let limits = service.get("/v1/limits", &[])["limits"].clone();
    let of_network = limits["network_rejections_logged_per_minute_max"].as_u64().unwrap();
    let max = limits["rejections_logged_per_minute_max"].as_u64().unwrap();
    let request = Request::get("/v1/clock").anonymous();
    let mut connection = service.connect();
    // From one address, beyond the limit above which requests are not read.
    let mut sent = 0;
    while sent < ENOUGH as u64 {
        sent += 1;
        if connection.exchange(&request).unwrap().status == 429 {
            break;
        }
    }
    // A read sees it at once.
    let parameters = [("timeline_id", "system"), ("time_range", "../.."), ("action", "unauthorized_access_attempts")];
    let logs = service.get("/v1/access-logs", &parameters)["logs"].clone();
    assert_eq!(logs.as_array().unwrap().len(), 1, "{logs}");
    // From many addresses, with an invalid key.
    let wrong = Request::post("/v1/pause-time").key("tnk_000000000000000000000000000000000000");
    for number in (1..=200).chain(1..=200) {
        let mut far = Connection::open_from(elsewhere(number), service.address()).unwrap();
        far.exchange(&wrong).unwrap().refused(401, "invalid_credentials");
        sent += 1;
    }
    // The counts since then are recorded on shutdown.
    assert!(service.stop().success());
    let (alone, together) = logged(&service);
    let counted: u64 = together.iter().map(|sum| sum["count"].as_u64().unwrap()).sum();
    assert_eq!(alone + counted, sent, "{together:?}");
    assert!((of_network..3 * max).contains(&alone), "{alone}");
    assert_eq!(together.len(), 2);
    let first = json!({ "operation": "/v1/clock", "code": "missing_credentials", "count": together[0]["count"] });
    assert_eq!(together[0]["operations"], json!([first]));
    assert_eq!(together[0]["networks"], json!([{ "network": "127.0.0.1", "count": together[0]["count"] }]));
    let named = limits["refusals_counted_named_max"].as_u64().unwrap();
    assert_eq!(together[1]["networks"].as_array().unwrap().len() as u64, named);
    assert!(together[1]["networks_unnamed"].as_u64().unwrap() > 0);
    assert_eq!(together[1]["operations"][0]["operation"], "/v1/pause-time");
    service.start_again();
    service.audit();
}

#[test]
fn stored_read_parameters_are_truncated() {
    let mut service = Service::start();
    let max = service.get("/v1/limits", &[])["limits"]["read_parameters_bytes_max"].as_i64().unwrap();
    for location in ["x".repeat(512), "\u{1}".repeat(512), "\"".repeat(512)] {
        service.get("/v1/monitor-events", &[("location", &location), ("time_range", "../..")]);
    }
    assert!(service.stop().success());
    let database = rusqlite::Connection::open(service.data().join("timenav.db")).unwrap();
    // The short form is for reads, and each of these has one with long parameters.
    let sql = "select max(coalesce(c.payload_bytes, length(c.payload))), max(length(leaf)) from entries join contents c using (entry)
        where substr(leaf, 1, 1) <> x'7b'";
    let longest: (i64, i64) = database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    // A character is escaped to at most six bytes. Its original length and hash follow the prefix.
    assert!(longest.0 > max && longest.0 < 2 * max + 400 && longest.1 <= 55, "{longest:?}");
    drop(database);
    service.start_again();
    service.audit();
}

fn scan() -> Request {
    Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": "main", "scan_depth": "tail:1" }))
}

#[test]
fn scan_quota_is_per_user() {
    let service = Service::with(&["--requests-per-minute", "1000"]);
    service.post("/v1/users", &json!({ "user_id": "ada", "operator": true }));
    let key = service.key(&json!({ "user_id": "ada" }));
    let first = service.send(scan().key(&key));
    let policies = "\"scans\";q=60;w=60, \"address-scans\";q=240;w=60, \"requests\";q=1000;w=60";
    assert_eq!(first.header("ratelimit-policy"), Some(policies));
    let left = first.header("ratelimit").unwrap();
    assert!(left.starts_with("\"scans\";r=59;t=1, \"address-scans\";r=239;t=0, \"requests\";r="), "{left}");
    let max = service.get("/v1/limits", &[])["limits"]["scans_per_minute_max"].as_u64().unwrap();
    let request = |service: &Service| service.checkpoint("main").size;
    let refused = spend(&service, &scan().key(&key), usize::try_from(max).unwrap() - 1);
    assert!(refused.header("ratelimit").unwrap().starts_with("\"scans\";r=0;t=1, "), "{refused}");
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    // Rejected requests create no entry, except for reading the checkpoints. One request a second is refilled.
    let is_refused = || {
        let before = request(&service);
        service.send(scan().key(&key)).status == 429 && request(&service) == before + 1
    };
    assert!((0..ENOUGH).any(|_| is_refused()), "{ENOUGH} scans were not too many");
    assert_eq!(service.send(scan()).status, 200, "somebody else");
    assert_eq!(service.send(Request::get("/v1/clock").key(&key)).status, 200, "something else");
    service.audit();
}

#[test]
fn scan_quota_per_address_applies_across_users() {
    let service = Service::start();
    let limits = service.get("/v1/limits", &[])["limits"].clone();
    let max = limits["address_scans_per_minute_max"].as_u64().unwrap();
    let of_user = limits["scans_per_minute_max"].as_u64().unwrap();
    let operator = |number: u64| {
        let user_id = format!("operator-{number}");
        service.post("/v1/users", &json!({ "user_id": user_id, "operator": true }));
        service.key(&json!({ "user_id": user_id }))
    };
    let keys: Vec<String> = (0..2 * max / of_user).map(operator).collect();
    let mut connection = service.connect();
    // On a slow machine, more are allowed in the meantime.
    for (count, key) in (0..ENOUGH as u64).zip(keys.iter().cycle()) {
        let answer = connection.exchange(&scan().key(key)).unwrap();
        if answer.status == 429 {
            assert!(count >= max, "refused after {count} of {max}");
            let policies = "\"address-scans\";q=240;w=60, \"requests\";q=60000;w=60";
            assert_eq!(answer.header("ratelimit-policy"), Some(policies));
            let detail = answer.refused(429, "rate_limited");
            assert!(detail["detail"].as_str().unwrap().contains("`address-scans`"), "{detail}");
            return service.audit();
        }
    }
    panic!("{ENOUGH} scans were not too many");
}

fn log_in(user_id: &str, password: &str) -> Request {
    let request = Request::post("/v1/login").json(&json!({ "user_id": user_id, "password": password }));
    request.header("Host", "127.0.0.1").anonymous()
}

/// Another local address.
fn elsewhere(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, number)
}

/// Sends pipelined requests from those addresses. Returns the number of accepted ones, and the quotas that rejected the
/// others.
fn at_once(service: &Service, requests: Vec<(Ipv4Addr, Request)>) -> (usize, Vec<String>) {
    let connections: Vec<Connection> = requests
        .into_iter()
        .map(|(from, request)| {
            let mut connection = Connection::open_from(from, service.address()).unwrap();
            connection.send_request(&request);
            connection
        })
        .collect();
    let answers = connections.into_iter().map(|mut connection| connection.answer(false).unwrap());
    let (refused, passed): (Vec<Answer>, Vec<Answer>) = answers.partition(|answer| answer.status == 429);
    let policy = |answer: &Answer| answer.header("ratelimit-policy").unwrap_or_else(|| panic!("{answer}")).to_owned();
    (passed.len(), refused.iter().map(policy).collect())
}

#[test]
fn failed_logins_per_user_and_address_are_limited() {
    let service = Service::start();
    service.user("ada");
    service.set_password("ada", PASSWORD);
    let first = service.try_log_in("ada", "not this one");
    let policies = "\"address-logins\";q=60;w=60, \"logins\";q=10;w=60, \"user-logins\";q=120;w=60";
    assert_eq!(first.header("ratelimit-policy"), Some(policies));
    first.refused(401, "invalid_credentials");
    let refused = spend(&service, &log_in("ada", "not this one"), 9);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"logins\";q=10;w=60"));
    refused.refused(429, "rate_limited");
    // Rejected attempts create no entry, except for reading the checkpoint, and the password is not compared. On a slow
    // machine, one more may be allowed in the meantime.
    let is_rejected = (0..ENOUGH).any(|_| {
        spend(&service, &log_in("ada", "not this one"), 0);
        let before = service.checkpoint("system").size;
        let answer = service.try_log_in("ada", PASSWORD);
        if answer.status != 429 {
            return false;
        }
        answer.refused(429, "rate_limited");
        assert_eq!(service.checkpoint("system").size, before + 1);
        true
    });
    assert!(is_rejected);
    // The user can log in from elsewhere, and other users from here.
    let mut far = Connection::open_from(elsewhere(1), service.address()).unwrap();
    far.exchange(&log_in("ada", PASSWORD)).unwrap().expect(200);
    service.try_log_in("bob", "not this one").refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn failed_logins_per_user_are_limited_across_addresses() {
    let service = Service::start();
    let from_each = |number| (0..10).map(move |_| (elsewhere(number), log_in("ada", "not this one")));
    let (passed, refused) = at_once(&service, (1..=14).flat_map(from_each).collect());
    assert!(passed >= 120 && !refused.is_empty(), "{passed} {refused:?}");
    assert!(refused.iter().all(|policy| policy == "\"user-logins\";q=120;w=60"), "{refused:?}");
    service.audit();
}

#[test]
fn known_address_is_exempt_from_user_login_quota() {
    let service = Service::start();
    service.user("ada");
    service.set_password("ada", PASSWORD);
    service.log_in("ada", PASSWORD);
    let from_each = |number| (0..10).map(move |_| (elsewhere(number), log_in("ada", "not this one")));
    let (_, refused) = at_once(&service, (1..=14).flat_map(from_each).collect());
    assert!(!refused.is_empty());
    // The quota of the user does not apply here.
    let let_in = service.try_log_in("ada", PASSWORD);
    assert_eq!(let_in.header("ratelimit-policy"), Some("\"address-logins\";q=60;w=60, \"known-logins\";q=30;w=60"));
    let_in.expect(200);
    // Concurrently: if comparing a password takes longer than the refill of an attempt, a sequence would never end.
    let (passed, refused) = at_once(&service, vec![(HERE, log_in("ada", "not this one")); 45]);
    assert!(passed >= 29 && !refused.is_empty(), "{passed} {refused:?}");
    assert!(refused.iter().all(|policy| policy == "\"known-logins\";q=30;w=60"), "{refused:?}");
    // An address is known per user.
    let other = service.try_log_in("bob", "not this one");
    assert!(other.header("ratelimit-policy").unwrap().contains("\"logins\";q=10"), "{other}");
    other.refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn failed_logins_per_address_are_limited_across_users() {
    let service = Service::start();
    let requests = (0..80).map(|number| (HERE, log_in(&format!("user-{number}"), "not this one"))).collect();
    let (passed, refused) = at_once(&service, requests);
    assert!(passed >= 60 && !refused.is_empty(), "{passed} {refused:?}");
    assert!(refused.iter().all(|policy| policy == "\"address-logins\";q=60;w=60"), "{refused:?}");
    service.send(Request::get("/v1/clock")).expect(200);
    service.audit();
}

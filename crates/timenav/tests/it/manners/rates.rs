//! Quotas: requests of a key, failed attempts of an address, scans of both, log-ins of a user.

use std::net::Ipv4Addr;

use serde_json::json;

use crate::http::{Answer, Connection, Request};
use crate::service::Service;

/// More than any quota here and what comes back to it while it is spent.
const ENOUGH: usize = 5_000;
const PASSWORD: &str = "correct horse battery staple";
/// The address that all others of this machine are not.
const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Sends a request until it is refused for there being too many, and returns that answer.
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
fn a_key_has_its_quota_and_others_have_theirs() {
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
    assert_eq!(service.send(Request::get("/v1/limits")).status, 200, "the key of somebody else");
    service.audit();
}

#[test]
fn failed_attempts_are_limited_and_leave_no_more_entries() {
    let service = Service::start();
    let request = Request::get("/v1/clock").anonymous();
    let refused = spend(&service, &request, 600);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"failed-attempts\";q=600;w=60"));
    refused.refused(429, "rate_limited");
    service.send(Request::get("/v1/clock")).expect(200);
    service.audit();
}

fn scan() -> Request {
    Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": "main", "scan_depth": "tail:1" }))
}

#[test]
fn a_key_has_a_quota_of_scans() {
    let service = Service::with(&["--requests-per-minute", "1000"]);
    let key = service.key(&json!({}));
    let first = service.send(scan().key(&key));
    let policies = "\"scans\";q=60;w=60, \"address-scans\";q=240;w=60, \"requests\";q=1000;w=60";
    assert_eq!(first.header("ratelimit-policy"), Some(policies));
    let left = first.header("ratelimit").unwrap();
    assert!(left.starts_with("\"scans\";r=59;t=1, \"address-scans\";r=239;t=0, \"requests\";r="), "{left}");
    let max = service.get("/v1/limits", &[])["limits"]["scans_per_minute_max"].as_u64().unwrap();
    let asked = |service: &Service| service.checkpoint("main").size;
    let refused = spend(&service, &scan().key(&key), usize::try_from(max).unwrap() - 1);
    assert!(refused.header("ratelimit").unwrap().starts_with("\"scans\";r=0;t=1, "), "{refused}");
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refused(429, "rate_limited");
    // What is refused leaves no entry, but for those of reading the checkpoints.
    let before = asked(&service);
    assert_eq!(service.send(scan().key(&key)).status, 429);
    assert_eq!(asked(&service), before + 1);
    assert_eq!(service.send(scan()).status, 200, "the key of somebody else");
    assert_eq!(service.send(Request::get("/v1/clock").key(&key)).status, 200, "something else");
    service.audit();
}

#[test]
fn an_address_has_a_quota_of_scans_whatever_keys_it_shows() {
    let service = Service::start();
    let limits = service.get("/v1/limits", &[])["limits"].clone();
    let max = limits["address_scans_per_minute_max"].as_u64().unwrap();
    let of_key = limits["scans_per_minute_max"].as_u64().unwrap();
    let keys: Vec<String> = (0..2 * max / of_key).map(|_| service.key(&json!({}))).collect();
    let mut connection = service.connect();
    for (count, key) in (0..2 * max).zip(keys.iter().cycle()) {
        let answer = connection.exchange(&scan().key(key)).unwrap();
        if answer.status == 429 {
            assert!(count >= max, "refused after {count} of {max}");
            assert_eq!(answer.header("ratelimit-policy"), Some("\"address-scans\";q=240;w=60"));
            let detail = answer.refused(429, "rate_limited");
            assert!(detail["detail"].as_str().unwrap().contains("`address-scans`"), "{detail}");
            return service.audit();
        }
    }
    panic!("{} scans were not too many", 2 * max);
}

#[test]
fn without_a_quota_nothing_is_told_of_one() {
    let service = Service::start();
    let answer = service.send(Request::get("/v1/clock"));
    assert_eq!((answer.header("ratelimit"), answer.header("ratelimit-policy")), (None, None));
    service.audit();
}

fn log_in(user_id: &str, password: &str) -> Request {
    let request = Request::post("/v1/log-in").json(&json!({ "user_id": user_id, "password": password }));
    request.header("Host", "127.0.0.1").anonymous()
}

/// Another address of this machine.
fn elsewhere(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, number)
}

/// Sends requests from those addresses without waiting for an answer in between, and returns how many were not
/// refused, and what quotas the others were refused for.
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
fn a_user_is_tried_so_often_from_one_address() {
    let service = Service::start();
    service.user("ada");
    service.set_password("ada", PASSWORD);
    let first = service.try_log_in("ada", "not this one");
    let policies = "\"address-log-ins\";q=60;w=60, \"log-ins\";q=10;w=60, \"user-log-ins\";q=120;w=60";
    assert_eq!(first.header("ratelimit-policy"), Some(policies));
    first.refused(401, "invalid_credentials");
    let refused = spend(&service, &log_in("ada", "not this one"), 9);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"log-ins\";q=10;w=60"));
    refused.refused(429, "rate_limited");
    // What is refused leaves no entry, but for that of reading the checkpoint, and is not compared.
    let before = service.checkpoint("system").size;
    service.try_log_in("ada", PASSWORD).refused(429, "rate_limited");
    assert_eq!(service.checkpoint("system").size, before + 1);
    // Whoever is somewhere else is let in, and others are from here.
    let mut far = Connection::open_from(elsewhere(1), service.address()).unwrap();
    far.exchange(&log_in("ada", PASSWORD)).unwrap().expect(200);
    service.try_log_in("bob", "not this one").refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn a_user_is_tried_so_often_from_everywhere() {
    let service = Service::start();
    let from_each = |number| (0..10).map(move |_| (elsewhere(number), log_in("ada", "not this one")));
    let (passed, refused) = at_once(&service, (1..=14).flat_map(from_each).collect());
    assert!(passed >= 120 && !refused.is_empty(), "{passed} {refused:?}");
    assert!(refused.iter().all(|policy| policy == "\"user-log-ins\";q=120;w=60"), "{refused:?}");
    service.audit();
}

#[test]
fn nobody_is_kept_out_by_strangers_where_they_were_let_in() {
    let service = Service::start();
    service.user("ada");
    service.set_password("ada", PASSWORD);
    service.log_in("ada", PASSWORD);
    let from_each = |number| (0..10).map(move |_| (elsewhere(number), log_in("ada", "not this one")));
    let (_, refused) = at_once(&service, (1..=14).flat_map(from_each).collect());
    assert!(!refused.is_empty());
    // The quota of the user is none of theirs here.
    let let_in = service.try_log_in("ada", PASSWORD);
    assert_eq!(let_in.header("ratelimit-policy"), Some("\"address-log-ins\";q=60;w=60, \"known-log-ins\";q=30;w=60"));
    let_in.expect(200);
    let refused = spend(&service, &log_in("ada", "not this one"), 28);
    assert_eq!(refused.header("ratelimit-policy"), Some("\"known-log-ins\";q=30;w=60"));
    refused.refused(429, "rate_limited");
    // What is known of one user there is not known of another.
    let other = service.try_log_in("bob", "not this one");
    assert!(other.header("ratelimit-policy").unwrap().contains("\"log-ins\";q=10"), "{other}");
    other.refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn an_address_tries_so_many_users() {
    let service = Service::start();
    let requests = (0..80).map(|number| (HERE, log_in(&format!("user-{number}"), "not this one"))).collect();
    let (passed, refused) = at_once(&service, requests);
    assert!(passed >= 60 && !refused.is_empty(), "{passed} {refused:?}");
    assert!(refused.iter().all(|policy| policy == "\"address-log-ins\";q=60;w=60"), "{refused:?}");
    service.send(Request::get("/v1/clock")).expect(200);
    service.audit();
}

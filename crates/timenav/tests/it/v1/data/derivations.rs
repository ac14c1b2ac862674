//! CPU-intensive key derivation, requested concurrently: passphrases and passwords.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http::{Answer, Connection, Request};
use crate::support::service::Service;

/// More than one user may have running and queued.
const AT_ONCE: usize = 40;
/// Keys of one record are compared one after the other, each for seconds on a busy machine.
const RIGHT_KEYS: usize = 8;
/// Fewer than the limit per user and minute.
const LOGINS: usize = 8;
/// Number of users who seal one record after the other while others guess.
const SEALING: usize = 4;
/// From less time than the service takes to read a request to more, on any machine.
const CUT_AFTER_MILLIS: [u64; 7] = [8, 16, 32, 64, 256, 1_024, 4_096];
const PASSWORD: &str = "correct horse battery";

fn seal(service: &Service) -> Value {
    let body = json!({ "timeline_id": "main", "data": { "n": 1 }, "encryption_key": "a passphrase" });
    service.post("/v1/encrypt-data", &body)["data_id"].clone()
}

/// Sends a request on several connections at once and returns the responses.
fn at_once(service: &Service, request: &Request, count: usize) -> Vec<Answer> {
    let mut connections: Vec<Connection> = (0..count).map(|_| service.connect()).collect();
    thread::scope(|scope| {
        let requested: Vec<_> =
            connections.iter_mut().map(|one| scope.spawn(move || one.exchange(request).unwrap())).collect();
        requested.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn opening(service: &Service, data_id: &Value, key: &str) -> Request {
    let body = json!({ "data_id": data_id, "encryption_key": key });
    service.signed(Request::post("/v1/decrypt-data").json(&body))
}

#[test]
fn concurrent_key_guesses_are_limited_like_sequential_ones() {
    let service = Service::start();
    let data_id = seal(&service);
    let free = service.get("/v1/limits", &[])["limits"]["decrypt_free_attempts_max"].as_u64().unwrap();
    let answers = at_once(&service, &opening(&service, &data_id, "a guess"), AT_ONCE);
    let (compared, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 403);
    assert_eq!(compared.len() as u64, free);
    for answer in compared {
        answer.refused(403, "wrong_encryption_key");
    }
    for answer in refused {
        assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u64>().unwrap() > 50), "{answer}");
        answer.refused(429, "rate_limited");
    }
    service.audit();
}

#[test]
fn concurrent_correct_keys_all_decrypt_the_record() {
    let service = Service::start();
    let data_id = seal(&service);
    for answer in at_once(&service, &opening(&service, &data_id, "a passphrase"), RIGHT_KEYS) {
        assert_eq!(answer.expect(200)["data"]["n"], 1);
    }
    service.audit();
}

/// A guess counts even if the client disconnects before the response. A request that is cut off before it is read does
/// not count, and an answered one was not cut off. The threshold depends on the machine, so it is searched for, while
/// other requests make every guess wait.
#[test]
fn key_guess_counts_after_client_disconnects() {
    let service = Service::start();
    let free = service.get("/v1/limits", &[])["limits"]["decrypt_free_attempts_max"].as_u64().unwrap();
    let is_over = AtomicBool::new(false);
    let some_counted = thread::scope(|scope| {
        for _ in 0..SEALING {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    seal(&service);
                }
            });
        }
        let _ends = Ends(&is_over);
        CUT_AFTER_MILLIS.iter().any(|&millis| counts_aborted_requests(&service, free, Duration::from_millis(millis)))
    });
    assert!(some_counted, "no guess counts whose connection was cut");
    service.audit();
}

/// Returns whether guesses counted whose connections were cut after a while without a response.
fn counts_aborted_requests(service: &Service, free: u64, after: Duration) -> bool {
    let data_id = seal(service);
    let guess = opening(service, &data_id, "a guess");
    let mut cut: Vec<Connection> = (0..free).map(|_| service.connect()).collect();
    for connection in &mut cut {
        connection.send_request(&guess);
    }
    #[expect(clippy::disallowed_methods, reason = "nobody outside sees that a request is read")]
    thread::sleep(after);
    let answered = cut.iter().filter(|one| one.is_answered()).count() as u64;
    drop(cut);
    // A guess that was read counts at the latest when the disconnect is noticed.
    let mut compared = 0;
    while service.send(guess.clone()).status == 403 {
        compared += 1;
        assert!(compared <= free, "more are compared than are free");
    }
    compared + answered < free
}

/// Sets the flag when it goes out of scope, even in a panic.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn login_is_not_blocked_by_concurrent_encryption() {
    let service = Service::start();
    service.set_password("admin", PASSWORD);
    let eve = service.user("eve");
    let body = json!({ "timeline_id": "eves", "data": {}, "encryption_key": "a passphrase" });
    let sealing = Request::post("/v1/encrypt-data").json(&body).key(&eve);
    // Another user seals too, and gets turns in between.
    let own = service.signed(Request::post("/v1/encrypt-data").json(&json!({
        "timeline_id": "main", "data": {}, "encryption_key": "a passphrase" })));
    thread::scope(|scope| {
        let eves = scope.spawn(|| at_once(&service, &sealing, AT_ONCE));
        for _ in 0..LOGINS {
            let answer = service.try_log_in("admin", PASSWORD);
            assert_eq!(answer.status, 200, "{answer}");
            assert_eq!(service.send(own.clone()).status, 200);
        }
        let sealed = eves.join().unwrap();
        let busy = sealed.iter().filter(|answer| answer.status == 429).count();
        assert!(busy > 0 && sealed.iter().all(|answer| matches!(answer.status, 200 | 429)), "{busy} of {AT_ONCE}");
    });
    service.audit();
}

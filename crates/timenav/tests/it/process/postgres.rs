//! A PostgreSQL database in the place of the file: what is different from outside, and what becomes of the service while
//! the database is away.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::refused_start;
use crate::http::Request;
use crate::service::Service;

/// How often the service is asked whether it is ready again, and how long is waited in between.
const ASKED_MAX: usize = 200;
const ASKED_EVERY: Duration = Duration::from_millis(100);

/// A server of this test's own, which goes with it.
pub(super) struct Cluster {
    process: Child,
    orders: ChildStdin,
    told: BufReader<ChildStdout>,
    pub(super) url: String,
}

impl Cluster {
    pub(super) fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../timenav-store/tests/postgres.sh");
        let mut process = Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, told) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut cluster = Self { process, orders, told, url: String::new() };
        cluster.url = cluster.line();
        assert!(cluster.url.starts_with("postgres:"), "{}", cluster.url);
        cluster
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.told.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Has the server killed, or started again.
    fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        assert_eq!(self.line(), format!("{order}: done"));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = writeln!(self.orders, "end");
        let _ = self.process.wait();
    }
}

#[test]
fn while_the_database_is_away_the_service_says_so_and_it_comes_back_by_itself() {
    let mut cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url]);
    service.errors_expected =
        vec!["a group could not be committed", "the store cannot be read", "nothing could be pruned"];
    let ready = |service: &Service| service.send(Request::get("/readyz").anonymous());
    service.post("/v1/events", &json!({ "event_id": "before", "time": "2001-01-01T00:00:00Z", "description": "x" }));
    assert!(!service.data().join("timenav.db").exists(), "everything is in the database");
    assert_eq!(ready(&service).status, 200);
    for _ in 0..2 {
        cluster.order("stop");
        for request in [Request::get("/v1/clock"), Request::post("/v1/pause-time"), Request::get("/readyz").anonymous()]
        {
            let answer = service.send(request);
            assert_eq!(answer.header("retry-after"), Some("1"));
            answer.refused(503, "unavailable");
        }
        assert_eq!(service.send(Request::get("/healthz").anonymous()).status, 200);
        cluster.order("start");
        let is_back = (0..ASKED_MAX).any(|_| {
            wait();
            ready(&service).status == 200
        });
        assert!(is_back, "{}", service.log_text());
        service.post("/v1/pause-time", &json!({}));
        service.post("/v1/resume-time", &json!({}));
    }
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    service.restart();
    assert_eq!(service.find_all("main", "*", "../..", "10").len(), 1);
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "main" }));
    assert_eq!((&scan["tampering_detected"], &scan["findings"]), (&json!(false), &json!([])), "{scan:#}");
    service.audit();
}

#[expect(clippy::disallowed_methods, reason = "nothing tells when a server has taken up its work again")]
fn wait() {
    std::thread::sleep(ASKED_EVERY);
}

#[test]
fn one_service_at_a_time_writes_to_a_database_and_none_without_its_key() {
    let cluster = Cluster::start();
    let mut service = Service::with(&["--store", &cluster.url]);
    let other = tempfile::tempdir().unwrap();
    let secret = "postgres://ada:very-secret@127.0.0.1:1/none?sslmode=disable";
    let refused = refused_start(&other.path().join("unreachable"), &["--store", secret]);
    assert!(refused.starts_with("error: the database postgres://127.0.0.1:1/none: "), "{refused}");
    assert!(!refused.contains("very-secret"), "{refused}");
    let second = other.path().join("second");
    let refused = refused_start(&second, &["--store", &cluster.url]);
    assert!(refused.contains("another timenav uses this database"), "{refused}");
    assert!(service.stop().success());
    let refused = refused_start(&second, &["--store", &cluster.url]);
    assert!(refused.contains("is in use, but the key that signs its ledgers"), "{refused}");
    assert!(!second.join("signing.key").exists(), "no key is made that signs none of it");
    std::fs::write(second.join("timenav.db"), "").unwrap();
    let refused = refused_start(&second, &["--store", &cluster.url]);
    assert!(refused.contains("--store names another database"), "{refused}");
    service.start_again();
    service.audit();
}

//! kill -9 while contents are let go: what a sweep names is gone at once, or goes after the next start, and nothing else.

use serde_json::{Value, json};

use crate::http::Request;
use crate::service::{Service, run, timenav};

const NAME: &str = "swept";
/// Refusals that a round makes: each is an entry of its own, and one sweep names several times what goes at a time.
const REFUSALS: usize = 2_500;

/// When the service is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    AtOnce,
    /// Something was written.
    Written,
    /// The entry that names what goes is there.
    Told,
    /// Some of it has gone.
    Going,
    Answered,
}

const ROUNDS: [Moment; 7] =
    [Moment::AtOnce, Moment::Written, Moment::Told, Moment::Going, Moment::Told, Moment::Going, Moment::Answered];

/// Returns how many contents are kept of the refusals on the timeline, and how many entries tell of sweeps.
fn counts(service: &Service) -> (i64, i64) {
    let database = rusqlite::Connection::open(service.data().join("timenav.db")).unwrap();
    let count = |action: &str, table: &str| -> i64 {
        let select = format!(
            "SELECT count(*) FROM {table} c JOIN entries e ON e.entry = c.entry
             JOIN timelines t ON t.timeline = e.entry >> 40
             WHERE t.timeline_id = '{NAME}' AND instr(e.leaf, CAST('\"{action}\"' AS BLOB)) > 0"
        );
        database.query_row(&select, [], |row| row.get(0)).unwrap()
    };
    (count("unauthorized_access_attempt", "contents"), count("sweep", "entries"))
}

/// Has somebody refused so often, on one connection.
fn refuse(service: &Service, key: &str) {
    let mut connection = service.connect();
    let request = Request::new("DELETE", &format!("/timeline/{NAME}")).key(key);
    for _ in 0..REFUSALS {
        assert_eq!(connection.exchange(&request).unwrap().status, 403);
    }
}

fn prune(service: &Service, more: &Value) -> Request {
    let mut body = json!({ "timeline_id": NAME });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    service.signed(Request::post("/v1/prune").json(&body))
}

/// Waits until all that was refused is older than it is kept for.
fn wait_until_due(service: &Service) {
    let is_due = || {
        let foreseen = service.send(prune(service, &json!({ "dry_run": true }))).expect(200);
        foreseen["would_let_go"]["count"].as_u64().is_some_and(|count| count >= REFUSALS as u64)
    };
    while !is_due() {}
}

/// Sends the request and kills the service at a moment. Returns whether it was answered.
fn kill_at(service: &mut Service, moment: Moment) -> bool {
    let wal = |service: &Service| service.data().join("timenav.db-wal").metadata().map_or(0, |file| file.len());
    let (length, before) = (wal(service), counts(service));
    let mut connection = service.connect();
    connection.send_request(&prune(service, &json!({})));
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| connection.answer(false).is_ok_and(|answer| answer.status == 200));
        let has_come = || match moment {
            Moment::AtOnce => true,
            Moment::Written => wal(service) != length,
            Moment::Told => counts(service).1 > before.1,
            Moment::Going => counts(service).0 < before.0,
            Moment::Answered => false,
        };
        while !has_come() && !answer.is_finished() {
            std::thread::yield_now();
        }
        service.kill();
        answer.join().unwrap()
    })
}

#[test]
fn a_sweep_that_a_kill_cut_off_is_finished_later() {
    let mut service = Service::with(&["--retention-floor-secs", "0"]);
    let reader = service.user("reader");
    service.post("/timelines", &json!({ "timeline_id": NAME }));
    let lists = json!({ "read": ["reader"], "write": [], "admin": ["admin"] });
    service.post("/v1/set-access-control", &json!({ "timeline_id": NAME, "permissions": lists }));
    service.post("/v1/set-retention", &json!({ "timeline_id": NAME, "refusals": "1s" }));
    let (mut cut_off, mut left_over) = (0, 0);
    for moment in ROUNDS {
        refuse(&service, &reader);
        wait_until_due(&service);
        let (kept, sweeps) = counts(&service);
        let answered = kill_at(&mut service, moment);
        let (left, told) = counts(&service);
        assert!(told == sweeps || told == sweeps + 1, "{moment:?}: one request is one sweep");
        assert!(told > sweeps || left == kept, "{moment:?}: nothing went before it was told");
        assert!(!answered || left == 0, "{moment:?}: what was answered has gone");
        cut_off += usize::from(!answered);
        left_over += usize::from(told > sweeps && left > 0);
        let (code, stdout, stderr) =
            run(timenav().args(["verify", "--timeline", NAME, "--data"]).arg(service.data()), "");
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        service.start_again();
        // What the cut off sweep has named goes first, and the rest by another one.
        while service.send(prune(&service, &json!({}))).expect(200)["let_go"].as_u64() > Some(0) {}
        assert_eq!(counts(&service).0, 0);
    }
    println!("{cut_off} requests were cut off, {left_over} of them between the entry and the last content");
    assert!(cut_off > 0, "no kill came in between");
    let scan = json!({ "timeline_id": NAME, "scan_depth": "full" });
    let found = service.send(Request::post("/v1/detect-tampering").json(&scan)).expect(200);
    assert_eq!(found["tampering_detected"], false, "{found}");
    service.audit();
}

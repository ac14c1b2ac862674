//! kill -9 during a sweep: contents named by the sweep are pruned at once or after the next start, and nothing else is.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kill::log_state;
use crate::support::http::{Request, target};
use crate::support::service::{Service, ends, timenav};
use crate::support::waiting::{pause, until_so};

const NAME: &str = "swept";
/// Reads per round: each is an entry, and their contents are pruned in several transactions.
const READS: u64 = 600;
/// The service's own sweep runs once after each start, when nothing was written for 200 ms.
const OWN_SWEEP: Duration = Duration::from_secs(1);

/// When the service is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    AtOnce,
    /// After something was written.
    Written,
    /// After the entry that names the contents was written.
    Reported,
    /// After some contents were pruned.
    Going,
    Answered,
}

/// The kill times of a run; with `cargo xtask soak` each is used three times.
const ROUNDS: [Moment; 5] = [Moment::AtOnce, Moment::Written, Moment::Reported, Moment::Going, Moment::Answered];

/// The contents of the timeline in the database.
#[derive(Clone, Copy, Debug)]
struct Stored {
    /// Entries with prunable contents: those of reads.
    reads: u64,
    /// Sweeps, including those of the service itself: one runs after each start, once the service is idle or has been
    /// busy for long.
    sweeps: u64,
    /// Sweeps that were requested.
    requested: u64,
}

impl Stored {
    /// Counts entries of the timeline before a position.
    fn in_data(service: &Service, before: u64) -> Self {
        let with_contents = format!(
            "AND (e.entry & ((1 << 40) - 1)) < {before} AND EXISTS (SELECT 1 FROM contents c WHERE c.entry = e.entry)"
        );
        let sweeps = "AND instr(e.leaf, CAST('\"sweep\"' AS BLOB)) > 0";
        let requested = format!("{sweeps} AND instr(e.leaf, CAST('\"actor\":\"admin\"' AS BLOB)) > 0");
        let [reads, sweeps, requested] =
            [&with_contents, sweeps, &requested].map(|filter| count(service, "count(*)", filter));
        Self { reads, sweeps, requested }
    }
}

/// Counts entries of the timeline in the database.
fn count(service: &Service, select: &str, filter: &str) -> u64 {
    let database = rusqlite::Connection::open(service.data().join("timenav.db")).unwrap();
    let select = format!(
        "SELECT {select} FROM entries e JOIN timelines t ON t.timeline = e.entry >> 40
         WHERE t.timeline_id = '{NAME}' {filter}"
    );
    let count: i64 = database.query_row(&select, [], |row| row.get(0)).unwrap();
    count.try_into().unwrap()
}

/// Performs reads one after the other. Returns the position after the last entry.
fn read(service: &Service) -> u64 {
    let mut connection = service.connect();
    let clock = service.signed(Request::get(&target("/v1/clock", &[("timeline_id", NAME)])));
    for _ in 0..READS {
        assert_eq!(connection.exchange(&clock).unwrap().status, 200);
    }
    count(service, "max(e.entry & ((1 << 40) - 1)) + 1", "")
}

fn prune(service: &Service, more: &Value) -> Request {
    let mut body = json!({ "timeline_id": NAME });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    service.signed(Request::post("/v1/prune").json(&body))
}

/// Waits until the retention of all remaining reads has passed.
fn wait_until_due(service: &Service, end: u64) {
    until_so("all reads may go", || {
        let foreseen = service.send(prune(service, &json!({ "dry_run": true }))).expect(200);
        let due = foreseen["would_prune"]["count"].as_u64().unwrap_or_default();
        due >= Stored::in_data(service, end).reads
    });
}

/// Sends the request and kills the service at a given time. Returns whether there was a response.
fn kill_at(service: &mut Service, moment: Moment, (before, end): (Stored, u64)) -> bool {
    let log = log_state(service);
    let mut connection = service.connect();
    connection.send_request(&prune(service, &json!({})));
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| connection.answer(false).is_ok_and(|answer| answer.status == 200));
        let has_come = || match moment {
            Moment::AtOnce => true,
            Moment::Written => log_state(service) != log,
            Moment::Reported => Stored::in_data(service, end).sweeps > before.sweeps,
            Moment::Going => Stored::in_data(service, end).reads < before.reads,
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
fn sweep_interrupted_by_kill_completes_after_restart() {
    let mut service = Service::with(&["--retention-floor-secs", "0", "--log-clock-reads"]);
    service.post("/timelines", &json!({ "timeline_id": NAME }));
    service.post("/v1/set-retention", &json!({ "timeline_id": NAME, "reads": "1s" }));
    let (mut cut_off, mut left_over, mut whole) = (0, 0, 0);
    let rounds = ROUNDS.repeat(if crate::support::service::is_soak() { 3 } else { 1 });
    for &moment in &rounds {
        pause(OWN_SWEEP);
        let end = read(&service);
        wait_until_due(&service, end);
        let before = Stored::in_data(&service, end);
        // A sweep of the service itself may have pruned some already.
        whole += usize::from(before.reads >= READS);
        let answered = kill_at(&mut service, moment, (before, end));
        let left = Stored::in_data(&service, end);
        let count = left.requested - before.requested;
        assert!(count <= 1, "{moment:?}: one request is one sweep");
        let is_reported = left.sweeps > before.sweeps;
        assert!(is_reported || left.reads == before.reads, "{moment:?}: nothing went before it was told");
        assert!(!answered || left.reads == 0, "{moment:?}: what was answered has gone");
        // A sweep of the service itself may come first.
        assert!(!answered || is_reported || before.reads == 0, "{moment:?}: what was answered is told");
        cut_off += usize::from(!answered);
        left_over += usize::from(count == 1 && left.reads > 0);
        ends(timenav().args(["verify", "--timeline", NAME, "--data"]).arg(service.data()), 0);
        service.start_again();
        // Contents named by the interrupted sweep are pruned first, the rest by another sweep.
        service.send(prune(&service, &json!({}))).expect(200);
        assert_eq!(Stored::in_data(&service, end).reads, 0, "{moment:?}");
    }
    println!("{cut_off} requests were cut off, {left_over} of them between the entry and the last content");
    assert!(cut_off < rounds.len(), "one request was answered");
    assert!(cut_off > 0, "no kill came in between");
    assert!(whole > 0, "the service's own sweep was always faster");
    let scan = json!({ "timeline_id": NAME, "scan_depth": "full" });
    let found = service.post("/v1/detect-tampering", &scan);
    assert_eq!(found["tampering_detected"], false, "{found}");
    service.audit();
}

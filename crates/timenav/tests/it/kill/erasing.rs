//! kill -9 while events are erased: a batch is erased completely or not at all.

use serde_json::{Value, json};

use crate::kill::log_state;
use crate::support::http::{Request, target};
use crate::support::service::{Service, ends, timenav};

const NAME: &str = "erased";
/// Events in a batch, and batches.
const BATCH: usize = 500;
const BATCHES: usize = 6;

fn id(number: usize) -> String {
    format!("event-{number}")
}

/// Returns the number of empty event payloads, and the number of event rows.
fn counts(service: &Service) -> (usize, usize) {
    let database = rusqlite::Connection::open(service.data().join("timenav.db")).unwrap();
    let count = |select: &str| -> usize {
        let found: i64 = database.query_row(select, [], |row| row.get(0)).unwrap();
        usize::try_from(found).unwrap()
    };
    let events = count(
        "SELECT count(*) FROM events e JOIN timelines t ON t.timeline = e.timeline WHERE t.timeline_id = 'erased'",
    );
    let empty = count(
        "SELECT count(*) FROM entries WHERE length(payload) = 0 AND instr(leaf, CAST('\"record_event\"' AS BLOB)) > 0",
    );
    (empty, events)
}

#[test]
fn erasure_batch_interrupted_by_kill_is_atomic() {
    let mut service = Service::start();
    for batch in 0..BATCHES {
        let drafts: Vec<Value> = (batch * BATCH..(batch + 1) * BATCH)
            .map(|number| json!({ "event_id": id(number), "time": "2001-01-01T00:00:00Z", "description": "x".repeat(400) }))
            .collect();
        service.post(&target("/v1/events", &[("timeline_id", NAME)]), &drafts.into());
    }
    let (mut erased, mut cut_off) = (0, 0);
    // Killed immediately, after something was written, after much was written, and so on.
    for (batch, grown_min) in [None, Some(0), Some(1), Some(400_000), Some(0), Some(u64::MAX)].into_iter().enumerate() {
        let ids: Vec<String> = (batch * BATCH..(batch + 1) * BATCH).map(id).collect();
        let body = json!({ "timeline_id": NAME, "event_ids": ids });
        let mut connection = service.connect();
        let before = log_state(&service);
        connection.send_request(&service.signed(Request::post("/v1/erase-events").json(&body)));
        let answered = std::thread::scope(|scope| {
            let answer = scope.spawn(|| connection.answer(false).is_ok_and(|answer| answer.status == 200));
            // The log shrinks when the erasure is done, so a different length counts too.
            while let Some(grown_min) = grown_min
                && !answer.is_finished()
            {
                let now = log_state(&service);
                if now.0 < before.0 || now != before && now.0 - before.0 >= grown_min {
                    break;
                }
                std::thread::yield_now();
            }
            service.kill();
            answer.join().unwrap()
        });
        let (empty, events) = counts(&service);
        assert!(empty == erased || empty == erased + BATCH, "{empty} of {BATCH} in batch {batch}");
        assert_eq!(events, BATCH * BATCHES - empty, "rows and payloads go together");
        assert!(!answered || empty == erased + BATCH, "what was answered is done");
        cut_off += usize::from(!answered);
        erased = empty;
        ends(timenav().args(["verify", "--timeline", NAME, "--data"]).arg(service.data()), 0);
        service.start_again();
        if empty < (batch + 1) * BATCH {
            assert_eq!(service.post("/v1/erase-events", &body)["events_count"], BATCH);
            erased += BATCH;
        }
    }
    assert!(cut_off > 0, "no kill came in between");
    assert_eq!(counts(&service), (BATCH * BATCHES, 0));
    service.audit();
}

//! Bundles that are larger than what the service may have in memory.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{bundle, is_there};
use crate::bundles::{Away, event, key_of};
use crate::http::{Request, target};
use crate::service::{Service, memory_kib};
use crate::waiting::until;

const NAME: &str = "large";
/// How much the service may grow while it adopts a bundle twice as large, in KiB: the pages that its writing
/// connection keeps, a batch, and a line.
const GROWTH_KIB_MAX: u64 = 96 * 1_024;
/// Events of the bundle, and bytes of what each says.
const EVENTS: usize = 12_000;
const TEXT_BYTES: usize = 16_000;

/// Records so many events, of so many bytes each.
fn import(service: &Service, timeline: &str, (events, bytes): (usize, usize)) {
    let text = "a remark, ".repeat(bytes / 10);
    let path = target("/v1/import-events", &[("timeline_id", timeline)]);
    for first in (0..events).step_by(1_000) {
        let mut file = String::new();
        for number in first..events.min(first + 1_000) {
            let event =
                json!({ "event_id": format!("e{number}"), "time": "2000-01-01T00:00:00Z", "description": text });
            writeln!(file, "{event}").unwrap();
        }
        service.send(Request::post(&path).body("application/x-ndjson", file.as_bytes())).expect(200);
    }
}

/// How many entries are there of a bundle that is still arriving.
const ARRIVED: &str = "SELECT count(*) FROM entries WHERE entry < 0 AND EXISTS (SELECT 1 FROM arrivals)";
/// What is left of a bundle that did not arrive.
const LEFT: &str = "SELECT (SELECT count(*) FROM entries WHERE entry < 0) + (SELECT count(*) FROM arrivals)
    + (SELECT count(*) FROM events WHERE timeline < 0) + (SELECT count(*) FROM ended_timelines)";

/// Returns what is counted in the database of a service, whether that runs or not.
fn count(service: &Service, select: &str) -> i64 {
    let database = rusqlite::Connection::open(service.data().join("timenav.db")).unwrap();
    database.busy_timeout(std::time::Duration::from_mins(1)).unwrap();
    database.query_row(select, [], |row| row.get(0)).unwrap()
}

#[test]
#[ignore = "moves hundreds of megabytes; `cargo xtask soak` runs it"]
fn memory_does_not_grow_with_what_arrives() {
    let (there, here) = (Service::start(), Service::start());
    let away = Away::new();
    import(&there, NAME, (EVENTS, TEXT_BYTES));
    event(&there, "small", "first");
    for name in ["small", NAME] {
        away.export(&there, name, name);
    }
    let adopt = |name: &str| {
        let path = target("/timelines/adopt", &[("verifier_key", &key_of(&there, name))]);
        here.send(Request::post(&path).body("application/x-ndjson", &bundle(&away, name))).expect(201);
    };
    // What a first adoption needs once is there before the second.
    adopt("small");
    let before = memory_kib(here.pid(), "VmHWM");
    adopt(NAME);
    let grown = memory_kib(here.pid(), "VmHWM") - before;
    let bytes = std::fs::metadata(away.path(NAME)).unwrap().len();
    println!("the service grew by {grown} KiB for a bundle of {bytes} bytes");
    assert!(bytes > 2 * GROWTH_KIB_MAX * 1_000 * 9 / 10 && grown < GROWTH_KIB_MAX, "{grown} KiB for {bytes} bytes");
    assert_eq!(here.get(&format!("/timeline/{NAME}"), &[])["events"], json!(EVENTS));
    there.audit();
    here.audit();
}

/// The service is killed, or the client goes away, while the bundle arrives and at some points of its batches. Others write
/// meanwhile. Nothing of it is seen afterwards, what arrived is cleared away, and the bundle can be adopted.
#[test]
#[ignore = "moves hundreds of megabytes; `cargo xtask soak` runs it"]
fn a_fork_that_does_not_arrive_whole_leaves_nothing() {
    let there = Service::start();
    let away = Away::new();
    import(&there, "base", (6_000, TEXT_BYTES));
    there.post("/timelines", &json!({ "timeline_id": NAME, "fork_of": "base" }));
    event(&there, NAME, "own");
    away.export(&there, NAME, "a");
    let (key, file) = (key_of(&there, NAME), bundle(&away, "a"));
    let path = target("/timelines/adopt", &[("verifier_key", &key)]);
    let mut here = Service::start();
    let (mut in_the_midst, mut recorded) = (0, 0);
    // Half of the file, all of it, and entries in the database; and whether the service is killed.
    for (entries_min, is_killed) in
        [(None, true), (Some(0), true), (Some(1), true), (Some(900), true), (Some(1), false)]
    {
        let head = Request::post(&path).header("content-type", "application/x-ndjson");
        let head = here.signed(head.header("content-length", &file.len().to_string()));
        let mut connection = here.connect();
        connection.send_request(&head);
        let sent = if entries_min.is_some() { file.len() } else { file.len() / 2 };
        connection.send(&file[..sent]).unwrap();
        if let Some(entries_min) = entries_min.filter(|entries_min| *entries_min > 0) {
            let arrived = until("some of the bundle is there, or all of it", || {
                let arrived = count(&here, ARRIVED);
                (arrived >= entries_min || is_there(&here, NAME)).then_some(arrived)
            });
            // Somebody else writes between two batches.
            event(&here, "beside", &format!("beside-{entries_min}-{is_killed}"));
            recorded += 1;
            in_the_midst += usize::from(arrived > 0 && !is_there(&here, NAME));
        }
        if is_killed {
            here.kill();
            drop(connection);
            assert!(!here.data().join("adopting").exists(), "the file of what arrives has no name");
            here.start_again();
        } else {
            drop(connection);
        }
        if is_there(&here, NAME) {
            break;
        }
        until("what arrived is cleared away, or all of it was there", || {
            (count(&here, LEFT) == 0 || is_there(&here, NAME)).then_some(())
        });
        let scan = here.post("/v1/detect-tampering", &json!({ "timeline_id": "system", "scan_depth": "full" }));
        assert_eq!(scan["tampering_detected"], json!(false), "{scan}");
    }
    assert!(in_the_midst > 0, "it never ended in the midst");
    if !is_there(&here, NAME) {
        here.send(Request::post(&path).body("application/x-ndjson", &file)).expect(201);
    }
    assert_eq!(here.get(&format!("/timeline/{NAME}"), &[])["events"], Value::from(6_001));
    assert_eq!(here.get("/timeline/beside", &[])["events"], Value::from(recorded));
    there.audit();
    here.audit();
}

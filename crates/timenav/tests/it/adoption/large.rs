//! Bundles that are larger than what the service may have in memory.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::{bundle, is_there};
use crate::bundles::{Away, event, key_of};
use crate::http::{Request, target};
use crate::service::{Service, memory_kib};

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

/// Returns how long the log of the database is.
fn log_bytes(data: &Path) -> u64 {
    data.join("timenav.db-wal").metadata().map_or(0, |file| file.len())
}

#[test]
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

/// The service is killed while the bundle arrives, once all of it is there, and at some points of the transaction that
/// keeps it. Nothing half is there afterwards, and the bundle can be adopted.
#[test]
fn a_kill_while_a_fork_is_kept_leaves_all_or_nothing() {
    let there = Service::start();
    let away = Away::new();
    import(&there, "base", (6_000, TEXT_BYTES));
    there.post("/timelines", &json!({ "timeline_id": NAME, "fork_of": "base" }));
    event(&there, NAME, "own");
    away.export(&there, NAME, "a");
    let (key, file) = (key_of(&there, NAME), bundle(&away, "a"));
    let path = target("/timelines/adopt", &[("verifier_key", &key)]);
    let mut here = Service::start();
    let size = |here: &Service| here.get("/timeline/system", &[])["head"]["size"].as_u64().unwrap();
    let mut in_the_midst = 0;
    let megabytes = [None, Some(0), Some(1), Some(48)];
    for log_mb_min in megabytes {
        let before = size(&here);
        let head = Request::post(&path).header("content-type", "application/x-ndjson");
        let head = here.signed(head.header("content-length", &file.len().to_string()));
        let mut connection = here.connect();
        connection.send_request(&head);
        let sent = if log_mb_min.is_some() { file.len() } else { file.len() / 2 };
        connection.send(&file[..sent]).unwrap();
        if let Some(log_mb_min) = log_mb_min.filter(|log_mb_min| *log_mb_min > 0) {
            let data = here.data();
            let old = log_bytes(&data);
            // It is written to the log before the transaction ends, since it is more than memory is for.
            let answered = std::thread::scope(|scope| {
                let answer = scope.spawn(|| connection.answer(false).is_ok());
                while log_bytes(&data) < old + log_mb_min * 1_000_000 && !answer.is_finished() {
                    std::thread::yield_now();
                }
                here.kill();
                answer.join().unwrap()
            });
            in_the_midst += usize::from(!answered);
        } else {
            here.kill();
        }
        assert!(!here.data().join("adopting").exists(), "the file of what arrives has no name");
        here.start_again();
        if is_there(&here, NAME) {
            break;
        }
        assert!(size(&here) <= before + 2, "nothing was told but who looked");
        let database = rusqlite::Connection::open(here.data().join("timenav.db")).unwrap();
        let rows = "SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM ended_timelines)";
        assert_eq!(database.query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
    assert!(in_the_midst > 0, "it was never killed in the midst");
    if !is_there(&here, NAME) {
        here.send(Request::post(&path).body("application/x-ndjson", &file)).expect(201);
    }
    assert_eq!(here.get(&format!("/timeline/{NAME}"), &[])["events"], Value::from(6_001));
    there.audit();
    here.audit();
}

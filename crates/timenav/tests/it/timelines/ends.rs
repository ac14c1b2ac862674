//! `DELETE /timeline/{timeline_id}`, and timelines that expire.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::{Service, run};
use crate::support::waiting::until_so;
use crate::v1::assert_invalid;

fn make(service: &Service, body: &Value) -> Answer {
    service.send(Request::post("/timelines").json(body))
}

fn end(service: &Service, name: &str) -> Answer {
    service.send(Request::new("DELETE", &format!("/timeline/{name}")))
}

fn record(service: &Service, timeline: &str, event_id: &str) {
    let event = json!({ "event_id": event_id, "time": "2001-01-01T00:00:00Z", "description": "a secret of the job",
        "timeline_id": timeline });
    service.post("/v1/events", &event);
}

/// Returns the number of payloads and events of an ended timeline in the database.
fn contents(data: &Path, name: &str) -> i64 {
    let connection = Connection::open(data.join("timenav.db")).unwrap();
    let select = "SELECT (SELECT count(*) FROM entries e WHERE e.entry >> 40 = t.timeline AND length(e.payload) > 0)
        + (SELECT count(*) FROM contents c WHERE c.entry >> 40 = t.timeline)
        + (SELECT count(*) FROM events e WHERE e.timeline = t.timeline) FROM ended_timelines t WHERE t.timeline_id = ?1";
    connection.query_row(select, [name], |row| row.get(0)).unwrap()
}

#[test]
fn delete_ends_a_timeline() {
    let service = Service::start();
    make(&service, &json!({ "timeline_id": "job" })).expect(201);
    snapshot::check("timeline-ended", &service.send(Request::new("DELETE", "/v1/timeline/job")));
    snapshot::check("timeline-has-ended", &service.send(Request::get("/v1/timeline/job")));
    snapshot::check("timeline-name-ended", &make(&service, &json!({ "timeline_id": "job" })));
    service.audit();
}

#[test]
fn ended_timeline_is_unavailable_to_all_operations_and_keys() {
    let mut service = Service::start();
    record(&service, "job", "e");
    let key = service.key(&json!({ "timeline_id": "job" }));
    end(&service, "job").expect(200);
    for round in 0..2 {
        for path in ["", "/checkpoint", "/proof?position=0", "/entries", "/tile/0/000.p/1", "/bundle"] {
            service.send(Request::get(&format!("/timeline/job{path}"))).refused(404, "timeline_ended");
        }
        let all = [("timeline_id", "job"), ("location", "*"), ("time_range", "../..")];
        for (path, parameters) in [
            ("/v1/monitor-events", &all[..]),
            ("/v1/export-events", &all[..]),
            ("/v1/clock", &all[..1]),
            ("/v1/stream", &all[..1]),
            ("/v1/anchors", &all[..1]),
            ("/v1/events/e", &all[..1]),
            ("/v1/access-control", &all[..1]),
        ] {
            service.send(Request::get(&target(path, parameters))).refused(404, "timeline_ended");
        }
        let import = Request::post("/v1/import-events?timeline_id=job").body("application/x-ndjson", b"");
        service.send(import).refused(404, "timeline_ended");
        // A key bound to it is useless, and none can be created.
        service.send(Request::get("/v1/clock").key(&key)).refused(404, "timeline_ended");
        let late = Request::post("/v1/api-keys").json(&json!({ "timeline_id": "job" }));
        service.send(late).refused(404, "timeline_ended");
        if round == 0 {
            service.restart();
        }
    }
    service.audit();
}

#[test]
fn timeline_lifetime_has_a_minimum_and_maximum() {
    let service = Service::start();
    for (number, wrong) in ["PT0.5S", "PT0S", "P3661D", "P1M", "soon"].into_iter().enumerate() {
        let body = json!({ "timeline_id": format!("t{number}"), "expires_in": wrong });
        assert_invalid(make(&service, &body), "#/expires_in");
    }
    for (number, right) in ["PT1S", "P3660D", "90m"].into_iter().enumerate() {
        let made = make(&service, &json!({ "timeline_id": format!("r{number}"), "expires_in": right })).expect(201);
        assert!(made["expires_at"].is_string(), "{made}");
    }
    service.audit();
}

#[test]
fn ended_timeline_is_pruned_after_a_kill() {
    let mut service = Service::with(&["--ended-grace-days", "0"]);
    record(&service, "job", "e");
    end(&service, "job").expect(200);
    service.kill();
    let data = service.data();
    service.start_again();
    // The service checks once a second.
    until_so("its rows to be let go", || contents(&data, "job") == 0);
    // The write-ahead log is truncated after that, once it has no readers.
    let secret = b"a secret of the job";
    let holds = |name: &str| {
        let bytes = std::fs::read(data.join(name)).unwrap_or_default();
        memchr::memmem::find(&bytes, secret).is_some()
    };
    until_so("no trace to be left in a file", || {
        service.get("/v1/clock", &[]);
        !holds("timenav.db") && !holds("timenav.db-wal")
    });
    end(&service, "job").refused(404, "timeline_ended");
    service.audit();
}

#[test]
fn command_line_creates_and_ends_timelines() {
    let service = Service::start();
    let run = |arguments: &[&str]| run(&mut crate::cli::command(&service, arguments), "");
    let (code, stdout, stderr) = run(&["timeline", "create", "job", "--expires-in", "2h"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let (code, stdout, stderr) = run(&["timeline", "end", "job"]);
    assert!(code == Some(0) && stdout.contains("The timeline `job` has ended."), "{stdout}{stderr}");
    let (code, _, stderr) = run(&["timeline", "end", "job"]);
    assert!(code != Some(0) && stderr.contains("has ended"), "{stderr}");
    service.audit();
}

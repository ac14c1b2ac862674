//! `DELETE /timeline/{timeline_id}`, and timelines that expire.

use std::io::Read as _;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::{Service, run, timenav};
use crate::support::waiting::until_so;

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
    for prefix in ["", "/v1", "/api/v1"] {
        let service = Service::start();
        make(&service, &json!({ "timeline_id": "job" })).expect(201);
        let over = Request::new("DELETE", &format!("{prefix}/timeline/job"));
        snapshot::check("timeline-ended", &service.send(over));
        snapshot::check("timeline-has-ended", &service.send(Request::get(&format!("{prefix}/timeline/job"))));
        snapshot::check("timeline-name-ended", &make(&service, &json!({ "timeline_id": "job" })));
        service.audit();
    }
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
fn stream_closes_when_its_timeline_ends() {
    let service = Service::start();
    record(&service, "job", "e");
    let request = service.signed(Request::get("/v1/stream?timeline_id=job"));
    let mut connection = service.connect();
    connection.send_request(&request);
    let (status, headers) = connection.head().unwrap();
    assert_eq!(status, 200);
    end(&service, "job").expect(200);
    // Otherwise it would be endless.
    let mut rest = Vec::new();
    connection.body(&headers).read_to_end(&mut rest).unwrap();
    service.audit();
}

#[test]
fn timeline_lifetime_has_a_minimum_and_maximum() {
    let service = Service::start();
    for (number, wrong) in ["PT0.5S", "PT0S", "P3661D", "P1M", "soon"].into_iter().enumerate() {
        let refused = make(&service, &json!({ "timeline_id": format!("t{number}"), "expires_in": wrong }));
        let refused = refused.refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/expires_in", "{wrong}");
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
fn expired_timeline_ends_automatically() {
    let service = Service::start();
    make(&service, &json!({ "timeline_id": "job", "expires_in": "4s" })).expect(201);
    record(&service, "job", "e");
    let ended = || {
        let parameters = [("timeline_id", "system"), ("time_range", "../.."), ("action", "end_timeline")];
        let logs = service.get("/v1/access-logs", &parameters);
        logs["logs"].as_array().unwrap().iter().any(|log| log["subject"] == "job" && log["user_id"] == "system")
    };
    until_so("the timeline to end", ended);
    service.send(Request::get("/timeline/job")).refused(404, "timeline_ended");
    service.audit();
}

#[test]
fn command_line_creates_and_ends_timelines() {
    let service = Service::start();
    let command = |arguments: &[&str]| {
        let mut command = timenav();
        command
            .arg("timeline")
            .args(arguments)
            .env("TIMENAV_URL", service.url())
            .env("TIMENAV_API_KEY", &service.admin);
        run(&mut command, "")
    };
    let (status, made, problem) = command(&["create", "job", "--expires-in", "2h"]);
    assert_eq!(status, Some(0), "{made}{problem}");
    let (status, ended, problem) = command(&["end", "job"]);
    assert_eq!(status, Some(0), "{ended}{problem}");
    assert!(ended.contains("The timeline `job` has ended."), "{ended}");
    let (status, _, problem) = command(&["end", "job"]);
    assert!(status != Some(0) && problem.contains("has ended"), "{problem}");
    service.audit();
}

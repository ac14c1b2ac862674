//! `GET /v1/export-events`: the events of a place and time as a file.

use serde_json::{Value, json};

use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members, texts};

const PATH: &str = "/v1/export-events";

fn record(service: &Service, timeline: &str) {
    let events = json!([
        {"event_id": "launch", "time": "1969-07-16T13:32:00Z", "name": "=Launch", "geo": {"lat": 28.57, "lon": -80.65},
         "actors": ["Armstrong", "Aldrin; Buzz"], "attributes": {"program": "Apollo", "stages": 3}, "kind": "observed"},
        {"event_id": "landing", "time": "1969-07-20T20:17:40.5Z", "description": "The Eagle\nhas landed. ", "sequence": 11,
         "causes": ["launch", {"event_id": "weather", "kind": "contributes"}], "precision": "second", "source": "NASA"},
        {"event_id": "ides", "time": "-000043-03-15T11:00:00Z", "location": "Rome, Italy"},
    ]);
    let path = target("/v1/events", &[("timeline_id", timeline)]);
    service.send(Request::post(&path).json(&events)).expect(201);
}

fn export(service: &Service, parameters: &[(&str, &str)]) -> Answer {
    let answer = service.send(Request::get(&target(PATH, parameters)));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer
}

/// Returns the events of a timeline without their positions.
fn events(service: &Service, timeline: &str) -> Vec<Value> {
    let mut events = service.find_all(timeline, "*", "../..", "100");
    for event in &mut events {
        event.as_object_mut().unwrap().remove("position");
    }
    events
}

#[test]
fn exported_events_import_unchanged() {
    let service = Service::start();
    record(&service, "main");
    for (format, content_type) in [
        ("ndjson", "application/x-ndjson"),
        ("csv", "text/csv; charset=utf-8; header=present"),
        ("geojson", "application/geo+json"),
    ] {
        let answer = export(&service, &[("format", format)]);
        assert_eq!(answer.header("content-type"), Some(content_type));
        let disposition = format!("attachment; filename=\"main.{format}\"");
        assert_eq!(answer.header("content-disposition"), Some(disposition.as_str()));
        let path = target("/v1/import-events", &[("timeline_id", format)]);
        let imported = service.send(Request::post(&path).body(content_type, &answer.body)).expect(200);
        assert_members(&imported, &json!({ "imported": 3, "rejected": 0 }));
        assert_eq!(events(&service, format), events(&service, "main"), "{format}");
        // The second import adds nothing.
        let again = service.send(Request::post("/v1/import-events").body(content_type, &answer.body)).expect(200);
        assert_members(&again, &json!({ "unchanged": 3, "rejected": 0 }));
    }
    service.audit();
}

#[test]
fn requested_attributes_get_csv_columns() {
    let service = Service::start();
    record(&service, "main");
    let columns = "attribute.stages,attribute.program,attribute.none";
    let text = export(&service, &[("format", "csv"), ("columns", columns)]).text();
    assert!(text.contains(",sequence,stages,program,none\r\n") && text.contains(",3,Apollo,\r\n"), "{text}");
    for (format, columns) in [("csv", "stages"), ("ndjson", "attribute.stages")] {
        let path = target(PATH, &[("format", format), ("columns", columns)]);
        assert_invalid(service.send(Request::get(&path)), "#/columns");
    }
    service.audit();
}

#[test]
fn export_writes_icalendar_files() {
    let service = Service::start();
    record(&service, "main");
    let answer = export(&service, &[("format", "icalendar")]);
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"main.ics\""));
    let text = answer.text();
    assert!(text.starts_with("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n") && text.ends_with("END:VCALENDAR\r\n"), "{text}");
    assert_eq!(text.matches("BEGIN:VEVENT\r\n").count(), 2);
    // iCalendar cannot express the year -43.
    assert!(text.contains("\r\nX-TIMENAV-LEFT-OUT:1\r\n") && !text.contains("ides"), "{text}");
    let path = "/v1/import-events?timeline_id=calendar";
    let imported = service.send(Request::post(path).body("text/calendar", text.as_bytes())).expect(200);
    assert_members(&imported, &json!({ "imported": 2, "rejected": 0 }));
    let launch = json!({ "event_id": "launch", "time": "1969-07-16T13:32:00Z", "kind": "observed",
        "actors": ["Armstrong", "Aldrin; Buzz"] });
    assert_members(&events(&service, "calendar")[0], &launch);
    service.audit();
}

#[test]
fn export_format_follows_query_or_accept_header() {
    let service = Service::start();
    for (accept, query, expected) in [
        ("*/*", "", "application/x-ndjson"),
        ("application/json", "", "application/x-ndjson"),
        ("text/csv", "", "text/csv"),
        ("text/csv;q=0.5, Text/Calendar;q=0.7, */*;q=0.1", "", "text/calendar"),
        ("text/csv;q=0, application/geo+json;q=0.1", "", "application/geo+json"),
        ("text/csv", "?format=geojson", "application/geo+json"),
    ] {
        let answer = service.send(Request::get(&format!("{PATH}{query}")).header("Accept", accept));
        assert_eq!(answer.header("content-type").unwrap().split(';').next(), Some(expected), "{accept} {query}");
    }
    let refused = assert_invalid(service.send(Request::get("/v1/export-events?format=csvv")), "#/format");
    assert!(refused["detail"].as_str().unwrap().contains("did you mean `csv`?"), "{refused}");
    service.audit();
}

#[test]
fn export_is_filtered_by_place_and_time() {
    let service = Service::start();
    record(&service, "main");
    for (filter, expected) in [
        (json!({ "location": "bbox:-90,20,-80,30" }), &["launch"][..]),
        (json!({ "time_range": "1969-07-17T00:00:00Z/.." }), &["landing"]),
        (json!({ "location": "Rome, Italy", "format": "ndjson" }), &["ides"]),
        (json!({ "location": "Atlantis" }), &[]),
    ] {
        for method in ["GET", "QUERY"] {
            let text = service.send(Request::new(method, PATH).json(&filter)).text();
            let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(texts(&events, "event_id"), expected, "{method} {filter}");
        }
    }
    service.audit();
}

#[test]
fn large_export_is_complete_and_logged_once() {
    let service = Service::start();
    let line = |number: usize| {
        format!("{{\"event_id\":\"e{number}\",\"time\":\"2000-01-01T00:00:00Z\",\"name\":\"{number}\"}}\n")
    };
    let lines = (0..1_234).map(line).collect::<Vec<_>>().concat();
    service.send(Request::post("/v1/import-events").body("application/x-ndjson", lines.as_bytes())).expect(200);
    let text = export(&service, &[]).text();
    // Events with equal times are in ledger order.
    let expected: Vec<String> = (0..1_234).map(|number| format!("\"event_id\":\"e{number}\"")).collect();
    assert_eq!(text.lines().count(), 1_234);
    assert!(text.lines().zip(&expected).all(|(line, id)| line.contains(id)));
    let logs = service.get("/v1/access-logs", &[("timeline_id", "main"), ("time_range", "../.."), ("action", "read")]);
    let exports: Vec<&Value> =
        logs["logs"].as_array().unwrap().iter().filter(|log| log.to_string().contains("export_events")).collect();
    assert_eq!(exports.len(), 1, "{logs}");
    service.audit();
}

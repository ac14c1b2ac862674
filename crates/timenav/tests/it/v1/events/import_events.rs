//! `POST /v1/import-events`: files of any size, record by record.

mod dry_run;
mod foreign;
mod large;
mod refusals;

use serde_json::json;

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members};

const NDJSON: &str = "application/x-ndjson";

const LINES: &str = concat!(
    "{\"event_id\": \"launch\", \"time\": \"1969-07-16T13:32:00Z\", \"geo\": {\"lat\": 28.57, \"lon\": -80.65}}\n",
    "\n",
    "{\"time\": \"1969-07-20T20:17:40Z\", \"name\": \"Landing\", \"causes\": [\"launch\"]}\r\n",
    "{\"time\": \"1969-07-24T16:50:35Z\", \"name\": \"Splashdown\", \"location\": \"Pacific\"}",
);

const TABLE: &str = "when,what,north,east,crew\n\
    1969-07-16T13:32:00Z,Launch,28.57,-80.65,Armstrong/Aldrin/Collins\n\
    1969-07-20T20:17:40Z,\"Landing, at last\",,,Armstrong/Aldrin\n";
const TABLE_MAP: &str = "time=when,name=what,lat=north,lon=east,actors=crew|split:/";

const FEATURES: &str = r#"{"type": "FeatureCollection", "features": [
    {"type": "Feature", "id": "a", "properties": {"time": 1517966773840, "title": "Quake", "mag": 2},
     "geometry": {"type": "Point", "coordinates": [-118.5, 34.6, 7.2]}},
    {"type": "Feature", "properties": {"time": "2018-02-01T00:00:00Z"}, "geometry": null}]}"#;

const FEATURE_SEQUENCE: &str =
    "\u{1E}{\"type\":\"Feature\",\"id\":\"b\",\"geometry\":null,\"properties\":{\"time\":1700000001123}}\n";

fn import(service: &Service, parameters: &[(&str, &str)], content_type: &str, file: &str) -> Answer {
    service.send(Request::post(&target("/v1/import-events", parameters)).body(content_type, file.as_bytes()))
}

fn counts(answer: Answer) -> [u64; 3] {
    let body = answer.expect(200);
    ["imported", "unchanged", "rejected"].map(|name| body[name].as_u64().unwrap())
}

#[test]
fn each_import_format_is_read() {
    let service = Service::start();
    let import = |parameters: &[(&str, &str)], content_type: &str, file: &str| {
        let path = target("/v1/import-events", parameters);
        service.send(Request::post(&path).body(content_type, file.as_bytes()))
    };
    snapshot::check("import-ndjson", &import(&[], NDJSON, LINES));
    snapshot::check("import-csv", &import(&[("map", TABLE_MAP)], "text/csv; charset=utf-8", TABLE));
    snapshot::check("import-geojson", &import(&[], "application/geo+json", FEATURES));
    // A second import adds nothing, and neither does an empty file.
    snapshot::check("import-again", &import(&[], NDJSON, LINES));
    assert_eq!(counts(import(&[("map", TABLE_MAP)], "text/csv", TABLE)), [0, 2, 0]);
    assert_eq!(counts(import(&[], "application/geo+json", FEATURES)), [0, 2, 0]);
    assert_eq!(counts(import(&[], NDJSON, "\n\n")), [0, 0, 0]);
    import(&[], "text/csv", "").refused(400, "malformed_file");
    let body = json!(service.find_all("main", "*", "../..", "100")).to_string().into_bytes();
    snapshot::check("import-found", &Answer { status: 200, headers: Vec::new(), body });
    service.audit();
}

#[test]
fn repeated_records_are_counted_separately_from_known_ones() {
    let service = Service::start();
    let import = |timeline: &str, dry_run: &str, file: &str| {
        let parameters = [("timeline_id", timeline), ("dry_run", dry_run)];
        let answer = import(&service, &parameters, NDJSON, file).expect(200);
        let [imported, unchanged] = ["imported", "unchanged"].map(|name| answer[name].as_u64().unwrap());
        // Absent if there are none.
        let repeated = answer.get("repeated").map_or(0, |count| count.as_u64().unwrap());
        [imported, unchanged, repeated]
    };
    import("main", "false", LINES);
    let line = "{\"time\": \"2000-01-01T00:00:00Z\", \"name\": \"x\"}\n";
    // In one batch, and in several concurrent ones.
    for repeated in [1, 1_199] {
        let file = format!("{}{}\n{}", line.replace('x', &repeated.to_string()).repeat(repeated + 1), LINES, LINES);
        let expected = [1, 6, repeated as u64];
        assert_eq!(import("main", "true", &file), expected, "a dry run says the same");
        assert_eq!(import("main", "false", &file), expected);
        assert_eq!(import("main", "false", &file), [0, 7 + repeated as u64, 0], "now all are known");
    }
    // Inherited events of a fork have positions in another ledger.
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    assert_eq!(import("fork", "false", LINES), [0, 3, 0]);
    let twice = line.replace('x', "y").repeat(2);
    let answer = service.send(Request::post("/v1/import-events").body(NDJSON, twice.as_bytes())).expect(200);
    let status = "1 event is new, 0 already recorded, 1 the same as an earlier record in the file, 0 rejected.";
    assert_eq!(answer["status"], status);
    service.audit();
}

#[test]
fn import_format_follows_query_or_content_type() {
    let service = Service::start();
    for (format, content_type, file) in [
        (None, "application/x-ndjson", LINES),
        (None, "application/ndjson; charset=utf-8", LINES),
        (Some("ndjson"), "application/octet-stream", LINES),
        (Some("ndjson"), "text/csv", LINES),
        (Some("csv"), "text/plain", "time,name\n2000-01-01T00:00:00Z,x\n"),
        (None, "Text/CSV", "time,name\n2000-01-01T00:00:00Z,x\n"),
        (Some("geojson"), "application/json", FEATURES),
        (None, "application/geo+json-seq", FEATURE_SEQUENCE),
    ] {
        let parameters: Vec<(&str, &str)> = format.map(|format| ("format", format)).into_iter().collect();
        assert_eq!(counts(import(&service, &parameters, content_type, file))[2], 0, "{format:?} {content_type}");
    }
    let request = Request::post("/v1/import-events?format=ndjson").untyped(LINES.as_bytes());
    assert_eq!(service.send(request).expect(200)["unchanged"], 3);
    let unnamed = import(&service, &[], "application/json", LINES).refused(400, "missing_parameter");
    assert_eq!(unnamed["errors"][0]["pointer"], "#/format");
    let unknown = assert_invalid(import(&service, &[("format", "ndjsn")], NDJSON, LINES), "#/format");
    let misspelled = import(&service, &[("fromat", "csv")], "text/csv", "time\n").refused(400, "unknown_parameter");
    for (refused, hint) in [(unknown, "did you mean `ndjson`?"), (misspelled, "did you mean `format`?")] {
        assert!(refused["detail"].as_str().unwrap().contains(hint), "{refused}");
    }
    service.audit();
}

#[test]
fn import_response_matches_the_ledger() {
    let service = Service::start();
    let answer = import(&service, &[("timeline_id", "apollo")], NDJSON, LINES).expect(200);
    assert_members(&answer, &json!({ "timeline_id": "apollo", "imported": 3 }));
    let (entry, _) = service.entry("apollo", answer["ledger"]["position"].as_u64().unwrap());
    assert_eq!(entry["action"], "record_event");
    let size = answer["ledger"]["size"].as_u64().unwrap();
    service.continues("apollo", size, &crate::ledger::hash(&answer["ledger"]["root"]));
    assert_eq!(service.get("/timeline/main", &[])["events"], 0);
    service.audit();
}

#[test]
fn chunk_boundaries_do_not_affect_imports() {
    let service = Service::start();
    for size in [1, 7, 64, 100_000] {
        let path = format!("/v1/import-events?timeline_id=chunks-{size}");
        let request = service.signed(Request::post(&path).header("Content-Type", NDJSON));
        let mut connection = service.connect();
        connection.send_chunked(&request, LINES.as_bytes().chunks(size)).unwrap();
        assert_eq!(counts(connection.answer(false).unwrap()), [3, 0, 0], "{size}");
        // The connection is still usable.
        let clock = connection.exchange(&service.signed(Request::get("/v1/clock"))).unwrap();
        assert_eq!(clock.status, 200);
    }
    service.audit();
}

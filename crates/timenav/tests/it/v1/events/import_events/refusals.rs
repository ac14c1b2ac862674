//! Rejected records, files that cannot be read completely, and unauthorized callers.

use serde_json::{Value, json};

use super::{FEATURES, LINES, NDJSON, counts, import};
use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members};

#[test]
fn rejected_records_are_named_by_line() {
    let service = Service::start();
    let lines = [
        "{\"time\": \"2000-01-01T00:00:00Z\"}",
        "nonsense",
        "{\"time\": \"2000-01-01\"}",
        "{\"tmie\": \"2000-01-01T00:00:00Z\"}",
        "",
        "{}",
        "{\"event_id\": \"launch\", \"time\": \"2000-01-01T00:00:00Z\"}",
        "{\"event_id\": \"launch\", \"time\": \"2001-01-01T00:00:00Z\"}",
        "[1]",
        "{\"time\": \"2000-01-02T00:00:00Z\", \"geo\": {\"lat\": 1}}",
    ];
    snapshot::check("import-refusals-ndjson", &import(&service, &[], NDJSON, &(lines.join("\n") + "\n")));
    let table = "time,lat,lon\n2000-01-01T00:00:00Z,1,2\nyesterday,1,2\n2000-01-01T00:00:00Z,1\n\
                 2000-01-01T00:00:00Z,91,2\n,1,2\n\"2000-01-01T00:00:00Z\n\",1,2\n2000-01-01T00:00:00Z,,2\n";
    snapshot::check("import-refusals-csv", &import(&service, &[("timeline_id", "csv")], "text/csv", table));
    let features = FEATURES.replace("\"2018-02-01T00:00:00Z\"", "\"x\"");
    let answer = import(&service, &[("timeline_id", "geo")], "application/geo+json", &features);
    snapshot::check("import-refusals-geojson", &answer);
    service.audit();
}

#[test]
fn rejections_are_all_counted_and_first_hundred_listed() {
    let service = Service::start();
    let line = |number: usize| match number % 2 {
        0 => format!("{{\"time\": \"2000-01-01T00:00:00Z\", \"name\": \"{number}\"}}\n"),
        _ => "{\"time\": \"never\"}\n".to_owned(),
    };
    // More than a batch, so that line numbers continue across batches.
    let file: String = (1..=3_000).map(line).collect();
    let answer = import(&service, &[], NDJSON, &file).expect(200);
    assert_eq!([&answer["imported"], &answer["unchanged"], &answer["rejected"]], [1_500, 0, 1_500]);
    let lines: Vec<u64> =
        answer["rejections"].as_array().unwrap().iter().map(|refusal| refusal["line"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (0..100).map(|index| index * 2 + 1).collect();
    assert_eq!(lines, expected);
    assert_members(&answer["reasons"][0], &json!({ "field": "time", "count": 1_500, "line": 1 }));
    service.audit();
}

#[test]
fn truncated_file_keeps_and_reports_earlier_events() {
    let service = Service::start();
    let refused = |timeline: &str, content_type: &str, file: &str, stored: u64| {
        let answer = import(&service, &[("timeline_id", timeline)], content_type, file).refused(400, "malformed_file");
        let detail = answer["detail"].as_str().unwrap();
        let imported = if stored == 1 { "1 event was imported" } else { &format!("{stored} events were imported") };
        assert!(detail.contains(imported), "{detail}");
        assert_ne!(answer["status"], "Something went wrong inside the service.", "{answer}");
        let events = service.send(Request::get(&format!("/timeline/{timeline}"))).expect(200)["events"].clone();
        assert_eq!(events, stored, "{timeline}");
    };
    let cut = FEATURES.find("{\"type\": \"Feature\", \"properties\": {\"time\": \"2018").unwrap();
    refused("geo", "application/geo+json", &FEATURES[..cut + 30], 1);
    refused("other", "application/geo+json", "[1, 2]", 0);
    refused("html", "application/geo+json", "<html></html>", 0);
    let open = format!("time,name\n2000-01-01T00:00:00Z,a\n2000-01-01T00:00:00Z,\"{}", "x\n".repeat(1_200_000));
    refused("csv", "text/csv", &open, 1);
    let columns = import(&service, &[], "text/csv", "name\nx\n").refused(400, "missing_parameter");
    assert_eq!(columns["errors"][0]["pointer"], "#/map", "{columns}");
    let packed = service.send(Request::post("/v1/import-events").body("text/csv", b"\x1F\x8B\x08\x00"));
    let packed = packed.refused(400, "malformed_file");
    assert!(packed["detail"].as_str().unwrap().contains("`Content-Encoding: gzip`"), "{packed}");
    // Recorded events are not added again when the complete file is imported.
    assert_eq!(counts(import(&service, &[("timeline_id", "geo")], "application/geo+json", FEATURES)), [1, 1, 0]);
    service.audit();
}

#[test]
fn interrupted_upload_keeps_earlier_events() {
    let service = Service::start();
    let path = "/v1/import-events?timeline_id=cut";
    let line = |number: u32| format!("{{\"time\": \"2000-01-01T00:00:00Z\", \"name\": \"{number}\"}}\n");
    let lines: String = (0..2_000).map(line).collect();
    let length = lines.len() + 1_000;
    let request = service.signed(Request::post(path).header("Content-Type", NDJSON));
    let request = request.header("Content-Length", &length.to_string());
    let mut connection = service.connect();
    connection.send_request(&request);
    connection.send(lines.as_bytes()).unwrap();
    connection.shut_down_writing();
    // The response may be lost, but the ledger has the result.
    if let Ok(answer) = connection.answer(false) {
        assert_eq!(answer.status, 400, "{answer}");
        assert!(answer.json()["detail"].as_str().unwrap().contains("2000 events were imported"), "{answer}");
    }
    drop(connection);
    // The complete file adds whatever is missing.
    let whole: String = (0..2_010).map(line).collect();
    let [taken, unchanged, refused] = counts(import(&service, &[("timeline_id", "cut")], NDJSON, &whole));
    assert_eq!((taken + unchanged, refused), (2_010, 0));
    assert!(taken >= 10, "{taken}");
    assert_eq!(service.get("/timeline/cut", &[])["events"], 2_010);
    service.audit();
}

#[test]
fn invalid_mapping_is_rejected_before_reading_the_file() {
    let service = Service::start();
    for map in ["time=when,tmie=x", "{\"time\": 7}", "time=when|unix_days"] {
        assert_invalid(import(&service, &[("map", map)], "text/csv", "when\n"), "#/map");
    }
    let unknown = import(&service, &[("map", "time=wen")], "text/csv", "when\n2000-01-01T00:00:00Z\n");
    let unknown = unknown.refused(400, "invalid_parameter");
    assert!(unknown["detail"].as_str().unwrap().contains("`when`"), "{unknown}");
    import(&service, &[("map", "time=when")], "application/cloudevents+json", LINES)
        .refused(400, "conflicting_parameters");
    assert_eq!(service.get("/timeline/main", &[])["events"], 0);
    service.audit();
}

/// Bytes of a rejected body that are read before the client checks for the response.
const DRAINED_BYTES: usize = 4 << 20;

#[test]
fn unauthorized_import_is_rejected_before_reading_the_file() {
    let service = Service::start();
    service.post("/timelines", &json!({ "timeline_id": "closed" }));
    let ada = service.user("ada");
    let reader = service.key(&json!({ "scopes": ["timeline:read"] }));
    let path = target("/v1/import-events", &[("timeline_id", "closed"), ("format", "ndjson")]);
    for (request, sent_bytes, status, code) in [
        (Request::post(&path).anonymous(), DRAINED_BYTES, 401, "missing_credentials"),
        (Request::post(&path).key(&format!("tnk_{}", "0".repeat(36))), DRAINED_BYTES, 401, "invalid_credentials"),
        (Request::post(&path).key(&ada), 0, 404, "not_found"),
        (Request::post(&path).key(&reader), 0, 403, "insufficient_scope"),
        (Request::post("/v1/import-events?format=x"), DRAINED_BYTES, 400, "invalid_parameter"),
    ] {
        // A response that waited for the complete body would never arrive.
        let request = service.signed(request).header("Content-Length", "1000000000000");
        let mut connection = service.connect();
        connection.send_request(&request);
        connection.send(&vec![b' '; sent_bytes]).unwrap();
        let answer = connection.answer(false).unwrap_or_else(|error| panic!("{code}: {error}"));
        answer.refused(status, code);
    }
    assert_eq!(service.get("/timeline/closed", &[])["events"], 0);
    let log: Vec<Value> = (0..service.checkpoint("closed").size).map(|at| service.entry("closed", at).0).collect();
    let attempts = log.iter().filter(|entry| entry["action"] == "unauthorized_access_attempt");
    let actors: Vec<&str> = attempts.map(|entry| entry["actor"].as_str().unwrap()).collect();
    assert_eq!(actors, ["unknown", "unknown", "ada", "admin"]);
    service.audit();
}

//! A dry run returns the result of an import without recording anything.

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members, permit};

fn import(service: &Service, query: &str, lines: &str) -> Value {
    let path = format!("/v1/import-events?format=ndjson{query}");
    service.send(Request::post(&path).body("application/x-ndjson", lines.as_bytes())).expect(200)
}

#[test]
fn dry_run_predicts_the_import_result() {
    let service = Service::start();
    let time = "\"time\":\"2000-01-01T00:00:00Z\"";
    import(&service, "", &format!("{{\"event_id\":\"known\",{time}}}\n{{\"event_id\":\"other\",{time}}}\n"));
    let size = || service.get("/timeline/main", &[])["head"]["size"].clone();
    // New, known, known with different content, not an event, new, the same again, and different content from the line
    // before.
    let mut lines = [
        format!("{{\"event_id\":\"new\",{time}}}"),
        format!("{{\"event_id\":\"known\",{time}}}"),
        format!("{{\"event_id\":\"other\",{time},\"name\":\"x\"}}"),
        "{\"name\":\"no time\"}".to_owned(),
        format!("{{{time},\"name\":\"without an id\"}}"),
        format!("{{\"event_id\":\"new\",{time}}}"),
        format!("{{\"event_id\":\"new\",{time},\"name\":\"y\"}}"),
    ]
    .join("\n");
    // Further batches, the last of which repeats the first.
    lines.extend((0..1200).map(|number| format!("\n{{\"event_id\":\"n{number}\",{time}}}")));
    lines.extend([
        format!("\n{{\"event_id\":\"n0\",{time}}}"),
        format!("\n{{\"event_id\":\"n1\",{time},\"name\":\"z\"}}\n"),
    ]);
    let before = size();
    let predicted = import(&service, "&dry_run=true", &lines);
    assert_eq!(predicted["dry_run"], true);
    let status = "Dry run: nothing was recorded. 1202 events would be new";
    assert!(predicted["status"].as_str().unwrap().starts_with(status), "{predicted}");
    // Reading the size is an entry itself.
    assert_eq!(size().as_u64().unwrap(), before.as_u64().unwrap() + 1, "nothing is recorded");
    let done = import(&service, "", &lines);
    assert!(done["dry_run"].is_null());
    for count in ["imported", "unchanged", "repeated", "rejected"] {
        assert_eq!(predicted[count], done[count], "{count}: {predicted}");
    }
    assert_members(&done, &json!({ "imported": 1202, "rejected": 4, "unchanged": 1, "repeated": 2 }));
    let rejections = |answer: &Value| -> Vec<Value> {
        let rejections = answer["rejections"].as_array().unwrap().iter();
        rejections.map(|rejection| json!([rejection["line"], rejection["code"]])).collect()
    };
    assert_eq!(rejections(&predicted), rejections(&done));
    assert_members(&import(&service, "&dry_run=true", &lines), &json!({ "imported": 0, "unchanged": 1205 }));
    service.audit();
}

#[test]
fn dry_run_creates_no_timeline_and_checks_permissions() {
    let service = Service::start();
    let request = |query: &str| {
        let path = format!("/v1/import-events?format=ndjson&{query}");
        Request::post(&path).body("application/x-ndjson", b"{\"time\":\"2000-01-01T00:00:00Z\"}\n")
    };
    assert_eq!(service.send(request("dry_run=true&timeline_id=nowhere")).status, 404);
    assert!(!service.timelines().contains(&"nowhere".to_owned()));
    let ada = service.user("ada");
    assert_eq!(service.send(request("dry_run=true").key(&ada)).status, 404);
    permit(&service, "main", &json!({ "read": ["ada"] }));
    assert_eq!(service.send(request("dry_run=true").key(&ada)).status, 403);
    assert_invalid(service.send(request("dry_run=perhaps")), "#/dry_run");
    assert_eq!(service.send(request("dry_run=false")).expect(200)["imported"], 1);
    // Records before the end of a truncated file are counted.
    let path = "/v1/import-events?format=geojson&dry_run=true";
    service.send(Request::post(path).body("application/geo+json", b"{\"type\":")).refused(400, "malformed_file");
    service.audit();
}

//! Output and errors for programs.

use serde_json::{Value, json};

use super::{done, line_command, rejected};
use crate::support::service::{Service, fails, run, timenav};

/// Parses CSV into the names of the columns and the rows.
fn table(text: &str) -> (csv::StringRecord, Vec<csv::StringRecord>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    (reader.headers().unwrap().clone(), reader.records().collect::<Result<_, _>>().unwrap())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn lists_are_printed_as_ndjson_lines_or_csv_rows() {
    let service = Service::start();
    let quoted = "say \"when\", then\nwait";
    for (id, name) in [("a", "first"), ("b", quoted), ("c", "third")] {
        service.post("/v1/events", &json!({ "event_id": id, "time": "2000-01-01T00:00:00Z", "name": name }));
    }
    let all = "events find --limit 1 --all --output";
    let found = lines(&done(&service, &format!("{all} ndjson")));
    assert_eq!(found, service.find_all("main", "*", "../..", "100"));
    let (names, rows) = table(&done(&service, &format!("{all} csv")));
    assert_eq!((&names[0], &names[1], &names[7]), ("event_id", "time", "geo.lat"));
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[1][0], &rows[1][4]), ("b", quoted));
    // Truncation is reported on stderr, so that stdout stays parseable.
    let (code, stdout, stderr) = run(&mut line_command(&service, "events find --limit=2 --output=csv"), "");
    assert_eq!((code, stdout.matches("2000-01-01").count()), (Some(0), 2));
    assert!(stderr.contains("there are more"), "{stderr}");
    for list in [
        "timeline list",
        "timeline diff main main",
        "anchor list",
        "user list",
        "user restrictions",
        "user sessions",
        "key list",
        "paradoxes",
        "access log --all",
        "events scan",
        "entries",
    ] {
        let records = lines(&done(&service, &format!("{list} --output ndjson")));
        let (names, rows) = table(&done(&service, &format!("{list} --output csv")));
        for (record, row) in records.iter().zip(rows) {
            // The first field identifies the record, and every list lacks some field.
            let name = record[&names[0]].clone();
            assert_eq!(&row[0], name.as_str().map_or_else(|| name.to_string(), str::to_owned), "{list}");
        }
    }
    service.audit();
}

#[test]
fn single_responses_are_one_ndjson_line_or_csv_row() {
    let service = Service::start();
    done(&service, "clock pause");
    let clock = service.get("/v1/clock", &[]);
    for line in ["clock now --output ndjson", "api GET /v1/clock --output ndjson"] {
        assert_eq!(lines(&done(&service, line)), std::slice::from_ref(&clock), "{line}");
    }
    let (names, rows) = table(&done(&service, "clock now --output csv"));
    let at = names.iter().position(|name| name == "current_time").unwrap();
    assert_eq!(&rows[0][at], clock["current_time"].as_str().unwrap());
    // Several files produce several rows of one table.
    let folder = tempfile::tempdir().unwrap();
    let files = ["1.ndjson", "2.ndjson"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    for file in &files {
        std::fs::write(file, "{\"time\":\"1969-07-20T20:17:40Z\"}\n").unwrap();
    }
    let text = done(&service, &format!("import {} --output csv", files.join(" ")));
    assert_eq!(table(&text).1.len(), 2, "{text}");
    let stderr = rejected(&service, "stream --output csv", 1);
    assert!(stderr.contains("--output ndjson"), "{stderr}");
    service.audit();
}

#[test]
fn errors_are_json_if_output_is_json() {
    let service = Service::start();
    let error_of = |line: &str, key: &str, expected: i32| -> Value {
        let stderr = fails(line_command(&service, line).env("TIMENAV_API_KEY", key), expected, "");
        let error: Value = serde_json::from_str(&stderr).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        assert_eq!(error["exit_code"], expected, "{error}");
        assert!(error["status"].is_string(), "{error}");
        error
    };
    let wrong = error_of("clock travel yesterday --json", &service.admin, 1);
    assert_eq!((&wrong["code"], &wrong["http_status"]), (&json!("invalid_parameter"), &json!(400)));
    assert_eq!(wrong["errors"][0]["pointer"], "#/destination_time");
    assert!(wrong["request_id"].as_str().unwrap().starts_with("req_"));
    assert_eq!(error_of("clock now --output=ndjson", "tnk_nonsense", 4)["http_status"], 401);
    let none = error_of("clock pause --timeline mian --json", &service.admin, 5);
    assert!(none["hint"].as_str().unwrap().contains("--create"), "{none}");
    assert_eq!(error_of("clock now --fast --json", &service.admin, 2)["code"], "usage");
    let away = error_of("clock now --json --url http://127.0.0.1:1", &service.admin, 6);
    assert_eq!(away["code"], "unreachable");
    let folder = tempfile::tempdir().unwrap();
    let stderr = fails(timenav().args(["clock", "now", "--json"]).current_dir(folder.path()), 4, "");
    assert_eq!(serde_json::from_str::<Value>(&stderr).unwrap()["code"], "missing_api_key");
    // Text output has a sentence instead.
    let stderr = rejected(&service, "clock travel yesterday --output csv", 1);
    assert!(stderr.starts_with("error: "), "{stderr}");
    service.audit();
}

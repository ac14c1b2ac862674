//! Files with the conventions of other programs and locales, and errors of unreadable files.

use serde_json::{Value, json};

use super::{counts, import};
use crate::support::http::{Request, target};
use crate::support::service::Service;

/// A file, how it is sent, and the times of its first and last event.
struct Case {
    parameters: &'static [(&'static str, &'static str)],
    content_type: &'static str,
    file: &'static str,
    moments: [&'static str; 2],
}

const FEATURE: &str = concat!(
    "\u{1E}{\"type\":\"Feature\",\"id\":\"a\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[178.9,-17.5]},\"properties\":",
    "{\"time\":1700000000123}}\n\u{1E}{\"type\":\"Feature\",\"id\":\"b\",\"geometry\":null,\"properties\":{\"time\":1700000001123}}\n",
);

const CASES: [Case; 4] = [
    Case {
        parameters: &[],
        content_type: "application/geo+json-seq",
        file: FEATURE,
        moments: ["2023-11-14T22:13:20.123Z", "2023-11-14T22:13:21.123Z"],
    },
    Case {
        parameters: &[("map", "time=Datum|DD.MM.YYYY HH:mm,lat=Breite,lon=Länge")],
        content_type: "text/csv",
        file: "\u{FEFF}Datum;Breite;Länge\r\n28.02.2024 13:05;48,8566;2,3522\r\n29.02.2024 00:00;-33,8688;151,2093\r\n",
        moments: ["2024-02-28T13:05:00Z", "2024-02-29T00:00:00Z"],
    },
    Case {
        parameters: &[("map", "time=day|excel")],
        content_type: "text/csv",
        file: "day,n\n45350.5451388889,1\n45351,2\n",
        moments: ["2024-02-28T13:05:00Z", "2024-02-29T00:00:00Z"],
    },
    Case {
        parameters: &[("map", "time=__REALTIME_TIMESTAMP|unix_us,description=MESSAGE")],
        content_type: "application/x-ndjson",
        file: concat!(
            "{\"__REALTIME_TIMESTAMP\":\"1704164645123456\",\"MESSAGE\":[27,91,109,104,105]}\n",
            "{\"__REALTIME_TIMESTAMP\":\"1704164646123456\",\"MESSAGE\":\"plain\"}\n",
        ),
        moments: ["2024-01-02T03:04:05.123456Z", "2024-01-02T03:04:06.123456Z"],
    },
];

#[test]
fn files_with_foreign_conventions_are_imported() {
    let service = Service::start();
    for (number, case) in CASES.iter().enumerate() {
        let timeline = format!("stranger-{number}");
        let mut parameters: Vec<(&str, &str)> = case.parameters.to_vec();
        parameters.push(("timeline_id", &timeline));
        assert_eq!(counts(import(&service, &parameters, case.content_type, case.file)), [2, 0, 0], "{timeline}");
        let found: Vec<Value> = service.find_all(&timeline, "*", "../..", "100");
        let times: Vec<&str> = found.iter().filter_map(|event| event["time"].as_str()).collect();
        assert_eq!(times, case.moments, "{timeline}");
        // A second import adds nothing.
        assert_eq!(counts(import(&service, &parameters, case.content_type, case.file)), [0, 2, 0], "{timeline}");
    }
    let sydney = service.find_all("stranger-1", "geo:-33.8688,151.2093;u=1000", "../..", "100");
    assert_eq!(sydney.len(), 1);
    assert_eq!(service.find_all("stranger-3", "*", "../..", "100")[0]["description"], "\u{1b}[mhi");
    service.audit();
}

#[test]
fn unreadable_file_reports_the_reason() {
    let service = Service::start();
    for (bytes, expected) in [
        (&b"PK\x03\x04\x14\x00\x00\x00"[..], "ZIP archive"),
        (&b"\x1F\x8B\x08\x00\x00\x00"[..], "`Content-Encoding: gzip`"),
        (&b"\xFF\xFEt\x00i\x00"[..], "UTF-16"),
    ] {
        let answer = service.send(Request::post("/v1/import-events").body("text/csv", bytes));
        let body = answer.refused(400, "malformed_file");
        assert!(body["detail"].as_str().unwrap().contains(expected), "{body}");
    }
    let path = target("/v1/import-events", &[("map", "time=when|DD.MM.YYYY")]);
    let file = "when\n28.02.2024\n29.02.24\n";
    let body = service.send(Request::post(&path).body("text/csv", file.as_bytes())).expect(200);
    assert_eq!((&body["imported"], &body["rejected"]), (&json!(1), &json!(1)));
    let refusal = &body["rejections"][0];
    assert_eq!(refusal["line"], 3);
    let detail = "column `when`: `29.02.24` is not written as `DD.MM.YYYY`; a year of two digits is `DD.MM.YY`";
    assert_eq!(refusal["detail"], detail);
    service.audit();
}

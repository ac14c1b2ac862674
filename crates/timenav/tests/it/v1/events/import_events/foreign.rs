//! Foreign formats: `CloudEvents`, traces and compressed files.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{LINES, NDJSON, counts, import};
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members};

const PATH: &str = "/v1/import-events";
const STRUCTURED: &str = "application/cloudevents+json";
const EVENT: &str = r#"{"specversion": "1.0", "id": "7", "source": "urn:meter", "type": "read", "subject": "kitchen",
    "time": "2024-07-20T20:17:40Z", "myext": "Euro €", "datacontenttype": "application/json", "data": {"kwh": 1.5}}"#;

/// Sends the same event in binary mode.
fn binary(service: &Service, target: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::post(target).body("application/json", br#"{"kwh": 1.5}"#);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    service.send(request)
}

const BINARY: [(&str, &str); 7] = [
    ("ce-specversion", "1.0"),
    ("ce-id", "7"),
    ("ce-source", "urn:meter"),
    ("ce-type", "read"),
    ("ce-subject", "kitchen"),
    ("ce-time", "2024-07-20T20:17:40Z"),
    ("ce-myext", "Euro%20%E2%82%AC"),
];

#[test]
fn cloud_event_is_equal_in_every_mode() {
    let service = Service::start();
    assert_eq!(counts(import(&service, &[], STRUCTURED, EVENT)), [1, 0, 0]);
    assert_eq!(counts(import(&service, &[], "application/cloudevents-batch+json", &format!("[{EVENT}]"))), [0, 1, 0]);
    assert_eq!(counts(import(&service, &[("format", "cloudevents")], NDJSON, &EVENT.replace('\n', ""))), [0, 1, 0]);
    assert_eq!(counts(binary(&service, PATH, &BINARY)), [0, 1, 0]);
    assert_eq!(counts(binary(&service, "/v1/import-events?format=cloudevents", &BINARY)), [0, 1, 0]);
    let attributes = json!({"id": "7", "type": "read", "subject": "kitchen", "myext": "Euro \u{20AC}",
        "datacontenttype": "application/json", "data": {"kwh": 1.5}});
    let expected =
        json!({ "event_id": "7@urn:meter", "name": "read", "source": "urn:meter", "attributes": attributes });
    assert_members(&service.find_all("main", "*", "../..", "100")[0], &expected);
    service.audit();
}

#[test]
fn invalid_binary_cloud_event_names_the_field() {
    let service = Service::start();
    let without_time: Vec<_> = BINARY.into_iter().filter(|(name, _)| *name != "ce-time").collect();
    let answer = binary(&service, PATH, &without_time).expect(200);
    assert_eq!((&answer["rejected"], &answer["rejections"][0]["field"]), (&json!(1), &json!("time")));
    let twice = [BINARY.as_slice(), &[("ce-id", "8")]].concat();
    assert_invalid(binary(&service, PATH, &twice), "#/ce-id");
    // A body in another event format takes precedence.
    let answer = service.send(Request::post(PATH).body(NDJSON, LINES.as_bytes()).header("ce-specversion", "1.0"));
    assert_eq!(counts(answer), [3, 0, 0]);
    let answer = binary(&service, "/v1/import-events?format=csv", &BINARY).refused(400, "missing_parameter");
    assert_eq!(answer["errors"][0]["pointer"], "#/map");
    service.audit();
}

#[test]
fn trace_formats_are_chosen_by_name() {
    let service = Service::start();
    let zipkin = r#"[{"traceId": "aa", "id": "1", "timestamp": 1470150004074202}, {"traceId": "aa", "id": "2"}]"#;
    let import = |parameters: &[(&str, &str)]| import(&service, parameters, "application/json", zipkin);
    assert_eq!(counts(import(&[("format", "zipkin")])), [1, 0, 1]);
    let refused = import(&[("format", "jaeger")]).refused(400, "malformed_file");
    assert!(refused["detail"].as_str().unwrap().contains("this is not jaeger"), "{refused}");
    import(&[("format", "otlp"), ("map", "time=x")]).refused(400, "conflicting_parameters");
    service.audit();
}

/// Compresses a file with a system program. Prints a message if that is not possible.
fn packed(file: &[u8]) -> Option<Vec<u8>> {
    let child = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("skipped: packing needs gzip");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let file = file.to_vec();
    let writing = std::thread::spawn(move || input.write_all(&file));
    let packed = child.wait_with_output().unwrap().stdout;
    writing.join().unwrap().unwrap();
    Some(packed)
}

#[test]
fn gzip_files_are_decompressed_on_import() {
    let Some(lines) = packed(LINES.as_bytes()) else { return };
    let service = Service::start();
    let send = |encoding: &str, file: &[u8]| {
        service.send(Request::post(PATH).body(NDJSON, file).header("Content-Encoding", encoding))
    };
    assert_eq!(counts(send("gzip", &lines)), [3, 0, 0]);
    assert_eq!(counts(send("identity", LINES.as_bytes())), [0, 3, 0]);
    assert_invalid(send("br", &lines), "#/Content-Encoding");
    send("gzip", &lines[..lines.len() - 1]).refused(400, "malformed_file");
    send("gzip", LINES.as_bytes()).refused(400, "malformed_file");
    let bomb = packed(&vec![b'\n'; 32 << 20]).unwrap();
    let answer = send("gzip", &bomb).refused(400, "malformed_file");
    assert!(answer["detail"].as_str().unwrap().contains("more than 100 times its size"), "{answer}");
    let path = target(PATH, &[("format", "cloudevents")]);
    let binary = Request::post(&path).body("text/plain", b"x").header("ce-specversion", "1.0");
    service.send(binary.header("Content-Encoding", "gzip")).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn import_of_zstd_file_names_the_command_to_unpack_it() {
    let service = Service::start();
    // A frame with the lines as a raw block (RFC 8878, section 3.1.1).
    let block = u32::try_from(LINES.len() << 3 | 1).unwrap().to_le_bytes();
    let frame = [&[0x28, 0xB5, 0x2F, 0xFD, 0, 0x58][..], &block[..3], LINES.as_bytes()].concat();
    let send =
        |encoding: &str| service.send(Request::post(PATH).body(NDJSON, &frame).header("Content-Encoding", encoding));
    let answer = assert_invalid(send("zstd"), "#/Content-Encoding");
    assert!(answer["errors"][0]["detail"].as_str().unwrap().contains("`zstd -d`"), "{answer}");
    let answer = send("identity").refused(400, "malformed_file");
    assert!(answer["detail"].as_str().unwrap().contains("`zstd -d`"), "{answer}");
    service.audit();
}

#[test]
fn recurring_calendar_event_is_imported_once_with_warning() {
    let service = Service::start();
    let event = |uid: &str, more: &str| {
        format!("BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTART:20240720T100000Z\r\n{more}END:VEVENT\r\n")
    };
    let calendar = |events: &str| format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n");
    let file = calendar(&(event("once", "") + &event("weekly", "RRULE:FREQ=WEEKLY\r\n")));
    for counted in [[2, 0, 0], [0, 2, 0]] {
        let answer = import(&service, &[], "text/calendar", &file);
        assert_eq!(answer.json()["warning_count"], 1);
        assert_members(&answer.json()["warnings"][0], &json!({ "line": 7, "code": "recurrence_kept" }));
        assert_eq!(counts(answer), counted);
    }
    let weekly = service.find_all("main", "*", "../..", "100").pop().unwrap();
    assert_eq!(weekly["attributes"]["rrule"], "FREQ=WEEKLY");
    // Warnings have the same list limit as rejections, and all are counted.
    let many: String = (0..150).map(|number| event(&format!("n{number}"), "RDATE:20240721T100000Z\r\n")).collect();
    let answer = import(&service, &[], "text/calendar", &calendar(&many)).expect(200);
    assert_eq!((&answer["warning_count"], answer["warnings"].as_array().map(Vec::len)), (&json!(150), Some(100)));
    let answer = import(&service, &[], "text/calendar", &calendar(&event("other", ""))).expect(200);
    assert_members(&answer, &json!({ "warning_count": null, "warnings": null }));
    service.audit();
}

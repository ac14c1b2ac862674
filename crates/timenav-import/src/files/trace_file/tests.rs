use super::*;
use crate::limits::{RECORD_BYTES_MAX, TRACE_ORIGIN_BYTES_MAX};
use crate::tests::{check, check_detail, item_text, items};

const T: &str = "00000000000000aa";

/// A Zipkin span that starts one second after the epoch.
fn zipkin(id: &str, members: &str) -> String {
    format!(r#"{{"traceId":"{T}","id":"{id}","timestamp":1000000{members}}}"#)
}

#[track_caller]
fn check_causes(format: Format, file: &str, expected: &[(&str, &[&str])]) {
    let (items, outcome) = items(format, "", file.as_bytes());
    outcome.unwrap();
    let found: Vec<(String, Vec<String>)> = items
        .iter()
        .map(|item| {
            let draft = item.event.as_ref().unwrap();
            let causes = draft.causes.iter().map(|cause| {
                let kind = if cause.kind == timenav_core::event::CauseKind::Requires { "" } else { "~" };
                format!("{kind}{}", cause.event_id).replace(T, "T")
            });
            (draft.event_id.as_ref().unwrap().as_str().replace(T, "T"), causes.collect())
        })
        .collect();
    let expected: Vec<(String, Vec<String>)> = expected
        .iter()
        .map(|(id, causes)| ((*id).to_owned(), causes.iter().map(|cause| (*cause).to_owned()).collect()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn zipkin_span_is_an_event() {
    let span = zipkin(
        "1",
        r#","parentId":"B","name":"get","duration":5,"kind":"CLIENT","localEndpoint":{"serviceName":"a","port":1},"tags":{"x":"y"}"#,
    );
    let expected = concat!(
        r#"1 00000000000000aa:0000000000000001 {"actors":["a"],"attributes":{"kind":"CLIENT","#,
        r#""localEndpoint":{"port":1,"serviceName":"a"},"parent_span_id":"000000000000000b","#,
        r#""span_id":"0000000000000001","tags":{"x":"y"},"trace_id":"00000000000000aa"},"#,
        r#""causes":[{"event_id":"00000000000000aa:000000000000000b","kind":"requires"}],"#,
        r#""end_time":"1970-01-01T00:00:01.000005Z","name":"get","time":"1970-01-01T00:00:01Z"}"#,
    );
    for file in [format!("[{span}]"), format!(" [[{span}]] "), format!("[]\n[{span}]\n[]")] {
        check(Format::Zipkin, "", &file, &[expected]);
    }
}

#[test]
fn both_halves_of_a_shared_span_are_events() {
    let of = |service: &str| format!(r#","localEndpoint":{{"serviceName":"{service}"}}"#);
    let (a, b) = (of("a"), of("b"));
    let root = zipkin("1", &format!(r#"{a},"kind":"SERVER""#));
    let client = zipkin("2", &format!(r#"{a},"kind":"CLIENT","parentId":"1""#));
    let shared = zipkin("2", &format!(r#"{b},"kind":"SERVER","parentId":"1","shared":true"#));
    let unmarked = zipkin("2", &format!(r#"{b},"kind":"SERVER","parentId":"1""#));
    let below = zipkin("3", &format!(r#"{b},"parentId":"2""#));
    let sibling = zipkin("4", &format!(r#"{a},"parentId":"2""#));
    let (one, two, half) = ("T:0000000000000001", "T:0000000000000002", "T:0000000000000002:server");
    for server in [&shared, &unmarked] {
        let file = format!("[{below},{sibling},{server},{client},{root}]");
        check_causes(
            Format::Zipkin,
            &file,
            &[
                ("T:0000000000000003", &[half]),
                ("T:0000000000000004", &[two]),
                (half, &[two]),
                (two, &[one]),
                (one, &[]),
            ],
        );
    }
    // Without the client's event, the parent causes the server's.
    check_causes(Format::Zipkin, &format!("[{shared},{sibling}]"), &[(half, &[one]), ("T:0000000000000004", &[half])]);
    // With several receivers, children attach to the first.
    let later = shared.replace("1000000", "1000007");
    check_causes(
        Format::Zipkin,
        &format!("[{later},{below},{shared},{client}]"),
        &[
            ("T:0000000000000002:server:1000007", &[two]),
            ("T:0000000000000003", &[half]),
            (half, &[two]),
            (two, &[one]),
        ],
    );
    check_causes(Format::Zipkin, &format!("[{unmarked},{below}]"), &[(two, &[one]), ("T:0000000000000003", &[two])]);
}

#[test]
fn invalid_span_is_rejected_alone() {
    let right = zipkin("1", "");
    for (wrong, expected) in [
        ("1", "1 invalid_parameter -"),
        (r#"{"traceId":"a","id":"1"}"#, "1 missing_parameter timestamp"),
        (r#"{"traceId":"a","id":"1","timestamp":0}"#, "1 missing_parameter timestamp"),
        (r#"{"traceId":"a","id":"1","timestamp":-1}"#, "1 invalid_parameter timestamp"),
        (r#"{"traceId":"a","id":"1","timestamp":1.5}"#, "1 invalid_parameter timestamp"),
        (r#"{"traceId":"a","id":"1","timestamp":18446744073709551615}"#, "1 time_out_of_range timestamp"),
        (r#"{"traceId":"a","id":"1","timestamp":1,"duration":18446744073709551615}"#, "1 time_out_of_range duration"),
        (r#"{"id":"1","timestamp":1}"#, "1 missing_parameter traceId"),
        (r#"{"traceId":"a","timestamp":1}"#, "1 missing_parameter id"),
        (r#"{"traceId":"x","id":"1","timestamp":1}"#, "1 invalid_parameter traceId"),
        (r#"{"traceId":"0000","id":"1","timestamp":1}"#, "1 invalid_parameter traceId"),
        (r#"{"traceId":"a","id":"12345678901234567","timestamp":1}"#, "1 invalid_parameter id"),
        (r#"{"traceId":"a","id":"1","parentId":"é","timestamp":1}"#, "1 invalid_parameter parentId"),
    ] {
        let (items, outcome) = items(Format::Zipkin, "", format!("[{wrong},{right}]").as_bytes());
        outcome.unwrap();
        assert_eq!(item_text(&items[0]), expected, "{wrong}");
        assert!(items[1].event.is_ok() && items[1].line == 2, "{wrong}");
    }
    check_detail(Format::Zipkin, "", r#"[{"traceId":"a","id":"1"}]"#, "the span does not say when it started");
}

#[test]
fn zero_or_own_parent_id_is_a_root() {
    let one = "T:0000000000000001";
    for parent in ["", "0", "0000000000000000", "1", "0000000000000001"] {
        let span = zipkin("1", &format!(r#","parentId":"{parent}""#));
        let child = zipkin("2", r#","parentId":"1""#);
        check_causes(Format::Zipkin, &format!("[{span},{child}]"), &[(one, &[]), ("T:0000000000000002", &[one])]);
        let references = format!(r#"[{{"refType":"CHILD_OF","traceID":"aa","spanID":"{parent}"}}]"#);
        let file = format!(
            r#"{{"spans":[{{"traceID":"aa","spanID":"1","startTime":1,"parentSpanID":"{parent}","references":{references}}}]}}"#
        );
        check_causes(Format::Jaeger, &file, &[(one, &[])]);
        let link = format!(r#"{{"traceId":"aa","spanId":"{parent}"}}"#);
        let file = format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"aa","spanId":"1","parentSpanId":"{parent}","startTimeUnixNano":"1","links":[{link}]}}]}}]}}]}}"#
        );
        check_causes(Format::Otlp, &file, &[(one, &[])]);
    }
    // A log record outside any span.
    let file = r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1000","traceId":"00000000000000000000000000000000","spanId":"0000000000000000"}]}]}]}"#;
    check(Format::Otlp, "", file, &[r#"1 - {"time":"1970-01-01T00:00:00.000001Z"}"#]);
}

#[test]
fn span_with_negative_duration_has_a_note_and_no_end() {
    let jaeger = r#"{"spans":[{"traceID":"aa","spanID":"1","startTime":1000000,"duration":-7}]}"#;
    for (format, file) in
        [(Format::Zipkin, format!("[{}]", zipkin("1", r#","duration":-7"#))), (Format::Jaeger, jaeger.to_owned())]
    {
        let (items, outcome) = items(format, "", file.as_bytes());
        outcome.unwrap();
        let event = items[0].event.as_ref().unwrap();
        assert_eq!((event.end_time, event.attributes.as_ref().unwrap().contains(r#""duration":-7"#)), (None, true));
        assert_eq!(items[0].notes.iter().map(|note| note.code).collect::<Vec<_>>(), ["duration_negative"]);
    }
}

const JAEGER: &str = r#"{"data": [{"traceID": "aa", "processes": {
    "p1": {"serviceName": "a", "tags": [{"key": "host", "type": "string", "value": "h"}]}, "p2": {"serviceName": "b"}},
    "spans": [
    {"traceID": "aa", "spanID": "1", "operationName": "o", "startTime": 1000000, "duration": 0, "processID": "p1",
     "references": [], "logs": [{"timestamp": 1000001, "fields": []}], "warnings": null,
     "tags": [{"key": "x", "type": "int64", "value": 1}, {"key": "x", "value": 2}, {"key": "y", "value": [3]}]},
    {"traceID": "aa", "spanID": "2", "operationName": "p", "startTime": 1000000, "duration": 3, "processID": "p2",
     "references": [{"refType": "CHILD_OF", "traceID": "aa", "spanID": "1"},
                    {"refType": "FOLLOWS_FROM", "traceID": "bb", "spanID": "9"}], "parentSpanID": "1"}]}],
    "total": 0, "errors": null}"#;

#[test]
fn jaeger_span_is_an_event() {
    let first = concat!(
        r#"1 00000000000000aa:0000000000000001 {"actors":["a"],"attributes":{"logs":[{"fields":[],"timestamp":1000001}],"#,
        r#""process":{"host":"h"},"span_id":"0000000000000001","tags":{"x":[1,2],"y":[3]},"#,
        r#""trace_id":"00000000000000aa"},"end_time":"1970-01-01T00:00:01Z","name":"o","time":"1970-01-01T00:00:01Z"}"#,
    );
    let second = concat!(
        r#"2 00000000000000aa:0000000000000002 {"actors":["b"],"attributes":{"span_id":"0000000000000002","#,
        r#""trace_id":"00000000000000aa"},"causes":[{"event_id":"00000000000000aa:0000000000000001","kind":"requires"},"#,
        r#"{"event_id":"00000000000000bb:0000000000000009","kind":"contributes"}],"#,
        r#""end_time":"1970-01-01T00:00:01.000003Z","name":"p","time":"1970-01-01T00:00:01Z"}"#,
    );
    check(Format::Jaeger, "", JAEGER, &[first, second]);
    let trace = JAEGER.strip_prefix("{\"data\": [").unwrap().rsplit_once("],\n").unwrap().0;
    check(Format::Jaeger, "", trace, &[first, second]);
    check(Format::Jaeger, "", r#"{"data":[],"errors":null}"#, &[]);
    let wrong = JAEGER.replace("FOLLOWS_FROM", "NEXT_TO");
    check(Format::Jaeger, "", &wrong, &[first, "2 invalid_parameter references/1/refType"]);
}

#[test]
fn jaeger_spans_shared_by_client_and_server_are_linked() {
    let span = |id: &str, kind: &str, process: &str, parent: &str| {
        let references = format!(r#"[{{"refType":"CHILD_OF","traceID":"aa","spanID":"{parent}"}}]"#);
        let references = if parent.is_empty() { "[]" } else { &references };
        format!(
            r#"{{"traceID":"aa","spanID":"{id}","startTime":1,"duration":1,"processID":"{process}","references":{references},
            "tags":[{{"key":"span.kind","value":"{kind}"}}]}}"#
        )
    };
    let spans = [span("1", "client", "p", ""), span("1", "server", "q", ""), span("2", "internal", "q", "1")];
    let file = format!(
        r#"{{"spans":[{}],"processes":{{"p":{{"serviceName":"p"}},"q":{{"serviceName":"q"}}}}}}"#,
        spans.join(",")
    );
    let (one, half) = ("T:0000000000000001", "T:0000000000000001:server");
    check_causes(Format::Jaeger, &file, &[(one, &[]), (half, &[one]), ("T:0000000000000002", &[half])]);
}

const OTLP: &str = r#"{"resourceSpans": [{
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "a"}}, {"key": "n", "value": {"intValue": "7"}}]},
    "scopeSpans": [{"scope": {"name": "lib", "version": "1"}, "spans": [
    {"traceId": "000000000000000000000000000000AA", "spanId": "0000000000000001", "name": "o", "kind": 2,
     "startTimeUnixNano": "1000000999", "endTimeUnixNano": 2000000000, "status": {"code": 2},
     "attributes": [{"key": "list", "value": {"arrayValue": {"values": [{"boolValue": true}, {"doubleValue": 0.5}]}}},
      {"key": "map", "value": {"kvlistValue": {"values": [{"key": "b", "value": {"bytesValue": "AA=="}}]}}},
      {"key": "big", "value": {"intValue": "9223372036854775807"}}, {"key": "none", "value": {}}]},
    {"traceId": "000000000000000000000000000000aa", "spanId": "0000000000000002", "parentSpanId": "0000000000000001",
     "name": "p", "startTimeUnixNano": 1000000000, "endTimeUnixNano": "0", "events": [{"timeUnixNano": "1",
      "attributes": [{"key": "e", "value": {"stringValue": "f"}}]}],
     "links": [{"traceId": "000000000000000000000000000000bb", "spanId": "0000000000000009"},
               {"traceId": "000000000000000000000000000000aa", "spanId": "0000000000000001"}]}]}]}]}"#;

#[test]
fn otlp_log_record_is_an_event() {
    let record = |members: &str| {
        format!(
            r#"{{"resourceLogs": [{{"resource": {{"attributes": [{{"key": "service.name", "value": {{"stringValue": "shop"}}}}]}},
                "scopeLogs": [{{"scope": {{"name": "lib"}}, "logRecords": [{{{members}}}]}}]}}]}}"#
        )
    };
    let around = r#""resource":{"service.name":"shop"},"scope":{"name":"lib"}"#;
    let whole = r#""timeUnixNano": "1721506660000000123", "observedTimeUnixNano": "1721506661000000000", "severityNumber": 9,
        "severityText": "INFO", "body": {"stringValue": "paid"}, "eventName": "payment", "flags": 1,
        "attributes": [{"key": "sum", "value": {"intValue": "5"}}],
        "traceId": "AA00000000000000000000000000AA", "spanId": "BB000000000000BB""#;
    let event = format!(
        concat!(
            r#"1 - {{"actors":["shop"],"attributes":{{"attributes":{{"sum":5}},"flags":1,"#,
            r#""observedTimeUnixNano":"1721506661000000000",{},"severityNumber":9,"severityText":"INFO","#,
            r#""span_id":"bb000000000000bb","timeUnixNano":"1721506660000000123","#,
            r#""trace_id":"aa00000000000000000000000000aa"}},"#,
            r#""causes":[{{"event_id":"aa00000000000000000000000000aa:bb000000000000bb","kind":"contributes"}}],"#,
            r#""description":"paid","name":"payment","time":"2024-07-20T20:17:40Z"}}"#
        ),
        around
    );
    check(Format::Otlp, "", &record(whole), &[&event]);
    let observed =
        r#""observedTimeUnixNano": 1721506660000000000, "traceId": "", "body": {"kvlistValue": {"values": []}}"#;
    let event = format!(r#"1 - {{"actors":["shop"],"attributes":{{{around}}},"time":"2024-07-20T20:17:40Z"}}"#);
    check(Format::Otlp, "", &record(observed), &[&event]);
    check(Format::Otlp, "", &record(r#""timeUnixNano": "0""#), &["1 missing_parameter timeUnixNano"]);
    check_detail(Format::Otlp, "", r#"{"resourceLogs": 1}"#, "this is not otlp: `resourceLogs` must be an array");
}

#[test]
fn otlp_span_is_an_event() {
    let trace = "000000000000000000000000000000aa";
    let first = concat!(
        r#"1 $T:0000000000000001 {"actors":["a"],"attributes":{"attributes":{"big":"9223372036854775807","#,
        r#""list":[true,0.5],"map":{"b":"AA=="},"none":{}},"kind":"SERVER","resource":{"n":7,"service.name":"a"},"#,
        r#""scope":{"name":"lib","version":"1"},"span_id":"0000000000000001","startTimeUnixNano":"1000000999","#,
        r#""status":{"code":2},"trace_id":"$T"},"end_time":"1970-01-01T00:00:02Z","name":"o","#,
        r#""time":"1970-01-01T00:00:01Z"}"#,
    )
    .replace("$T", trace);
    let second = concat!(
        r#"2 $T:0000000000000002 {"actors":["a"],"attributes":{"events":[{"attributes":{"e":"f"},"timeUnixNano":"1"}],"#,
        r#""links":[{"spanId":"0000000000000009","traceId":"000000000000000000000000000000bb"},"#,
        r#"{"spanId":"0000000000000001","traceId":"$T"}],"parent_span_id":"0000000000000001","#,
        r#""resource":{"n":7,"service.name":"a"},"scope":{"name":"lib","version":"1"},"#,
        r#""span_id":"0000000000000002","trace_id":"$T"},"causes":[{"event_id":"$T:0000000000000001","kind":"requires"},"#,
        r#"{"event_id":"000000000000000000000000000000bb:0000000000000009","kind":"contributes"}],"#,
        r#""name":"p","time":"1970-01-01T00:00:01Z"}"#,
    )
    .replace("$T", trace);
    check(Format::Otlp, "", OTLP, &[&first, &second]);
    check(Format::Otlp, "", &format!("{{\"result\": {OTLP}}}"), &[&first, &second]);
    let third = second.replacen("2 ", "4 ", 1);
    check(Format::Otlp, "", &format!("{OTLP}\n{OTLP}"), &[&first, &second, &first.replacen("1 ", "3 ", 1), &third]);
    let damaged = OTLP.replace("\"000000000000000000000000000000AA\"", "\"AAAAAAAAAAAAAAAAAAAAqg==\"");
    check(Format::Otlp, "", &damaged, &["1 invalid_parameter traceId", &second]);
}

#[test]
fn shared_span_origin_size_is_limited() {
    let of = |bytes: usize| {
        let fixed = r#"{"attributes":[{"key":"k","value":{"stringValue":""}}]}"#.len();
        let long = "x".repeat(bytes - fixed);
        format!(
            r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"k","value":{{"stringValue":"{long}"}}}}]}},
            "scopeSpans":[{{"spans":[{{"traceId":"a","spanId":"1","startTimeUnixNano":1}}]}}]}}]}}"#
        )
    };
    let summary_of = |bytes: usize| {
        let (items, outcome) = items(Format::Otlp, "", of(bytes).as_bytes());
        outcome.unwrap();
        item_text(&items[0])
    };
    let whole = summary_of(TRACE_ORIGIN_BYTES_MAX);
    assert!(whole.starts_with("1 000000000000000a:"), "{whole:.99}");
    assert_eq!(summary_of(TRACE_ORIGIN_BYTES_MAX + 1), "1 record_too_large resource");
    let process = format!(
        r#"{{"spans":[{{"traceID":"a","spanID":"1","startTime":1,"processID":"p"}}],"processes":{{"p":{{"serviceName":"{}"}}}}}}"#,
        "x".repeat(TRACE_ORIGIN_BYTES_MAX)
    );
    check(Format::Jaeger, "", &process, &["1 record_too_large process"]);
    let span = zipkin("1", &format!(r#","x":"{}""#, "x".repeat(RECORD_BYTES_MAX)));
    check(Format::Zipkin, "", &format!("[{span}]"), &["1 record_too_large -"]);
}

#[test]
fn document_of_another_format_is_rejected() {
    for (format, file, detail) in [
        (Format::Zipkin, "{}", "a document must be an array of spans, or of arrays of spans"),
        (Format::Zipkin, "7", "a document must be an array of spans, or of arrays of spans"),
        (Format::Jaeger, "[]", "a document and each trace in it must be objects"),
        (Format::Jaeger, "{}", "a document needs `data`, an array of traces"),
        (Format::Jaeger, r#"{"data":{}}"#, "`data` must be an array"),
        (Format::Jaeger, r#"{"data":[1]}"#, "a document and each trace in it must be objects"),
        (Format::Jaeger, r#"{"data":[{}]}"#, "a trace needs `spans`, an array"),
        (Format::Jaeger, r#"{"spans":1}"#, "`spans` must be an array"),
        (Format::Jaeger, r#"{"spans":[],"processes":[]}"#, "`processes` must be an object of processes by their keys"),
        (Format::Otlp, "[]", "a document and the items of its arrays must be objects"),
        (Format::Otlp, "{}", "a document needs `resourceSpans` or `resourceLogs`, an array"),
        (Format::Otlp, r#"{"resourceSpans":1}"#, "`resourceSpans` must be an array"),
        (Format::Otlp, r#"{"resourceSpans":[1]}"#, "a document and the items of its arrays must be objects"),
        (Format::Otlp, r#"{"resourceSpans":[{"scopeSpans":1}]}"#, "`scopeSpans` must be an array"),
        (Format::Otlp, r#"{"resourceSpans":[{"scopeSpans":[{"spans":1}]}]}"#, "`spans` must be an array"),
    ] {
        let (items, outcome) = items(format, "", file.as_bytes());
        assert!(items.is_empty(), "{file}");
        let error = outcome.unwrap_err();
        assert_eq!(error.to_string(), format!("this is not {}: {detail}", format.as_str()), "{file}");
        assert_eq!((error.code(), error.line()), ("invalid_parameter", 1));
    }
}

#[test]
fn spans_per_document_are_limited() {
    let of = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    let (spans, outcome) = items(Format::Zipkin, "", of(TRACE_SPANS_MAX).as_bytes());
    outcome.unwrap();
    assert_eq!(spans.len(), TRACE_SPANS_MAX);
    let (spans, outcome) = items(Format::Zipkin, "", of(TRACE_SPANS_MAX + 1).as_bytes());
    assert!(spans.is_empty());
    assert!(matches!(outcome, Err(ImportError::TooManySpans { line: 1 })));
}

#[test]
fn damaged_document_yields_no_spans() {
    let file = format!("[{}]\n[{}, ", zipkin("1", ""), zipkin("2", ""));
    let (items, outcome) = items(Format::Zipkin, "", file.as_bytes());
    assert_eq!(items.len(), 1);
    assert!(matches!(outcome, Err(ImportError::MalformedJson { line: 2, records: 1, .. })));
}

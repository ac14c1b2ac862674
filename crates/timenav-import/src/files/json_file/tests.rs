use crate::Format;
use crate::tests::{check, check_detail, item_text, items};

const T: &str = "2024-07-20T20:17:40Z";

#[test]
fn common_program_logs_need_little_mapping() {
    // Pino and Bunyan, for Node.
    let pino = r#"{"level":30,"time":1721506660123,"pid":657,"hostname":"h","msg":"hello"}"#;
    let event = r#"{"attributes":{"hostname":"h","level":30,"pid":657},"description":"hello","time":"2024-07-20T20:17:40.123Z"}"#;
    check(Format::Ndjson, "time=time|unix_ms", pino, &[&format!("1 - {event}")]);
    let bunyan = r#"{"name":"app","level":30,"msg":"hello","time":"2024-07-20T20:17:40.000Z","v":0}"#;
    let event = format!(r#"{{"actors":["app"],"attributes":{{"level":30,"v":0}},"description":"hello","time":"{T}"}}"#);
    check(Format::Ndjson, r#"{"actors": "name", "name": ""}"#, bunyan, &[&format!("1 - {event}")]);
    // zap (Go) writes fractional seconds; others write nanoseconds.
    let zap = r#"{"level":"info","ts":1721506660.5,"msg":"hello"}"#;
    let event = r#"{"attributes":{"level":"info"},"description":"hello","time":"2024-07-20T20:17:40.5Z"}"#;
    check(Format::Ndjson, "time=ts|unix", zap, &[&format!("1 - {event}")]);
    let nanos = r#"{"level":"info","ts":1721506660500000000,"msg":"hello"}"#;
    check(Format::Json, "time=ts|unix_ns", nanos, &[&format!("1 - {event}")]);
    // The Elastic Common Schema, with dotted names and with objects.
    let elastic = format!(r#"{{"@timestamp":"{T}","log.level":"info","message":"hello","http":{{"status":200}}}}"#);
    let event = format!(
        r#"{{"attributes":{{"http":{{"status":200}},"log.level":"info"}},"description":"hello","time":"{T}"}}"#
    );
    check(Format::Json, "", &elastic, &[&format!("1 - {event}")]);
    check_detail(
        Format::Json,
        "",
        pino,
        "member `time`: a number needs a unit to be a time; map `time` with `|unix`, `|unix_ms` or \
         `|unix_us`, or with a pattern such as `|YYYYMMDD`, or as `time.year`",
    );
}

#[test]
fn members_are_found_by_path() {
    let record = format!(
        r#"{{"when":{{"at":"{T}","seq":7}},"http.request":{{"id":"r-1"}},"a/b":{{"c":"x"}},"user":{{"names":["p","q"]}},"n":null}}"#
    );
    let event = format!(
        r#"r-1 {{"actors":["p","q"],"attributes":{{"a/b":{{"c":"x"}}}},"name":"x 7","sequence":7,"time":"{T}"}}"#
    );
    let map = "time=when.at,sequence=when.seq,event_id=http.request.id,actors=user.names,name={/a~1b/c} {/when/seq}";
    check(Format::Json, map, &record, &[&format!("1 {event}")]);
    check(Format::Ndjson, map, &record, &[&format!("1 {event}")]);
    // A missing member counts as absent, like an empty cell.
    check(
        Format::Json,
        "time=when.at,name=when.no.where",
        &record,
        &[&format!(
            r#"1 - {{"attributes":{{"a/b":{{"c":"x"}},"http.request":{{"id":"r-1"}},"user":{{"names":["p","q"]}},"when":{{"seq":7}}}},"time":"{T}"}}"#
        )],
    );
}

#[test]
fn records_may_be_in_arrays_or_nested_lists() {
    let record = |id: &str| format!(r#"{{"id":"{id}","time":"{T}"}}"#);
    let expected = |ids: &[&str]| -> Vec<String> {
        ids.iter().zip(1..).map(|(id, line)| format!(r#"{line} {id} {{"time":"{T}"}}"#)).collect()
    };
    let (a, b) = (record("a"), record("b"));
    for (map, file) in [
        ("", format!("[{a},\n{b}]")),
        ("", format!("{a}\n{b}\n")),
        ("", format!("{a}{b}")),
        ("records=hits.hits", format!(r#"{{"took":{{"hits":[1]}},"hits":{{"total":2,"hits":[{a},{b}]}},"x":[]}}"#)),
        (r#"{"records": "/hits/0"}"#, format!(r#"{{"hits":{{"0":[{a},{b}]}}}}"#)),
    ] {
        check(Format::Json, map, &file, &expected(&["a", "b"]).iter().map(String::as_str).collect::<Vec<_>>());
    }
    let no_list = "this is not json: the mapping names `hits.list` as the list of records, but it is not a list";
    check_detail(Format::Json, "records=hits.list", r#"{"hits":{"list":{}}}"#, no_list);
    check_detail(Format::Json, "records=hits.list", r#"{"hits":{"other":[]}}"#, no_list);
    check_detail(Format::Json, "records=hits.list", "[]", no_list);
}

#[test]
fn invalid_record_is_rejected_alone() {
    let file = format!("{{\"time\":\"{T}\"}}\n5\n{{\"time\":1}}\n{{\"time\":\n{{}}\n[1]\nx\n\u{0}\n");
    let (items, outcome) = items(Format::Ndjson, "name=a", file.as_bytes());
    outcome.unwrap();
    let found: Vec<String> = items.iter().skip(1).map(item_text).collect();
    let expected = [
        "2 invalid_parameter -",
        "3 invalid_parameter time",
        "4 malformed_json -",
        "5 missing_parameter time",
        "6 invalid_parameter -",
        "7 malformed_json -",
        "8 malformed_json -",
    ];
    assert_eq!(found, expected);
}

#[test]
fn invalid_record_id_is_replaced() {
    let file = format!(r#"{{"id":"a b","time":"{T}"}}"#);
    let event = format!(r#"{{"attributes":{{"record_id":"a b"}},"time":"{T}"}}"#);
    check(Format::Json, "", &file, &[&format!("1 sha256-c8687a08aa5d6ed2044328fa6a697ab8 {event}")]);
}

#[test]
fn logfmt_lines_are_records() {
    let file = format!(
        "time={T} level=info msg=\"It \\\"has\\\" landed\\n\" fuel= ok\nts={T} msg=\"open\n=1\n\ntime={T} a=\"1\"b\n"
    );
    let event = format!(
        r#"{{"attributes":{{"fuel":"","level":"info","ok":true}},"description":"It \"has\" landed\n","time":"{T}"}}"#
    );
    check(
        Format::Logfmt,
        "",
        &file,
        &[&format!("1 - {event}"), "2 malformed_logfmt -", "3 malformed_logfmt -", "5 malformed_logfmt -"],
    );
}

#[test]
fn text_as_a_list_of_bytes_is_decoded() {
    let map = "time=__REALTIME_TIMESTAMP|unix_us,description=MESSAGE";
    let line = |message: &str| format!(r#"{{"__REALTIME_TIMESTAMP":"1704164645123456","MESSAGE":{message}}}"#);
    let check = |message: &str, expected: &str| {
        crate::tests::check(Format::Ndjson, map, &line(message), &[expected]);
    };
    let time = r#""time":"2024-01-02T03:04:05.123456Z""#;
    check("[27,91,109,195,182]", &format!("1 - {{\"description\":\"\\u001b[mö\",{time}}}"));
    // Bytes that are not UTF-8 stay as an attribute.
    let lossy = "\"attributes\":{\"MESSAGE\":[104,255]},\"description\":\"h\u{FFFD}\"";
    check("[104,255]", &format!("1 - {{{lossy},{time}}}"));
    check("[104,256]", "1 invalid_parameter description");
    check("[\"a\"]", "1 invalid_parameter description");
}

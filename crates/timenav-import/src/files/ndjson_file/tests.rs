use super::*;
use crate::Format;
use crate::tests::{check, item_text, items};

const EVENT: &str = "{\"time\": \"2024-07-20T20:17:40Z\"}";
const CONTENT: &str = "{\"time\":\"2024-07-20T20:17:40Z\"}";

#[test]
fn every_ndjson_line_is_an_event() {
    let of = |line: u64| format!("{line} - {CONTENT}");
    let (one, two, four) = (of(1), of(2), of(4));
    for (file, expected) in [
        (String::new(), vec![]),
        ("\n\r\n \t\n".to_owned(), vec![]),
        (EVENT.to_owned(), vec![one.as_str()]),
        (format!("{EVENT}\n"), vec![one.as_str()]),
        (format!("{EVENT}\r\n{EVENT}\r\n"), vec![one.as_str(), two.as_str()]),
        (format!("\u{FEFF}{EVENT}\n\n  \n{EVENT}"), vec![one.as_str(), four.as_str()]),
        (format!("{{}}\n{EVENT}\n"), vec!["1 missing_parameter time", two.as_str()]),
        (format!("{EVENT},\n{EVENT}"), vec!["1 malformed_json -", two.as_str()]),
        (format!("{EVENT} {EVENT}\n"), vec!["1 malformed_json -"]),
    ] {
        check(Format::Ndjson, "", &file, &expected);
    }
    let with_id = "{\"event_id\": \"e\", \"time\": \"2024-07-20T20:17:40Z\"}";
    check(Format::Ndjson, "", with_id, &[&format!("1 e {CONTENT}")]);
}

#[test]
fn line_that_is_not_utf8_is_rejected_alone() {
    let (items, outcome) = items(Format::Ndjson, "", b"{\"time\": \"\xFF\"}\n{}\n\0\n");
    outcome.unwrap();
    let item_text: Vec<_> = items.iter().map(item_text).collect();
    assert_eq!(item_text, ["1 malformed_json -", "2 missing_parameter time", "3 malformed_json -"]);
}

#[test]
fn ndjson_line_length_is_limited() {
    let line = |bytes: usize| format!("{}{EVENT}", " ".repeat(bytes - EVENT.len()));
    let (whole, too_long) = (line(RECORD_BYTES_MAX), line(RECORD_BYTES_MAX + 1));
    let longer = line(3 * RECORD_BYTES_MAX);
    for end in ["\n", "\r\n"] {
        let file = [&whole, &too_long, &longer, EVENT, &too_long].map(|line| format!("{line}{end}"));
        let expected = [
            &format!("1 - {CONTENT}"),
            "2 record_too_large -",
            "3 record_too_large -",
            &format!("4 - {CONTENT}"),
            "5 record_too_large -",
        ];
        check(Format::Ndjson, "", &file.concat(), &expected);
        check(Format::Ndjson, "", file.concat().trim_end(), &expected);
    }
}

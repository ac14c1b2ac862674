use crate::Format;
use crate::limits::RECORD_BYTES_MAX;
use crate::tests::{check, check_detail, item_text, items};
use crate::{ImportError, content_id};

const EVENT: &str = r#"{"specversion": "1.0", "id": "7", "source": "urn:meter", "type": "com.example.read",
    "time": "2024-07-20T20:17:40Z"}"#;
const CONTENT: &str = concat!(
    r#"{"attributes":{"id":"7","type":"com.example.read"},"name":"com.example.read","#,
    r#""source":"urn:meter","time":"2024-07-20T20:17:40Z"}"#,
);

#[test]
fn batches_and_lines_of_cloud_events_are_read() {
    let of = |number: u64| format!("{number} 7@urn:meter {CONTENT}");
    let (one, two) = (of(1), of(2));
    for (file, expected) in [
        (String::new(), vec![]),
        (" \n".to_owned(), vec![]),
        ("[]".to_owned(), vec![]),
        (EVENT.to_owned(), vec![one.as_str()]),
        (format!("\u{FEFF} [{EVENT}\n,{EVENT}] "), vec![one.as_str(), two.as_str()]),
        (format!("{EVENT}\n{EVENT}\n"), vec![one.as_str(), two.as_str()]),
        (format!("[1, {EVENT}, []]"), vec!["1 invalid_parameter -", two.as_str(), "3 invalid_parameter -"]),
    ] {
        check(Format::CloudEvents, "", &file, &expected);
    }
    let batch = format!("[{}]", vec![EVENT; 1_000].join(","));
    let (items, outcome) = items(Format::CloudEvents, "", batch.as_bytes());
    outcome.unwrap();
    assert_eq!(items.len(), 1_000);
}

#[track_caller]
fn check_with(members: &str, expected: &str) {
    let file = EVENT.replace("\"specversion\"", &format!("{members}, \"specversion\""));
    check(Format::CloudEvents, "", &file, &[expected]);
}

#[test]
fn extensions_and_data_are_kept() {
    check_with(r#""subject": "kitchen", "myext": 5, "other": true, "gone": null, "data": {"b": [1.0]}"#, {
        concat!(
            r#"1 7@urn:meter {"attributes":{"data":{"b":[1]},"id":"7","myext":5,"other":true,"#,
            r#""subject":"kitchen","type":"com.example.read"},"name":"com.example.read","#,
            r#""source":"urn:meter","time":"2024-07-20T20:17:40Z"}"#,
        )
    });
    check_with(r#""recordedtime": "2024-07-20T20:18:00Z", "correlationid": "c", "data_base64": "AA==""#, {
        concat!(
            r#"1 7@urn:meter {"attributes":{"correlationid":"c","data_base64":"AA==","id":"7","#,
            r#""recordedtime":"2024-07-20T20:18:00Z","type":"com.example.read"},"name":"com.example.read","#,
            r#""source":"urn:meter","time":"2024-07-20T20:17:40Z"}"#,
        )
    });
    check_with(r#""causationid": "6", "sequence": "0012""#, {
        concat!(
            r#"1 7@urn:meter {"attributes":{"causationid":"6","id":"7","sequence":"0012","#,
            r#""type":"com.example.read"},"causes":[{"event_id":"6@urn:meter","kind":"requires"}],"#,
            r#""name":"com.example.read","sequence":12,"source":"urn:meter","time":"2024-07-20T20:17:40Z"}"#,
        )
    });
}

#[test]
fn ids_are_unique_across_sources() {
    let ids = |source: &str, id: &str| {
        let file = EVENT.replace("urn:meter", source).replace("\"7\"", &format!("\"{id}\""));
        let (items, _) = items(Format::CloudEvents, "", file.as_bytes());
        let draft = items[0].event.as_ref().unwrap();
        let id = draft.event_id.clone().unwrap();
        assert_ne!(id, content_id(draft));
        id.to_string()
    };
    assert_eq!(ids("urn:b", "7"), "7@urn:b");
    assert!(ids("https://example.com/a", "7").starts_with("sha256-"));
    assert_ne!(ids("https://example.com/a", "7"), ids("https://example.com/b", "7"));
    assert_ne!(ids("b@c", "a"), ids("c", "a@b"));
    assert!(ids("c", "a@b").starts_with("sha256-"));
}

#[test]
fn invalid_cloud_event_is_rejected_alone() {
    let without = |name: &str| {
        let mut event: serde_json::Value = serde_json::from_str(EVENT).unwrap();
        event.as_object_mut().unwrap().remove(name);
        event.to_string()
    };
    for name in ["specversion", "id", "source", "type", "time"] {
        check(Format::CloudEvents, "", &without(name), &[&format!("1 missing_parameter {name}")]);
    }
    check_with(r#""data": 1, "data_base64": "AA==""#, "1 invalid_parameter data_base64");
    check_with(r#""myExt": 1"#, "1 unknown_parameter myExt");
    check_with(r#""my_ext": 1"#, "1 unknown_parameter my_ext");
    check_with(r#""ext": [1]"#, "1 invalid_parameter ext");
    check_with("\"ext\": \"a\\u0007\"", "1 invalid_parameter ext");
    check_with(r#""causationid": 6"#, "1 invalid_parameter causationid");
    check(Format::CloudEvents, "", &EVENT.replace("1.0", "0.3"), &["1 invalid_parameter specversion"]);
    check(Format::CloudEvents, "", &EVENT.replace("2024-07-20T20:17:40Z", "soon"), &["1 invalid_parameter time"]);
    check_detail(Format::CloudEvents, "", &without("time"), "the event does not say when it happened");
}

#[test]
fn damaged_file_ends_the_import() {
    for (file, before) in [
        (format!("[{EVENT}, "), 1),
        (format!("[{EVENT}] {EVENT}"), 1),
        (format!("{EVENT}\n{{"), 1),
        ("x".to_owned(), 0),
    ] {
        let (items, outcome) = items(Format::CloudEvents, "", file.as_bytes());
        assert_eq!(items.len(), before, "{file}");
        assert!(matches!(outcome, Err(ImportError::MalformedJson { .. })), "{file}");
    }
}

#[test]
fn cloud_event_size_is_limited() {
    let of = |bytes: usize| {
        let fixed = EVENT.len() + r#""data": "","#.len() + 1;
        EVENT.replace("\"specversion\"", &format!("\"data\": \"{}\", \"specversion\"", "x".repeat(bytes - fixed)))
    };
    assert_eq!(of(RECORD_BYTES_MAX).len(), RECORD_BYTES_MAX);
    for (open, close) in [("", ""), ("[", "]")] {
        let file = format!("{open}{}{close}", of(RECORD_BYTES_MAX));
        let (items, outcome) = items(Format::CloudEvents, "", file.as_bytes());
        outcome.unwrap();
        // Larger than attributes may be.
        assert_eq!(item_text(&items[0]), "1 invalid_parameter attributes");
        let file = format!("{open}{}{close}", of(RECORD_BYTES_MAX + 1));
        let (items, outcome) = crate::tests::items(Format::CloudEvents, "", file.as_bytes());
        assert!(items.is_empty());
        assert!(matches!(outcome, Err(ImportError::PartTooLarge { .. })));
    }
}

#[test]
fn integers_of_more_than_64_bits_keep_their_digits() {
    check_with(r#""data": {"n": 100000000000000000001}"#, {
        concat!(
            r#"1 7@urn:meter {"attributes":{"data":{"n":"100000000000000000001"},"id":"7","#,
            r#""type":"com.example.read"},"name":"com.example.read","source":"urn:meter","time":"2024-07-20T20:17:40Z"}"#,
        )
    });
}

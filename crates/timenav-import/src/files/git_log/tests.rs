use super::*;
use crate::Format;
use crate::tests::{check, item_text, items};

const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const PEOPLE: &str = "Ann\nann@example.com\nBob\nbob@example.com";

#[test]
fn git_commit_is_an_event() {
    let file =
        format!("{B}\n{A} {}\n1721506660\n1721506600\n{PEOPLE}\nMend it\0{A}\n\n1\n1\nAnn\n\nAnn\n\n", "c".repeat(40));
    let second = concat!(
        r#"{"actors":["Ann","Bob"],"attributes":{"author":"Ann <ann@example.com>","author_time":"2024-07-20T20:16:40Z","#,
        r#""committer":"Bob <bob@example.com>"},"causes":[{"event_id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","kind":"requires"},"#,
        r#"{"event_id":"cccccccccccccccccccccccccccccccccccccccc","kind":"requires"}],"name":"Mend it","time":"2024-07-20T20:17:40Z"}"#,
    );
    let first = concat!(
        r#"{"actors":["Ann"],"attributes":{"author":"Ann","author_time":"1970-01-01T00:00:01Z","committer":"Ann"},"#,
        r#""time":"1970-01-01T00:00:01Z"}"#,
    );
    for end in ["", "\0"] {
        check(Format::Git, "", &format!("{file}{end}"), &[&format!("1 {B} {second}"), &format!("2 {A} {first}")]);
    }
    check(Format::Git, "", "", &[]);
}

#[test]
fn invalid_commit_is_rejected_alone() {
    let right = format!("{A}\n\n1\n1\n{PEOPLE}\ns\0");
    for (wrong, expected) in [
        ("x".to_owned(), "1 invalid_parameter -"),
        (format!("{A}\n\n1\n1\n{PEOPLE}"), "1 invalid_parameter -"),
        (format!("abc\n\n1\n1\n{PEOPLE}\ns"), "1 invalid_parameter event_id"),
        (format!("{A}\n{B} x\n1\n1\n{PEOPLE}\ns"), "1 invalid_parameter causes/1"),
        (format!("{A}\n\nsoon\n1\n{PEOPLE}\ns"), "1 invalid_parameter time"),
        (format!("{A}\n\n1\n99999999999999\n{PEOPLE}\ns"), "1 invalid_parameter author_time"),
        (format!("{A}\n\n1\n1\n{PEOPLE}\n{}", "s".repeat(RECORD_BYTES_MAX)), "1 record_too_large -"),
        (format!("{A}\n\n1\n1\n{PEOPLE}\n{}", "s".repeat(3 * RECORD_BYTES_MAX)), "1 record_too_large -"),
    ] {
        let (items, outcome) = items(Format::Git, "", format!("{wrong}\0{right}").as_bytes());
        outcome.unwrap();
        assert_eq!((items.len(), item_text(&items[0]).as_str()), (2, expected));
        assert!(items[1].event.is_ok(), "{expected}");
    }
}

#[test]
fn commit_that_is_not_utf8_is_marked_lossy() {
    let file = [format!("{A}\n\n1\n1\n{PEOPLE}\n").as_bytes(), b"M\xFCnchen"].concat();
    let (items, _) = items(Format::Git, "", &file);
    let draft = items[0].event.as_ref().unwrap();
    assert_eq!(draft.name.as_deref(), Some("M\u{FFFD}nchen"));
    assert!(draft.attributes.as_ref().unwrap().contains("\"is_lossy\":true"));
}

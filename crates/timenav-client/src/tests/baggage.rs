use crate::baggage::{clock, forward_timeline, sql_timestamp, timeline_in, with_timeline};
use crate::header::{HeaderMap, HeaderValue};

use super::{instant, list, text, vectors};

#[test]
fn timeline_is_parsed_from_baggage_header() {
    let file = vectors("baggage");
    for case in list(&file["read"]) {
        let found = timeline_in(case["header"].as_str()).unwrap();
        assert_eq!(found.as_deref(), case["timeline"].as_str(), "{case}");
    }
    for case in list(&file["rejected"]) {
        let error = timeline_in(case["header"].as_str()).unwrap_err().to_string();
        let word = match text(&case["why"]) {
            "two timelines" => "names two timelines",
            "no timeline" => "is empty",
            why => why,
        };
        assert!(error.contains(word), "{case}: {error}");
    }
}

#[test]
fn timeline_is_added_to_baggage_header() {
    let file = vectors("baggage");
    for case in list(&file["written"]) {
        let written = with_timeline(case["header"].as_str(), text(&case["timeline"]));
        assert_eq!(written, text(&case["expected"]), "{case}");
        assert_eq!(timeline_in(Some(&written)).unwrap().as_deref(), case["timeline"].as_str(), "{case}");
    }
}

#[test]
fn sql_timestamp_uses_postgresql_syntax() {
    let file = vectors("baggage");
    for case in list(&file["sql"]) {
        assert_eq!(sql_timestamp(instant(&case["moment"])), text(&case["expected"]));
    }
}

#[test]
fn headers_are_unchanged_outside_a_request() {
    let mut head = HeaderMap::from_iter([(crate::header::HOST, HeaderValue::from_static("db"))]);
    let before = head.clone();
    forward_timeline(&mut head);
    assert_eq!(head, before);
    assert!(clock().is_none());
}

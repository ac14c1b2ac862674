use super::*;
use crate::wire::{self, Text};
use serde::Deserialize;
use timenav_core::time::{Instant, Virtual};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    #[expect(dead_code, reason = "read by nobody, but known to the reader")]
    destination_time: Text<Instant<Virtual>>,
    #[expect(dead_code, reason = "read by nobody, but known to the reader")]
    location: Option<String>,
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Looked {
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<wire::MomentText>,
    #[serde(default, deserialize_with = "wire::number")]
    position: Option<u64>,
}

#[test]
fn integer_with_a_zero_fraction_is_accepted() {
    for (written, read_as) in [("2", "2"), ("2.0", "2"), ("2e3", "2000"), ("0", "0"), ("0.0", "0"), ("-0.0", "0")] {
        let body = format!("{{\"as_of\":{written},\"position\":{written}}}");
        let parsed = read::<Looked>("", body.as_bytes()).unwrap();
        assert_eq!(parsed.as_of.map(|moment| moment.text).as_deref(), Some(read_as), "{written}");
        assert_eq!(parsed.position, read_as.parse().ok(), "{written}");
    }
    for wrong in ["2.5", "-1.0", "true", "[]", "1e30"] {
        read::<Looked>("", format!("{{\"as_of\":{wrong}}}").as_bytes()).unwrap_err();
    }
}

const GOOD: &str = r#"{"destination_time":"2005-08-29T00:00:00Z"}"#;

fn check(query: &str, body: &str, expected: Result<Option<usize>, (&str, &str)>) {
    let found = read::<Request>(query, body.as_bytes()).map(|request| request.limit);
    let found = found.map_err(|failure| match &failure {
        Failure::Parameter(fault) => (fault.kind.code().as_str().to_owned(), fault.path.clone()),
        other => (other.code().as_str().to_owned(), String::new()),
    });
    let expected = expected.map_err(|(code, path)| (code.to_owned(), path.to_owned()));
    assert_eq!(found, expected, "{query} {body}");
}

#[test]
fn query_and_body_parameters_are_equivalent() {
    check("", GOOD, Ok(None));
    check("destination_time=2005-08-29T00:00:00Z&limit=5", "", Ok(Some(5)));
    check("limit=5", GOOD, Ok(Some(5)));
    check("", r#"{"destination_time":"2005-08-29T00:00:00Z","limit":5}"#, Ok(Some(5)));
    check("limit=5", r#"{"destination_time":"2005-08-29T00:00:00Z","limit":5}"#, Ok(Some(5)));
    check("limit=5&limit=5", GOOD, Ok(Some(5)));
}

#[test]
fn parameter_faults_name_the_field() {
    check("", "", Err(("missing_parameter", "destination_time")));
    check("", "{}", Err(("missing_parameter", "destination_time")));
    check("", r#"{"destination_time":null}"#, Err(("invalid_parameter", "destination_time")));
    check("", r#"{"destination_time":5}"#, Err(("invalid_parameter", "destination_time")));
    check("", r#"{"destination_time":"soon"}"#, Err(("invalid_parameter", "destination_time")));
    check("", r#"{"destination_time":"+010000-01-01T00:00:00Z"}"#, Err(("time_out_of_range", "destination_time")));
    check("", r#"{"destinaton_time":"x"}"#, Err(("unknown_parameter", "destinaton_time")));
    check("loc=x", GOOD, Err(("unknown_parameter", "loc")));
    check("limit=0", GOOD, Err(("invalid_parameter", "limit")));
    check("limit=1001", GOOD, Err(("invalid_parameter", "limit")));
    check("limit=x", GOOD, Err(("invalid_parameter", "limit")));
    check("limit=5&limit=6", GOOD, Err(("conflicting_parameters", "limit")));
    check(
        "limit=5",
        r#"{"destination_time":"2005-08-29T00:00:00Z","limit":6}"#,
        Err(("conflicting_parameters", "limit")),
    );
    check("", r#"{"location":"a","location":"b"}"#, Err(("conflicting_parameters", "location")));
}

#[test]
fn query_text_that_is_not_utf8_is_rejected() {
    check("limit=%35&destination_time=2005-08-29T00%3A00:00Z", "", Ok(Some(5)));
    check("&&limit=5&", GOOD, Ok(Some(5)));
    check("limit=%FF", GOOD, Err(("invalid_parameter", "limit")));
    check("destination_time=%C3%28", "", Err(("invalid_parameter", "destination_time")));
    check("li%FFmit=5", GOOD, Err(("invalid_parameter", "")));
    check("limit", GOOD, Err(("invalid_parameter", "limit")));
}

#[test]
fn malformed_json_and_other_json_types_are_distinguished() {
    for bad in ["{", "nope", "{\"a\":}", "{} {}", "\u{feff}{}", "[1"] {
        check("", bad, Err(("malformed_json", "")));
    }
    for other in ["[]", "1", "null", "\"text\""] {
        check("", other, Err(("invalid_parameter", "")));
    }
    let deep = format!("{}{}", "{\"a\":".repeat(200), "}".repeat(200));
    check("", &deep, Err(("malformed_json", "")));
}

#[test]
fn nearest_parameter_name_is_suggested() {
    let detail = |body: &str| match read::<Request>("", body.as_bytes()) {
        Err(Failure::Parameter(fault)) => fault.detail,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        detail(r#"{"destinaton_time":1}"#),
        "unknown parameter `destinaton_time`; did you mean `destination_time`?"
    );
    assert_eq!(detail(r#"{"xyz":1}"#), "unknown parameter `xyz`; the parameters are destination_time, location, limit");
    let near = |bytes: usize| format!("destination_time{}", "_".repeat(bytes - "destination_time".len()));
    assert!(
        detail(&format!(r#"{{"{}":1}}"#, near(SUGGESTION_BYTES_MAX))).ends_with("did you mean `destination_time`?")
    );
    let over = near(SUGGESTION_BYTES_MAX + 1);
    assert_eq!(
        detail(&format!(r#"{{"{over}":1}}"#)),
        format!("unknown parameter `{over}`; the parameters are destination_time, location, limit")
    );
}

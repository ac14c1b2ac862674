use super::*;
use crate::content_id::canonical;

/// Reads a record; `Ok` is its id and its content, `Err` the code and the field.
#[track_caller]
fn check(json: &str, expected: Result<&str, &str>) {
    let outcome = EventRecord::from_json(json.as_bytes()).and_then(EventRecord::into_draft);
    let text = outcome.map(|draft| String::from_utf8(canonical(&draft)).unwrap());
    let text = text.map_err(|error| format!("{} {}", error.code, error.field.unwrap_or_default()));
    assert_eq!(text.as_deref().map_err(String::as_str), expected, "{json}");
}

#[track_caller]
fn check_detail(json: &str, expected: &str) {
    let outcome = EventRecord::from_json(json.as_bytes()).and_then(EventRecord::into_draft);
    assert_eq!(outcome.unwrap_err().detail, expected, "{json}");
}

const TIME: &str = "\"time\": \"2024-07-20T20:17:40Z\"";

fn with(more: &str) -> String {
    format!("{{{TIME}, {more}}}")
}

#[test]
fn event_record_requires_only_a_time() {
    check(r#"{"time": "2024-07-20T22:17:40+02:00"}"#, Ok(r#"{"time":"2024-07-20T20:17:40Z"}"#));
    check("{}", Err("missing_parameter time"));
    check(r#"{"time": null}"#, Err("missing_parameter time"));
    check(r#"{"time": ""}"#, Err("invalid_parameter time"));
    check(r#"{"time": "2024-07-20"}"#, Err("invalid_parameter time"));
    check(r#"{"time": 1721506660}"#, Err("invalid_parameter time"));
}

#[test]
fn null_field_is_equivalent_to_an_absent_one() {
    let fields = EventRecord::FIELDS.into_iter().filter(|field| *field != "time");
    let nulls: Vec<String> = fields.map(|field| format!("\"{field}\": null")).collect();
    check(&with(&nulls.join(",")), Ok(r#"{"time":"2024-07-20T20:17:40Z"}"#));
    check(
        &with(r#""geo": {"lat": 1, "lon": 2, "radius_m": null}"#),
        Ok(r#"{"geo":{"lat":1,"lon":2},"time":"2024-07-20T20:17:40Z"}"#),
    );
    check(
        &with(r#""causes": [{"event_id": "a", "kind": null}]"#),
        Ok(r#"{"causes":[{"event_id":"a","kind":"requires"}],"time":"2024-07-20T20:17:40Z"}"#),
    );
}

#[test]
fn every_event_record_field_is_read() {
    let json = r#"{"event_id": "e:1", "time": "-000043-03-15T11:00:00Z",
        "end_time": "-000043-03-15T12:00:00Z", "precision": "day", "description": "d",
        "name": "n", "location": "l", "geo": {"lat": 41.9, "lon": 12.5, "radius_m": 10},
        "causes": ["a", {"event_id": "b", "kind": "contributes"}, {"event_id": "c", "kind": "requires"}],
        "actors": ["x", "y z"], "attributes": {"b": [1.0, null], "a": {}}, "source": "s"}"#;
    let draft = EventRecord::from_json(json.as_bytes()).unwrap().into_draft().unwrap();
    assert_eq!(draft.event_id.unwrap().as_str(), "e:1");
    check(
        json,
        Ok(concat!(
            r#"{"actors":["x","y z"],"attributes":{"a":{},"b":[1,null]},"causes":["#,
            r#"{"event_id":"a","kind":"requires"},{"event_id":"b","kind":"contributes"},"#,
            r#"{"event_id":"c","kind":"requires"}],"description":"d","#,
            r#""end_time":"-000043-03-15T12:00:00Z","geo":{"lat":41.9,"lon":12.5,"radius_m":10},"#,
            r#""location":"l","name":"n","precision":"day","source":"s","#,
            r#""time":"-000043-03-15T11:00:00Z"}"#,
        )),
    );
    for precision in Precision::ALL {
        let word = format!("\"precision\": \"{}\"", precision.as_str());
        let draft = EventRecord::from_json(with(&word).as_bytes()).unwrap().into_draft().unwrap();
        assert_eq!(draft.precision, Some(precision));
    }
}

#[test]
fn invalid_field_is_named() {
    for (more, expected) in [
        (r#""event_id": "a b""#, "invalid_parameter event_id"),
        (r#""event_id": 7"#, "invalid_parameter event_id"),
        (r#""end_time": "soon""#, "invalid_parameter end_time"),
        (r#""precision": "week""#, "invalid_parameter precision"),
        (r#""name": """#, "invalid_parameter name"),
        (r#""geo": {"lat": 1}"#, "missing_parameter geo/lon"),
        (r#""geo": {"lon": 1}"#, "missing_parameter geo/lat"),
        (r#""geo": {"lat": 91, "lon": 0}"#, "invalid_parameter geo/lat"),
        (r#""geo": {"lat": 0, "lon": 181}"#, "invalid_parameter geo/lon"),
        (r#""geo": {"lat": "1", "lon": 0}"#, "invalid_parameter geo/lat"),
        (r#""geo": {"lat": 1, "lon": 0, "radius_m": -1}"#, "invalid_parameter geo/radius_m"),
        (r#""geo": [1, 2, null]"#, "invalid_parameter geo"),
        (r#""geo": "1,2""#, "invalid_parameter geo"),
        (r#""causes": "a""#, "invalid_parameter causes"),
        (r#""causes": ["a", "b c"]"#, "invalid_parameter causes/1"),
        (r#""causes": ["a", 1]"#, "invalid_parameter causes/1"),
        (r#""causes": ["a", null]"#, "invalid_parameter causes/1"),
        (r#""causes": ["a", ["b", "requires"]]"#, "invalid_parameter causes/1"),
        (r#""causes": ["a", "a"]"#, "invalid_parameter causes/1"),
        (r#""causes": [{"kind": "requires"}]"#, "missing_parameter causes/0/event_id"),
        (r#""causes": [{"event_id": "a b"}]"#, "invalid_parameter causes/0/event_id"),
        (r#""causes": [{"event_id": "a", "kind": "x"}]"#, "invalid_parameter causes/0/kind"),
        (r#""actors": ["a", 1]"#, "invalid_parameter actors/1"),
        (r#""actors": ["a", ""]"#, "invalid_parameter actors/1"),
        (r#""attributes": []"#, "invalid_parameter attributes"),
        (r#""attributes": {"n": 9007199254740993}"#, "invalid_parameter attributes/n"),
        (r#""attributes": {"n": 100000000000000000001}"#, "invalid_parameter attributes/n"),
        (r#""attributes": {"m": {"n": [1.5, -123456789012345678901234567890]}}"#, "invalid_parameter attributes/m/n/1"),
        (r#""asserts": [{"subject": "s", "predicate": "p", "value": 18446744073709551616}]"#, {
            "invalid_parameter asserts/0/value"
        }),
        (r#""name": "a", "name": "b""#, "invalid_parameter "),
        (r#""tme": 1"#, "unknown_parameter tme"),
        (r#""geo": {"lat": 1, "lng": 2}"#, "unknown_parameter geo/lng"),
        (r#""causes": ["a", {"id": "b"}]"#, "unknown_parameter causes/1/id"),
    ] {
        check(&with(more), Err(expected));
    }
}

#[test]
fn json_that_is_not_an_object_is_rejected() {
    check("[]", Err("invalid_parameter "));
    let in_order = format!("[\"id\", \"2024-07-20T20:17:40Z\"{}]", ", null".repeat(EventRecord::FIELDS.len() - 2));
    check(&in_order, Err("invalid_parameter "));
    check("null", Err("invalid_parameter "));
    check("1", Err("invalid_parameter "));
    for broken in ["", "{", "x", "{\"time\"", "{} {}", "[", "{\"time\": \"\\ud800\"}", "{'a': 1}"] {
        check(broken, Err("malformed_json "));
    }
    let deep = with(&format!("\"attributes\": {{\"a\": {}1{}}}", "[".repeat(200), "]".repeat(200)));
    check(&deep, Err("malformed_json "));
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    check(&deep, Err("malformed_json "));
}

#[test]
fn error_details_suggest_a_correction() {
    check_detail("{}", "an event needs a `time`, such as `\"time\": \"2024-07-20T20:17:40Z\"`");
    check_detail(&with("\"tiem\": 1"), "`tiem` is not a field; did you mean `time`?");
    check_detail(
        &with("\"zzz\": 1"),
        "`zzz` is not a field; the fields are `event_id`, `time`, `end_time`, `precision`, \
         `description`, `name`, `location`, `geo`, `causes`, `actors`, `kind`, `asserts`, `attributes`, `source`, `sequence`",
    );
    check_detail(&with("\"geo\": {\"lat\": 95, \"lon\": 0}"), "a latitude must be from -90 to 90 degrees, not 95");
    check_detail(&with("\"actors\": \"x\""), "expected a list in square brackets, not a text");
    check_detail(
        &with("\"causes\": [1]"),
        "expected the id of an event, or an object with `event_id` and `kind`, not a number",
    );
    check_detail(
        &with("\"precision\": \"week\""),
        "`week` is not allowed here; use `year`, `month`, `day`, `hour`, `minute`, `second`",
    );
    check_detail(
        "{\"time\": \"x\" ",
        "the JSON ends too early, at column 13: a bracket, a brace or a quotation mark is still open",
    );
    let nothing = "the JSON is missing; an object looks like {\"name\": \"text\", \"number\": 5}";
    check_detail("", nothing);
}

#[test]
fn long_unknown_name_is_truncated_in_errors() {
    let json = with(&format!("\"{}\": 1", "é".repeat(100_000)));
    let error = EventRecord::from_json(json.as_bytes()).unwrap_err();
    assert_eq!(error.code, "unknown_parameter");
    assert!(error.detail.len() <= crate::limits::DETAIL_BYTES_MAX);
    assert!(error.field.unwrap().len() <= crate::limits::DETAIL_BYTES_MAX);
}

/// Found by fuzzing: the last `geo` hides the name, and the reader stops at it all the same.
#[test]
fn long_name_in_a_repeated_field_is_truncated_in_errors() {
    let json = with(&format!("\"geo\": {{\"{}\": 1}}, \"geo\": null", "x".repeat(100_000)));
    let error = EventRecord::from_json(json.as_bytes()).unwrap_err();
    assert!(error.field.unwrap().len() <= crate::limits::DETAIL_BYTES_MAX);
}

#[test]
fn field_list_matches_the_schema() {
    let schema = serde_json::to_value(<EventRecord as utoipa::PartialSchema>::schema()).unwrap();
    let mut fields: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut listed = EventRecord::FIELDS;
    fields.sort_unstable();
    listed.sort_unstable();
    assert_eq!(fields, listed);
    assert_eq!(schema["required"], serde_json::json!(["time"]));
    assert_eq!(schema["additionalProperties"], serde_json::json!(false));
    let geo = serde_json::to_value(<GeoRecord as utoipa::PartialSchema>::schema()).unwrap();
    assert_eq!(geo["required"], serde_json::json!(["lat", "lon"]));
    assert_eq!(geo["properties"]["lat"]["type"], "number");
}

#[test]
fn integer_with_a_zero_fraction_is_accepted() {
    for (written, read_as) in [("7", "7"), ("7.0", "7"), ("7e2", "700"), ("0.0", "0"), ("-0.0", "0")] {
        let expected = format!("{{\"sequence\":{read_as},\"time\":\"2024-07-20T20:17:40Z\"}}");
        check(&with(&format!("\"sequence\": {written}")), Ok(&expected));
    }
    for wrong in ["7.5", "-1", "-1.0", "\"7\"", "true", "1e30", "9007199254740992.0"] {
        check(&with(&format!("\"sequence\": {wrong}")), Err("invalid_parameter sequence"));
    }
}

//! Every limit at its edge: the maximum passes, one more is rejected by name.
//!
//! The table follows `GET /v1/limits`, so a limit without a test fails.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;

/// How the edge of a limit is tested here.
enum Edge {
    /// Requests with this amount, and the field that is rejected above the limit.
    Requests(fn(u64) -> Vec<(Request, &'static str)>),
    /// A function in this file.
    Observed(fn(&Service, u64)),
}
use Edge::{Observed, Requests};

/// Limits that are tested elsewhere: a file below `crates`, a test in it, and its limits on each line.
const TESTED: &str = include_str!("limits.txt");

#[expect(clippy::too_many_lines, reason = "a table with a row for each limit")]
fn edge(name: &str) -> Option<Edge> {
    Some(match name {
        "id_bytes_max" => Requests(|n| {
            vec![
                (post("/v1/users", &json!({ "user_id": text(n) })), "user_id"),
                (post("/timelines", &json!({ "timeline_id": text(n) })), "timeline_id"),
                (event(&json!({ "event_id": text(n) })), "event_id"),
                (event(&json!({ "actors": ["ada", text(n)] })), "actors/1"),
                (event(&json!({ "causes": [text(n)] })), "causes/0"),
            ]
        }),
        "event_name_bytes_max" => Requests(|n| vec![(event(&json!({ "name": text(n) })), "name")]),
        "description_bytes_max" => Requests(|n| {
            let anchor = post("/v1/set-anchor", &json!({ "description": text(n) }));
            vec![(event(&json!({ "description": text(n) })), "description"), (anchor, "description")]
        }),
        "location_bytes_max" => Requests(|n| {
            let travel = json!({ "destination_time": "2000-01-01T00:00:00Z", "location": text(n) });
            vec![
                (event(&json!({ "location": text(n) })), "location"),
                (find(&[("location", &text(n))]), "location"),
                (post("/v1/travel", &travel), "location"),
            ]
        }),
        "source_bytes_max" => Requests(|n| vec![(event(&json!({ "source": text(n) })), "source")]),
        "label_bytes_max" => Requests(|n| vec![(post("/v1/api-keys", &json!({ "label": text(n) })), "label")]),
        "event_causes_max" => Requests(|n| vec![(event(&json!({ "causes": ids(n) })), "causes")]),
        "event_actors_max" => Requests(|n| vec![(event(&json!({ "actors": ids(n) })), "actors")]),
        "event_asserts_max" => Requests(|n| {
            let assert = |subject: String| json!({ "subject": subject, "predicate": "state", "value": 1 });
            let asserts: Vec<Value> = ids(n).into_iter().map(assert).collect();
            vec![(event(&json!({ "asserts": asserts })), "asserts")]
        }),
        "assertion_bytes_max" => Requests(|n| {
            let assert = json!({ "subject": "door", "predicate": "state", "value": text(n - 2) });
            vec![(event(&json!({ "asserts": [assert] })), "asserts/0/value")]
        }),
        "event_sequence_max" => Requests(|n| vec![(event(&json!({ "sequence": n })), "sequence")]),
        "event_attributes_bytes_max" => Requests(|n| {
            let attributes = json!({ "a": text(n - r#"{"a":""}"#.len() as u64) });
            vec![(event(&json!({ "attributes": attributes })), "attributes")]
        }),
        "events_per_request_max" => Requests(|n| {
            let events: Vec<Value> = (0..n).map(|_| json!({ "time": "2000-01-01T00:00:00Z" })).collect();
            vec![(post("/v1/events", &events.into()), "")]
        }),
        "attributes_depth_max" => Requests(|n| {
            let nested = (1..n).fold(json!(0), |inside, _| json!([inside]));
            vec![(event(&json!({ "attributes": { "deep": nested } })), "attributes/deep")]
        }),
        "page_items_max" => Requests(|n| {
            let n = n.to_string();
            let logs = [("timeline_id", "main"), ("time_range", "../.."), ("limit", &n)];
            vec![
                (find(&[("limit", &n)]), "limit"),
                (Request::get(&target("/v1/anchors", &[("limit", &n)])), "limit"),
                (Request::get(&target("/timelines", &[("limit", &n)])), "limit"),
                (Request::get(&target("/v1/users", &[("limit", &n)])), "limit"),
                (Request::get(&target("/v1/api-keys", &[("limit", &n)])), "limit"),
                (
                    Request::get(&target("/timelines/diff", &[("base", "main"), ("compare", "main"), ("limit", &n)])),
                    "limit",
                ),
                (Request::get(&target("/v1/access-logs", &logs)), "limit"),
            ]
        }),
        "timestamp_bytes_max" => Requests(|n| {
            let travel = post("/v1/travel", &json!({ "destination_time": time(n) }));
            vec![(travel, "destination_time"), (event(&json!({ "time": time(n) })), "time")]
        }),
        "duration_bytes_max" => Requests(|n| {
            let duration = format!("{}1s", "0".repeat(size(n) - 2));
            vec![(post("/v1/fast-forward", &json!({ "duration": duration })), "duration")]
        }),
        "time_range_bytes_max" => Requests(|n| {
            let range = format!("{}/{}", time((n - 1) / 2), time(n - 1 - (n - 1) / 2));
            vec![(find(&[("time_range", &range)]), "time_range")]
        }),
        "sample_entries_max" => Requests(|n| {
            let sample = json!({ "timeline_id": "main", "scan_depth": format!("sample:{n}") });
            vec![(post("/v1/detect-tampering", &sample), "scan_depth")]
        }),
        "radius_meters_max" => Requests(|n| {
            let geo = json!({ "lat": 0, "lon": 0, "radius_m": n });
            let near = format!("geo:0,0;u={n}");
            vec![(event(&json!({ "geo": geo })), "geo/radius_m"), (find(&[("location", &near)]), "location")]
        }),
        "permission_users_max" => Requests(|n| {
            let body = json!({ "timeline_id": "main", "permissions": { "read": ids(n) } });
            vec![(post("/v1/set-access-control", &body), "permissions/read")]
        }),
        "json_depth_max" => Observed(json_depth),
        "radius_meters_default" => Observed(default_radius),
        "rate_micros_min" => Observed(slowest_rate),
        "rate_micros_max" => Observed(fastest_rate),
        "log_entries_read_max" => Observed(filtered_log),
        "find_text_bytes_max" => Requests(|n| vec![(find(&[("text", &text(n))]), "text")]),
        "find_words_max" => Requests(|n| {
            let words: Vec<String> = (0..n).map(|n| format!("w{n}")).collect();
            vec![(find(&[("text", &words.join(" "))]), "text")]
        }),
        "find_attributes_max" => Requests(|n| {
            let values: Vec<String> = (0..n).map(|n| format!("v{n}")).collect();
            let body = json!({ "location": "*", "time_range": "../..", "attribute": { "k": values } });
            vec![(Request::get("/v1/monitor-events").json(&body), "attribute")]
        }),
        "find_attribute_bytes_max" => Requests(|n| vec![(find(&[("attribute.k", &text(n))]), "attribute/k")]),
        "aggregate_values_max" => Requests(|n| vec![(grouped(n), "values")]),
        "stream_changes_kept_max" => Observed(stream_changes),
        "timer_payload_bytes_max" => {
            Requests(|n| vec![(post("/v1/timers", &json!({ "at": at(), "payload": text(n - 2) })), "payload")])
        }
        "timer_event_bytes_max" => Requests(|n| {
            let around = r#"{"to":"timeline","event":{"description":""}}"#.len() as u64;
            let deliver = json!({ "to": "timeline", "event": { "description": text(n - around) } });
            vec![(post("/v1/timers", &json!({ "at": at(), "deliver": deliver })), "deliver/event")]
        }),
        "timer_order_key_bytes_max" => {
            Requests(|n| vec![(post("/v1/timers", &json!({ "at": at(), "order_key": text(n) })), "order_key")])
        }
        "firings_per_request_max" => Requests(|n| vec![(post("/v1/queues/edge/claim", &json!({ "max": n })), "max")]),
        "rule_bytes_max" => Requests(|n| {
            let rule = format!("FREQ=DAILY;BYHOUR={}", "1,".repeat(size(n))).chars().take(size(n)).collect::<String>();
            let rule = rule.trim_end_matches(',').to_owned();
            let rule = format!("{rule}{}", " ".repeat(size(n) - rule.len()));
            vec![(post("/v1/timers", &json!({ "every": { "rule": rule } })), "every/rule")]
        }),
        "rule_count_max" => Requests(|n| {
            let rule = format!("FREQ=DAILY;COUNT={n}");
            vec![(post("/v1/timers", &json!({ "every": { "rule": rule } })), "every/rule")]
        }),
        _ => return None,
    })
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap()
}

fn text(n: u64) -> String {
    "x".repeat(size(n))
}

/// Meters per degree along the equator of WGS 84.
const EQUATOR_DEGREE_METRES: f64 = 111_319.490_793;

/// Returns a timestamp of `n` bytes.
fn time(n: u64) -> String {
    format!("2024-07-20T20:17:40.{}Z", "1".repeat(size(n) - 21))
}

fn ids(n: u64) -> Vec<String> {
    (0..n).map(|number| format!("user-{number}")).collect()
}

fn post(path: &str, body: &Value) -> Request {
    Request::post(path).json(body)
}

/// A request that records an event with these fields.
fn event(fields: &Value) -> Request {
    let mut event = Map::from_iter([("time".to_owned(), json!("2000-01-01T00:00:00Z"))]);
    event.extend(fields.as_object().unwrap().clone());
    post("/v1/events", &event.into())
}

/// A search with these parameters instead of the usual ones.
fn find(parameters: &[(&str, &str)]) -> Request {
    let usual = [("location", "*"), ("time_range", "../..")].into_iter();
    let usual = usual.filter(|(name, _)| parameters.iter().all(|(given, _)| given != name));
    Request::get(&target("/v1/monitor-events", &usual.chain(parameters.iter().copied()).collect::<Vec<_>>()))
}

fn grouped(values_count: u64) -> Request {
    let values = serde_json::to_string(&(0..values_count).map(|_| "x").collect::<Vec<_>>()).unwrap();
    Request::get(&target("/v1/aggregate-events", &[("group_by", "actor"), ("values", &values)]))
}

/// Checks that the test that `limits.txt` names exists.
fn check_tested(limit: &str) {
    let rows = TESTED.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let row = rows.filter(|row| row[0] != "#").find(|row| row[2..].contains(&limit));
    let row = row.unwrap_or_else(|| panic!("`{limit}` is neither in `edge` nor in limits.txt"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(row[0]);
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(source.contains(&format!("fn {}(", row[1])), "`{limit}`: {} has no test `{}`", row[0], row[1]);
}

#[test]
fn limits_accept_the_maximum_and_reject_one_more() {
    let service = Service::with(&["--requests-per-minute", "1000000"]);
    let answer = service.get("/v1/limits", &[]);
    let limits = answer["limits"].as_object().unwrap();
    for (name, max) in limits {
        let max =
            max.as_f64().filter(|max| max.fract() == 0.0).map(|max| format!("{max}").parse::<u64>().unwrap()).unwrap();
        match edge(name) {
            Some(Requests(requests)) => {
                for ((at, _), (over, field)) in requests(max).into_iter().zip(requests(max + 1)) {
                    let (sent, passed) =
                        (format!("{name}: {} {}", at.method, at.target.split('?').next().unwrap()), service.send(at));
                    assert!(passed.status < 300, "{sent} {passed}");
                    let refused = service.send(over).refused(400, "invalid_parameter");
                    let pointer = if field.is_empty() { "#".to_owned() } else { format!("#/{field}") };
                    assert_eq!(refused["errors"][0]["pointer"], pointer, "{sent} {refused}");
                }
            }
            Some(Observed(look)) => look(&service, max),
            None => check_tested(name),
        }
    }
    service.audit();
}

/// The documented and the reported limits are the same.
#[test]
fn documented_limits_match_the_reported_ones() {
    let service = Service::start();
    let answer = service.get("/v1/limits", &[]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, table) = document.split_once("## Shown by").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.to_owned()))
    };
    let mut written: Vec<(String, String)> = table.lines().filter_map(row).collect();
    let number = |value: &Value| format!("{}", value.as_f64().unwrap());
    let mut reported: Vec<(String, String)> =
        answer["limits"].as_object().unwrap().iter().map(|(name, value)| (name.clone(), number(value))).collect();
    written.sort();
    reported.sort();
    assert_eq!(written, reported);
    service.audit();
}

/// A time that no clock reaches.
const fn at() -> &'static str {
    "9000-01-01T00:00:00Z"
}

fn json_depth(service: &Service, max: u64) {
    let nested = |depth: u64| {
        let inside = (1..depth - 1).fold(json!({}), |inside, _| json!({ "]\"": inside }));
        post("/v1/encrypt-data", &json!({ "timeline_id": "main", "data": inside, "encryption_key": "k" }))
    };
    service.send(nested(max)).expect(200);
    let refused = service.send(nested(max + 1)).refused(400, "malformed_json");
    assert_eq!(refused["detail"], format!("a body can be nested at most {max} levels deep"));
    let list = format!("{}{}", "[".repeat(size(max) + 1), "]".repeat(size(max) + 1));
    service.send(Request::post("/v1/events").body("application/json", list.as_bytes())).refused(400, "malformed_json");
    // Brackets inside strings are text.
    service.send(event(&json!({ "description": "[{\\\"".repeat(size(max)) }))).expect(201);
}

fn default_radius(service: &Service, max: u64) {
    let max = f64::from(u32::try_from(max).unwrap());
    for (name, metres) in [("inside", max - 0.01), ("outside", max + 0.01)] {
        let geo = json!({ "lat": 0, "lon": 120.0 + metres / EQUATOR_DEGREE_METRES });
        service.send(event(&json!({ "event_id": name, "geo": geo }))).expect(201);
    }
    let found = service.send(find(&[("location", "0,120")])).expect(200);
    assert_eq!(found["location_resolved"]["radius_m"].as_f64(), Some(max));
    let ids: Vec<&Value> = found["events"].as_array().unwrap().iter().map(|event| &event["event_id"]).collect();
    assert_eq!(ids, ["inside"]);
}

/// Sets a rate given as text and returns the response.
fn set_rate(service: &Service, rate: &str) -> crate::support::http::Answer {
    let body = format!("{{\"timeline_id\":\"rates\",\"rate\":{rate}}}");
    service.send(Request::post("/v1/set-rate").body("application/json", body.as_bytes()))
}

fn slowest_rate(service: &Service, min: u64) {
    assert_eq!(min, 1);
    set_rate(service, "0.000001").expect(200);
    for slower in ["0.0000001", "0", "-0.000001"] {
        let refused = set_rate(service, slower).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/rate", "{slower}");
    }
}

fn fastest_rate(service: &Service, max: u64) {
    let whole = max / 1_000_000;
    set_rate(service, &whole.to_string()).expect(200);
    let refused = set_rate(service, &format!("{whole}.000001")).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/rate");
    set_rate(service, "1").expect(200);
}

/// A filter without matches returns an empty page with a cursor, one entry beyond the limit.
fn filtered_log(service: &Service, max: u64) {
    let row = |number: u64| format!("{{\"time\":\"2000-01-01T00:00:00Z\",\"name\":\"{number}\"}}\n");
    let rows = (0..max - 4).map(row).collect::<Vec<_>>().concat();
    let import = Request::post("/v1/import-events?timeline_id=log").body("application/x-ndjson", rows.as_bytes());
    assert_eq!(service.send(import).expect(200)["imported"], max - 4);
    let filters = [("timeline_id", "log"), ("time_range", "../.."), ("action", "nothing")];
    // A page sees the entries before it and is an entry itself, so the ledger grows to the limit.
    for size in service.checkpoint("log").size..=max + 1 {
        let page = service.get("/v1/access-logs", &filters);
        assert_eq!(page["logs"], json!([]));
        assert_eq!(page["next_cursor"].is_string(), size > max, "{size}: {page}");
    }
}

/// A client that missed as many changes as are stored gets each of them; one more, and it must start over.
fn stream_changes(service: &Service, max: u64) {
    let change = |rate: u64| service.post("/v1/set-rate", &json!({ "timeline_id": "watched", "rate": rate }));
    let generation = || service.get("/v1/clock", &[("timeline_id", "watched")])["generation"].as_u64().unwrap();
    change(1_000);
    let first = generation();
    for rate in 1..=max {
        change(rate);
    }
    assert_eq!(generation(), first + max);
    for (seen, expected) in [(first, "clock"), (first - 1, "reset")] {
        let mut connection = service.connect();
        let ask = Request::get("/v1/clock/stream?timeline_id=watched").header("Last-Event-ID", &seen.to_string());
        connection.send_request(&service.signed(ask));
        let (status, headers) = connection.head().unwrap();
        assert_eq!(status, 200);
        let lines = std::io::BufRead::lines(std::io::BufReader::new(connection.body(&headers)));
        let name = lines.map_while(Result::ok).find_map(|line| Some(line.strip_prefix("event:")?.trim().to_owned()));
        assert_eq!(name.as_deref(), Some(expected), "{seen}");
    }
}

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::stub_server::{StubServer, response};
use super::{KEY, client, run};
use crate::{AdvanceState, Call, CauseKind, Client, EventPage, FiringPage, NewEvent, Page as _, Receipt, Request};

fn unbound() -> Client {
    Client::builder().api_key(KEY).build().unwrap()
}

fn body<T, O>(call: Call<'_, T, O>) -> Value {
    serde_json::from_slice(call.build().unwrap().body_bytes().unwrap()).unwrap()
}

fn query<T, O>(call: Call<'_, T, O>) -> Vec<String> {
    let request = call.build().unwrap();
    request.query_pairs().iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn calls_default_to_the_client_timeline() {
    let bound = unbound().with_timeline("ours");
    assert_eq!(query(bound.clock()), ["timeline_id=ours"]);
    assert_eq!(query(bound.clock().timeline_id("other")), ["timeline_id=other"]);
    assert!(query(unbound().clock()).is_empty());
    assert_eq!(body(bound.pause_time()), json!({ "timeline_id": "ours" }));
    assert_eq!(body(bound.pause_time().timeline_id("other")), json!({ "timeline_id": "other" }));
    // The timeline is in the path, and a custom request has only the given parameters.
    assert!(query(bound.timeline("other")).is_empty());
    assert!(query(bound.request::<Value>(Method::GET, &["v1", "limits"], ())).is_empty());
}

#[test]
fn parameters_are_sent_in_the_query_or_the_body() {
    let moment = "2028-02-29T00:00:00Z".parse().unwrap();
    let client = unbound();
    let found = client.monitor_events("*", ..).limit(5).limit(7).as_of(moment);
    let mut found = query(found.attribute("a", "1").attribute("b", "2").attribute("a", "3"));
    found.sort();
    let expected = [
        "as_of=2028-02-29T00:00:00Z",
        "attribute.a=1",
        "attribute.a=3",
        "attribute.b=2",
        "limit=7",
        "location=*",
        "time_range=../..",
    ];
    assert_eq!(found, expected);
    let scanned = body(client.scan_events("*", "../..").attribute("a", "1").attribute("a", "2"));
    assert_eq!(scanned["attribute"], json!({ "a": ["1", "2"] }));
    assert!(query(client.monitor_paradox("t", ..).kinds(["P01", "P02"])).contains(&"kinds=P01,P02".to_owned()));
    let recorded = client.with_timeline("ours");
    let recorded = recorded.record_events([NewEvent::new(moment).causes(["a"])]);
    assert_eq!(query(recorded.clone()), ["timeline_id=ours"]);
    assert_eq!(body(recorded), json!([{ "time": "2028-02-29T00:00:00Z", "causes": [{ "event_id": "a" }] }]));
}

#[test]
fn request_sends_any_operation() {
    let client = unbound();
    let listed: Call<'_, Value> =
        client.request(Method::GET, &["v1", "sessions"], json!({ "user_id": "ada", "a": null }));
    assert_eq!(query(listed), ["user_id=ada"]);
    let erased = client.request::<Value>(Method::POST, &["v1", "erase-data"], json!({ "data_id": "d" }));
    assert!(erased.clone().build().unwrap().is_repeatable(), "it has an idempotency key");
    assert_eq!(body(erased.set("event_id", "e")), json!({ "data_id": "d", "event_id": "e" }));
    assert_eq!(body(client.request::<Value>(Method::POST, &["v1", "logout"], ())), json!({}));
    assert_eq!(body(client.request::<Value>(Method::POST, &["v1", "events"], [1])), json!([1]));
    // A DELETE is not repeatable without an idempotency key.
    let deleted = client.request::<Value>(Method::DELETE, &["v1", "users", "u"], ());
    assert!(!deleted.build().unwrap().is_repeatable());
    assert!(client.request::<Value>(Method::GET, &["v1"], [1]).build().is_err(), "a query needs parameter names");
    for invalid in ["", ".", ".."] {
        assert!(client.event(invalid).build().is_err(), "{invalid}");
    }
    assert_eq!(client.event("a/b").build().unwrap().path(), ["v1", "events", "a/b"]);
}

#[test]
fn change_has_idempotency_key_and_if_match_headers() {
    let client = unbound();
    let field =
        |request: &Request, name: &str| request.header_map().get(name).map(|value| value.to_str().unwrap().to_owned());
    let generated = client.pause_time().build().unwrap();
    assert!(field(&generated, "idempotency-key").is_some() && generated.is_repeatable());
    let given = client.pause_time().idempotency_key("k").if_match(7).build().unwrap();
    assert_eq!(field(&given, "idempotency-key").as_deref(), Some("k"));
    assert_eq!(field(&given, "if-match").as_deref(), Some("\"7\""));
    assert_eq!(field(&client.set_anchor().if_match("*").build().unwrap(), "if-match").as_deref(), Some("*"));
    assert!(client.pause_time().idempotency_key("é\n").build().is_err());
    let text = format!("{:?}", client.decrypt_data("d", "correct horse battery"));
    assert!(text.contains("decrypt-data") && !text.contains("horse"), "{text}");
}

#[test]
fn timeline_header_matches_the_timeline_of_the_request() {
    let check = |request: Result<Request, _>, expected: Option<&str>| {
        let request = request.unwrap();
        let named = request.header_map().get("timenav-timeline").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(named.as_deref(), expected);
    };
    let client = unbound();
    check(client.clock().timeline_id("other").build(), Some("other"));
    check(client.pause_time().timeline_id("other").build(), Some("other"));
    check(client.timeline("third").build(), Some("third"));
    check(client.clock().build(), None);
    check(client.clock().timeline_id("é\n").build(), None);
}

#[test]
fn wait_extends_the_response_timeout() {
    let client = unbound();
    let check = |request: Result<Request, _>, expected: Option<Duration>| {
        assert_eq!(request.unwrap().timeout_extension, expected);
    };
    check(client.fast_forward("P1M").build(), Some(Duration::ZERO));
    check(client.fast_forward("P1M").wait("5m").build(), Some(Duration::from_mins(5)));
    check(client.fast_forward("P1M").wait("P1D").build(), Some(Duration::from_mins(1)));
    check(client.receipt("a").wait(Duration::from_secs(20)).build(), Some(Duration::from_secs(20)));
    check(client.detect_tampering("t").build(), None);
}

#[test]
fn failed_page_is_requested_again() {
    run(async {
        let page = |id: &str, cursor: Option<&str>| {
            let event = json!({ "event_id": id, "time": "2028-02-29T00:00:00Z", "description": "", "position": 1 });
            let page = json!({ "status": "s", "timeline_id": "t", "events": [event], "has_more": cursor.is_some(),
                "next_cursor": cursor, "location_resolved": { "kind": "anywhere" } });
            response(200, &[], &page)
        };
        let rejected = response(500, &[], &json!({ "code": "internal" }));
        let stub_server = StubServer::start(vec![page("a", Some("c1")), rejected, page("b", None)]).await;
        let client = client(&stub_server);
        let mut pages = client.monitor_events("*", ..).pages();
        let ids = |page: EventPage| page.into_items().into_iter().map(|event| event.event_id).collect::<Vec<_>>();
        assert_eq!(ids(pages.next().await.unwrap().unwrap()), ["a"]);
        assert_eq!(pages.next().await.unwrap_err().problem().unwrap().code, "internal");
        assert_eq!(ids(pages.next().await.unwrap().unwrap()), ["b"]);
        assert!(pages.next().await.unwrap().is_none());
        let cursors: Vec<bool> = stub_server.requests().iter().map(|request| request.contains("cursor=c1")).collect();
        assert_eq!(cursors, [false, true, true]);
    });
}

#[test]
fn response_exposes_its_headers() {
    run(async {
        let replayed = response(200, &[("ETag", "\"7\""), ("Idempotency-Replayed", "true")], &json!({ "firings": [] }));
        let stub_server = StubServer::start(vec![replayed]).await;
        let received = client(&stub_server).firings().send().await.unwrap();
        assert_eq!((received.entity_tag(), received.header("idempotency-replayed")), (Some("7"), Some("true")));
        assert!(received.json::<FiringPage>().await.is_err(), "the timeline is missing");
    });
}

#[test]
fn unknown_enum_values_and_members_are_accepted() {
    let word: CauseKind = serde_json::from_value(json!("inspires")).unwrap();
    assert_eq!((word.as_str(), &word), ("inspires", &CauseKind::Other("inspires".to_owned())));
    assert_eq!(json!(word), json!("inspires"));
    assert_eq!(CauseKind::from("requires"), CauseKind::Requires);
    let receipt = json!({ "state": "postponed", "advance_id": "a", "timeline_id": "t", "from": "2028-02-29T00:00:00Z",
        "to": "2028-03-01T00:00:00Z", "reached": "2028-02-29T12:00:00Z", "step": 1, "fired": 0, "acknowledged": 0,
        "failed": 0, "unacknowledged": 0, "firings": [], "why": { "because": "of something new" } });
    let receipt: Receipt = serde_json::from_value(receipt).unwrap();
    assert_eq!(receipt.state, AdvanceState::Other("postponed".to_owned()));
}

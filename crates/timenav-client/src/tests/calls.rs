//! What calls become, and what is made of answers that are newer than this version.

use std::time::Duration;

use serde_json::{Value, json};

use super::stand_in::{StandIn, answer};
use super::{KEY, client, header, run};
use crate::schemas::{CauseKindWord, EventRecord, EventsBody, FaultBody, GeoRecord, SettledBody};
use crate::{AdvanceState, Client, Request};

fn nobody() -> Client {
    Client::builder().key(KEY).build().unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(request.content().unwrap()).unwrap()
}

#[test]
fn the_timeline_of_the_client_is_named_where_none_is() {
    let ours = nobody().on_timeline("ours");
    let query = |request: Request| request.parameters().to_vec();
    let named = |timeline: &str| vec![("timeline_id".to_owned(), timeline.to_owned())];
    assert_eq!(query(ours.clock().request().unwrap()), named("ours"));
    assert_eq!(query(ours.clock().timeline_id("other").request().unwrap()), named("other"));
    assert_eq!(query(nobody().clock().request().unwrap()), vec![]);
    assert_eq!(body(&ours.pause_time().request().unwrap()), json!({ "timeline_id": "ours" }));
    assert_eq!(body(&ours.pause_time().timeline_id("other").request().unwrap()), json!({ "timeline_id": "other" }));
    // A new key is bound to what is said, and this one is told the timeline in its path.
    assert_eq!(body(&ours.create_api_key().request().unwrap()), json!({}));
    assert_eq!(query(ours.timeline("other").request().unwrap()), vec![]);
}

#[test]
fn arguments_are_written_as_the_api_reads_them() {
    let at = |text: &str| text.parse().unwrap();
    let client = nobody();
    let found = client.monitor_events("*", ..).limit(5).limit(7).as_of(at("2028-02-29T00:00:00Z"));
    let found = found.attribute("a", "1").attribute("b", "2").attribute("a", "3").request().unwrap();
    let query: Vec<String> = found.parameters().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let expected = [
        "location=*",
        "time_range=../..",
        "limit=7",
        "as_of=2028-02-29T00:00:00Z",
        "attribute.a=1",
        "attribute.b=2",
        "attribute.a=3",
    ];
    assert_eq!(query, expected);
    let scanned = client.scan_events("*", "../..").attribute("a", "1").attribute("a", "2").attribute("b", "3");
    assert_eq!(body(&scanned.request().unwrap())["attribute"], json!({ "a": ["1", "2"], "b": "3" }));
    let listed = client.monitor_paradox("t", ..).kinds(["P01", "P02"]).request().unwrap();
    assert!(listed.parameters().contains(&("kinds".to_owned(), "P01,P02".to_owned())));
    let event = EventRecord::new(at("2028-02-29T00:00:00Z")).causes(["a", "b"]).geo(GeoRecord::new(1.0, 2.0));
    let expected = json!([{ "time": "2028-02-29T00:00:00Z", "causes": ["a", "b"], "geo": { "lat": 1.0, "lon": 2.0 } }]);
    assert_eq!(body(&client.record_events(vec![event]).request().unwrap()), expected);
    let fault = client.set_fault("f", FaultBody::new().offset("2s")).request().unwrap();
    assert_eq!(body(&fault), json!({ "fault": { "offset": "2s" } }));
    assert_eq!(body(&client.set_fault("f", None).request().unwrap()), json!({ "fault": null }));
}

#[test]
fn what_a_call_says_of_itself_is_in_the_head() {
    let client = nobody();
    let field =
        |request: &Request, name: &str| request.head().get(name).map(|value| value.to_str().unwrap().to_owned());
    let own = client.pause_time().request().unwrap();
    assert!(field(&own, "idempotency-key").is_some() && own.is_repeatable());
    let given = client.pause_time().idempotency_key("k").if_match(7).request().unwrap();
    assert_eq!(field(&given, "idempotency-key").as_deref(), Some("k"));
    assert_eq!(field(&given, "if-match").as_deref(), Some("\"7\""));
    let any = client.set_anchor().if_match("*").request().unwrap();
    assert_eq!(field(&any, "if-match").as_deref(), Some("*"));
    assert!(client.pause_time().idempotency_key("é\n").request().is_err());
    let secret = format!("{:?}", client.log_in("ada", "correct horse battery"));
    assert!(secret.contains("log-in") && !secret.contains("horse"), "{secret}");
    // It may not be sent twice, and has no key that makes it happen once.
    assert!(!client.delete_user("u").request().unwrap().is_repeatable());
}

#[test]
fn an_answer_may_take_as_long_as_the_service_was_asked_to_wait() {
    let client = nobody();
    let check = |request: Request, longer: Option<Duration>| assert_eq!(request.longer, longer, "{request:?}");
    check(client.claim_firings("q").request().unwrap(), Some(Duration::ZERO));
    check(client.claim_firings("q").wait(Duration::from_secs(20)).request().unwrap(), Some(Duration::from_secs(20)));
    check(client.fast_forward("P1M").wait("5m").request().unwrap(), Some(Duration::from_mins(5)));
    check(client.fast_forward("P1M").wait("P1D").request().unwrap(), Some(Duration::from_mins(1)));
    check(client.detect_tampering("t").request().unwrap(), None);
}

#[test]
fn a_value_stays_where_it_is_in_the_path() {
    let client = nobody();
    assert_eq!(client.event("a/b").request().unwrap().path(), ["v1", "events", "a/b"]);
    let tile = client.tile("t", "entries/x001/000.p/7").request().unwrap();
    assert_eq!(tile.path(), ["timeline", "t", "tile", "entries", "x001", "000.p", "7"]);
    for wrong in ["", ".", ".."] {
        assert!(client.event(wrong).request().is_err(), "{wrong}");
        assert!(client.tile("t", &format!("0/{wrong}")).request().is_err(), "{wrong}");
    }
}

#[test]
fn pages_are_asked_for_one_after_the_other_and_again_where_one_fails() {
    run(async {
        let event =
            |id: &str| json!({ "event_id": id, "time": "2028-02-29T00:00:00Z", "description": "", "position": 1 });
        let page = |id: &str, cursor: Option<&str>| {
            let mut page = json!({ "status": "s", "timeline_id": "t", "events": [event(id)], "has_more": cursor.is_some(),
                "location_resolved": { "kind": "anywhere" } });
            page["next_cursor"] = json!(cursor);
            answer(200, &[], &page)
        };
        let refused = answer(500, &[], &json!({ "code": "internal" }));
        let stand_in = StandIn::start(vec![page("a", Some("c1")), refused, page("b", None)]).await;
        let client = client(&stand_in);
        let mut pages = client.monitor_events("*", ..).pages();
        let ids = |page: EventsBody| page.events.into_iter().map(|event| event.event_id).collect::<Vec<_>>();
        assert_eq!(ids(pages.next().await.unwrap().unwrap()), ["a"]);
        assert_eq!(pages.next().await.unwrap_err().problem().unwrap().code, "internal");
        assert_eq!(ids(pages.next().await.unwrap().unwrap()), ["b"]);
        assert!(pages.next().await.unwrap().is_none());
        let asked = stand_in.asked();
        let cursors: Vec<bool> = asked.iter().map(|request| request.contains("cursor=c1")).collect();
        assert_eq!(cursors, [false, true, true]);
    });
}

#[test]
fn a_file_is_sent_once_and_says_what_it_is() {
    run(async {
        let taken = json!({ "status": "s", "timeline_id": "t", "taken": 1, "refused": 0, "unchanged": 0, "refusals": [],
            "ledger": { "position": 1, "size": 2, "root": "r" } });
        let stand_in = StandIn::start(vec![answer(200, &[], &taken), answer(200, &[], &taken), String::new()]).await;
        let client = client(&stand_in);
        assert_eq!(client.import_events("a,b").await.unwrap().taken, 1);
        let imported = client.import_events(vec![97, 98]).content_type("text/csv").dry_run(true).await;
        assert_eq!(imported.unwrap().ledger.size, 2);
        assert!(client.import_events("a").await.is_err());
        let asked = stand_in.asked();
        let kinds: Vec<_> = asked.iter().map(|request| header(request, "content-type")).collect();
        assert_eq!(kinds, [Some("application/octet-stream"), Some("text/csv"), Some("application/octet-stream")]);
        assert!(
            asked[0].ends_with("\r\n\r\na,b")
                && asked[1].starts_with("POST /v1/import-events?dry_run=true&timeline_id=t")
        );
    });
}

#[test]
fn what_a_newer_service_adds_breaks_nothing() {
    let word: CauseKindWord = serde_json::from_value(json!("inspires")).unwrap();
    assert_eq!((word.as_str(), word == CauseKindWord::Other("inspires".to_owned())), ("inspires", true));
    assert_eq!(json!(word), json!("inspires"));
    assert_eq!(CauseKindWord::from("requires"), CauseKindWord::Requires);
    let settled = json!({ "state": "postponed", "advance_id": "a", "timeline_id": "t", "from": "2028-02-29T00:00:00Z",
        "to": "2028-03-01T00:00:00Z", "reached": "2028-02-29T12:00:00Z", "step": 1, "fired": 0, "acknowledged": 0,
        "failed": 0, "unheard": 0, "firings": [], "why": { "because": "of something new" } });
    let settled: SettledBody = serde_json::from_value(settled).unwrap();
    assert_eq!((settled.state, settled.held_by), (AdvanceState::Other, None));
}

//! Calls of the Rust client to a service.

use serde_json::{Value, json};
use timenav_client::{
    Assertion, Cause, Client, Effect, Error, EventPage, FiringState, Geo, Method, NewEvent, Order, Pages, Permissions,
    Precision, RestrictionLevel, RunState, StreamMessage, Timer, TimerState,
};

use super::{START, at, paused_client, runtime};
use crate::support::service::Service;

/// Records three launches, the second caused by the first, and a landing to which the second contributed.
async fn record(client: &Client) {
    let place = Geo::new(28.57, -80.65).radius_m(500.0);
    let launch = |id: &str, time: &str| {
        NewEvent::new(at(time)).event_id(id).name("Launch").location("Cape Canaveral").geo(place.clone())
    };
    let landing = NewEvent::new(at("2027-01-04T06:00:00Z"))
        .event_id("landing")
        .end_time(at("2027-01-04T07:00:00Z"))
        .description("It lands on water.")
        .causes([Cause::contributes("second")])
        .asserts([Assertion::new("capsule", "state", "afloat")]);
    let events = [
        launch("first", "2027-01-01T06:00:00Z").actors(["ada", "bob"]).source("tower"),
        launch("second", "2027-01-02T06:00:00Z").causes(["first"]).precision(Precision::Minute),
        launch("third", "2027-01-03T06:00:00Z").attributes(object(&json!({ "category": "5" }))).sequence(7),
        landing,
    ];
    let recorded = client.record_events(events).await.unwrap();
    assert_eq!(recorded.event_ids, ["first", "second", "third", "landing"]);
}

fn object(value: &Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn ids(page: &EventPage) -> Vec<&str> {
    page.events.iter().map(|event| event.event_id.as_str()).collect()
}

#[test]
fn events_are_found_by_place_time_and_content() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "launches").await;
        record(&client).await;
        let day = at("2027-01-02T00:00:00Z")..=at("2027-01-03T00:00:00Z");
        let found = client.monitor_events("geo:28.57,-80.65;u=1000", day).await.unwrap();
        assert_eq!((ids(&found), found.has_more), (vec!["second"], false));
        let event = &found.events[0];
        assert_eq!((event.time, &event.precision), (at("2027-01-02T06:00:00Z"), &Some(Precision::Minute)));
        assert_eq!((&*event.causes[0].event_id, event.geo.as_ref().unwrap().radius_m), ("first", Some(500.0)));
        let all = || client.monitor_events("*", ..);
        for (call, expected) in [
            (all().actor("ada"), vec!["first"]),
            (all().source("tower"), vec!["first"]),
            (all().text("water"), vec!["landing"]),
            (all().attribute("category", "5"), vec!["third"]),
            (all().attribute("category", "5").attribute("category", "4"), vec![]),
            (client.monitor_events("*", ..=at("2027-01-01T23:00:00Z")), vec!["first"]),
            (client.monitor_events("*", "2027-01-02T00:00:00Z/P1D"), vec!["second"]),
            (all().order(Order::Newest).limit(2), vec!["landing", "third"]),
        ] {
            let request = call.clone().build().unwrap();
            assert_eq!(ids(&call.await.unwrap()), expected, "{request:?}");
        }
        let mut pages: Pages<'_, EventPage> = all().limit(3).pages();
        let (first, second) = (pages.next().await.unwrap().unwrap(), pages.next().await.unwrap().unwrap());
        assert_eq!((ids(&first), ids(&second)), (vec!["first", "second", "third"], vec!["landing"]));
        assert!(pages.next().await.unwrap().is_none());
        let scanned = client.scan_events("*", "../..").limit(1).pages().all().await.unwrap();
        assert_eq!((scanned.len(), scanned[0].effects[0].event_id.as_str()), (4, "second"));
        assert_eq!((scanned[3].event.event_id.as_str(), scanned[3].event.causes.len()), ("landing", 1));
        let read = client.event("landing").await.unwrap();
        assert!(read.active && read.event.unwrap().end_time == Some(at("2027-01-04T07:00:00Z")));
        assert_eq!(read.versions.len(), 1);
    });
    service.audit();
}

#[test]
fn history_is_forked_changed_checked_and_restored() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "history").await;
        record(&client).await;
        let anchor = client.set_anchor().description("before").await.unwrap();
        let fork = client.create_timeline("fork").fork_of("history").at(anchor.anchor_id.as_str()).await.unwrap();
        assert_eq!((fork.timeline_id.as_str(), fork.ledger.position), ("fork", 0));
        let moment = at("2027-01-01T00:00:00Z");
        let cancel = client.manipulate_event("first", "cancel", moment);
        let dry = cancel.clone().dry_run(true).await.unwrap();
        assert!(dry.dry_run && dry.after.is_none() && dry.ledger.is_none() && !dry.paradoxes_created.is_empty());
        assert_eq!(cancel.await.unwrap().effect, Effect::Cancel);
        let late = Effect::Delay { duration: "2h".into() };
        let late = client.manipulate_event("third", "it rains", moment).effect(late).await.unwrap();
        assert_eq!(late.after.unwrap().time, at("2027-01-03T08:00:00Z"));
        let check = client.check_timeline("history", "second").await.unwrap();
        assert!(check.active && !check.causes_intact && check.causes[0].event_id == "first", "{check:?}");
        let paradoxes = client.monitor_paradox("history", ..).kinds(["P04", "orphaned_effect"]).await.unwrap();
        assert!(paradoxes.paradoxes[0].events.contains(&"second".to_owned()), "{paradoxes:?}");
        let events = || client.monitor_events("*", ..);
        let before = events().as_of(anchor.anchor_id.as_str()).await.unwrap();
        assert_eq!((before.events.len(), before.as_of), (4, Some(anchor.ledger.position)));
        assert_eq!(events().as_of(anchor.ledger.position).await.unwrap().events.len(), 4);
        assert_eq!(events().await.unwrap().events.len(), 3);
        let anchors = client.anchors().pages().all().await.unwrap();
        assert_eq!((&anchors[0].anchor_id, anchors[0].description.as_str()), (&anchor.anchor_id, "before"));
        let returned = client.return_to_anchor(&anchor.anchor_id).await.unwrap();
        assert_eq!((returned.current_time, returned.anchor_id), (at(START), Some(anchor.anchor_id)));
        assert_eq!(events().await.unwrap().events.len(), 4);
        let listed = client.timelines().limit(1).pages().all().await.unwrap();
        assert!(listed.iter().any(|timeline| timeline.fork.as_ref().is_some_and(|fork| fork.parent == "history")));
        assert_eq!(client.end_timeline("fork").await.unwrap().timeline_id, "fork");
    });
    service.audit();
}

#[test]
fn clock_moves_and_timers_fire() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "timers").await;
        let daily = Timer::cron("0 9 * * *", "UTC").id("daily").record(json!({ "name": "Invoice" }));
        let set = client.set_timer(&daily).idempotency_key("once").await.unwrap();
        let again = client.set_timer(&daily).idempotency_key("once").send().await.unwrap();
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(set.timer.next, Some(at("2027-01-01T09:00:00Z")));
        let rule = Timer::every("FREQ=DAILY", at("2028-01-01T00:00:00Z"), "Europe/Paris").id("rule");
        let rule = client.set_timer(&rule).await.unwrap().timer.every.unwrap();
        assert_eq!(rule.starts, at("2028-01-01T00:00:00Z"));
        let would = client.fast_forward("2d").dry_run(true).await.unwrap().would_fire.unwrap();
        assert_eq!((would.count, would.complete), (2, true));
        // Firings recorded as events are not queued.
        let receipt = client.advance("2d").await.unwrap();
        assert_eq!((receipt.fired, receipt.acknowledged, receipt.firings[0].queue.as_deref()), (2, 2, None));
        let read = client.receipt(receipt.advance_id.as_deref().unwrap()).await.unwrap().receipt;
        assert_eq!(read, receipt);
        let firings = client.firings().timer_id("daily").state(FiringState::Acknowledged).limit(1);
        assert_eq!(firings.pages().all().await.unwrap().len(), 2);
        let details = client.timer("daily").await.unwrap();
        assert_eq!((details.timer.state, details.firings.len()), (TimerState::Armed, 2));
        client.cancel_timer("daily").await.unwrap();
        assert_eq!(client.timers().state(TimerState::Canceled).await.unwrap().timers[0].timer_id, "daily");
        let generation = client.clock().await.unwrap().generation;
        let rejected = client.travel(at(START)).if_match(generation - 1).await.unwrap_err();
        assert_eq!(rejected.problem().unwrap().http_status, 412);
        let traveled = client.travel(at(START)).if_match(generation).location("Europe/Paris").await.unwrap();
        assert_eq!(traveled.local_time.as_deref(), Some("2027-01-01T01:00:00+01:00"));
        let spent = client.elapse("20m").since(at(START)).await.unwrap();
        assert_eq!((spent.current_time, spent.state), (at("2027-01-01T00:20:00Z"), RunState::Paused));
        assert_eq!(client.rewind(std::time::Duration::from_mins(20)).await.unwrap().current_time, at(START));
        let resumed = client.set_rate(60.0).await.unwrap();
        assert_eq!((resumed.rate, client.resume_time().await.unwrap().state), (60.0, RunState::Running));
    });
    service.audit();
}

#[test]
fn access_is_granted_logged_and_restricted() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "shared").await;
        let post = |path: &[&str], body: Value| client.request::<Value>(Method::POST, path, body);
        post(&["v1", "users"], json!({ "user_id": "ada" })).await.unwrap();
        let mut permissions = Permissions::default();
        permissions.read = Some(vec!["ada".to_owned()]);
        let set = client.set_access_control("shared", permissions).await.unwrap();
        assert!(set.unknown_users.is_empty(), "{set:?}");
        let read = client.access_control("shared").await.unwrap().permissions;
        assert_eq!((read.read.unwrap(), read.admin.unwrap()), (vec!["ada".to_owned()], vec!["admin".to_owned()]));
        let key = json!({ "user_id": "ada", "timeline_id": "shared" });
        let key = post(&["v1", "api-keys"], key).await.unwrap();
        let ada = Client::builder().base_url(service.url()).api_key(key["api_key"].as_str().unwrap()).build().unwrap();
        assert_eq!(ada.clock().await.unwrap().timeline_id, "shared");
        assert_eq!(ada.pause_time().await.unwrap_err().problem().unwrap().http_status, 403);
        let restricted = client.restrict_time_travel("ada", RestrictionLevel::NoAccess).await.unwrap();
        assert_eq!(restricted.restriction_level, RestrictionLevel::NoAccess);
        let log = client.access_logs("shared", ..).user_id("ada").order(Order::Newest).pages().all().await.unwrap();
        assert!(!log.is_empty() && log.iter().all(|entry| entry.user_id == "ada"), "{log:?}");
        let sealed = client.encrypt_data("shared", json!({ "pin": 1234 }), "a long passphrase").await.unwrap();
        let opened = client.decrypt_data(&sealed.data_id, "a long passphrase").await.unwrap();
        assert_eq!((sealed.encryption.as_str(), &opened.data["pin"]), ("AES-256", &json!(1234)));
        let scan = client.detect_tampering("shared").scan_depth("full").await.unwrap();
        assert!(!scan.tampering_detected, "{}", scan.details);
        let shared = client.timeline("shared").await.unwrap();
        assert_eq!((shared.role.as_str(), shared.events), ("admin", Some(0)));
    });
    service.audit();
}

#[test]
fn streams_and_rejections_are_typed() {
    let service = Service::start();
    runtime().block_on(async {
        let client = paused_client(&service, "told").await;
        let stream = json!({ "topics": "events,clock", "timeline_id": "told" });
        let stream = client.request::<()>(Method::GET, &["v1", "stream"], stream).build().unwrap();
        let mut stream = client.watch(stream).await.unwrap();
        client.record_events([NewEvent::new(at(START)).event_id("e")]).await.unwrap();
        let message = loop {
            let event = stream.next().await.unwrap().unwrap();
            if event.event == "events" {
                break event.json::<StreamMessage>().unwrap();
            }
        };
        assert_eq!((message.change.as_deref(), message.event.unwrap().event_id.as_str()), (Some("recorded"), "e"));
        let rejected = client.monitor_events("*", "yesterday").await.unwrap_err();
        assert_eq!(rejected.problem().unwrap().field(), Some("time_range"));
        let wrong = NewEvent::new(at(START)).geo(Geo::new(91.0, 0.0));
        let rejected = client.record_events([NewEvent::new(at(START)), wrong]).await.unwrap_err();
        assert!(rejected.problem().unwrap().field().is_some_and(|field| field.starts_with("1/geo")), "{rejected}");
        let invalid = client.timeline("..").await.unwrap_err();
        assert!(matches!(invalid, Error::Invalid(_)), "{invalid}");
    });
    service.audit();
}

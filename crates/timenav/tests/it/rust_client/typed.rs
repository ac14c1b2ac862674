//! The typed calls of the client for Rust, beside a service.

use serde_json::{Value, json};
use timenav_client::schemas::{
    AssertionRecord, CauseKindWord, CauseObject, DeliverRequest, DeliverTo, DiffWord, EffectRequest, EventOrder,
    EventRecord, EventToRecord, EventsBody, ExportFormat, GeoRecord, KeyScope, PermissionsRequest, PrecisionWord,
    ProofFormat, RestrictionLevel, StandingWord, TimerEvent,
};
use timenav_client::{Client, Error, Pages, Running, StreamMessage, Timer};

use super::{START, at, runtime, standing};
use crate::service::Service;

/// Records three launches, of which the second has the first as a cause, and a landing that the second one caused.
async fn record(client: &Client) {
    let place = GeoRecord::new(28.57, -80.65).radius_m(500.0);
    let launch = |id: &str, time: &str| {
        EventRecord::new(at(time)).event_id(id).name("Launch").location("Cape Canaveral").geo(place.clone())
    };
    let events = vec![
        launch("first", "2027-01-01T06:00:00Z").actors(["ada", "bob"]).source("tower"),
        launch("second", "2027-01-02T06:00:00Z").causes(["first"]).precision(PrecisionWord::Minute),
        launch("third", "2027-01-03T06:00:00Z").attributes(object(&json!({ "category": "5" }))).sequence(7),
    ];
    let recorded = client.record_events(events).await.unwrap();
    assert_eq!(recorded.event_ids, ["first", "second", "third"]);
    let cause = CauseObject::new("second").kind(CauseKindWord::Contributes);
    let landing = EventToRecord::new(at("2027-01-04T06:00:00Z"))
        .event_id("landing")
        .end_time(at("2027-01-04T07:00:00Z"))
        .description("It lands on water.")
        .causes([cause])
        .asserts([AssertionRecord::new("capsule", "state", "afloat")]);
    assert_eq!(client.record_events(landing).await.unwrap().event_ids, ["landing"]);
}

fn object(value: &Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn ids(page: &EventsBody) -> Vec<&str> {
    page.events.iter().map(|event| event.event_id.as_str()).collect()
}

#[test]
fn events_are_found_by_all_that_they_have() {
    let service = Service::start();
    runtime().block_on(async {
        let client = standing(&service, "launches").await;
        record(&client).await;
        let day = at("2027-01-02T00:00:00Z")..=at("2027-01-03T00:00:00Z");
        let found = client.monitor_events("geo:28.57,-80.65;u=1000", day).await.unwrap();
        assert_eq!((ids(&found), found.has_more), (vec!["second"], false));
        let event = &found.events[0];
        assert_eq!((event.time, event.precision.as_deref()), (at("2027-01-02T06:00:00Z"), Some("minute")));
        let cause = &event.causes.as_ref().unwrap()[0];
        assert_eq!((cause.event_id.as_str(), event.geo.as_ref().unwrap().radius_m), ("first", Some(500.0)));
        for (call, expected) in [
            (client.monitor_events("*", ..).actor("ada"), vec!["first"]),
            (client.monitor_events("*", ..).source("tower"), vec!["first"]),
            (client.monitor_events("*", ..).text("water"), vec!["landing"]),
            (client.monitor_events("*", ..).attribute("category", "5"), vec!["third"]),
            (client.monitor_events("*", ..).attribute("category", "5").attribute("category", "4"), vec![]),
            (client.monitor_events("*", at("2027-01-03T00:00:00Z")..), vec!["third", "landing"]),
            (client.monitor_events("*", ..=at("2027-01-01T23:00:00Z")), vec!["first"]),
            (client.monitor_events("*", "2027-01-02T00:00:00Z/P1D"), vec!["second"]),
            (client.monitor_events("*", ..).order(EventOrder::Newest).limit(2), vec!["landing", "third"]),
        ] {
            let request = call.clone().request().unwrap();
            assert_eq!(ids(&call.await.unwrap()), expected, "{request:?}");
        }
        let mut pages: Pages<'_, EventsBody> = client.monitor_events("*", ..).limit(3).pages();
        let (first, second) = (pages.next().await.unwrap().unwrap(), pages.next().await.unwrap().unwrap());
        assert_eq!((ids(&first), ids(&second)), (vec!["first", "second", "third"], vec!["landing"]));
        assert!(pages.next().await.unwrap().is_none());
        assert_eq!(client.monitor_events("*", ..).limit(1).pages().all().await.unwrap().len(), 4);
        let scanned = client.scan_events("*", "../..").limit(1).attribute("category", "5").attribute("category", "5");
        assert_eq!(scanned.pages().all().await.unwrap()[0].event_id, "third");
        let scanned = client.scan_events("*", "../..").limit(1).pages().all().await.unwrap();
        assert_eq!((scanned.len(), scanned[0].effects[0].event_id.as_str()), (4, "second"));
        let counted =
            client.aggregate_events("time").time_range("2027-01-01T00:00:00Z/P4D").bucket("1d").await.unwrap();
        assert_eq!((counted.count, counted.groups.len(), counted.groups[0].first), (4, 4, at("2027-01-01T06:00:00Z")));
        let read = client.event("landing").await.unwrap();
        assert!(read.stands && read.event.unwrap().end_time == Some(at("2027-01-04T07:00:00Z")));
    });
    service.audit();
}

#[test]
fn history_is_marked_forked_changed_and_compared() {
    let service = Service::start();
    runtime().block_on(async {
        let client = standing(&service, "history").await;
        record(&client).await;
        let anchor = client.set_anchor().description("before").await.unwrap();
        let fork =
            client.create_timeline("history-fork").fork_of("history").at(anchor.anchor_id.as_str()).await.unwrap();
        assert_eq!((fork.timeline_id.as_str(), fork.ledger.position), ("history-fork", 0));
        let moment = at("2027-01-01T00:00:00Z");
        let cancel = client.manipulate_event("first", "cancel", moment);
        let dry = cancel.clone().dry_run(true).await.unwrap();
        assert!(dry.dry_run && dry.after.is_none() && dry.ledger.is_none() && !dry.paradoxes_made.is_empty());
        let done = cancel.effect(EffectRequest::Cancel).await.unwrap();
        assert_eq!((done.effect.kind.as_str(), done.dry_run), ("cancel", false));
        let late = EffectRequest::Delay { duration: "2h".into() };
        let late = client.manipulate_event("third", "it rains", moment).effect(late).await.unwrap();
        assert_eq!(late.after.unwrap().time, at("2027-01-03T08:00:00Z"));
        assert_eq!(client.monitor_events("*", ..).await.unwrap().events.len(), 3);
        let before = client.monitor_events("*", ..).as_of(anchor.anchor_id.as_str()).await.unwrap();
        assert_eq!((before.events.len(), before.as_of), (4, Some(anchor.ledger.position)));
        assert_eq!(client.monitor_events("*", ..).as_of(anchor.ledger.position).await.unwrap().events.len(), 4);
        let paradoxes = client.monitor_paradox("history", ..).kinds(["P04", "orphaned_effect"]).await.unwrap();
        assert!(
            paradoxes.paradoxes.iter().any(|paradox| paradox.events.contains(&"second".to_owned())),
            "{paradoxes:?}"
        );
        let diff = client.timelines_diff("history", "history-fork").of(DiffWord::Events).await.unwrap();
        let changed: Vec<(&str, &str)> =
            diff.differences.iter().map(|one| (one.event_id.as_str(), one.change.as_str())).collect();
        assert_eq!(changed, [("first", "only_in_b"), ("third", "differs")]);
        let anchors = client.anchors().pages().all().await.unwrap();
        assert_eq!(
            (anchors[0].anchor_id.as_str(), anchors[0].description.as_str()),
            (anchor.anchor_id.as_str(), "before")
        );
        let returned = client.return_to_anchor(&*anchor.anchor_id).await.unwrap();
        assert_eq!((returned.current_time, returned.anchor_id), (at(START), Some(anchor.anchor_id)));
        assert_eq!(client.monitor_events("*", ..).await.unwrap().events.len(), 4);
    });
    service.audit();
}

#[test]
fn clocks_timers_and_receipts() {
    let service = Service::start();
    runtime().block_on(async {
        let client = standing(&service, "timers").await;
        let event = TimerEvent::new().name("Invoice").actors(["billing"]);
        let deliver = DeliverRequest::new(DeliverTo::Timeline).event(event);
        let daily = Timer::cron("0 9 * * *", "UTC").id("daily").deliver(&deliver);
        let set = client.set_timer(&daily).idempotency_key("once").await.unwrap();
        let again = client.set_timer(&daily).idempotency_key("once").await.unwrap();
        assert_eq!((set.timer.next, &set.ledger), (Some(at("2027-01-01T09:00:00Z")), &again.ledger));
        let would = client.fast_forward("2d").dry_run(true).await.unwrap().would_fire.unwrap();
        assert_eq!((would.count, would.complete), (2, true));
        // What is recorded as an event waits in no queue.
        let receipt = client.advance("2d").await.unwrap();
        assert_eq!((receipt.fired, receipt.acknowledged, receipt.firings[0].queue.as_deref()), (2, 2, None));
        let told = client.receipt(receipt.advance_id.as_deref().unwrap()).await.unwrap().settled;
        assert_eq!((told.reached, told.fired, told.firings), (receipt.reached, 2, receipt.firings));
        assert_eq!(client.firings().timer_id("daily").limit(1).pages().all().await.unwrap().len(), 2);
        let shown = client.timer("daily").await.unwrap();
        assert_eq!((shown.timer.state.as_str(), shown.firings.len()), ("armed", 2));
        let changed = client.change_timer("daily").payload(json!(7)).await.unwrap().timer;
        assert_eq!((changed.payload, changed.next), (json!(7), Some(at("2027-01-03T09:00:00Z"))));
        client.cancel_timer("daily").await.unwrap();
        let cancelled = client.timers().state(StandingWord::Cancelled).await.unwrap();
        assert_eq!(cancelled.timers[0].timer_id, "daily");
        let generation = client.clock().await.unwrap().generation;
        let refused = client.travel(at(START)).if_match(generation - 1).await.unwrap_err();
        assert_eq!(refused.problem().unwrap().http_status, 412);
        let traveled = client.travel(at(START)).if_match(generation).location("Europe/Paris").await.unwrap();
        assert_eq!(traveled.local_time.as_deref(), Some("2027-01-01T01:00:00+01:00"));
        let spent = client.spend("20m").since(at(START)).await.unwrap();
        assert_eq!((spent.current_time, spent.state), (at("2027-01-01T00:20:00Z"), Running::Paused));
        assert_eq!(client.rewind(std::time::Duration::from_mins(20)).await.unwrap().current_time, at(START));
        let nothing = client.advance_to_next().await.unwrap_err();
        assert_eq!(nothing.problem().unwrap().code, "nothing_due");
    });
    service.audit();
}

#[test]
fn people_and_what_they_may_do() {
    let service = Service::start();
    runtime().block_on(async {
        let client = standing(&service, "shared").await;
        client.create_user("ada").await.unwrap();
        let permissions = PermissionsRequest::new().read(["ada"]).admin(["admin"]);
        let set = client.set_access_control("shared", permissions).await.unwrap();
        assert!(set.unknown_users.is_none_or(|unknown| unknown.is_empty()));
        assert_eq!(client.access_control("shared").await.unwrap().permissions.read, ["ada"]);
        let made = client.create_api_key().user_id("ada").timeline_id("shared").scopes([KeyScope::TimelineRead]).await;
        let made = made.unwrap();
        let ada = Client::builder().url(service.url()).key(made.api_key.unwrap()).build().unwrap();
        assert_eq!(ada.session().await.unwrap().user_id.as_deref(), Some("ada"));
        assert_eq!(ada.clock().await.unwrap().timeline_id, "shared");
        assert_eq!(ada.pause_time().await.unwrap_err().problem().unwrap().http_status, 403);
        client.restrict_time_travel("ada", RestrictionLevel::NoAccess).await.unwrap();
        let log = client.access_logs("shared", ..).user_id("ada").action("read_clock").await.unwrap();
        assert!(log.logs.iter().all(|entry| entry.user_id == "ada"), "{log:?}");
        client.revoke_api_key(&made.key_id).await.unwrap();
        assert_eq!(ada.clock().await.unwrap_err().problem().unwrap().http_status, 401);
        client.set_retention("shared").reads(Some("P90D".into())).refusals(None).await.unwrap();
        let kept = client.timeline("shared").await.unwrap().retention.unwrap();
        assert_eq!((kept.reads.as_deref(), kept.refusals), (Some("P90D"), None));
        let sealed = client.encrypt_data("shared", object(&json!({ "pin": 1234 })), "a long passphrase").await.unwrap();
        let opened = client.decrypt_data(&*sealed.data_id, "a long passphrase").await.unwrap();
        assert_eq!(opened.data["pin"], 1234);
        let users = client.users().limit(1).pages().all().await.unwrap();
        assert_eq!(users.iter().map(|user| user.user_id.as_str()).collect::<Vec<_>>(), ["ada", "admin"]);
    });
    service.audit();
}

#[test]
fn ledgers_are_proved_and_carried_away() {
    let service = Service::start();
    runtime().block_on(async {
        let client = standing(&service, "proved").await;
        let lines = "{\"time\":\"2027-01-01T00:00:00Z\",\"description\":\"a\"}\n{\"time\":\"never\"}\n";
        let imported = client.import_events(lines).content_type("application/x-ndjson").await.unwrap();
        assert_eq!((imported.taken, imported.refused, imported.refusals.len()), (1, 1, 1));
        let position = imported.ledger.position;
        let proof = client.proof("proved").position(position).await.unwrap();
        assert_eq!((proof.kind.as_str(), proof.position), ("inclusion", Some(position)));
        let consistent = client.proof("proved").from(1).await.unwrap();
        assert_eq!((consistent.kind.as_str(), consistent.from), ("consistency", Some(1)));
        let file = client.proof("proved").position(position).format(ProofFormat::TlogProof).text().await.unwrap();
        assert!(file.starts_with("c2sp.org/tlog-proof@v1\n"), "{file}");
        let text = client.checkpoint("proved").text().await.unwrap();
        assert!(text.starts_with("timenav.local/proved\n"), "{text}");
        let checkpoint = client.checkpoint("proved").newest(true).await.unwrap();
        let entries = client.entries("proved").from(position).limit(1).await.unwrap();
        assert_eq!(entries.entries[0].position, position);
        let tile = client.tile("proved", &format!("0/000.p/{}", checkpoint.size)).await.unwrap();
        assert_eq!(tile.len() as u64, checkpoint.size * 32);
        let export = client.export_events().format(ExportFormat::Csv).await.unwrap();
        assert!(export.content_type().starts_with("text/csv"));
        assert!(export.text().await.unwrap().contains("2027-01-01T00:00:00Z"));
        let mut bundle = client.bundle("proved").await.unwrap();
        let mut bytes = 0;
        while let Some(chunk) = bundle.chunk().await.unwrap() {
            bytes += chunk.len();
        }
        assert!(bytes > 1_000, "{bytes}");
        let scan = client.detect_tampering("proved").await.unwrap();
        assert!(!scan.tampering_detected, "{}", scan.details);
        let mut events = client.detect_tampering("proved").events().await.unwrap();
        let mut last = None;
        while let Some(event) = events.next().await.unwrap() {
            last = Some(event);
        }
        assert_eq!(last.unwrap().event, "result");
    });
    service.audit();
}

#[test]
fn streams_tell_and_refusals_name_the_field() {
    let service = Service::start();
    runtime().block_on(async {
        let client = standing(&service, "told").await;
        let mut stream = client.stream().topics(["events", "clock"]).await.unwrap();
        client.record_events(EventToRecord::new(at(START)).event_id("e")).await.unwrap();
        let told = loop {
            let event = stream.next().await.unwrap().unwrap();
            if event.event == "events" {
                break event.json::<StreamMessage>().unwrap();
            }
        };
        assert_eq!((told.change.as_deref(), told.event.unwrap().event_id.as_str()), (Some("recorded"), "e"));
        let refused = client.monitor_events("*", "yesterday").await.unwrap_err();
        assert_eq!(refused.problem().unwrap().field(), Some("time_range"));
        let refused = client.rewind("1 fortnight").await.unwrap_err();
        assert_eq!(
            (refused.problem().unwrap().field(), refused.problem().unwrap().http_status),
            (Some("duration"), 400)
        );
        let wrong = EventRecord::new(at(START)).geo(GeoRecord::new(91.0, 0.0));
        let refused = client.record_events(vec![EventRecord::new(at(START)), wrong]).await.unwrap_err();
        assert!(refused.problem().unwrap().field().is_some_and(|field| field.starts_with("1/geo")), "{refused}");
        let none = client.timeline("..").request().unwrap_err();
        assert!(matches!(none, Error::Invalid(_)), "{none}");
        let read = client.limits().await.unwrap();
        assert_eq!(read.limits["page_items_max"], 1_000);
    });
    service.audit();
}

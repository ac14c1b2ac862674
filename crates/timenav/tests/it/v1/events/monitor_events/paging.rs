//! All pages of a query show one state of the ledger, regardless of concurrent writes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, pages, texts};

fn record(service: &Service, prefix: &str, count: usize) {
    // Only three distinct times, so that pages end between events of equal time.
    let event = |index: usize| {
        let time = format!("2005-08-{:02}T00:00:00Z", 28 + index % 3);
        json!({ "event_id": format!("{prefix}-{index}"), "time": time, "location": "here" })
    };
    let events: Vec<Value> = (0..count).map(event).collect();
    for chunk in events.chunks(1_000) {
        service.post("/v1/events", &json!(chunk));
    }
}

fn ask(service: &Service, more: &[(&str, &str)]) -> Answer {
    let parameters = [&[("location", "here"), ("time_range", "../..")], more].concat();
    service.send(Request::get(&target("/v1/monitor-events", &parameters)))
}

fn ids(page: &Value) -> Vec<String> {
    texts(page["events"].as_array().unwrap(), "event_id").into_iter().map(str::to_owned).collect()
}

#[test]
fn pages_show_one_state_despite_concurrent_writes() {
    let service = Service::start();
    record(&service, "before", 300);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (service, stop) = (&service, &stop);
        // Concurrent writers add events at the same times.
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                scope.spawn(move || {
                    let mut round = 0;
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        record(service, &format!("after-{writer}-{round}"), 9);
                        round += 1;
                    }
                    round
                })
            })
            .collect();
        for limit in ["7", "50", "299"] {
            let states = std::cell::RefCell::new(BTreeSet::new());
            let events = pages("events", |cursor| {
                let page = ask(service, &[&[("limit", limit)], cursor].concat()).expect(200);
                states.borrow_mut().insert(page["as_of"].as_u64().unwrap());
                page
            })
            .concat();
            let states = states.into_inner();
            assert_eq!(states.len(), 1, "every page shows the same state: {states:?}");
            let positions = events.iter().map(|event| event["position"].as_u64().unwrap());
            assert!(positions.clone().max() <= states.last().copied());
            let keys: Vec<(&str, u64)> = texts(&events, "time").into_iter().zip(positions).collect();
            assert!(keys.is_sorted());
            let ids = texts(&events, "event_id");
            assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an event came twice");
            let count = |prefix: &str| ids.iter().filter(|id| id.starts_with(prefix)).count();
            assert_eq!(count("before"), 300, "an event is missing");
            // Events written before the first page are complete.
            assert_eq!(count("after") % 9, 0, "half of a request is seen");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let rounds: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        assert!(rounds > 3, "nothing was written in between");
        assert_eq!(service.find_all("main", "here", "../..", "1000").len(), 300 + rounds * 9);
    });
    service.audit();
}

#[test]
fn page_length_follows_the_limit_parameter() {
    let service = Service::start();
    record(&service, "e", 1_001);
    for (limit, expected) in [(None, 100), (Some("1"), 1), (Some("1000"), 1_000)] {
        let more: Vec<(&str, &str)> = limit.map(|limit| ("limit", limit)).into_iter().collect();
        let page = ask(&service, &more).expect(200);
        assert_eq!((ids(&page).len(), &page["has_more"]), (expected, &json!(true)), "{limit:?}");
    }
    // A full last page is still the last.
    record(&service, "f", 999);
    let first = ask(&service, &[("limit", "1000")]).expect(200);
    let second = ask(&service, &[("limit", "1000"), ("cursor", first["next_cursor"].as_str().unwrap())]).expect(200);
    assert_eq!((ids(&second).len(), &second["has_more"]), (1_000, &json!(false)));
    assert_eq!(second.get("next_cursor"), None);
    service.audit();
}

#[test]
fn cursor_is_bound_to_its_query_and_user() {
    let mut service = Service::start();
    record(&service, "e", 5);
    service.post("/v1/events?timeline_id=other", &json!([{ "time": "2005-08-28T00:00:00Z", "location": "here" }]));
    let page = ask(&service, &[("limit", "2")]).expect(200);
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    let with = |location: &str, range: &str, timeline: &str, cursor: &str| {
        let query = [("location", location), ("time_range", range), ("timeline_id", timeline), ("cursor", cursor)];
        Request::get(&target("/v1/monitor-events", &[&query[..], &[("limit", "2")]].concat()))
    };
    let check_rejected = |cursor: &str| {
        assert_invalid(service.send(with("here", "../..", "main", cursor)), "#/cursor");
    };
    assert_eq!(ids(&service.send(with("here", "../..", "main", &cursor)).expect(200)).len(), 2);
    for (location, range, timeline) in [
        ("there", "../..", "main"),
        ("*", "../..", "main"),
        ("here", "2005-08-28T00:00:00Z/..", "main"),
        ("here", "../..", "other"),
    ] {
        assert_invalid(service.send(with(location, range, timeline, &cursor)), "#/cursor");
    }
    // Another user with the same permissions.
    service.post("/v1/users", &json!({ "user_id": "second", "operator": true }));
    let second = service.key(&json!({ "user_id": "second" }));
    assert_invalid(service.send(with("here", "../..", "main", &cursor).key(&second)), "#/cursor");
    // A cursor of another operation.
    for _ in 0..2 {
        service.post("/v1/set-anchor", &json!({}));
    }
    let of_anchors = service.get("/v1/anchors", &[("limit", "1")])["next_cursor"].as_str().unwrap().to_owned();
    check_rejected(&of_anchors);
    // Garbage, and every cursor that differs in one character.
    for garbage in ["", "x", "AAAA", "\u{e9}", "%00", "../..", &"A".repeat(10_000)] {
        check_rejected(garbage);
    }
    for at in 0..cursor.len() {
        let mut changed = cursor.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        check_rejected(std::str::from_utf8(&changed).unwrap());
    }
    check_rejected(&cursor[..cursor.len() - 1]);
    // A page can be requested again, with a different limit, and after a restart.
    service.restart();
    let again = ask(&service, &[("limit", "3"), ("cursor", &cursor)]).expect(200);
    assert_eq!((ids(&again).len(), &again["has_more"]), (3, &json!(false)));
    service.audit();
}

#[test]
fn link_header_points_to_the_next_page() {
    let service = Service::start();
    record(&service, "e", 5);
    let mut next = target("/v1/monitor-events", &[("location", "here"), ("time_range", "../.."), ("limit", "2")]);
    let mut seen = Vec::new();
    loop {
        let answer = service.send(Request::get(&next));
        let link = answer.header("link").map(str::to_owned);
        let page = answer.expect(200);
        seen.extend(ids(&page));
        let Some(link) = link else {
            assert_eq!(page["has_more"], false);
            break;
        };
        let (uri, rest) = link.strip_prefix('<').unwrap().split_once('>').unwrap();
        assert_eq!(rest, "; rel=\"next\"");
        uri.clone_into(&mut next);
    }
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 5);
    // A URI cannot contain the parameters of a body.
    let body = json!({ "location": "here", "time_range": "../..", "limit": 2 });
    for method in ["GET", "QUERY"] {
        let answer = service.send(Request::new(method, "/v1/monitor-events").json(&body));
        assert_eq!(answer.header("link"), None, "{method}");
        assert_eq!(answer.expect(200)["has_more"], true);
    }
    service.audit();
}

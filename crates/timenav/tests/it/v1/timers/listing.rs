//! Firings page by page, by state, timer and advance.

use serde_json::{Value, json};

use super::{acknowledge, claim, set, texts};
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{assert_invalid, pages, paused_service, send};

/// Returns the firings of each page.
fn list(service: &Service, filters: &[(&str, &str)]) -> Vec<Vec<Value>> {
    pages("firings", |cursor| service.get("/v1/firings", &[filters, cursor].concat()))
}

fn all(service: &Service, filters: &[(&str, &str)]) -> Vec<Value> {
    list(service, filters).concat()
}

#[test]
fn firings_are_paged_and_filtered_by_outcome() {
    let service = paused_service();
    let every = json!({ "rule": "FREQ=HOURLY;COUNT=250", "starts": "2000-01-01T01:00:00Z" });
    service.post("/v1/timers", &json!({ "timer_id": "hourly", "every": every }));
    set(&service, "single", "2000-01-02T00:30:00Z");
    let other =
        json!({ "timer_id": "other", "at": "2000-01-03T00:30:00Z", "deliver": { "to": "queue", "queue": "other" } });
    service.post("/v1/timers", &other);
    service.post("/v1/fast-forward", &json!({ "duration": "1d" }));
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "20d" }));
    let advance = moved["receipt"]["advance_id"].as_str().unwrap().to_owned();
    let listed = list(&service, &[("limit", "100")]);
    assert_eq!(listed.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 52]);
    let listed = listed.concat();
    let due = texts(&listed, "due");
    assert!(due.is_sorted());
    let mut ids = texts(&listed, "firing_id");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 252);
    // Those of a timer, whose own response only has the newest.
    let of_timer = all(&service, &[("timer_id", "hourly")]);
    assert_eq!((of_timer.len(), &of_timer[0]["due"]), (250, &json!("2000-01-01T01:00:00Z")));
    assert_eq!(service.get("/v1/timers/hourly", &[])["firings"].as_array().unwrap().len(), 100);
    // Those of an advance, whose receipt only has the first.
    let of_advance = all(&service, &[("advance_id", &advance)]);
    assert_eq!((moved["receipt"]["fired"].as_u64().unwrap(), of_advance.len()), (228, 228));
    assert_eq!(moved["receipt"]["firings"].as_array().unwrap()[..], of_advance[..100]);
    assert_eq!(all(&service, &[("advance_id", &advance), ("timer_id", "single")]).len(), 1);
    assert_eq!(texts(&all(&service, &[("queue", "other")]), "timer_id"), ["other"]);
    // By state.
    let done = claim(&service, 3, "20s");
    acknowledge(&service, &done);
    assert_eq!(texts(&all(&service, &[("state", "acknowledged")]), "firing_id"), texts(&done, "firing_id"));
    assert_eq!(all(&service, &[("state", "pending")]).len(), 249);
    assert_eq!(all(&service, &[("state", "pending"), ("timer_id", "hourly")]).len(), 247);
    assert_eq!(all(&service, &[("state", "failed")]).len(), 0);
    // A cursor belongs to its query.
    let first = service.get("/v1/firings", &[("limit", "1")]);
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_invalid(service.send(Request::get(&format!("/v1/firings?queue=other&cursor={cursor}"))), "#/cursor");
    assert_invalid(service.send(Request::get("/v1/firings?state=lost")), "#/state");
    for unknown in ["timer_id=none", "advance_id=none"] {
        service.send(Request::get(&format!("/v1/firings?{unknown}"))).refused(404, "not_found");
    }
    service.audit();
}

#[test]
fn firings_examined_per_page_are_limited() {
    let service = paused_service();
    // As many as are examined per page, and one match.
    let every = json!({ "rule": "FREQ=SECONDLY;COUNT=10000", "starts": "1999-12-01T00:00:00Z" });
    let many = json!({ "timer_id": "many", "every": every, "catch_up": true });
    service.post("/v1/timers", &many);
    let late =
        json!({ "timer_id": "late", "at": "1999-12-31T00:00:00Z", "deliver": { "to": "queue", "queue": "other" } });
    service.post("/v1/timers", &late);
    // By then all of them have fallen due.
    send(&service, "/v1/queues/other/claim", &json!({ "wait": "30s" }));
    let found = list(&service, &[("queue", "other"), ("limit", "10")]);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1]);
    service.audit();
}

//! `GET /timelines/diff`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::{assert_members, pages, permit};

const TIME: &str = "1969-07-16T13:32:00Z";

fn diff(service: &Service, a: &str, b: &str) -> Value {
    service.get("/timelines/diff", &[("base", a), ("compare", b)])
}

/// Records events on `main`, forks it, and changes both.
fn parted() -> Service {
    let service = Service::start();
    let record = |timeline: &str, event_id: &str| {
        service.post("/v1/events", &json!({ "timeline_id": timeline, "event_id": event_id, "time": TIME }));
    };
    let cancel = |timeline: &str, event_id: &str| {
        let deed = json!({ "timeline_id": timeline, "event_id": event_id, "action": "cancel", "time": TIME });
        service.post("/v1/manipulate-event", &deed);
    };
    for event_id in ["alike", "cancelled-on-both", "cancelled-on-fork", "corrected-on-main", "restored"] {
        record("main", event_id);
    }
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    record("main", "new-on-main");
    record("fork", "new-on-fork");
    record("main", "new-on-both");
    record("fork", "new-on-both");
    cancel("main", "cancelled-on-both");
    cancel("fork", "cancelled-on-both");
    cancel("fork", "cancelled-on-fork");
    cancel("fork", "restored");
    let restore = json!({ "timeline_id": "fork", "event_id": "restored", "action": "restore", "time": TIME });
    service.post("/v1/manipulate-event", &restore);
    let event = json!({ "event_id": "corrected-on-main", "time": TIME, "name": "Launch" });
    service.post("/v1/correct-event", &json!({ "event": event }));
    service
}

#[test]
fn differing_events_are_listed() {
    let service = parted();
    let path = target("/v1/timelines/diff", &[("base", "main"), ("compare", "fork")]);
    snapshot::check("timelines-diff", &service.send(Request::get(&path)));
    let turned = |difference: &Value| {
        let change = match difference["change"].as_str().unwrap() {
            "only_in_base" => "only_in_compare",
            "only_in_compare" => "only_in_base",
            other => other,
        };
        let [event_id, base, compare] = ["event_id", "base", "compare"].map(|name| &difference[name]);
        json!({ "event_id": event_id, "change": change, "base": compare, "compare": base })
    };
    let forth = diff(&service, "main", "fork");
    let turned: Vec<Value> = forth["differences"].as_array().unwrap().iter().map(turned).collect();
    assert_eq!(diff(&service, "fork", "main")["differences"], json!(turned));
    assert_eq!(diff(&service, "fork", "fork")["differences"], json!([]));
    // A position belongs to the ledger of its timeline, which may be inherited.
    service.post("/timelines", &json!({ "timeline_id": "of-main", "fork_of": "main" }));
    assert_eq!(diff(&service, "of-main", "fork")["differences"][0]["base"]["timeline_id"], "main");
    service.audit();
}

#[test]
fn timers_and_firing_outcomes_are_compared() {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-01T00:00:00Z" }));
    for (timer_id, at) in [("alike", "2000-03-01T00:00:00Z"), ("bill", "2000-01-02T00:00:00Z")] {
        service.post("/v1/timers", &json!({ "timer_id": timer_id, "at": at, "payload": [timer_id] }));
    }
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    let of = |of: &str| service.get("/timelines/diff", &[("base", "main"), ("compare", "fork"), ("type", of)]);
    assert_members(&of("timers"), &json!({ "status": "No timer differs.", "timers": [], "firings": null }));
    assert_members(&of("firings"), &json!({ "firings": [] }));
    assert_members(&of("events"), &json!({ "timers": null }));
    service.post("/v1/fast-forward", &json!({ "duration": "3d", "timeline_id": "fork" }));
    let timers = of("timers");
    assert_members(&timers, &json!({ "status": "1 timer differs.", "has_more": false }));
    let bill = &timers["timers"][0];
    assert_members(bill, &json!({ "timer_id": "bill", "change": "differs" }));
    assert_members(&bill["base"], &json!({ "state": "armed", "payload": ["bill"] }));
    assert_members(&bill["compare"], &json!({ "state": "done" }));
    let firing = of("firings")["firings"][0].clone();
    assert_members(&firing, &json!({ "change": "only_in_compare", "base": null, "due": "2000-01-02T00:00:00Z" }));
    assert_eq!(firing["compare"]["state"], "pending");
    let wrong = target("/timelines/diff", &[("base", "main"), ("compare", "fork"), ("type", "anchors")]);
    service.send(Request::get(&wrong)).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn unrelated_or_hidden_timelines_are_rejected() {
    let service = parted();
    service.post("/timelines", &json!({ "timeline_id": "other" }));
    let ask = |a: &str, b: &str| Request::get(&target("/timelines/diff", &[("base", a), ("compare", b)]));
    for (a, b) in [("main", "other"), ("other", "fork"), ("system", "main")] {
        let refused = service.send(ask(a, b)).refused(400, "invalid_parameter");
        assert!(refused.to_string().contains("they share no history"), "{refused}");
    }
    let ada = service.user("ada");
    permit(&service, "fork", &json!({ "read": ["ada"] }));
    for (a, b) in [("main", "fork"), ("fork", "main")] {
        service.send(ask(a, b).key(&ada)).refused(404, "not_found");
    }
    service.send(ask("fork", "fork").key(&ada)).expect(200);
    // Reads and rejections are logged in the ledgers of both.
    diff(&service, "main", "fork");
    for timeline in ["main", "fork"] {
        let logs = [("timeline_id", timeline), ("time_range", "../.."), ("action", "read"), ("limit", "1000")];
        let logs = service.get("/v1/access-logs", &logs);
        let is_diff = |entry: &&Value| entry["subject"] == "timelines_diff" && entry["user_id"] == "admin";
        assert_eq!(logs["logs"].as_array().unwrap().iter().filter(is_diff).count(), 1, "{timeline}: {logs}");
    }
    let logs = [("timeline_id", "main"), ("time_range", "../.."), ("user_id", "ada")];
    assert_eq!(service.get("/v1/access-logs", &logs)["logs"].as_array().unwrap().len(), 2);
    service.audit();
}

#[test]
fn differences_are_paged() {
    let service = parted();
    let whole = diff(&service, "main", "fork");
    let parameters = [("base", "main"), ("compare", "fork"), ("limit", "1")];
    let paged = pages("differences", |cursor| {
        // Events recorded in between are not on later pages.
        service.post("/v1/events", &json!({ "time": TIME }));
        service.get("/timelines/diff", &[&parameters, cursor].concat())
    });
    let recorded_before_the_first_page = 1;
    assert_eq!(paged.len(), whole["differences"].as_array().unwrap().len() + recorded_before_the_first_page);
    for wrong in ["", "x", "x.y", "x.bWFpbg"] {
        let parameters = [("base", "main"), ("compare", "fork"), ("cursor", wrong)];
        let refused = service.send(Request::get(&target("/timelines/diff", &parameters)));
        assert_eq!(refused.status, 400, "{wrong}: {refused}");
    }
    service.audit();
}

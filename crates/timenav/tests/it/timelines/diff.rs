//! `GET /timelines/diff`.

use serde_json::{Value, json};

use super::PREFIXES;
use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;

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
    for prefix in PREFIXES {
        let service = parted();
        let path = target(&format!("{prefix}/timelines/diff"), &[("base", "main"), ("compare", "fork")]);
        snapshot::check("timelines-diff", &service.send(Request::get(&path)));
        service.audit();
    }
    let service = parted();
    let (there, back) = (diff(&service, "main", "fork"), diff(&service, "fork", "main"));
    let turned = |one: &Value| {
        let change = match one["change"].as_str().unwrap() {
            "only_in_base" => "only_in_compare",
            "only_in_compare" => "only_in_base",
            other => other,
        };
        json!({ "event_id": one["event_id"], "change": change, "base": one["compare"], "compare": one["base"] })
    };
    let turned: Vec<Value> = there["differences"].as_array().unwrap().iter().map(turned).collect();
    assert_eq!(back["differences"], json!(turned));
    assert_eq!(diff(&service, "fork", "fork")["differences"], json!([]));
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
    let nothing = of("timers");
    assert_eq!((&nothing["status"], &nothing["timers"]), (&json!("No timer differs."), &json!([])));
    assert_eq!((of("firings")["firings"].clone(), nothing.get("firings")), (json!([]), None));
    assert_eq!(of("events").get("timers"), None);
    service.post("/v1/fast-forward", &json!({ "duration": "3d", "timeline_id": "fork" }));
    let timers = of("timers");
    assert_eq!((&timers["status"], &timers["has_more"]), (&json!("1 timer differs."), &json!(false)));
    let bill = &timers["timers"][0];
    assert_eq!((&bill["timer_id"], &bill["change"]), (&json!("bill"), &json!("differs")));
    assert_eq!((&bill["base"]["state"], &bill["compare"]["state"]), (&json!("armed"), &json!("done")));
    assert_eq!(bill["base"]["payload"], json!(["bill"]));
    let firings = of("firings");
    let firing = &firings["firings"][0];
    assert_eq!((&firing["change"], &firing["base"]), (&json!("only_in_compare"), &Value::Null));
    assert_eq!((&firing["due"], &firing["compare"]["state"]), (&json!("2000-01-02T00:00:00Z"), &json!("pending")));
    let wrong = target("/timelines/diff", &[("base", "main"), ("compare", "fork"), ("type", "anchors")]);
    service.send(Request::get(&wrong)).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn sibling_and_nested_forks_are_compared() {
    let service = parted();
    for (timeline, of) in [("of-main", "main"), ("of-fork", "fork"), ("of-of-fork", "of-fork")] {
        service.post("/timelines", &json!({ "timeline_id": timeline, "fork_of": of }));
    }
    let (apart, far) = (diff(&service, "main", "fork"), diff(&service, "of-main", "of-of-fork"));
    let ids = |page: &Value| {
        let ids = page["differences"].as_array().unwrap().iter().map(|one| one["event_id"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&apart), ids(&far), "a fork stands as what it was forked from");
    assert_eq!(apart["common"], far["common"]);
    assert_eq!(far["differences"][0]["base"]["timeline_id"], "main", "a position is of a ledger");
    assert_eq!(diff(&service, "fork", "of-of-fork")["differences"], json!([]));
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
    service.send(Request::get("/timelines/diff?base=main")).refused(400, "missing_parameter");
    let ada = service.user("ada");
    service.post("/v1/set-access-control", &json!({ "timeline_id": "fork", "permissions": { "read": ["ada"] } }));
    for (a, b) in [("main", "fork"), ("fork", "main"), ("fork", "none")] {
        service.send(ask(a, b).key(&ada)).refused(404, "not_found");
    }
    service.send(ask("fork", "fork").key(&ada)).expect(200);
    // Reads and rejections are logged in the ledgers of both.
    diff(&service, "main", "fork");
    for timeline in ["main", "fork"] {
        let logs = [("timeline_id", timeline), ("time_range", "../.."), ("action", "read"), ("limit", "1000")];
        let logs = service.get("/v1/access-logs", &logs);
        let reads = logs["logs"].as_array().unwrap().iter().filter(|entry| entry["subject"] == "timelines_diff");
        assert!(reads.filter(|entry| entry["user_id"] == "admin").count() == 1, "{timeline}: {logs}");
    }
    let logs = [("timeline_id", "main"), ("time_range", "../.."), ("user_id", "ada")];
    assert_eq!(service.get("/v1/access-logs", &logs)["logs"].as_array().unwrap().len(), 2);
    service.audit();
}

#[test]
fn differences_are_paged() {
    let service = parted();
    let whole = diff(&service, "main", "fork");
    let (mut paged, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut parameters = vec![("base", "main"), ("compare", "fork"), ("limit", "1")];
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = service.get("/timelines/diff", &parameters);
        paged.extend(page["differences"].as_array().unwrap().iter().cloned());
        assert_eq!(page["has_more"], page["next_cursor"].is_string());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
        // Events recorded in between are not on later pages.
        service.post("/v1/events", &json!({ "event_id": format!("z-{}", paged.len()), "time": TIME }));
    }
    assert_eq!(json!(paged), whole["differences"]);
    for wrong in ["", "x", "x.y", "x.bWFpbg"] {
        let parameters = [("base", "main"), ("compare", "fork"), ("cursor", wrong)];
        let refused = service.send(Request::get(&target("/timelines/diff", &parameters)));
        assert_eq!(refused.status, 400, "{wrong}: {refused}");
    }
    service.audit();
}

//! Recurring timers and previews.

use serde_json::{Value, json};

use super::{acknowledge, claim, of, set};
use crate::support::http::{Request, target};
use crate::v1::{paused_service, send};

#[test]
fn rule_fires_at_each_of_its_times() {
    let service = paused_service();
    let every = json!({ "rule": "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD", "starts": "2000-01-31T09:00:00Z", "zone": "Europe/Paris" });
    let timer = service.post("/v1/timers", &json!({ "timer_id": "renew", "every": every }))["timer"].clone();
    assert_eq!((&timer["next"], &timer["every"]), (&json!("2000-01-31T09:00:00Z"), &every));
    let moved = service.post("/v1/travel", &json!({ "destination_time": "2000-05-15T00:00:00Z" }));
    let due = ["2000-01-31T09:00:00Z", "2000-02-29T09:00:00Z", "2000-03-31T08:00:00Z", "2000-04-30T08:00:00Z"];
    assert_eq!(of(moved["receipt"]["firings"].as_array().unwrap(), "due"), due);
    assert_eq!(moved["receipt"]["step"], 4);
    let firings = claim(&service, 10, "0s");
    assert_eq!(of(&firings, "due"), due);
    acknowledge(&service, &firings);
    assert_eq!(service.get("/v1/timers/renew", &[])["timer"]["next"], "2000-05-31T08:00:00Z");
    service.audit();
}

#[test]
fn coinciding_firing_times_follow_the_misfire_policy() {
    let service = paused_service();
    for misfire in ["all", "once", "skip"] {
        let cron = json!({ "expression": "0 12 * * *" });
        service.post("/v1/timers", &json!({ "timer_id": misfire, "cron": cron, "misfire": misfire }));
    }
    let jump = json!({ "duration": "3d", "wait_for_timers": false });
    service.post("/v1/fast-forward", &jump);
    service.post("/v1/rewind", &json!({ "duration": "1s" }));
    let mut firings = Vec::new();
    while firings.len() < 4 {
        firings.extend(claim(&service, 10, "20s"));
    }
    let fired = |timer_id: &str| firings.iter().filter(|firing| firing["timer_id"] == timer_id).count();
    assert_eq!((fired("all"), fired("once"), fired("skip")), (3, 1, 0));
    acknowledge(&service, &firings);
    let next = |timer_id: &str| service.get(&format!("/v1/timers/{timer_id}"), &[])["timer"]["next"].clone();
    for timer_id in ["all", "once", "skip"] {
        assert_eq!(next(timer_id), "2000-01-04T12:00:00Z", "{timer_id}");
    }
    service.audit();
}

/// Each part of a rule can be changed alone, and optional ones can be removed.
#[test]
fn omitted_timer_fields_stay_unchanged() {
    let service = paused_service();
    let cron = json!({ "expression": "0 12 * * *", "zone": "UTC" });
    let noon = json!({ "timer_id": "noon", "cron": cron, "order_key": "one", "payload": { "invoice": 1 } });
    service.post("/v1/timers", &noon);
    set(&service, "single", "2001-01-01T12:00:00Z");
    let change = |timer_id: &str, body: &Value| {
        service.send(Request::new("PATCH", &format!("/v1/timers/{timer_id}")).json(body))
    };
    let changed = |body: &Value| change("noon", body).expect(200)["timer"].clone();
    let timer = changed(&json!({ "misfire": "once" }));
    assert_eq!(
        (&timer["misfire"], &timer["cron"], &timer["next"], &timer["order_key"], &timer["payload"]),
        (&json!("once"), &cron, &json!("2000-01-01T12:00:00Z"), &json!("one"), &json!({ "invoice": 1 }))
    );
    let timer = changed(&json!({ "order_key": null }));
    assert_eq!((timer.get("order_key"), &timer["payload"]), (None, &json!({ "invoice": 1 })), "{timer}");
    let timer = changed(&json!({ "payload": null }));
    assert_eq!((&timer["payload"], &timer["misfire"]), (&Value::Null, &json!("once")), "{timer}");
    service.post("/v1/fast-forward", &json!({ "duration": "3d", "wait_for_timers": false }));
    let firings = claim(&service, 10, "20s");
    let due = "2000-01-03T12:00:00Z";
    assert_eq!((of(&firings, "timer_id"), of(&firings, "due")), (vec!["noon"], vec![due]), "the last one only");
    acknowledge(&service, &firings);
    for body in [json!({ "misfire": "once" }), json!({ "at": "2001-01-02T00:00:00Z", "misfire": "once" })] {
        let refused = change("single", &body).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/misfire", "{body}");
    }
    service.audit();
}

/// More rules than are processed together are skipped: a timer after all of them is not forgotten.
#[test]
fn skipped_rules_do_not_hide_other_timers() {
    let service = paused_service();
    for number in 0..600 {
        let starts = format!("2000-01-01T12:{:02}:{:02}Z", number / 60, number % 60);
        let every = json!({ "rule": "FREQ=DAILY", "starts": starts });
        service.post("/v1/timers", &json!({ "every": every, "misfire": "skip" }));
    }
    set(&service, "single", "2000-01-03T12:09:50Z");
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-03T12:09:55Z", "wait_for_timers": false }));
    let firings = claim(&service, 10, "20s");
    assert_eq!(of(&firings, "timer_id"), ["single"]);
    acknowledge(&service, &firings);
    service.audit();
}

#[test]
fn past_firing_times_are_caught_up_on_request() {
    let service = paused_service();
    let every = json!({ "rule": "FREQ=DAILY;COUNT=4", "starts": "1999-12-30T12:00:00Z" });
    service.post("/v1/timers", &json!({ "timer_id": "late", "every": every, "catch_up": true }));
    let mut firings = Vec::new();
    while firings.len() < 2 {
        firings.extend(claim(&service, 10, "20s"));
    }
    assert_eq!(of(&firings, "due"), ["1999-12-30T12:00:00Z", "1999-12-31T12:00:00Z"]);
    acknowledge(&service, &firings);
    let every = json!({ "rule": "FREQ=SECONDLY", "starts": "1999-01-01T00:00:00Z" });
    let refused = send(&service, "/v1/timers", &json!({ "every": every, "catch_up": true }));
    assert_eq!(refused.refused(400, "invalid_parameter")["errors"][0]["pointer"], "#/catch_up");
    service.audit();
}

#[test]
fn invalid_rules_are_rejected() {
    let service = paused_service();
    for (body, pointer) in [
        (json!({ "every": { "rule": "FREQ=NEVER" } }), "#/every/rule"),
        (json!({ "every": { "rule": "FREQ=DAILY", "zone": "Mars/Olympus" } }), "#/every/zone"),
        (json!({ "cron": { "expression": "* * *" } }), "#/cron/expression"),
        (json!({ "cron": { "expression": "0 0 * * * *" } }), "#/cron/expression"),
        (json!({ "cron": { "expression": "0 0 * * *" }, "at": "2001-01-01T00:00:00Z" }), "#/at"),
        (json!({ "at": "2001-01-01T00:00:00Z", "misfire": "skip" }), "#/misfire"),
        (json!({ "every": { "rule": "FREQ=DAILY;COUNT=1", "starts": "1999-01-01T00:00:00Z" } }), "#/every"),
    ] {
        let refused = send(&service, "/v1/timers", &body).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}");
    }
    service.audit();
}

#[test]
fn dry_run_lists_firings_and_moves_nothing() {
    let service = paused_service();
    set(&service, "single", "2000-01-02T12:00:00Z");
    service.post("/v1/timers", &json!({ "timer_id": "daily", "cron": { "expression": "0 12 * * *" } }));
    let dry = json!({ "duration": "2d", "dry_run": true });
    let foreseen = service.post("/v1/fast-forward", &dry);
    assert_eq!((&foreseen["current_time"], &foreseen["ledger"]), (&json!("2000-01-01T00:00:00Z"), &Value::Null));
    let would = &foreseen["would_fire"];
    assert_eq!((&would["to"], &would["complete"]), (&json!("2000-01-03T00:00:00Z"), &json!(true)));
    assert_eq!(of(would["firings"].as_array().unwrap(), "timer_id"), ["daily", "single", "daily"]);
    let counts = json!([{ "timer_id": "daily", "count": 2 }, { "timer_id": "single", "count": 1 }]);
    assert_eq!((&would["timers"], &would["count"]), (&counts, &json!(3)));
    // The preview matches what fires.
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "2d" }));
    let fired = moved["receipt"]["firings"].as_array().unwrap();
    assert_eq!(of(fired, "due"), of(would["firings"].as_array().unwrap(), "due"));
    let back = service.post("/v1/rewind", &json!({ "duration": "2d", "dry_run": true }));
    assert_eq!(back["would_fire"]["count"], 0);
    service.audit();
}

#[test]
fn move_past_too_many_firings_is_rejected() {
    let service = paused_service();
    service.post("/v1/timers", &json!({ "timer_id": "often", "every": { "rule": "FREQ=SECONDLY" } }));
    let refused = send(&service, "/v1/fast-forward", &json!({ "duration": "30d" })).refused(422, "too_many_firings");
    assert!(refused["detail"].as_str().unwrap().contains("`often`"), "{refused}");
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-01T00:00:00Z");
    service.audit();
}

/// Previewed moments of a timer are those at which it fires once it is set.
#[test]
fn previewed_firing_times_match_the_set_timer() {
    let service = paused_service();
    let rule = "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD";
    let request = [("rule", rule), ("starts", "2000-01-31T09:00:00Z"), ("zone", "Europe/Paris"), ("limit", "3")];
    let preview = service.get("/v1/timer-preview", &request);
    let moments = preview["moments"].as_array().unwrap();
    assert_eq!(preview["moments"], json!(["2000-01-31T09:00:00Z", "2000-02-29T09:00:00Z", "2000-03-31T08:00:00Z"]));
    assert_eq!(preview["has_more"], true);
    assert_eq!(preview["status"], "A timer with this rule would next fire at 2000-01-31T09:00:00Z.");
    assert_eq!(service.get("/v1/timers", &[])["timers"], json!([]), "none is set");

    let every = json!({ "rule": rule, "starts": request[1].1, "zone": request[2].1 });
    service.post("/v1/timers", &json!({ "timer_id": "renew", "every": every }));
    let moved = service.post("/v1/travel", &json!({ "destination_time": moments[2] }));
    assert_eq!(of(moved["receipt"]["firings"].as_array().unwrap(), "due"), *moments);

    // From the current time, and from a given one.
    let later = [&request[..3], &[("limit", "1")]].concat();
    assert_eq!(service.get("/v1/timer-preview", &later)["moments"], json!(["2000-04-30T08:00:00Z"]));
    let after = [("rule", "0 12 29 2 *"), ("after", "2096-02-29T12:00:00Z"), ("limit", "1")];
    assert_eq!(service.get("/v1/timer-preview", &after)["moments"], json!(["2104-02-29T12:00:00Z"]));
    let over = [("rule", "FREQ=DAILY;UNTIL=20000201T000000Z"), ("starts", "2000-01-01T00:00:00Z")];
    let over = service.get("/v1/timer-preview", &over);
    assert_eq!((&over["moments"], &over["has_more"]), (&json!([]), &json!(false)));
    assert_eq!(over["status"], "A timer with this rule would not fire.");
    service.audit();
}

#[test]
fn invalid_previewed_rules_are_rejected() {
    let service = paused_service();
    let wrong: [(&[(&str, &str)], &str); 6] = [
        (&[("rule", "")], "rule"),
        (&[("rule", "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30")], "rule"),
        (&[("rule", "FREQ=NEVER")], "rule"),
        (&[("rule", "0 9 * *")], "rule"),
        (&[("rule", "0 9 * * *"), ("starts", "2000-01-01T00:00:00Z")], "starts"),
        (&[("rule", "0 9 * * *"), ("zone", "Mars/Olympus")], "zone"),
    ];
    for (request, field) in wrong {
        let answer = service.send(Request::get(&target("/v1/timer-preview", request)));
        let refused = answer.refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], format!("#/{field}"), "{request:?}");
    }
    service.audit();
}

#[test]
fn rule_without_zone_has_the_zone_of_its_start() {
    let service = paused_service();
    // Noon in Paris is at 11:00 UTC in winter, and at 10:00 in summer.
    let starts = "2000-03-25T12:00[Europe/Paris]";
    let (winter, summer) = (json!("2000-03-25T11:00:00Z"), json!("2000-03-26T10:00:00Z"));
    let every = json!({ "rule": "FREQ=DAILY", "starts": starts });
    let set = service.post("/v1/timers", &json!({ "timer_id": "noon", "every": every }))["timer"].clone();
    assert_eq!((&set["next"], &set["every"]["zone"]), (&winter, &json!("Europe/Paris")));
    let preview = |zone: &[(&str, &str)]| {
        let request = [&[("rule", "FREQ=DAILY"), ("starts", starts), ("limit", "2")], zone].concat();
        service.get("/v1/timer-preview", &request)["moments"].clone()
    };
    assert_eq!(preview(&[]), json!([winter, summer]));
    assert_eq!(preview(&[("zone", "UTC")]), json!([winter, "2000-03-26T11:00:00Z"]));
    service.audit();
}

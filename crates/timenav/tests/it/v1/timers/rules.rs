//! Recurring timers and previews.

use serde_json::{Value, json};

use super::{acknowledge, claim, set, texts};
use crate::support::http::{Request, target};
use crate::v1::{assert_invalid, assert_members, paused_service, post_invalid, send};

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
    let expected = json!({ "misfire": "once", "cron": cron, "next": "2000-01-01T12:00:00Z", "order_key": "one",
        "payload": { "invoice": 1 } });
    assert_members(&timer, &expected);
    let timer = changed(&json!({ "order_key": null }));
    assert_members(&timer, &json!({ "order_key": null, "payload": { "invoice": 1 } }));
    let timer = changed(&json!({ "payload": null }));
    assert_members(&timer, &json!({ "payload": null, "misfire": "once" }));
    service.post("/v1/fast-forward", &json!({ "duration": "3d", "wait_for_timers": false }));
    let firings = claim(&service, 10, "20s");
    assert_eq!(texts(&firings, "timer_id"), ["noon"], "the last one only");
    assert_eq!(firings[0]["due"], "2000-01-03T12:00:00Z");
    acknowledge(&service, &firings);
    for body in [json!({ "misfire": "once" }), json!({ "at": "2001-01-02T00:00:00Z", "misfire": "once" })] {
        assert_invalid(change("single", &body), "#/misfire");
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
    assert_eq!(texts(&firings, "timer_id"), ["single"]);
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
    assert_eq!(texts(&firings, "due"), ["1999-12-30T12:00:00Z", "1999-12-31T12:00:00Z"]);
    acknowledge(&service, &firings);
    let every = json!({ "rule": "FREQ=SECONDLY", "starts": "1999-01-01T00:00:00Z" });
    post_invalid(&service, "/v1/timers", &json!({ "every": every, "catch_up": true }), "#/catch_up");
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
    assert_eq!(texts(moved["receipt"]["firings"].as_array().unwrap(), "due"), *moments);
    assert_eq!(service.get("/v1/timers/renew", &[])["timer"]["next"], "2000-04-30T08:00:00Z");

    // From the current time, and from a given one.
    let later = [&request[..3], &[("limit", "1")]].concat();
    assert_eq!(service.get("/v1/timer-preview", &later)["moments"], json!(["2000-04-30T08:00:00Z"]));
    let after = [("rule", "0 12 29 2 *"), ("after", "2096-02-29T12:00:00Z"), ("limit", "1")];
    assert_eq!(service.get("/v1/timer-preview", &after)["moments"], json!(["2104-02-29T12:00:00Z"]));
    let over = [("rule", "FREQ=DAILY;UNTIL=20000201T000000Z"), ("starts", "2000-01-01T00:00:00Z")];
    let status = "A timer with this rule would not fire.";
    let expected = json!({ "moments": [], "has_more": false, "status": status });
    assert_members(&service.get("/v1/timer-preview", &over), &expected);
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
        assert_invalid(answer, &format!("#/{field}"));
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
